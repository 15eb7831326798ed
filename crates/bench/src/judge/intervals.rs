//! The intervals of one session of a run.

use crate::drive::Sample;
use crate::run::ArmRun;
use crate::workload::Rate;

/// Points at which the offered rate of an interval is looked at.
const POINTS: u32 = 20;

/// Whole intervals, in seconds from the session's start. The last sample of a session is
/// of a shorter one, and left out.
pub struct Intervals<'a>(Vec<Interval<'a>>);

/// One of them.
#[derive(Debug, Clone, Copy)]
pub struct Interval<'a> {
    /// When it began.
    pub from: f64,
    /// When it ended.
    pub to: f64,
    /// What was seen in it.
    pub sample: &'a Sample,
}

impl<'a> Intervals<'a> {
    /// Those of session number `session`; perhaps none.
    pub fn of(run: &'a ArmRun, session: usize) -> Self {
        let own = run.samples.iter().filter(|it| it.session == session);
        let mut samples: Vec<&'a Sample> = own.collect();
        samples.pop();
        let began = samples.first().map_or(0.0, |it| it.at - it.seconds);
        let interval = |sample: &'a Sample| Interval {
            from: sample.at - sample.seconds - began,
            to: sample.at - began,
            sample,
        };
        Self(samples.into_iter().map(interval).collect())
    }

    /// All of them, in order.
    pub fn all(&self) -> &[Interval<'a>] {
        &self.0
    }

    /// Those that lie between two times.
    pub fn between(&self, from: f64, to: f64) -> impl Iterator<Item = &Interval<'a>> {
        // A clock's reading is not exact to the last digit.
        let lies = move |it: &&Interval<'a>| it.from >= from - 1e-6 && it.to <= to + 1e-6;
        self.0.iter().filter(lies)
    }
}

impl Interval<'_> {
    /// The mean rate that was offered in it; 0 in a closed loop.
    pub fn offered(&self, rate: Rate) -> f64 {
        let length = self.to - self.from;
        let sum: f64 = (0..POINTS)
            .map(|point| (f64::from(point) + 0.5) / f64::from(POINTS))
            .filter_map(|share| rate.at(self.from + share * length))
            .sum();
        sum / f64::from(POINTS)
    }
}
