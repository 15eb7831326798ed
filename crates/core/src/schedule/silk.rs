//! SILK (ATC 2019): flushes and L0 go on at any load; what lies deeper waits while the
//! load is high, between two pieces. All of it gets what bandwidth the users leave,
//! flushes first. At low load the planner's own order holds, which puts L0 first where
//! nothing deeper is more urgent.

use std::time::Duration;

use super::{
    DeepOrder, FullLoad, LEAST_INTERVAL, Load, LoadModel, Order, Phase, PhaseLimits, Phases,
    Schedule, Seen, leftover,
};

/// SILK looks at the load this often.
const INTERVAL: Duration = LEAST_INTERVAL;

/// Looks in a second.
const LOOKS: f64 = 100.0;

/// DLC's load is one of whole seconds.
const INTERVAL_STAR: Duration = Duration::from_secs(1);

/// From this share of the files that may wait on, L0 is merged at any rate.
const HURRY: f64 = 0.75;

/// The schedule.
#[derive(Clone, Debug)]
pub struct Silk {
    model: LoadModel,
    phases: Phases,
    full: FullLoad,
    max_level0_files: usize,
    /// How long a look lasts that comes in time.
    look: Duration,
    /// Weight of all that was seen before, after such a look.
    kept: f64,
    client: Option<f64>,
}

impl Silk {
    /// As published: its own load model, looked at every 10 ms. Over so short a time a load
    /// is noise: it is smoothed over a second, or over what stands for one, and low after
    /// three of them as DLC's, which the published one is not. Both go by time: looks come
    /// late where cores are scarce.
    pub fn new(max_level0_files: usize, full: FullLoad, second: Duration) -> Silk {
        let looks = looks_in(second);
        let phases = PhaseLimits::default();
        Silk {
            model: LoadModel::Operations,
            phases: Phases::new(PhaseLimits {
                // As long as DLC's.
                softness: phases.softness * looks,
                ..phases
            }),
            full,
            max_level0_files,
            look: second / looks,
            kept: 1.0 - 1.0 / f64::from(looks),
            client: None,
        }
    }

    /// With DLC's load model, as the rival in its evaluation.
    pub fn star(max_level0_files: usize, full: FullLoad) -> Silk {
        Silk {
            model: LoadModel::CacheAdditions,
            phases: Phases::new(PhaseLimits::default()),
            full,
            max_level0_files,
            look: INTERVAL_STAR,
            kept: 0.0,
            client: None,
        }
    }

    /// How many looks an interval stands for: with DLC's load model one, whatever stands for
    /// its second.
    fn looks(&self, load: &Load) -> f64 {
        if self.is_star() {
            1.0
        } else {
            load.interval.as_secs_f64() / self.look.as_secs_f64()
        }
    }

    fn is_star(&self) -> bool {
        self.model == LoadModel::CacheAdditions
    }
}

/// Looks in what stands for a second: fewer where time is compressed, since no schedule
/// looks more often.
fn looks_in(second: Duration) -> u32 {
    let looks = second.as_secs_f64() / INTERVAL.as_secs_f64();
    looks.round().clamp(1.0, LOOKS) as u32
}

impl Schedule for Silk {
    fn name(&self) -> String {
        if self.is_star() { "silk-star" } else { "silk" }.into()
    }

    fn interval(&self) -> Duration {
        if self.is_star() {
            INTERVAL_STAR
        } else {
            INTERVAL
        }
    }

    fn order(&mut self, seen: &Seen) -> Order {
        let now = self.model.client(&seen.load, &seen.conditions);
        let before = self.client.unwrap_or(now);
        let looks = self.looks(&seen.load);
        let client = now + self.kept.powf(looks) * (before - now);
        self.client = Some(client).filter(|client| client.is_finite());
        let share = self.full.share_of_bytes(client, &seen.conditions);
        let phase = self.phases.after_intervals(share, looks);
        let hurry = HURRY * self.max_level0_files as f64;
        let debt = &seen.debt;
        let in_a_hurry = debt.level0_files as f64 >= hurry || debt.is_filled_to(HURRY);
        let rate = leftover(seen, share);
        let order = Order::all(phase, "the load is low: everything goes on");
        Order {
            bytes_per_second: (!in_a_hurry).then_some(rate),
            ..match phase {
                Phase::Low => order,
                Phase::High => Order {
                    deep: DeepOrder::AtMost(0),
                    why: "the load is high: only L0 is merged".into(),
                    ..order
                },
            }
        }
    }
}
