//! The intervals of one session of a run.

use crate::drive::Sample;
use crate::run::ArmRun;
use crate::workload::{Periodic, Rate};

/// Points at which a rate that changes all the time is looked at in an interval.
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
        if let Rate::Periodic(rates) = rate {
            return (due(&rates, self.to) - due(&rates, self.from)) / length;
        }
        let sum: f64 = (0..POINTS)
            .map(|point| (f64::from(point) + 0.5) / f64::from(POINTS))
            .filter_map(|share| rate.at(self.from + share * length))
            .sum();
        sum / f64::from(POINTS)
    }

    /// The 99th percentile of its latencies, in microseconds. `None` where nothing ended:
    /// that is no low latency, but most likely a stall.
    pub fn p99(&self) -> Option<f64> {
        let latency = &self.sample.latency;
        (!latency.is_empty()).then_some(latency.p99)
    }

    /// Its length in seconds.
    pub fn seconds(&self) -> f64 {
        self.to - self.from
    }
}

/// Operations that are due until a time.
fn due(rates: &Periodic, until: f64) -> f64 {
    let period = rates.period();
    let rest = until % period;
    // A quotient may be rounded over a border that the rest has not passed.
    let periods = ((until - rest) / period).round();
    let whole = rates.high * rates.seconds + rates.low * rates.low_phase();
    let high = rest.min(rates.seconds);
    periods * whole + high * rates.high + (rest - high) * rates.low
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interval_over_a_border_is_offered_its_share_of_either_rate() {
        let rate = Rate::Periodic(Periodic {
            high: 1000.0,
            low: 100.0,
            seconds: 15.0,
            low_seconds: Some(3.0),
        });
        let sample = Sample::default();
        let offered = |from: f64, to: f64| {
            let sample = &sample;
            Interval { from, to, sample }.offered(rate)
        };
        let cases = [
            (0.0, 1.0, 1000.0),
            (14.98, 15.98, 0.02 * 1000.0 + 0.98 * 100.0),
            (17.03, 18.03, 0.97 * 100.0 + 0.03 * 1000.0),
            // A session of 4,000 s, and an interval over more than a period.
            (3_996.0, 3_997.0, 1000.0),
            (5.0, 41.0, (2.0 * 15.0 * 1000.0 + 2.0 * 3.0 * 100.0) / 36.0),
        ];
        for (from, to, expected) in cases {
            let found = offered(from, to);
            assert!((found - expected).abs() < 1e-6, "{from}: {found}");
        }
        // No border, however it is rounded, gives or takes a period.
        for border in 1..1000 {
            let border = f64::from(border) * 18.0;
            for near in [border.next_down(), border, border.next_up()] {
                let found = offered(near - 1.0, near);
                assert!((found - 100.0).abs() < 1e-3, "{near}: {found}");
            }
        }
    }
}
