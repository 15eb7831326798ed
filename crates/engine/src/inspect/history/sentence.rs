//! An event of the journal as a sentence.

use std::time::Duration;

use lissom_core::journal::{Event, Outcome};
use lissom_core::schedule::{Debt, DeepOrder, Level0Order, Order};
use lissom_core::tuner::{Change, Trial};
use lissom_core::{Layout, PhysicalLevel, Plan, PlanKind, Shape};
use serde_json::{Map, Value};

use crate::inspect::{bytes, merges, portrait};

/// An event as a sentence; `None` when it decides nothing.
pub(super) fn sentence<'a>(
    event: &Event,
    outcome: impl Fn(&u64) -> Option<&'a Outcome>,
) -> Option<String> {
    match event {
        Event::Begin { policy, limits, .. } => Some(format!(
            "the autopilot began with {policy}, run limits {limits}"
        )),
        Event::Policy { policy, .. } => Some(format!("{policy} was set as the policy")),
        Event::Limits { limits, why } => Some(format!("run limits {limits}; {why}")),
        Event::Shape { before, shape } => Some(format!(
            "the tree has other dimensions: {}",
            differences(before, shape)
        )),
        Event::Mission { trial, pinned, .. } => answered(trial, *pinned),
        Event::DrainBegin { drain } => Some(format!(
            "drain #{} of {} into {} began, because {}",
            drain.id.0,
            place(drain.top),
            place(drain.target),
            drain.reason
        )),
        Event::DrainEnd { drain, left_bytes } => Some(merges::ending(*drain, *left_bytes)),
        Event::CompactionBegin { compaction, plan } => {
            let came = outcome(compaction).map_or("no outcome yet".into(), came);
            Some(format!("{}, because {}: {came}", work(plan), plan.reason))
        }
        Event::CompactionEnd { .. } => None,
        Event::Schedule {
            order,
            debt,
            catch_up,
            device_is_known,
            ..
        } => Some(ordered(order, debt, *catch_up, *device_is_known)),
        Event::Note { text } => Some(text.clone()),
    }
}

/// What a tuner changes, has merged, gives up and puts off; nothing where it does none of that.
fn answered(trial: &Trial, pinned: bool) -> Option<String> {
    let wishes = said(&[
        (&trial.changes, ""),
        (&trial.consolidate, " is to be merged"),
        (&trial.push_down, " is to go down"),
        (&trial.waits, " is not merged yet"),
    ]);
    // What a pin does not hold up.
    let given_up = said(&[(&trial.abandon, " is merged no further")]);
    let effect = if pinned && !wishes.is_empty() {
        ", without effect: the limits are pinned"
    } else {
        ""
    };
    let all = [wishes, given_up].concat().join("; ");
    (!all.is_empty()).then(|| format!("run limits {}{effect}; {all}", trial.limits))
}

fn said(parts: &[(&Vec<Change>, &str)]) -> Vec<String> {
    let parts = parts.iter().flat_map(|(changes, what)| {
        let of = move |change: &Change| format!("{}{what}: {}", change.level, change.why);
        changes.iter().map(of)
    });
    parts.collect()
}

/// What holds from now on under a schedule, and what is owed.
fn ordered(
    order: &Order,
    debt: &Debt,
    catch_up: Option<Duration>,
    device_is_known: bool,
) -> String {
    let deep = match order.deep {
        DeepOrder::AtMost(0) => ", nothing below it is".into(),
        DeepOrder::AtMost(most) => format!(", at most {most} below it at a time"),
        DeepOrder::Paced => ", full levels give as much as they take in".into(),
        DeepOrder::All => String::new(),
    };
    let level0 = match order.level0 {
        Level0Order::Merge => "L0 is merged",
        Level0Order::MergeApart => "L0 is merged by itself",
        Level0Order::Wait => "L0 waits",
    };
    let catch_up = match catch_up {
        Some(time) => format!("{:.1} s to catch up", time.as_secs_f64()),
        None if device_is_known => "more than the device can do".into(),
        None => "how long catching up takes is not known, nor is the device's speed".into(),
    };
    format!(
        "{level0}{deep}: {}; {} files wait in L0, {catch_up}",
        order.why, debt.level0_files
    )
}

/// The dimensions that differ, by their names.
fn differences(before: &Shape, now: &Shape) -> String {
    let (before, now) = (dimensions(before), dimensions(now));
    let differ = now.iter().filter_map(|(name, value)| {
        let old = before.get(name).filter(|old| *old != value)?;
        Some(format!("{name} is {value} instead of {old}"))
    });
    differ.collect::<Vec<_>>().join(", ")
}

fn dimensions(shape: &Shape) -> Map<String, Value> {
    match serde_json::to_value(shape) {
        Ok(Value::Object(dimensions)) => dimensions,
        _ => Map::new(),
    }
}

fn work(plan: &Plan) -> String {
    let count = plan.files().count();
    let verb = match plan.kind {
        PlanKind::Merge => "merged",
        PlanKind::Move => "moved",
    };
    let files = if count == 1 { "file" } else { "files" };
    let excess = if plan.excess.is_some() {
        ", over the bound"
    } else {
        ""
    };
    format!(
        "{verb} {count} {files} ({}{excess}) from {} to {}",
        bytes(plan.input_bytes),
        place(plan.top()),
        place(plan.output)
    )
}

fn came(outcome: &Outcome) -> String {
    match outcome {
        Outcome::Done {
            read_bytes: 0,
            write_bytes: 0,
            ..
        } => "done, nothing rewritten".into(),
        Outcome::Done {
            write_bytes, took, ..
        } => format!(
            "done, {} written in {:.2} s",
            bytes(*write_bytes),
            took.as_secs_f64()
        ),
        Outcome::Stale { why } => format!("not begun, {why}"),
        Outcome::Cancelled => "cancelled".into(),
        Outcome::Failed { error } => format!("failed, {error}"),
    }
}

fn place(level: PhysicalLevel) -> String {
    portrait::place(&Layout::V1, level)
}
