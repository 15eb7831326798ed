//! What a workload must satisfy beyond its form. Each error names the field.

use super::rate::Rate;
use super::schema::{DrawnSize, Keys, Mix, MixgraphKeys, Session, Size, Workload};
use crate::error::{BenchError, Result};

/// Shortest key that holds a number and the byte that tells absent keys apart.
pub const SHORTEST_KEY: usize = 17;
/// Largest value: RocksDB takes more, but a benchmark of it would need other settings.
const LARGEST_VALUE: u64 = 16 << 20;
/// More entries are a mistake.
const MOST_ENTRIES: u64 = 10_000_000_000_000;
/// More entries can only be simulated: the harness keeps a byte of memory for each.
const MOST_DRIVEN_ENTRIES: u64 = 10_000_000_000;
/// More operations in a session are a mistake: those that become due are counted one by one before
/// anything runs.
const MOST_OPERATIONS: f64 = 1e10;
/// Seconds above which the length of a session is a mistake: some four months.
const MOST_SECONDS: f64 = 1e7;
/// Share of all keys that deletes may remove before reads of existing keys degenerate.
const LARGEST_DELETED_SHARE: f64 = 0.8;

/// Checks every field of `workload`.
pub fn check(workload: &Workload) -> Result<()> {
    check_head(workload)?;
    if workload.sessions.is_empty() {
        return fail("session", "there is none; add at least one [[session]]");
    }
    for (i, session) in workload.sessions.iter().enumerate() {
        let place = format!("session[{i}] (\"{}\")", session.name);
        check_session(session, workload).map_err(|e| BenchError::new(format!("{place}.{e}")))?;
        if workload.sessions[..i]
            .iter()
            .any(|s| s.name == session.name)
        {
            return fail(&place, "the name is used twice; give each session its own");
        }
    }
    check_deletes(workload)
}

/// Checks that `workload` can be run, and not only simulated.
pub fn check_driven(workload: &Workload) -> Result<()> {
    if workload.entries > MOST_DRIVEN_ENTRIES {
        return fail(
            "entries",
            "at most 10,000,000,000 can be measured, for a byte of memory is kept for each; give \
             fewer, or look at it with `lissom sim`",
        );
    }
    Ok(())
}

fn check_head(workload: &Workload) -> Result<()> {
    let name_ok = |c: char| c.is_ascii_alphanumeric() || c == '-';
    if workload.name.is_empty() || !workload.name.chars().all(name_ok) {
        return fail("name", "use letters, digits and dashes only");
    }
    if workload.entries < 1000 {
        return fail("entries", "there must be at least 1000");
    }
    if workload.entries > MOST_ENTRIES {
        return fail("entries", "there must be at most 10,000,000,000,000");
    }
    if !(SHORTEST_KEY..=1024).contains(&workload.key_size) {
        return fail("key_size", "it must lie in 17..=1024 bytes");
    }
    check_size("value_size", workload.value_size, 10, LARGEST_VALUE)?;
    within("compressible_share", workload.compressible_share, 0.0, 1.0)?;
    within(
        "fill.updates_per_entry",
        workload.fill.updates_per_entry,
        0.0,
        100.0,
    )?;
    within("fill.random_phase", workload.fill.random_phase, 0.0, 100.0)?;
    within("fill.share", workload.fill.share, 0.0, 1.0)?;
    check_share(workload)
}

/// Keys that were never written are told apart from deleted ones by there being none of
/// those, and updates before the first session would write keys that do not exist.
fn check_share(workload: &Workload) -> Result<()> {
    if workload.fill.share >= 1.0 {
        return Ok(());
    }
    if workload.fill.updates_per_entry > 0.0 || workload.fill.random_phase > 0.0 {
        return fail(
            "fill.share",
            "below 1 nothing can be updated before the first session; set updates_per_entry \
             and random_phase to 0",
        );
    }
    let deletes = |it: &&Session| it.mix.delete > 0.0;
    match workload.sessions.iter().find(deletes) {
        Some(session) => fail(
            "fill.share",
            &format!(
                "below 1 no session can delete, and \"{}\" does; remove mix.delete",
                session.name
            ),
        ),
        None => Ok(()),
    }
}

fn check_session(session: &Session, workload: &Workload) -> Result<()> {
    if session.name.is_empty() || session.name == super::CLOSING_SESSION {
        return fail(
            "name",
            "it must be neither empty nor \"closing\", which is the harness's own",
        );
    }
    check_length(session)?;
    session.rate.check()?;
    check_operations(session, workload)?;
    check_keys(session.keys, workload)?;
    check_size("scan_length", session.scan_length, 1, 100_000)?;
    check_mix(&session.mix)
}

fn check_length(session: &Session) -> Result<()> {
    let given = [
        session.operations_per_entry.is_some(),
        session.operations.is_some(),
        session.seconds.is_some(),
    ];
    if given.iter().filter(|g| **g).count() != 1 {
        return fail(
            "operations_per_entry",
            "give exactly one of operations_per_entry, operations and seconds",
        );
    }
    if session.seconds.is_some() && session.rate == Rate::Closed {
        return fail(
            "seconds",
            "a closed loop of fixed time would give each arm other operations; \
             give operations_per_entry, or offer a rate",
        );
    }
    for (field, value) in [
        ("operations_per_entry", session.operations_per_entry),
        ("seconds", session.seconds),
    ] {
        if let Some(value) = value {
            positive(field, value)?;
        }
    }
    if session
        .seconds
        .is_some_and(|seconds| seconds > MOST_SECONDS)
    {
        return fail("seconds", "it must be at most 10,000,000");
    }
    match session.operations {
        Some(0) => fail("operations", "it must be above 0"),
        _ => Ok(()),
    }
}

/// By the highest rate where operations become due for a given time.
fn check_operations(session: &Session, workload: &Workload) -> Result<()> {
    let given = session.operations.map(|operations| operations as f64);
    let by_entry = session.operations_per_entry;
    let by_entry = by_entry.map(|operations| operations * workload.entries as f64);
    let offered = session.seconds.zip(session.rate.highest());
    let offered = offered.map(|(seconds, rate)| seconds * rate);
    if given.or(by_entry).or(offered).unwrap_or(0.0) <= MOST_OPERATIONS {
        return Ok(());
    }
    fail(
        "operations",
        "there would be more than 10,000,000,000; lower the operations, the seconds or the rate",
    )
}

fn check_keys(keys: Keys, workload: &Workload) -> Result<()> {
    match keys {
        Keys::Uniform => Ok(()),
        Keys::Zipf { theta } => within("keys.zipf.theta", theta, 0.01, 5.0),
        Keys::Latest { theta } => within("keys.latest.theta", theta, 0.01, 5.0),
        Keys::HotSet { fraction, share } => {
            within("keys.hot_set.fraction", fraction, 1e-6, 1.0)?;
            within("keys.hot_set.share", share, 0.0, 1.0)
        }
        Keys::Mixgraph(model) => check_mixgraph(&model, workload),
    }
}

fn check_mixgraph(model: &MixgraphKeys, workload: &Workload) -> Result<()> {
    if !(1..=1000).contains(&model.keyrange_num) || model.keyrange_num > workload.entries {
        return fail(
            "keys.mixgraph.keyrange_num",
            "it must lie in 1..=1000 and not exceed entries",
        );
    }
    positive("keys.mixgraph.key_dist_a", model.key_dist_a)?;
    positive("keys.mixgraph.key_dist_b", model.key_dist_b)?;
    if crate::generate::range_weights(model)
        .iter()
        .any(|w| !w.is_finite() || *w < 0.0)
    {
        return fail(
            "keys.mixgraph.keyrange_dist_a",
            "the range weights must be finite and not negative",
        );
    }
    Ok(())
}

fn check_mix(mix: &Mix) -> Result<()> {
    let weights = mix.weights();
    if weights.iter().any(|w| !w.is_finite() || *w < 0.0) {
        return fail("mix", "weights must be finite and not negative");
    }
    if weights.iter().sum::<f64>() <= 0.0 {
        return fail(
            "mix",
            "all weights are 0; give at least one operation a weight",
        );
    }
    Ok(())
}

/// Deletes must leave enough keys for the reads of existing keys.
fn check_deletes(workload: &Workload) -> Result<()> {
    let entries = workload.entries as f64;
    let (mut keys, mut deleted) = (entries, 0.0);
    for session in &workload.sessions {
        let mix = session.mix;
        let per_weight =
            session.length(workload.entries) as f64 / mix.weights().iter().sum::<f64>();
        keys += mix.put * per_weight;
        deleted += mix.delete * per_weight;
        if deleted > keys * LARGEST_DELETED_SHARE {
            return fail(
                &format!("session (\"{}\").mix.delete", session.name),
                "more than 80 % of all keys would be deleted; lower it or add puts before",
            );
        }
    }
    Ok(())
}

fn check_size(field: &str, size: Size, least: u64, most: u64) -> Result<()> {
    let (min, max) = match size {
        Size::Fixed(bytes) => (bytes, bytes),
        Size::Drawn(DrawnSize::Uniform { min, max }) => (min, max),
        Size::Drawn(DrawnSize::Pareto {
            theta,
            k,
            sigma,
            min,
            max,
        }) => {
            positive(&format!("{field}.pareto.sigma"), sigma)?;
            if !(theta.is_finite() && k.is_finite()) {
                return fail(&format!("{field}.pareto"), "theta and k must be finite");
            }
            (min, max)
        }
    };
    if min < least || max > most || min > max {
        return fail(
            field,
            &format!("it must lie in {least}..={most}, smallest first"),
        );
    }
    Ok(())
}

pub(super) fn positive(field: &str, value: f64) -> Result<()> {
    if value.is_finite() && value > 0.0 {
        return Ok(());
    }
    fail(field, "it must be a finite number above 0")
}

pub(super) fn within(field: &str, value: f64, low: f64, high: f64) -> Result<()> {
    if (low..=high).contains(&value) {
        return Ok(());
    }
    fail(field, &format!("it must lie in {low}..={high}"))
}

pub(super) fn fail<T>(field: &str, sentence: &str) -> Result<T> {
    Err(BenchError::new(format!("{field}: {sentence}")))
}
