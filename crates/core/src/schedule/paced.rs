//! A full level gives what it holds as it takes in more, rather than at once: the "gear"
//! of bLSM (Sears and Ramakrishnan, SIGMOD 2012). L0 is merged as soon as it is due.
//! Only while hardly anybody needs the machine does everything go on.

use std::time::Duration;

use super::{DeepOrder, LoadModel, Order, Phase, PhaseLimits, Phases, Schedule, Seen};

/// From this share of the machine on, users are there.
const BUSY: f64 = 0.2;

/// Under this share nobody is.
const IDLE: f64 = 0.1;

/// The schedule.
#[derive(Clone, Debug)]
pub struct Paced {
    phases: Phases,
}

impl Default for Paced {
    fn default() -> Paced {
        let limits = PhaseLimits {
            high: BUSY,
            low: IDLE,
            ..PhaseLimits::default()
        };
        Paced {
            phases: Phases::new(limits),
        }
    }
}

impl Schedule for Paced {
    fn name(&self) -> String {
        "paced".into()
    }

    fn interval(&self) -> Duration {
        Duration::from_secs(1)
    }

    fn needs_processors(&self) -> bool {
        true
    }

    fn order(&mut self, seen: &Seen) -> Order {
        let pressure = LoadModel::Scarcest.pressure(&seen.load, &seen.conditions);
        match self.phases.after(pressure) {
            Phase::Low => Order::all(
                Phase::Low,
                "hardly anybody needs the machine: everything goes on",
            ),
            Phase::High => Order {
                deep: DeepOrder::Paced,
                ..Order::all(
                    Phase::High,
                    "users need the machine: full levels give as much as they take in",
                )
            },
        }
    }
}
