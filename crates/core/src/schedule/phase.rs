//! High load and low load, told apart with hysteresis.

use serde::{Deserialize, Serialize};

/// How loaded the store is held to be.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Phase {
    /// There is room for compactions.
    #[default]
    Low,
    /// Users need the machine.
    High,
}

/// Where the phases part.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct PhaseLimits {
    /// Users' share of the machine above which the load is high at once.
    pub high: f64,
    /// Share under which an interval is calm.
    pub low: f64,
    /// Calm intervals in a row after which the load is low.
    pub softness: u32,
}

impl Default for PhaseLimits {
    /// DLC's: 300 and 180 MB/s of a disk that does 350, three intervals.
    fn default() -> PhaseLimits {
        PhaseLimits {
            high: 300.0 / 350.0,
            low: 180.0 / 350.0,
            softness: 3,
        }
    }
}

/// The phase over time: high as soon as the pressure is over one limit, low only
/// after some intervals under the other, and between them as it was.
#[derive(Clone, Debug, Default)]
pub struct Phases {
    limits: PhaseLimits,
    now: Phase,
    /// Calm intervals in a row.
    calm: f64,
}

impl Phases {
    /// Begins low.
    pub fn new(limits: PhaseLimits) -> Phases {
        Phases {
            limits,
            ..Phases::default()
        }
    }

    /// The phase after an interval of such pressure.
    pub fn after(&mut self, pressure: f64) -> Phase {
        self.after_intervals(pressure, 1.0)
    }

    /// The same after so many intervals at once, as when somebody looks late.
    pub fn after_intervals(&mut self, pressure: f64, count: f64) -> Phase {
        if pressure > self.limits.high {
            self.now = Phase::High;
        }
        self.calm = if pressure < self.limits.low {
            self.calm + count
        } else {
            0.0
        };
        // Parts of intervals add up to a little less than whole ones.
        if self.calm + 1e-6 >= f64::from(self.limits.softness) {
            self.now = Phase::Low;
        }
        self.now
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn high_at_once_and_low_only_after_a_while() {
        let mut phases = Phases::new(PhaseLimits::default());
        let seen: Vec<Phase> = [0.1, 0.9, 0.6, 0.1, 0.1, 0.6, 0.1, 0.1, 0.1, 0.6]
            .into_iter()
            .map(|pressure| phases.after(pressure))
            .collect();
        let (low, high) = (Phase::Low, Phase::High);
        assert_eq!(
            seen,
            [low, high, high, high, high, high, high, high, low, low]
        );
    }

    #[test]
    fn a_pressure_that_is_no_number_changes_nothing() {
        let mut phases = Phases::new(PhaseLimits::default());
        phases.after(0.9);
        assert_eq!(phases.after(f64::NAN), Phase::High);
    }
}
