//! OPTIONS files for stock RocksDB, loaded by stock RocksDB.

use lissom::core::cost_model::RunPolicy;
use lissom::core::robust::{DesignSpace, Expectation, Tuned, tune};
use lissom::stock;
use rust_rocksdb::{Cache, DB, Env, Options};

fn expected() -> Expectation {
    let workload = "z0=49,z1=49,q=1,w=1".parse().expect("shares");
    Expectation::new(workload, 10_000_000, 1024, 40_000_000)
}

fn tuned(policy: RunPolicy) -> Tuned {
    let space = DesignSpace {
        policies: vec![policy],
        ..DesignSpace::default()
    };
    let expected = expected();
    let model = expected.model().expect("sound");
    let near = expected.neighbourhood().expect("sound");
    tune(&model, &near, &space).expect("a tuning")
}

/// Puts a file where RocksDB looks for options, loads it, and opens a database.
fn loaded_by_rocksdb(file: &std::path::Path) -> String {
    let directory = tempfile::tempdir().expect("a directory");
    std::fs::copy(file, directory.path().join("OPTIONS-000001")).expect("copied");
    let env = Env::new().expect("an environment");
    let cache = Cache::new_lru_cache(1 << 20);
    let (options, families) =
        Options::load_latest(directory.path(), env, false, cache).expect("RocksDB loads it");
    let data = tempfile::tempdir().expect("a directory");
    let db = DB::open_cf_descriptors(&options, data.path(), families).expect("RocksDB opens it");
    db.put("key", "value").expect("written");
    drop(db);
    let written = std::fs::read_dir(data.path()).expect("a directory");
    let options = written
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| path.to_string_lossy().contains("OPTIONS-"))
        .max()
        .expect("an OPTIONS file");
    std::fs::read_to_string(options).expect("text")
}

#[test]
fn rocksdb_loads_and_keeps_a_leveled_tuning() {
    let directory = tempfile::tempdir().expect("a directory");
    let file = directory.path().join("OPTIONS");
    let tuned = tuned(RunPolicy::Leveling);
    stock::write_options_file(&tuned, &file).expect("written");
    let kept = loaded_by_rocksdb(&file);
    let multiplier = format!(
        "max_bytes_for_level_multiplier={:.6}",
        tuned.tuning.size_ratio
    );
    assert!(kept.contains(&multiplier), "{kept}");
    assert!(kept.contains("compaction_style=kCompactionStyleLevel"));
    // RocksDB writes as much as it knows: whole bits for a filter that it loaded.
    assert!(kept.contains("filter_policy=bloomfilter:8"), "{kept}");
    let left = std::fs::read_dir(directory.path()).expect("a directory");
    assert_eq!(left.count(), 1, "only the file is left");
    let path = directory.path().to_string_lossy().into_owned();
    let text = std::fs::read_to_string(&file).expect("text");
    assert!(!text.contains(&path), "no path of its making: {text}");
}

#[test]
fn rocksdb_loads_and_keeps_a_tiered_tuning() {
    let directory = tempfile::tempdir().expect("a directory");
    let file = directory.path().join("OPTIONS");
    let tuned = tuned(RunPolicy::Tiering);
    stock::write_options_file(&tuned, &file).expect("written");
    let kept = loaded_by_rocksdb(&file);
    assert!(kept.contains("compaction_style=kCompactionStyleUniversal"));
    let width = format!("min_merge_width={};", tuned.tuning.size_ratio);
    assert!(kept.contains(&width), "{kept}");
}

#[test]
fn what_stock_rocksdb_has_not_is_refused() {
    let refused = stock::options(&tuned(RunPolicy::LazyLeveling)).err();
    let sentence = refused.expect("no such style").to_string();
    assert!(
        sentence.starts_with("stock RocksDB has no lazy leveling"),
        "{sentence}"
    );
    let directory = tempfile::tempdir().expect("a directory");
    let file = directory.path().join("OPTIONS");
    std::fs::write(&file, "mine").expect("written");
    let leveled = tuned(RunPolicy::Leveling);
    let error = stock::write_options_file(&leveled, &file).expect_err("it stands already");
    assert!(error.to_string().contains("stands already"), "{error}");
    assert_eq!(std::fs::read_to_string(&file).expect("kept"), "mine");
}
