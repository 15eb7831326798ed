//! Offered rates: how many operations are due at a time.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::check::{fail, positive, within};
use crate::error::Result;

/// Operations per second below which no session comes to an end.
const LEAST_RATE: f64 = 1e-3;
/// Operations per second that no store can be offered.
const MOST_RATE: f64 = 1e8;
/// Share of a fast phase that may be over when its first operation becomes due.
const LATE: f64 = 0.05;

/// How operations are offered. Rates are operations per second over all threads.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Rate {
    /// Each thread sends its next operation when the last one has ended.
    #[default]
    Closed,
    /// Always the same rate.
    Constant {
        /// Operations per second.
        per_second: f64,
    },
    /// High and low rate by turns, starting high.
    Periodic(Periodic),
    /// a * sin(b * t + c) + d operations per second, t in seconds.
    Sine {
        /// Amplitude.
        a: f64,
        /// Radians per second.
        b: f64,
        /// Phase in radians.
        c: f64,
        /// Mean rate.
        d: f64,
    },
}

/// Two rates by turns.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Periodic {
    /// Operations per second in the high phase.
    pub high: f64,
    /// Operations per second in the low phase.
    pub low: f64,
    /// Seconds of each phase.
    pub seconds: f64,
    /// Seconds of the low phase, where it has a length of its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub low_seconds: Option<f64>,
}

impl Periodic {
    /// Seconds of a low phase.
    pub fn low_phase(&self) -> f64 {
        self.low_seconds.unwrap_or(self.seconds)
    }

    /// Seconds of a high and a low phase together.
    pub fn period(&self) -> f64 {
        self.seconds + self.low_phase()
    }

    fn at(&self, t: f64) -> f64 {
        if t % self.period() < self.seconds {
            self.high
        } else {
            self.low
        }
    }

    /// An operation becomes due one over the rate after the one before: at a low rate that may be
    /// when much of the next phase is over, which then offers less than it says.
    fn check(&self) -> Result<()> {
        possible("rate.periodic.high", self.high)?;
        possible("rate.periodic.low", self.low)?;
        positive("rate.periodic.seconds", self.seconds)?;
        positive("rate.periodic.low_seconds", self.low_phase())?;
        let (slow, fast, fast_phase) = if self.low < self.high {
            (self.low, self.high, self.seconds)
        } else {
            (self.high, self.low, self.low_phase())
        };
        if 1.0 - slow / fast <= LATE * fast_phase * slow {
            return Ok(());
        }
        fail(
            "rate.periodic",
            "operations of the slow phase are so far apart that those of the fast one would begin \
             late; raise the lower rate or make the phases longer",
        )
    }

    fn mean(&self) -> f64 {
        (self.high * self.seconds + self.low * self.low_phase()) / self.period()
    }
}

impl Rate {
    /// Offered operations per second `t` seconds after the session's start; `None` in a
    /// closed loop.
    pub fn at(self, t: f64) -> Option<f64> {
        match self {
            Self::Closed => None,
            Self::Constant { per_second } => Some(per_second),
            Self::Periodic(periodic) => Some(periodic.at(t)),
            Self::Sine { a, b, c, d } => Some(a * (b * t + c).sin() + d),
        }
    }

    /// The highest rate that is ever offered; `None` in a closed loop.
    pub fn highest(self) -> Option<f64> {
        match self {
            Self::Closed => None,
            Self::Constant { per_second } => Some(per_second),
            Self::Periodic(Periodic { high, low, .. }) => Some(high.max(low)),
            Self::Sine { a, d, .. } => Some(a.abs() + d),
        }
    }

    /// The mean rate over a long time; `None` in a closed loop.
    pub fn mean(self) -> Option<f64> {
        match self {
            Self::Closed => None,
            Self::Constant { per_second } => Some(per_second),
            Self::Periodic(periodic) => Some(periodic.mean()),
            Self::Sine { d, .. } => Some(d),
        }
    }

    /// Seconds after which it begins again; `None` in a closed loop, and of a rate that
    /// never changes.
    pub fn period(self) -> Option<f64> {
        match self {
            Self::Closed | Self::Constant { .. } => None,
            Self::Periodic(periodic) => Some(periodic.period()),
            Self::Sine { b, .. } => (b != 0.0).then(|| std::f64::consts::TAU / b.abs()),
        }
    }

    /// The same with every rate `factor` times as high.
    pub fn times(self, factor: f64) -> Self {
        match self {
            Self::Closed => Self::Closed,
            Self::Constant { per_second } => Self::Constant {
                per_second: per_second * factor,
            },
            Self::Periodic(periodic) => Self::Periodic(Periodic {
                high: periodic.high * factor,
                low: periodic.low * factor,
                ..periodic
            }),
            Self::Sine { a, b, c, d } => Self::Sine {
                a: a * factor,
                b,
                c,
                d: d * factor,
            },
        }
    }

    /// Checks that it is always above 0 and can be meant; the error names the field.
    pub(super) fn check(self) -> Result<()> {
        match self {
            Self::Closed => Ok(()),
            Self::Constant { per_second } => possible("rate.constant.per_second", per_second),
            Self::Periodic(periodic) => periodic.check(),
            Self::Sine { a, b, c, d } => {
                positive("rate.sine.d", d)?;
                if !(a.is_finite() && b.is_finite() && c.is_finite()) || a.abs() >= d {
                    return fail(
                        "rate.sine",
                        "a must be smaller than d, so that the rate stays above 0",
                    );
                }
                possible("rate.sine.d - a", d - a.abs())?;
                possible("rate.sine.d + a", d + a.abs())
            }
        }
    }
}

fn possible(field: &str, rate: f64) -> Result<()> {
    within(field, rate, LEAST_RATE, MOST_RATE)
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Closed => f.write_str("closed loop"),
            Self::Constant { per_second } => write!(f, "{per_second:.0} a second"),
            Self::Periodic(it) => write!(
                f,
                "{:.0} a second for {} s, then {:.0} for {} s, by turns",
                it.high,
                it.seconds,
                it.low,
                it.low_phase()
            ),
            Self::Sine { a, d, .. } => write!(f, "{d:.0} ±{:.0} a second", a.abs()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const UNEVEN: Rate = Rate::Periodic(Periodic {
        high: 100.0,
        low: 10.0,
        seconds: 5.0,
        low_seconds: Some(1.0),
    });

    #[test]
    fn phases_take_turns() {
        let rates = [4.9, 5.1, 6.1].map(|t| UNEVEN.at(t));
        assert_eq!(rates, [Some(100.0), Some(10.0), Some(100.0)]);
        assert_eq!((UNEVEN.highest(), UNEVEN.mean()), (Some(100.0), Some(85.0)));
        let Rate::Periodic(uneven) = UNEVEN else {
            panic!("{UNEVEN:?}")
        };
        let even = Periodic {
            low_seconds: None,
            ..uneven
        };
        assert_eq!((even.low_phase(), even.period()), (5.0, 10.0));
        assert_eq!(Rate::Periodic(even).mean(), Some(55.0));
        assert_eq!(
            UNEVEN.to_string(),
            "100 a second for 5 s, then 10 for 1 s, by turns"
        );
    }

    #[test]
    fn a_factor_keeps_the_phases_and_their_proportion() {
        let twice = UNEVEN.times(2.0);
        assert_eq!([4.9, 5.1].map(|t| twice.at(t)), [Some(200.0), Some(20.0)]);
        let constant = Rate::Constant { per_second: 3.0 };
        assert_eq!(constant.times(0.5).mean(), Some(1.5));
        assert_eq!(Rate::Closed.times(9.0), Rate::Closed);
    }

    #[test]
    fn a_sine_swings_about_its_mean() {
        let sine = Rate::Sine {
            a: -50.0,
            b: std::f64::consts::TAU,
            c: 0.0,
            d: 100.0,
        };
        assert_eq!(sine.at(0.25), Some(50.0));
        assert_eq!((sine.highest(), sine.mean()), (Some(150.0), Some(100.0)));
        assert_eq!((sine.period(), UNEVEN.period()), (Some(1.0), Some(6.0)));
    }

    #[test]
    fn a_closed_loop_offers_nothing() {
        let closed = Rate::Closed;
        assert_eq!(
            (closed.at(1.0), closed.highest(), closed.mean()),
            (None, None, None)
        );
        assert_eq!(closed.period(), None);
    }
}
