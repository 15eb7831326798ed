//! Adopt, use, detach: every answer stays the same.

use std::time::Duration;

use lissom::adopt::{Adopter, Detacher, Work};
use lissom::control::Compactor;
use lissom::core::Layout;
use lissom::inspect::recorded_policy;
use lissom::{Compression, Db, Settings};
use rust_rocksdb::compaction_filter::Decision;
use rust_rocksdb::{DB, Options};

use super::plain::{Style, contents, make, occupied};

pub fn our_levels() -> i32 {
    i32::from(Layout::V1.num_levels())
}

/// A tree of several levels for little data.
pub fn small(settings: &mut Settings) {
    settings.size_ratio = 4;
    settings.write_buffer_size = 64 << 10;
    settings.target_file_size_base = 64 << 10;
    settings.compression = vec![Compression::Lz4];
}

pub fn adopter(path: &std::path::Path) -> Adopter {
    Adopter::new(path).settings(|_, settings| small(settings))
}

fn there_and_back(style: Style) {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path();
    make(path, style, 30_000);
    let before = contents(path, 7);
    assert!(before["default"].len() > 10_000, "{style:?}");

    let foreseen = adopter(path).adopt(&mut |_| ()).expect("adopted");
    assert!(!foreseen.done);
    assert!(path.join("LISSOM").exists());
    assert_eq!(contents(path, our_levels()), before, "{style:?}");

    let again = adopter(path).adopt(&mut |_| ()).expect("adopted twice");
    assert!(again.done, "{again:?}");

    let mut settings = Settings::default();
    small(&mut settings);
    let db = Db::open(path, settings).expect("it opens as Lissom's");
    db.put(b"from lissom", b"yes").expect("a put");
    assert_eq!(
        db.get(b"in the log").expect("a get").as_deref(),
        Some(&b"alone"[..])
    );
    drop(db);
    let before = contents(path, our_levels());

    std::fs::write(path.join("LISSOM-PROBE"), "left by a kill").expect("written");
    Detacher::new(path).detach(&mut |_| ()).expect("detached");
    assert_eq!(contents(path, 7), before, "{style:?}");
    let ours = std::fs::read_dir(path)
        .expect("a directory")
        .filter(|entry| {
            let name = entry.as_ref().expect("an entry").file_name();
            name.to_string_lossy().starts_with("LISSOM")
        })
        .count();
    assert_eq!(ours, 0);
    assert!(occupied(path, 7).iter().all(|level| *level <= 6));

    let names = DB::list_cf(&Options::default(), path).expect("a manifest");
    let plain = DB::open_cf(&Options::default(), path, names).expect("it opens with defaults");
    plain.put(b"from rocksdb", b"yes").expect("a put");
    drop(plain);
    let again = Detacher::new(path)
        .detach(&mut |_| ())
        .expect("detached twice");
    assert!(again.done);
}

#[test]
fn dynamic_level_bytes() {
    there_and_back(Style::Dynamic);
}

#[test]
fn static_level_bytes() {
    there_and_back(Style::Static);
}

#[test]
fn universal() {
    there_and_back(Style::Universal);
}

/// RocksDB moves nothing under one.
#[test]
fn what_is_rewritten_for_a_compaction_filter_is_foreseen() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path();
    make(path, Style::Dynamic, 30_000);
    let moves = |work: &Work| -> u64 {
        let families = work.families.iter();
        families.map(|family| family.forecast.moves).sum()
    };
    assert!(moves(&adopter(path).forecast().expect("a forecast")) > 0);
    let filtered = || {
        adopter(path).customise(|_, options| {
            options.set_compaction_filter("keep", |_, _, _| Decision::Keep);
        })
    };
    let foreseen = filtered().adopt(&mut |_| ()).expect("adopted");
    assert_eq!(moves(&foreseen), 0);
    assert!(foreseen.needed_bytes > 0);
    let left = filtered().forecast().expect("a forecast");
    assert!(left.done, "{left:?}");
}

#[test]
fn an_adopted_directory_is_brought_to_other_settings() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path();
    make(path, Style::Static, 30_000);
    let with = |policy: &'static str| {
        Adopter::new(path).settings(move |_, settings| {
            small(settings);
            settings.policy = policy.parse().expect("a policy");
        })
    };
    with("fixed-4").adopt(&mut |_| ()).expect("adopted");
    let before = contents(path, our_levels());
    for policy in ["fixed-1", "fixed-10,10,1"] {
        let foreseen = with(policy).adopt(&mut |_| ()).expect("adopted again");
        assert!(!foreseen.done, "{policy}: {foreseen:?}");
        for (name, recorded) in recorded_policy(path).expect("on record") {
            let recorded = recorded.expect("a policy").to_string();
            assert_eq!(recorded, policy, "{name}");
        }
        let left = with(policy).forecast().expect("a forecast");
        assert!(left.done, "{policy}: {left:?}");
    }
    assert_eq!(contents(path, our_levels()), before);
}

#[test]
fn a_forecast_changes_nothing_and_bounds_what_is_merged() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path();
    make(path, Style::Static, 30_000);
    let files = |path: &std::path::Path| {
        let mut names: Vec<_> = std::fs::read_dir(path)
            .expect("a directory")
            .map(|entry| entry.expect("an entry").file_name())
            .collect();
        names.sort();
        names
    };
    // What only the log holds becomes files that no forecast can know, as it says.
    let logged = adopter(path).forecast().expect("a forecast").remarks;
    let tells_of_log = |remark: &String| remark.contains("its log holds entries");
    assert!(logged.iter().any(tells_of_log), "{logged:?}");
    let names = DB::list_cf(&Options::default(), path).expect("a manifest");
    let db = DB::open_cf(&super::plain::options(Style::Static), path, &names).expect("plain");
    for name in &names {
        let family = db.cf_handle(name).expect("opened");
        db.flush_cf(&family).expect("a flush");
    }
    drop(db);
    let before = files(path);
    let foreseen = adopter(path).forecast().expect("a forecast");
    assert_eq!(files(path), before);
    assert!(!foreseen.remarks.iter().any(tells_of_log), "{foreseen:?}");
    let mut last = lissom::adopt::Progress::default();
    adopter(path)
        .adopt(&mut |progress| last = progress)
        .expect("adopted");
    // A merge's outputs carry footers and indexes of their own.
    let slack = 64 << 10;
    assert!(
        last.merged_bytes <= foreseen.merged_bytes() + slack,
        "{last:?} {foreseen:?}"
    );
    assert!(last.moves + last.merges > 0);
}

#[test]
fn one_large_run_is_taken_over_without_a_merge() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path();
    make(path, Style::Static, 20_000);
    let names = DB::list_cf(&Options::default(), path).expect("a manifest");
    let db = DB::open_cf(&super::plain::options(Style::Static), path, &names).expect("plain");
    for name in &names {
        let family = db.cf_handle(name).expect("opened");
        db.compact_range_cf(&family, None::<&[u8]>, None::<&[u8]>);
    }
    drop(db);
    let before = contents(path, 7);
    let foreseen = adopter(path).adopt(&mut |_| ()).expect("adopted");
    assert_eq!(foreseen.merged_bytes(), 0, "{foreseen:?}");
    assert_eq!(contents(path, our_levels()), before);
}

/// An application may have them off, as for a bulk load, and set its options here as there.
#[test]
fn automatic_compactions_that_are_off_keep_nobody_waiting() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path();
    make(path, Style::Static, 10_000);
    let before = contents(path, 7);
    let off = |_: &str, options: &mut Options| options.set_disable_auto_compactions(true);
    let adopter = adopter(path).customise(off);
    adopter.adopt(&mut |_| ()).expect("adopted");
    let compactor = Compactor::new(path).customise(off);
    compactor.compact(&mut |_| ()).expect("compacted");
    assert_eq!(contents(path, our_levels()), before);
    let detacher = Detacher::new(path).customise(off);
    detacher.detach(&mut |_| ()).expect("detached");
    assert_eq!(contents(path, 7), before);
}

#[test]
fn compacting_by_hand_leaves_one_run() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path();
    make(path, Style::Static, 30_000);
    let error = Compactor::new(path)
        .forecast()
        .expect_err("plain")
        .to_string();
    assert!(error.contains("is not adopted"), "{error}");
    adopter(path).adopt(&mut |_| ()).expect("adopted");
    let before = contents(path, our_levels());
    let foreseen = Compactor::new(path)
        .column_family("default")
        .compact(&mut |_| ())
        .expect("compacted");
    assert_eq!(foreseen.families.len(), 1);
    assert_eq!(contents(path, our_levels()), before);
    let again = Compactor::new(path).column_family("default").forecast();
    assert!(again.expect("a forecast").done);
    let unknown = Compactor::new(path).column_family("third").forecast();
    let sentence = unknown.expect_err("there is none").to_string();
    assert!(sentence.contains("it has default, second"), "{sentence}");
}

/// A store of 20,000 entries in one run.
fn one_run(path: &std::path::Path, value: impl Fn(u32) -> Vec<u8>) -> Db {
    let mut settings = Settings::default();
    small(&mut settings);
    let db = Db::open(path, settings).expect("opened");
    for number in 0..20_000_u32 {
        db.put(number.to_be_bytes(), value(number)).expect("a put");
    }
    db.flush().expect("a flush");
    db.autopilot().compact("default").expect("asked");
    assert!(db.autopilot().wait_until_idle(Duration::from_secs(60)));
    db
}

/// The tree is one run, and the log holds what is not in it.
#[test]
fn what_only_the_log_holds_is_given_back_with_the_first_call() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path();
    let db = one_run(path, |_| [7; 100].to_vec());
    db.put("in the log", "alone").expect("a put");
    drop(db);

    Detacher::new(path).detach(&mut |_| ()).expect("detached");
    let plain = DB::open(&Options::default(), path).expect("it opens with defaults");
    let found = plain.get("in the log").expect("a get");
    assert_eq!(found.as_deref(), Some(&b"alone"[..]));
    for number in (0..20_000_u32).step_by(37) {
        let found = plain.get(number.to_be_bytes()).expect("a get");
        assert_eq!(found.as_deref(), Some(&[7; 100][..]));
    }
}

/// The tree is one run, and the log alone says that half of it is deleted.
#[test]
fn what_only_the_log_holds_is_compacted_with_the_rest() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path();
    let db = one_run(path, |number| number.to_string().into_bytes());
    let key = |number: u32| number.to_be_bytes();
    db.delete_range(key(0), key(10_000)).expect("deleted");
    drop(db);

    let compactor = Compactor::new(path);
    let before = compactor.forecast().expect("a forecast");
    assert!(!before.done, "the log holds something");
    compactor.compact(&mut |_| ()).expect("compacted");
    let after = compactor.forecast().expect("a forecast");
    assert!(after.done);
    let bytes = |work: &lissom::adopt::Work| work.families[0].bytes;
    assert!(bytes(&after) * 3 < bytes(&before) * 2, "{after:?}");
}

/// Where the state file cannot be written, no drain begins.
#[test]
fn work_that_cannot_go_on_ends_with_a_sentence() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path();
    let mut settings = Settings::default();
    small(&mut settings);
    let db = Db::open(path, settings).expect("opened");
    let runs = || {
        let statistics = db.statistics().expect("statistics");
        statistics.families["default"].tree.runs.len()
    };
    let mut number = 0_u32;
    // It takes a drain to make two runs one.
    while runs() < 2 {
        assert!(number < 1_000_000, "there is one run at most");
        for _ in 0..2_000 {
            let key = number.reverse_bits().to_be_bytes();
            db.put(key, [7; 100]).expect("a put");
            number += 1;
        }
        db.flush().expect("a flush");
        assert!(db.autopilot().wait_until_idle(Duration::from_secs(60)));
    }
    drop(db);
    let before = contents(path, our_levels());
    let obstacle = path.join("LISSOM.tmp");
    std::fs::create_dir(&obstacle).expect("made");
    let compactor = Compactor::new(path);
    let error = compactor.compact(&mut |_| ()).expect_err("no state file");
    let error = error.to_string();
    for words in [
        "the work stopped, and no data is lost",
        "rounds fail in column family \"default\"",
        "cannot write",
    ] {
        assert!(error.contains(words), "{error}");
    }
    std::fs::remove_dir(&obstacle).expect("removed");
    compactor.compact(&mut |_| ()).expect("it goes on");
    assert!(compactor.forecast().expect("a forecast").done);
    assert_eq!(contents(path, our_levels()), before);
}

/// One that fits a plain RocksDB as it is, too: the planner drives all.
#[test]
fn every_family_that_is_merged_before_it_is_given_back_is_foreseen() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path();
    let mut settings = Settings::default();
    small(&mut settings);
    let db = Db::opening(path, settings.clone())
        .family("second", settings)
        .open()
        .expect("opened");
    let second = db.family("second").expect("there");
    for round in 0..2 {
        for number in 0..4_000_u32 {
            let value = [round; 100];
            db.put(number.to_be_bytes(), value).expect("a put");
            if number < 500 {
                second.put(number.to_be_bytes(), value).expect("a put");
            }
        }
        db.flush_cf(second.handle()).expect("a flush");
        db.flush().expect("a flush");
        assert!(db.autopilot().wait_until_idle(Duration::from_secs(60)));
    }
    // What stays in level 0 is no matter of how many files lie there already.
    db.autopilot().pause();
    db.put("in level 0", "alone").expect("a put");
    second.put("in level 0", "alone").expect("a put");
    db.flush_cf(second.handle()).expect("a flush");
    db.flush().expect("a flush");
    drop(second);
    drop(db);

    let detacher = Detacher::new(path);
    let foreseen = detacher.forecast().expect("a forecast");
    for family in &foreseen.families {
        assert!(family.files > 1, "{foreseen:?}");
        assert!(family.forecast.merged_bytes > 0, "{foreseen:?}");
    }
    let mut last = lissom::adopt::Progress::default();
    let detached = detacher.detach(&mut |progress| last = progress);
    detached.expect("detached");
    // What is merged twice has other footers the second time.
    let slack = 64 << 10;
    assert!(
        last.merged_bytes <= foreseen.merged_bytes() + slack,
        "{last:?} {foreseen:?}"
    );
}
