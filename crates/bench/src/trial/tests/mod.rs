//! Trials of both systems, in this process.

mod rota;
mod turns;
mod windows;

use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::Duration;

use lissom_search::export::{Format, write};
use lissom_search::space::{BuiltIn, Configuration, Constants, Setting};

use super::*;
use crate::drive::testing::millis;
use crate::workload::{Rate, Workload, load_workload};

fn small(name: &str) -> Workload {
    let mut workload = load_workload(name).unwrap();
    workload
        .sessions
        .iter_mut()
        .for_each(|session| session.rate = Rate::Closed);
    workload.sized(Some(2000), 1.0).unwrap()
}

fn plan(system: System, options: String, directory: &Path) -> TrialPlan {
    TrialPlan {
        workload: small("mixed-sessions"),
        system,
        options,
        directory: directory.to_path_buf(),
        time: millis(1000),
        window: millis(100),
        seed: 1,
        operations_seed: 1,
        threads: 2,
        limits: Limits {
            direct_io: false,
            rate_limit: None,
            memory: Some(64 << 20),
            base: None,
        },
        prepared: None,
    }
}

/// Small buffers, so that there is something to flush.
const RESOURCES: &str = "write_buffer_size=65536\n  target_file_size_base=65536";

fn options_file(lines: &str) -> String {
    format!("[DBOptions]\n[CFOptions \"default\"]\n  {RESOURCES}\n{lines}")
}

fn settings() -> String {
    "{\"write_buffer_size\": 65536, \"target_file_size_base\": 65536}".to_owned()
}

/// What a trial printed, and how it ended.
fn run(plan: &TrialPlan) -> (Vec<serde_json::Value>, Result<()>) {
    let mut output = Vec::new();
    let result = run_trial(plan, &mut output, || Ok(Signals::default()));
    let text = String::from_utf8(output).unwrap();
    let lines = text.lines().map(|line| serde_json::from_str(line).unwrap());
    (lines.collect(), result)
}

/// Lines of a trial that must go well.
fn measured(plan: &TrialPlan) -> Vec<serde_json::Value> {
    let (lines, result) = run(plan);
    result.unwrap();
    assert!(lines.iter().any(|it| it["ready"] == true), "{lines:?}");
    assert!(lines.len() > 2, "{lines:?}");
    let last = &lines[lines.len() - 1];
    for name in ["p99_micros", "memory_bytes", "space_amplification"] {
        assert!(last[name].as_f64().unwrap() > 0.0, "{name}: {lines:?}");
    }
    // In a single window nothing may go: a rate limit lets writers wait for longer.
    let throughput = lines.iter().filter_map(|it| it["throughput"].as_f64());
    assert!(throughput.fold(0.0, f64::max) > 0.0, "{lines:?}");
    lines
}

#[test]
fn both_systems_are_measured() {
    let directory = tempfile::tempdir().unwrap();
    for (system, options) in [
        (System::RocksDb, options_file("")),
        (System::Lissom, settings()),
    ] {
        let own = directory.path().join(system.to_string());
        let lines = measured(&plan(system, options, &own));
        // The first session writes more than a write buffer holds.
        let written = lines
            .iter()
            .filter_map(|it| it["write_amplification"].as_f64());
        assert!(written.fold(0.0, f64::max) > 0.0, "{system}: {lines:?}");
        let last = &lines[lines.len() - 1];
        assert_eq!(last["sessions"], 10, "{last}");
        assert!(last["sessions_visited"].as_u64() >= Some(1), "{last}");
    }
}

#[test]
fn what_rocksdb_adjusts_is_told_before_it_is_ready() {
    let directory = tempfile::tempdir().unwrap();
    let options =
        options_file("  max_write_buffer_number=2\n  min_write_buffer_number_to_merge=4\n");
    let lines = measured(&plan(System::RocksDb, options, directory.path()));
    let note = lines[0]["note"].as_str().unwrap_or_default();
    let says = "RocksDB uses min_write_buffer_number_to_merge=1 where the OPTIONS file says 4";
    assert_eq!(note, says, "{lines:?}");
}

#[test]
fn a_rate_limit_holds_for_both_systems() {
    let directory = tempfile::tempdir().unwrap();
    for (system, options) in [
        (System::RocksDb, options_file("")),
        (System::Lissom, settings()),
    ] {
        let own = directory.path().join(system.to_string());
        let mut plan = plan(system, options, &own);
        plan.workload = small("update-only");
        plan.workload.fill.random_phase = 0.0;
        let rate: u64 = 4 << 20;
        plan.limits.rate_limit = Some(rate);
        let lines = measured(&plan);
        // Every entry is in the log, which is charged; without a limit it is many times this.
        let (mut written, mut seconds) = (0.0, 0.0);
        for line in &lines[1..] {
            let took = line["seconds"].as_f64().unwrap();
            written += line["throughput"].as_f64().unwrap() * took * plan.workload.entry_bytes();
            seconds += took;
        }
        // What the limiter has saved up when the trial is ready is less than a second's.
        let most = rate as f64 * (seconds + 1.0);
        assert!(written <= most, "{system}: {written} of {most} bytes");
    }
}

#[test]
fn what_cannot_be_opened_says_why() {
    let directory = tempfile::tempdir().unwrap();
    for (number, (system, options, words)) in [
        (
            System::RocksDb,
            options_file("  no_such_option=1"),
            "no_such_option",
        ),
        (
            System::RocksDb,
            options_file("  num_levels=many"),
            "num_levels",
        ),
        (
            System::RocksDb,
            options_file("  soft_rate_limit=1"),
            "soft_rate_limit",
        ),
        (
            System::RocksDb,
            options_file("  compression=kXpressCompression"),
            "Xpress",
        ),
        (
            System::RocksDb,
            "{}".to_owned(),
            "line 1 of the OPTIONS file",
        ),
        (
            System::Lissom,
            "{\"size_ratio\": 1}".to_owned(),
            "size_ratio is 1",
        ),
        (System::Lissom, options_file(""), "not one JSON object"),
    ]
    .into_iter()
    .enumerate()
    {
        let own = directory.path().join(number.to_string());
        let (lines, result) = run(&plan(system, options, &own));
        let sentence = result.unwrap_err().to_string();
        assert!(sentence.starts_with("cannot open: "), "{sentence}");
        assert!(sentence.contains(words), "{words}: {sentence}");
        assert_eq!(lines.len(), 1, "{lines:?}");
        assert_eq!(lines[0]["error"], sentence);
    }
}

#[test]
fn every_kind_of_configuration_of_the_space_is_applied() {
    let space = BuiltIn::RocksDb.file().unwrap();
    let constants = Constants::new().with("memory", 256e6).with("cores", 2.0);
    let space = space.with(&constants).unwrap();
    let word = |word: &str| Setting::Choice(word.to_owned());
    let with = |changes: &[(&str, Setting)]| {
        let mut configuration = space.default_configuration();
        for (name, setting) in changes {
            configuration.set(*name, setting.clone());
        }
        configuration
    };
    let kinds: [Configuration; 3] = [
        with(&[]),
        with(&[
            ("compaction_style", word("kCompactionStyleUniversal")),
            ("filter_policy", word("ribbonfilter")),
            ("bloom_before_level", Setting::Integer(-1)),
            ("compression", word("kZSTD")),
        ]),
        with(&[
            (
                "level_compaction_dynamic_level_bytes",
                Setting::Boolean(false),
            ),
            ("filter_policy", word("bloomfilter")),
            ("num_levels", Setting::Integer(3)),
            ("cache_index_and_filter_blocks", Setting::Boolean(true)),
        ]),
    ];
    let directory = tempfile::tempdir().unwrap();
    let sets = directory.path().join("sets");
    for (number, configuration) in kinds.iter().enumerate() {
        let export = write(Format::RocksDb, &space, configuration).unwrap();
        let own = directory.path().join(number.to_string());
        let mut plan = plan(System::RocksDb, export.text, &own);
        plan.limits.memory = None;
        plan.time = millis(300);
        plan.prepared = Some(sets.clone());
        let (lines, result) = run(&plan);
        result.unwrap();
        assert!(lines.iter().any(|it| it["ready"] == true), "{lines:?}");
    }
}

/// Table files by inode.
fn tables(directory: &Path) -> Vec<u64> {
    let entries = std::fs::read_dir(directory).unwrap().flatten();
    let tables = entries.filter(|it| it.path().extension().is_some_and(|it| it == "sst"));
    tables.map(|it| it.metadata().unwrap().ino()).collect()
}

#[test]
fn a_prepared_set_is_loaded_once_and_stays_as_it_is() {
    let directory = tempfile::tempdir().unwrap();
    let sets = directory.path().join("sets");
    let table = "[TableOptions/BlockBasedTable \"default\"]\n  block_size=";
    let mut before = None;
    for (name, system, options) in [
        (
            "first",
            System::RocksDb,
            options_file(&format!("{table}4096")),
        ),
        (
            "alike",
            System::RocksDb,
            options_file(&format!("{table}4096")),
        ),
        (
            "other",
            System::RocksDb,
            options_file(&format!("{table}16384")),
        ),
        ("tree", System::Lissom, settings()),
    ] {
        let own = directory.path().join(name);
        let mut plan = plan(system, options, &own);
        plan.prepared = Some(sets.clone());
        // Reads alone, so that the files stay.
        plan.workload = small("ycsb-c");
        plan.workload.fill.random_phase = 0.0;
        measured(&plan);
        let set = std::fs::read_dir(&sets)
            .unwrap()
            .flatten()
            .find(|it| it.path().is_dir())
            .unwrap();
        let database = set.path().join("database");
        let mut held = tables(&database);
        held.sort_unstable();
        let shared = tables(&own).iter().any(|it| held.contains(it));
        assert_eq!(shared, matches!(name, "first" | "alike"), "{name}");
        assert_eq!(*before.get_or_insert(held.clone()), held, "{name}");
    }
}

#[test]
fn plans_are_checked() {
    let directory = tempfile::tempdir().unwrap();
    let good = plan(System::RocksDb, String::new(), directory.path());
    good.check().unwrap();
    let says = |change: &dyn Fn(&mut TrialPlan), words: &str| {
        let mut plan = good.clone();
        change(&mut plan);
        let sentence = plan.check().unwrap_err().to_string();
        assert!(sentence.contains(words), "{sentence}");
    };
    says(&|plan| plan.threads = 0, "--threads");
    says(&|plan| plan.window = Duration::ZERO, "--window");
    says(&|plan| plan.window = millis(5000), "at least one --window");
    says(&|plan| plan.limits.rate_limit = Some(1), "--rate-limit");
    std::fs::write(directory.path().join("mine"), "").unwrap();
    says(&|_| (), "is not empty");
    assert_eq!("lissom".parse::<System>(), Ok(System::Lissom));
    assert!("other".parse::<System>().is_err());
}
