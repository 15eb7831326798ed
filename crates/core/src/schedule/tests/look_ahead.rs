//! Looking ahead over loads that come again.

mod even;
mod foreseen;
mod scarce;

use super::*;

/// Bytes a second of a device that leaves less at high load than merges need.
const SLOW: f64 = 99e6;

/// A second on another device, of as high a load.
fn on(device: f64, at: u64, client: f64, files: usize) -> Seen {
    let mut now = super::seen(at, client * device / 350e6, files);
    now.conditions.device_bytes_per_second = device;
    now
}

fn seen(at: u64, client: f64, files: usize) -> Seen {
    on(SLOW, at, client, files)
}

/// What came of a flight's last cycle: the most files, and at high load how many
/// intervals waited and how many did not.
#[derive(Debug)]
struct Flown {
    most: usize,
    waited: u64,
    merged: u64,
    bounded: u64,
}

/// Flies a schedule over phases of low and high load; L0 grows by a file a second and
/// is merged as the order lets it.
fn fly(schedule: &mut dyn Schedule, low: u64, high: u64, cycles: u64) -> Flown {
    let mut files = 0f64;
    let mut flown = Flown {
        most: 0,
        waited: 0,
        merged: 0,
        bounded: 0,
    };
    for at in 0..cycles * (high + low) {
        let is_high = at % (high + low) >= low;
        files += 1.0;
        let now = seen(at, if is_high { HIGH } else { CALM }, files as usize);
        let wanted = schedule.order(&now);
        let order = now.debt.bounded(&BOUNDS, wanted.clone());
        let rate = order.bytes_per_second.map_or(SLOW, |rate| rate as f64);
        // A file of 2 MB is flushed; it is read and written, with what it overlaps
        // where it is merged into a run.
        let left = rate - 2e6;
        files -= match order.level0 {
            Level0Order::Merge => left / 8e6,
            Level0Order::MergeApart => left / 4e6,
            Level0Order::Wait => 0.0,
        };
        files = files.max(0.0);
        if at >= (cycles - 1) * (high + low) {
            flown.most = flown.most.max(files as usize);
            flown.bounded += u64::from(order != wanted);
            if is_high && order.level0 == Level0Order::Wait {
                flown.waited += 1;
            } else if is_high {
                flown.merged += 1;
            }
        }
    }
    flown
}

/// The megabytes that a low phase can merge, as an order tells it.
fn can_merge(order: &Order) -> f64 {
    let (_, figure) = order.why.split_once("can merge ").expect("a figure");
    let (megabytes, _) = figure.split_once(" MB").expect("a unit");
    megabytes.parse().expect("a number")
}

/// The schedule of a process that begins with what an earlier one has learned.
fn restarted(state: &serde_json::Value) -> LookAhead {
    let mut schedule = LookAhead::new(BOUNDS, DEVICE);
    schedule.restore(state).expect("its own state");
    schedule
}
