//! A workload and an arm in the simulator's words.

use lissom::Settings;
use lissom::core::filters::FilterAllocation;
use lissom_sim::{Mix, Popularity, Scenario, Session, StoreModel};

use super::{Contender, SimulationPlan};
use crate::arms::settings_of;
use crate::error::{BenchError, Result};
use crate::workload::{self, KeyOrder, Keys, Rate};

/// RocksDB's default, which no arm changes.
const BLOCK_BYTES: f64 = 4096.0;

/// The scenario of one arm.
///
/// # Errors
/// Keys in an order or a distribution that the model does not know.
pub(super) fn scenario(plan: &SimulationPlan, contender: &Contender) -> Result<Scenario> {
    let workload = &plan.workload;
    if workload.key_order != KeyOrder::Hashed {
        return Err(BenchError::new(format!(
            "workload {}: key_order: the simulator does not know ordered keys; use hashed ones, \
             or measure it with `lissom bench`",
            workload.name
        )));
    }
    if workload.loaded_entries() < workload.entries {
        return Err(BenchError::new(format!(
            "workload {}: fill.share: the simulator knows only loads of all entries; set it to \
             1, or measure it with `lissom bench`",
            workload.name
        )));
    }
    let entry_bytes = workload.entry_bytes();
    let sessions = workload.measured_sessions();
    let sessions = sessions
        .iter()
        .map(|session| self::session(session, workload.entries))
        .collect::<Result<_>>()
        .map_err(|error| error.at(format!("workload {}", workload.name)))?;
    Ok(Scenario {
        store: store(plan, contender, entry_bytes),
        machine: plan.machine,
        entries: workload.entries,
        warm_updates: workload.fill.updates_per_entry + workload.fill.random_phase / 2.0,
        sessions,
        policy: contender.policy.clone(),
        frozen: contender.frozen,
        allowance: plan.resources.allowance(),
        schedule: contender.schedule.unwrap_or_default(),
        noise: plan.noise,
        slow_noise: plan.slow_noise,
        timed_one_in: plan.timed_one_in,
        seed: plan.seed,
    })
}

fn store(plan: &SimulationPlan, contender: &Contender, entry_bytes: f64) -> StoreModel {
    let settings = settings_of(contender.policy.clone(), &plan.resources);
    let filters = contender.policy.filters().unwrap_or(plan.filters);
    StoreModel {
        device_bytes_per_second: plan.device_bytes_per_second.map(|bytes| bytes as f64),
        ..store_of(&settings, filters, BLOCK_BYTES, entry_bytes)
    }
}

/// The store that has these settings, whose filters, blocks and entries are told apart.
pub(crate) fn store_of(
    settings: &Settings,
    filters: FilterAllocation,
    block_bytes: f64,
    entry_bytes: f64,
) -> StoreModel {
    StoreModel {
        shape: settings.shape(),
        workers: settings.workers,
        max_write_buffer_number: settings.max_write_buffer_number as usize,
        level0_stop_writes_trigger: settings.level0_stop_writes_trigger,
        debt_bounds: settings.debt_bounds(),
        device_bytes_per_second: settings.device_bytes_per_second.map(|bytes| bytes as f64),
        memory_budget_bytes: settings.memory_budget_bytes as f64,
        bloom_bits_per_key: settings.bloom_bits_per_key,
        filters,
        block_bytes,
        entry_bytes,
        mission_operations: settings.mission_operations,
        mission_seconds: settings.mission_time.as_secs_f64(),
    }
}

fn session(session: &workload::Session, entries: u64) -> Result<Session> {
    let mix = session.mix;
    let total: f64 = mix.weights().iter().sum();
    // A read and then a write of one key are two operations of the model.
    let both = mix.read_modify_write;
    let share = |weight: f64| weight / (total + both);
    let length = session.length(entries) as f64 * (total + both) / total;
    let refused = |what: &str| {
        BenchError::new(format!(
            "session \"{}\": keys: the simulator does not know {what}; use uniform, zipf or \
             hot_set, or measure it with `lissom bench`",
            session.name
        ))
    };
    Ok(Session {
        name: session.name.clone(),
        operations: length as u64,
        mix: Mix {
            get_present: share(mix.get_present + both),
            get_absent: share(mix.get_absent),
            put: share(mix.put),
            update: share(mix.update + both),
            delete: share(mix.delete),
            scan: share(mix.scan),
        },
        keys: match session.keys {
            Keys::Uniform => Popularity::Uniform,
            Keys::Zipf { theta } => Popularity::Zipf { theta },
            Keys::HotSet { fraction, share } => Popularity::HotSet { fraction, share },
            Keys::Latest { .. } => return Err(refused("keys by age (latest)")),
            Keys::Mixgraph(_) => return Err(refused("key ranges (mixgraph)")),
        },
        scan_length: session.scan_length.mean(),
        rate: rate(session.rate, (total + both) / total),
        policy: None,
        settles: false,
    })
}

/// The rate that is offered, of so many operations of the model for each; of a sine its
/// mean.
fn rate(rate: Rate, each: f64) -> Option<lissom_sim::Rate> {
    if let Rate::Periodic(periodic) = rate {
        return Some(lissom_sim::Rate::Periodic {
            high: periodic.high * each,
            low: periodic.low * each,
            high_seconds: periodic.seconds,
            low_seconds: periodic.low_phase(),
        });
    }
    let mean = rate.mean()?;
    Some(lissom_sim::Rate::Constant(mean * each))
}
