//! Sessions that take turns, with a clock of the test's own.

use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use super::plan;
use crate::drive::LatencySummary;
use crate::drive::testing::{FakeClock, millis};
use crate::error::Result;
use crate::generate::{DataShape, Partition};
use crate::store::{Counters, Shape, Store};
use crate::trial::board::Board;
use crate::trial::drive::Sessions;
use crate::trial::{System, TrialPlan};
use crate::workload::parse_workload;

/// Two portions of each session.
const TURNS: &str = r#"
name = "turns"
about = "For tests."
entries = 1000
value_size = 100
[[session]]
name = "offered"
operations = 10_000
rate = { constant = { per_second = 1000 } }
mix = { update = 1 }
[[session]]
name = "closed"
operations = 10_000
mix = { update = 1 }
"#;

/// A store whose writes take the clock's time, and that ends the trial after some of them.
struct Slow<'a> {
    clock: &'a FakeClock,
    takes: Duration,
    left: AtomicU64,
    stop: &'a AtomicBool,
}

impl Store for Slow<'_> {
    fn get(&self, _: &[u8], _: &mut Vec<u8>) -> Result<bool> {
        Ok(false)
    }

    fn put(&self, _: &[u8], _: &[u8]) -> Result<()> {
        self.clock.pass(self.takes);
        if self.left.fetch_sub(1, Ordering::Relaxed) == 1 {
            self.stop.store(true, Ordering::Release);
        }
        Ok(())
    }

    fn delete(&self, _: &[u8]) -> Result<()> {
        Ok(())
    }

    fn scan(&self, _: &[u8], _: u64, _: &mut dyn FnMut(&[u8], &[u8])) -> Result<()> {
        Ok(())
    }

    fn counters(&self) -> Counters {
        Counters::default()
    }

    fn take_largest_piece(&self) -> u64 {
        0
    }

    fn shape(&self) -> Shape {
        Shape::default()
    }

    fn settle(&self, _: Duration) -> Result<bool> {
        Ok(true)
    }

    fn close(self: Box<Self>) -> Result<()> {
        Ok(())
    }
}

/// Latencies of a pass through both sessions if a write takes so long.
fn pass(takes: Duration) -> LatencySummary {
    let workload = parse_workload(TURNS, "f").unwrap();
    let data = DataShape::new(&workload);
    let mut partitions = Partition::all(1, &workload, &data);
    let plan = TrialPlan {
        workload,
        threads: 1,
        ..plan(System::RocksDb, String::new(), Path::new("unused"))
    };
    let (clock, stop) = (FakeClock::default(), AtomicBool::new(false));
    let store = Slow {
        clock: &clock,
        takes,
        left: AtomicU64::new(20_000),
        stop: &stop,
    };
    let board = Board::new(&partitions);
    let sessions = Sessions {
        plan: &plan,
        store: &store,
        data: &data,
        board: &board,
        clock: &clock,
        stop: &stop,
    };
    sessions.run(&mut partitions).unwrap();
    board.take().over(|_| true)
}

#[test]
fn what_a_store_owes_at_the_end_of_a_turn_is_not_forgiven() {
    // It carries half of what is offered: the last of ten thousand operations waits ten seconds,
    // and not the five of a single portion; the other session's time is none of them.
    let behind = pass(millis(2));
    assert_eq!(behind.count, 20_000);
    let longest = behind.max / 1e6;
    assert!((longest - 10.0).abs() < 0.2, "{longest} s");
    let in_time = pass(Duration::from_micros(500));
    assert!((in_time.max - 500.0).abs() < 10.0, "{} us", in_time.max);
}
