//! A running store.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::Duration;

use lissom::apply::{OptionsText, Taken, Wanted};
use lissom::control::ask_to_apply;
use lissom::core::filters::FilterAllocation;
use lissom::ffi::CfRef;
use lissom::ffi::options::live_options;
use lissom::inspect::recorded_settings;
use lissom::{Db, Settings};

use super::data::{Place, family, recorded, wanted};

const PATIENCE: Duration = Duration::from_secs(30);

fn opened(place: &Place) -> Db {
    let settings = Settings {
        rate_limit_bytes_per_second: Some(1 << 30),
        ..Settings::default()
    };
    let db = Db::open(place.path(), settings).expect("a new store");
    db.create_cf("second").expect("made");
    for number in 0..1_000u32 {
        db.put(number.to_be_bytes(), "value").expect("a put");
    }
    db
}

const OPTIONS: &str = "[DBOptions]\nmax_background_jobs=9\nbytes_per_sync=2M\nuse_fsync=true\n\
    daily_offpeak_time_utc=12:30-13:30\nmax_compaction_trigger_wakeup_seconds=60\n\
    [CFOptions \"default\"]\nmemtable_whole_key_filtering=true\nttl=60\n\
    [CFOptions \"second\"]\nmax_sequential_skip_in_iterations=3\n";

#[test]
fn options_change_while_reads_go_on() {
    let place = Place::new();
    let db = opened(&place);
    let over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let reader = scope.spawn(|| {
            let mut reads = 0_u64;
            while !over.load(Relaxed) {
                let found = db.get(7_u32.to_be_bytes()).expect("a get");
                assert_eq!(found.as_deref(), Some(&b"value"[..]));
                reads += 1;
            }
            reads
        });
        let applied = db.apply(&wanted(OPTIONS)).expect("applied");
        over.store(true, Relaxed);
        assert!(reader.join().expect("a reader") > 0);
        assert_eq!(applied.count(Taken::Changed), 5, "{applied:#?}");
        let left: Vec<&str> = applied
            .left()
            .map(|outcome| outcome.row.name.as_str())
            .collect();
        let at_open = "max_compaction_trigger_wakeup_seconds";
        assert_eq!(left, [at_open, "use_fsync", "ttl"]);
    });
    let handle = db.cf_handle("default").expect("a column family");
    let live = live_options(CfRef::of(&handle).expect("a handle")).expect("options");
    assert_eq!(live.db.max_background_jobs, 9);
    let file = OptionsText::parse(&recorded(&place.path())).expect("well-formed");
    let name = "max_sequential_skip_in_iterations";
    assert_eq!(file.get(&family("second"), name), Some("3"));
    assert_ne!(file.get(&family("default"), name), Some("3"));
    assert_eq!(
        db.apply(&wanted(OPTIONS))
            .expect("again")
            .count(Taken::Already),
        5
    );
}

#[test]
fn what_rocksdb_refuses_is_an_outcome() {
    let place = Place::new();
    let db = opened(&place);
    let applied = db
        .apply(&wanted(
            "[CFOptions \"default\"]\nblock_protection_bytes_per_key=3\n[DBOptions]\n\
             max_background_jobs=5\n",
        ))
        .expect("answered");
    let left: Vec<_> = applied.left().collect();
    assert_eq!(left.len(), 1, "{applied:#?}");
    assert!(left[0].why.contains("RocksDB answered"), "{:?}", left[0]);
    assert_eq!(applied.count(Taken::Changed), 1);
    let error = db
        .apply(&wanted("[CFOptions \"third\"]\nttl=1\n"))
        .expect_err("there is none");
    assert!(
        error.to_string().contains("no column family \"third\""),
        "{error}"
    );
}

#[test]
fn the_policy_and_the_rate_limit_change_at_once() {
    let place = Place::new();
    let db = opened(&place);
    let text = "{\"policy\": \"fixed-3\", \"rate_limit_bytes_per_second\": 5000000, \
                \"workers\": 60}";
    let applied = db.apply(&wanted(text)).expect("applied");
    assert_eq!(applied.count(Taken::Changed), 2, "{applied:#?}");
    assert_eq!(applied.count(Taken::Unkept), 1, "{applied:#?}");
    let again = db.apply(&wanted(text)).expect("again");
    assert_eq!(again.count(Taken::Already), 2, "{again:#?}");
    let deadline = std::time::Instant::now() + PATIENCE;
    for family in ["default", "second"] {
        while db
            .autopilot()
            .glance(family)
            .expect("a family")
            .limits
            .to_string()
            != "3"
        {
            assert!(
                std::time::Instant::now() < deadline,
                "{family} has other limits"
            );
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

/// What was given at open is no longer so.
#[test]
fn a_rate_limit_goes_back_to_that_of_the_open() {
    let place = Place::new();
    let db = opened(&place);
    for rate in [5_000_000, 1 << 30] {
        let text = format!("{{\"rate_limit_bytes_per_second\": {rate}}}");
        let applied = db.apply(&wanted(&text)).expect("applied");
        assert_eq!(applied.count(Taken::Changed), 1, "{applied:#?}");
        assert_eq!(applied.outcomes[0].now, Some(rate.to_string()));
    }
}

/// A new store with Monkey's filters, and a column family that has uniform ones.
fn monkey_beside_plain(place: &Place) -> Db {
    let monkey = Settings {
        filters: FilterAllocation::Monkey,
        ..Settings::default()
    };
    let plain = Settings::default();
    Db::opening(place.path(), monkey)
        .family("second", plain)
        .open()
        .expect("a new store")
}

/// The first column family could take it.
#[test]
fn a_policy_that_one_column_family_cannot_take_changes_none() {
    let place = Place::new();
    let db = monkey_beside_plain(&place);
    let applied = db
        .apply(&wanted("{\"policy\": \"lerp-monkey\"}"))
        .expect("answered");
    let outcome = &applied.outcomes[0];
    assert_eq!(outcome.taken, Taken::Left, "{outcome:?}");
    assert!(outcome.why.contains("Monkey's filters"), "{outcome:?}");
    assert_eq!(outcome.now.as_deref(), Some("fixed-1"));
    let again = db.apply(&wanted("{\"policy\": \"fixed-1\"}"));
    assert_eq!(again.expect("answered").count(Taken::Already), 1);
}

/// The tuner of `lerp` over Monkey's filters is named `lerp-monkey`.
#[test]
fn a_policy_that_the_store_follows_by_another_name_is_no_change() {
    let place = Place::new();
    let db = monkey_beside_plain(&place);
    let lerp = wanted("{\"policy\": \"lerp\"}");
    for taken in [Taken::Changed, Taken::Already, Taken::Already] {
        let applied = db.apply(&lerp).expect("answered");
        let outcome = &applied.outcomes[0];
        assert_eq!(outcome.taken, taken, "{outcome:?}");
        let both = "default: lerp-monkey, second: lerp";
        assert_eq!(outcome.now.as_deref(), Some(both), "{outcome:?}");
    }
}

const DIMENSIONS: &str = "{\"size_ratio\": 4, \"level_compaction_dynamic_level_bytes\": false, \
    \"target_file_size_base\": 4194304, \"max_files\": 200, \"max_space_amplification\": 1.5, \
    \"tombstone_share\": 0.25}";

fn has_dimensions(settings: &Settings) -> bool {
    let Wanted::Settings(dimensions) = wanted(DIMENSIONS) else {
        panic!("these are settings");
    };
    dimensions.over(settings).expect("legal") == *settings
}

#[test]
fn the_tree_takes_other_dimensions_and_keeps_them_over_a_reopening() {
    let place = Place::new();
    let path = place.path();
    let db = opened(&place);
    let applied = db.apply(&wanted(DIMENSIONS)).expect("applied");
    assert_eq!(applied.count(Taken::Changed), 6, "{applied:#?}");
    let again = db.apply(&wanted(DIMENSIONS)).expect("again");
    assert_eq!(again.count(Taken::Already), 6, "{again:#?}");
    // The planner has looked by then, and the record needs no orderly end.
    assert!(db.autopilot().wait_until_idle(PATIENCE));
    for family in ["default", "second"] {
        let recorded = recorded_settings(&path, family).expect("recorded");
        assert!(has_dimensions(&recorded), "{family}: {recorded:?}");
    }
    drop(db);
    let recorded = recorded_settings(&path, "default").expect("recorded");
    let db = Db::open(&path, recorded).expect("it opens");
    let again = db.apply(&wanted(DIMENSIONS)).expect("again");
    assert_eq!(again.count(Taken::Already), 6, "{again:#?}");
    let found = db.get(7_u32.to_be_bytes()).expect("a get");
    assert_eq!(found.as_deref(), Some(&b"value"[..]));
}

#[test]
fn a_dimension_outside_its_range_is_refused_and_the_old_one_stays() {
    let place = Place::new();
    let db = opened(&place);
    for (text, sentence) in [
        (
            "{\"size_ratio\": 1}",
            "line 1: the setting size_ratio is 1: choose from 2 to 100",
        ),
        (
            "{\"level_compaction_dynamic_level_bytes\": 0}",
            "line 1: level_compaction_dynamic_level_bytes is 0, which is neither true nor false: \
             choose one of them",
        ),
        (
            "{\"target_file_size_base\": 4095}",
            "line 1: the setting target_file_size_base is 4095: choose from 4096 to \
             1125899906842624",
        ),
        (
            "{\"max_files\": 99}",
            "line 1: the setting max_files is 99: choose at least 100",
        ),
        (
            "{\"max_space_amplification\": 1}",
            "line 1: the setting max_space_amplification is 1: choose a number of at least 1.1",
        ),
        (
            "{\"tombstone_share\": 0}",
            "line 1: the setting tombstone_share is 0: choose a share above 0 and at most 1",
        ),
    ] {
        let error = ask_to_apply(&place.path(), text, PATIENCE).expect_err(text);
        assert_eq!(error.to_string(), sentence);
    }
    let changed = db.apply(&wanted(DIMENSIONS)).expect("applied");
    assert_eq!(changed.count(Taken::Changed), 6, "{changed:#?}");
}

#[test]
fn a_store_is_asked_from_outside() {
    let place = Place::new();
    let db = opened(&place);
    let applied = ask_to_apply(&place.path(), OPTIONS, PATIENCE).expect("answered");
    assert_eq!(applied.count(Taken::Changed), 5, "{applied:#?}");
    let again = ask_to_apply(&place.path(), OPTIONS, Duration::MAX).expect("answered");
    assert_eq!(again.count(Taken::Already), 5, "{again:#?}");
    let error = ask_to_apply(&place.path(), "[CFOptions \"third\"]\nttl=1\n", PATIENCE)
        .expect_err("there is none");
    assert!(
        error.to_string().contains("no column family \"third\""),
        "{error}"
    );
    assert!(Wanted::parse("x").is_err());
    drop(db);
    let short = Duration::from_millis(200);
    let error = ask_to_apply(&place.path(), OPTIONS, short).expect_err("nobody runs it");
    assert!(
        error.to_string().contains("no store of Lissom's that runs"),
        "{error}"
    );
    // What nobody waits for any more is not taken up later.
    let before = recorded(&place.path());
    let db = Db::open(place.path(), Settings::default()).expect("it opens");
    db.flush().expect("a flush");
    drop(db);
    let now = OptionsText::parse(&recorded(&place.path())).expect("well-formed");
    let was = OptionsText::parse(&before).expect("well-formed");
    let name = "memtable_whole_key_filtering";
    assert_eq!(was.get(&family("default"), name), Some("true"));
    assert_eq!(now.get(&family("default"), name), Some("false"));
}
