//! An application that has opened RocksDB itself.

use std::path::Path;

use lissom::core::LogicalLevel;
use lissom::{Autopilot, Preparation, RocksDb, Settings};
use rust_rocksdb::statistics::StatsLevel;
use rust_rocksdb::{ColumnFamilyDescriptor, Options};

use super::common::{PATIENCE, key, small, value};
use super::eventually;

#[test]
fn an_application_keeps_its_own_handle_under_attach() {
    let directory = tempfile::tempdir().expect("a directory");
    let settings = Settings {
        statistics: StatsLevel::ExceptHistogramOrTimers,
        ..small("thresholds-20-80")
    };
    let mut preparation = Preparation::new(&settings).expect("legal");
    let options = preparation.options("default", &settings).expect("legal");
    let family = ColumnFamilyDescriptor::new("default", options.clone());
    let db = RocksDb::open_cf_descriptors(&options, directory.path(), [family]).expect("opened");
    let db = std::sync::Arc::new(db);
    let autopilot = Autopilot::attach(db.clone(), preparation).expect("attached");
    for number in 0..20_000 {
        db.put(key(number), value(number, 1)).expect("a put");
    }
    assert!(eventually(|| autopilot.wait_until_idle(PATIENCE)));
    let statistics = autopilot.statistics().expect("statistics");
    let of_default = &statistics.families["default"];
    assert!(of_default.pieces.merged > 0);
    assert!(of_default.limits.get(LogicalLevel(1)).get() > 1);
    let seen = of_default.total.operations.writes;
    assert_eq!(seen, 20_000, "counted by RocksDB");
    drop(autopilot);
    assert_eq!(db.get(key(5)).expect("a get"), Some(value(5, 1)));
}

/// What `attach` says of a database that was opened with these options.
fn refusal(directory: &Path, preparation: Preparation, options: &Options) -> String {
    let family = ColumnFamilyDescriptor::new("default", options.clone());
    let db = RocksDb::open_cf_descriptors(options, directory, [family]).expect("opened");
    let attached = Autopilot::attach(db.into(), preparation);
    attached.err().expect("refused").to_string()
}

#[test]
fn attach_asks_for_the_counts_that_a_policy_needs() {
    let directory = tempfile::tempdir().expect("a directory");
    let settings = small("thresholds-20-80");
    let mut preparation = Preparation::new(&settings).expect("legal");
    let options = preparation.options("default", &settings).expect("legal");
    let error = refusal(directory.path(), preparation, &options);
    assert!(error.contains("set the setting statistics to"), "{error}");
}

#[test]
fn attach_refuses_policies_that_learn_from_latencies() {
    for policy in ["learned", "lerp"] {
        let directory = tempfile::tempdir().expect("a directory");
        let settings = Settings {
            statistics: StatsLevel::ExceptHistogramOrTimers,
            ..small(policy)
        };
        let mut preparation = Preparation::new(&settings).expect("legal");
        let options = preparation.options("default", &settings).expect("legal");
        let error = refusal(directory.path(), preparation, &options);
        assert!(error.contains("open the database with Db::open"), "{error}");
    }
}

#[test]
fn attach_refuses_foreign_options() {
    let directory = tempfile::tempdir().expect("a directory");
    let settings = small("fixed-1");
    let mut preparation = Preparation::new(&settings).expect("legal");
    let mut options = preparation.options("default", &settings).expect("legal");
    options.set_level_zero_file_num_compaction_trigger(4);
    let error = refusal(directory.path(), preparation, &options);
    assert!(error.contains("make them equal"), "{error}");
}
