//! What every schedule promises. A plug-in calls this from its own tests.

use std::time::Duration;

use crate::schedule::{Conditions, Debt, DebtBounds, FLUSHES, Load, Order, Schedule, Seen};
use crate::shape::{RunLimit, RunLimits};
use crate::testing::{ENTRY_BYTES, Model, small_shape};

/// Checks a schedule: equal intervals give equal orders, each with a reason; the
/// processors' load changes none unless it asks for it; its state is taken back; no rate is
/// under what flushes need; and under the [bounds on debt](Debt::bounded) it lets L0 go in the end, whatever the
/// load, and the tree never comes to a stop.
///
/// # Panics
/// When the schedule breaks its contract.
pub fn schedule_contract(make: impl Fn(&DebtBounds) -> Box<dyn Schedule>) {
    for max_delayed_bytes in [4 * FLUSH_BYTES, u64::MAX] {
        let bounds = DebtBounds {
            max_level0_files: 12,
            max_delayed_bytes,
        };
        let (mut one, mut other) = (make(&bounds), make(&bounds));
        assert!(!one.name().is_empty() && one.interval() > Duration::ZERO);
        let blind = !one.needs_processors();
        let mut model = Model::new(small_shape(), RunLimits::uniform(RunLimit::ONE));
        for at in 0..600u64 {
            // Keys all over, so that levels fill and drain.
            model.flush((0..10).map(|key| (((at * 379 + key * 131) % 4_000) as u32, false)));
            let debt = owed(&model);
            assert!(debt.level0_files <= bounds.max_level0_files + 1, "{debt:?}");
            assert!(debt.level0_delayed_bytes <= max_delayed_bytes.saturating_add(FLUSH_BYTES));
            let seen = interval(at, debt);
            let order = debt.bounded(&bounds, one.order(&seen));
            let mut again = seen;
            if blind {
                again.load.user_cpu = None;
            }
            assert_eq!(order, debt.bounded(&bounds, other.order(&again)));
            assert!(!order.why.is_empty());
            // But for what rounding takes.
            let least = FLUSHES * seen.load.logged_per_second() - 1.0;
            let rate = order.bytes_per_second;
            assert!(rate.is_none_or(|rate| rate as f64 >= least), "{order:?}");
            obey(&mut model, order);
        }
        model.check();
        let state = one.state();
        make(&bounds)
            .restore(&state)
            .unwrap_or_else(|error| panic!("a schedule takes its own state back: {error}"));
    }
}

fn owed(model: &Model) -> Debt {
    let debt = Debt::of_level0(&model.tree());
    let trigger = small_shape().level0_file_num_compaction_trigger;
    Debt {
        level0_delayed_bytes: Debt::delayed(debt.level0_files, debt.level0_bytes, trigger),
        ..debt
    }
}

/// Bytes of a memtable of ten keys.
const FLUSH_BYTES: u64 = 10 * ENTRY_BYTES;

/// A load that is high in four intervals of five, then without end, with numbers that
/// cannot be among them.
fn interval(at: u64, debt: Debt) -> Seen {
    let high = at % 50 >= 10 || at > 300;
    Seen {
        load: Load {
            at: Duration::from_secs(at),
            time_of_day: Duration::from_secs(at * 997 % 86_400),
            clock: Duration::from_secs(at),
            interval: Duration::from_secs(u64::from(!at.is_multiple_of(17))),
            gets: if high { 10_000_000 } else { 1 },
            cached_bytes: if high { 1 << 40 } else { 0 },
            logged_bytes: at % 7 * 30_000_000,
            user_cpu: (!at.is_multiple_of(3)).then_some(if high { f64::NAN } else { 0.1 }),
            ..Load::default()
        },
        conditions: Conditions::default(),
        debt,
    }
}

/// Plans and carries out what an order lets, until that is nothing.
fn obey(model: &mut Model, order: Order) {
    model.order = order;
    for _ in 0..100 {
        if model.plan() == 0 {
            return;
        }
        while !model.running.is_empty() {
            model.finish(0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schedule::ScheduleKind;

    #[test]
    fn every_schedule_keeps_the_contract() {
        for kind in ScheduleKind::every() {
            schedule_contract(|bounds| kind.schedule(bounds));
        }
    }
}
