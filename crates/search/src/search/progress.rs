//! How far a search is, for a line that a person watches.

use std::fmt;

use super::{Search, Stage, State};

/// How far a search is.
#[derive(Clone, PartialEq, Debug)]
pub struct Progress {
    /// What it is doing, in a few words.
    pub stage: String,
    /// Trials that were started.
    pub started: usize,
    /// Trials that failed.
    pub failed: usize,
    /// Trials that may still win.
    pub live: usize,
    /// Trials that run now.
    pub running: usize,
    /// Seconds still to come by the clock, an estimate.
    pub seconds_left: f64,
}

impl Search {
    /// How far the search is, `elapsed_seconds` after it began by the clock.
    pub fn progress(&self, elapsed_seconds: f64) -> Progress {
        let count = |wanted: fn(&State) -> bool| {
            let trials = self.trials.iter();
            trials.filter(|it| wanted(&it.state)).count()
        };
        Progress {
            stage: self.stage_in_words(),
            started: self.trials.len(),
            failed: count(|it| matches!(it, State::Failed(..))),
            live: self.trials.iter().filter(|it| it.is_live()).count(),
            running: count(|it| matches!(it, State::Running(_))),
            seconds_left: self.seconds_left(elapsed_seconds),
        }
    }

    fn stage_in_words(&self) -> String {
        match &self.stage {
            Stage::Sampling(0) => "one configuration of each arm".to_owned(),
            Stage::Sampling(round) => match self.setup.method.rounds {
                // As many as the budget allows.
                rounds if rounds == u32::MAX || *round > rounds => format!("round {round}"),
                rounds => format!("round {round} of {rounds}"),
            },
            Stage::Halving(place) => {
                let points = self.points.as_deref().unwrap_or(&[]);
                let until = points.get(*place).copied().unwrap_or(0.0);
                format!("the better half up to {until:.0} s")
            }
            Stage::Finished(_) => "done".to_owned(),
        }
    }
}

impl fmt::Display for Progress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}: {} trials, {} live, {} running, {} failed, about {} left",
            self.stage,
            self.started,
            self.live,
            self.running,
            self.failed,
            Clock(self.seconds_left)
        )
    }
}

/// Seconds as `1 h 02 min`, `3 min 05 s` or `7 s`.
struct Clock(f64);

impl fmt::Display for Clock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let seconds = self.0.max(0.0).round() as u64;
        let (hours, minutes) = (seconds / 3600, seconds / 60);
        match (hours, minutes) {
            (0, 0) => write!(f, "{seconds} s"),
            (0, _) => write!(f, "{minutes} min {:02} s", seconds % 60),
            _ => write!(f, "{hours} h {:02} min", minutes % 60),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_left_reads_well() {
        for (seconds, text) in [
            (7.4, "7 s"),
            (185.0, "3 min 05 s"),
            (3720.0, "1 h 02 min"),
            (-3.0, "0 s"),
        ] {
            assert_eq!(Clock(seconds).to_string(), text);
        }
    }
}
