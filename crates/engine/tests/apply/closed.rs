//! Closed directories: what takes effect by reopening.

use std::fs;

use lissom::apply::{Applier, Host, How, OptionsText, Section, SettingsText, Taken};
use lissom::inspect::recorded_settings;
use lissom::{Db, Settings};
use rust_rocksdb::{BlockBasedOptions, DB, DBCompactionStyle, DBRecoveryMode, Options};

use super::damaged_log::with_damaged_log;
use super::data::{
    Place, apply, contents, family, join, make, make_with, options, record, recorded, wanted,
};

const MOVED: &str = "[DBOptions]\nmax_background_jobs=6\n\
    daily_offpeak_time_utc=12:30-13:30\n[CFOptions \"default\"]\n\
    write_buffer_size=1M\ncompaction_pri=kOldestLargestSeqFirst\n\
    compaction_options_universal={size_ratio=7;}\n\
    [TableOptions/BlockBasedTable \"default\"]\nblock_size=16K\nfilter_policy=bloomfilter:9.5\n";

/// Every option that RocksDB writes is known, with its form.
#[test]
fn what_rocksdb_writes_is_read_without_a_mistake() {
    let place = Place::new();
    make(&place.path(), 10);
    let text = recorded(&place.path());
    let options = OptionsText::parse(&text).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(options.families(), ["default", "second", "third"]);
    assert!(options.len() > 400, "{}", options.len());
    let again = Applier::new(place.path(), options).plan().expect("a plan");
    assert_eq!(again.count(How::Unchanged), again.rows.len(), "{again:#?}");
    assert!(again.is_done());
}

#[test]
fn options_are_changed_and_recorded_and_nothing_else_is() {
    let place = Place::new();
    let path = place.path();
    make(&path, 5_000);
    let before = contents(&path);
    let old = OptionsText::parse(&recorded(&path)).expect("well-formed");
    let plan = Applier::new(&path, wanted(MOVED)).plan().expect("a plan");
    assert_eq!((plan.host, plan.count(How::Reopening)), (Host::Plain, 7));
    assert!(
        plan.remarks
            .iter()
            .any(|remark| remark.contains("second, third"))
    );

    let applied = apply(&path, MOVED);
    assert_eq!(applied.count(Taken::Changed), 7, "{applied:#?}");
    assert_eq!(applied.left().count(), 0);
    let new = OptionsText::parse(&recorded(&path)).expect("well-formed");
    assert_eq!(
        new.get(&Section::Database, "max_background_jobs"),
        Some("6")
    );
    let name = "compaction_options_universal.size_ratio";
    assert_eq!(new.get(&family("default"), name), Some("7"));
    let name = "compaction_options_universal.min_merge_width";
    assert_eq!(new.get(&family("default"), name), Some("2"));
    // RocksDB writes no empty text, as the hours were before.
    assert_eq!(new.len(), old.len() + 1);
    for section in [family("second"), family("third")] {
        for name in ["write_buffer_size", "compaction_pri"] {
            assert_eq!(new.get(&section, name), old.get(&section, name));
        }
    }
    assert_eq!(contents(&path), before);
    assert_eq!(apply(&path, MOVED).count(Taken::Already), 7);
    assert_eq!(place.names(), ["data"]);
}

#[test]
fn rocksdb_may_make_something_else_of_a_value() {
    let place = Place::new();
    make(&place.path(), 10);
    let applied = apply(
        &place.path(),
        "[CFOptions \"default\"]\nlevel0_slowdown_writes_trigger=3\n",
    );
    let outcome = &applied.outcomes[0];
    assert_eq!(outcome.taken, Taken::Adjusted, "{outcome:?}");
    assert_eq!(outcome.now.as_deref(), Some("4"));
    let applied = apply(
        &place.path(),
        "[CFOptions \"default\"]\nmin_write_buffer_number_to_merge=5\n",
    );
    let outcome = &applied.outcomes[0];
    assert_eq!(outcome.taken, Taken::Left, "{outcome:?}");
    assert!(outcome.why.contains("keeps its value"), "{outcome:?}");
}

#[test]
fn what_rocksdb_refuses_changes_nothing() {
    let place = Place::new();
    let path = place.path();
    make(&path, 100);
    let before = (contents(&path), recorded(&path));
    for (text, words) in [
        (
            "[CFOptions \"default\"]\ncompression=kSnappyCompression\n",
            "Snappy",
        ),
        (
            "[TableOptions/BlockBasedTable \"default\"]\nfilter_policy=mine:1\n",
            "filter_policy=mine:1",
        ),
        ("[CFOptions \"default\"]\nmemtable_factory=mine\n", "mine"),
    ] {
        let error = Applier::new(&path, wanted(text))
            .apply(&mut |_| ())
            .expect_err(text)
            .to_string();
        assert!(error.contains(words), "{error}");
        assert_eq!((contents(&path), recorded(&path)), before, "{text}");
    }
}

#[test]
fn an_open_database_is_refused() {
    let place = Place::new();
    let path = place.path();
    make(&path, 10);
    let db = DB::open_cf(&options(), &path, ["default", "second", "third"]).expect("it opens");
    let error = Applier::new(&path, wanted(MOVED))
        .apply(&mut |_| ())
        .expect_err("open")
        .to_string();
    assert!(error.contains("close it there first"), "{error}");
    db.put("still", "open").expect("a put");
    drop(db);
    assert_eq!(apply(&path, MOVED).left().count(), 0);
}

#[test]
fn what_deletes_or_drops_entries_is_left_as_it_was() {
    let place = Place::new();
    let path = place.path();
    let mut fifo = options();
    fifo.set_compaction_style(DBCompactionStyle::Fifo);
    make_with(&path, 2_000, &fifo);
    let before = contents(&path);
    let applied = apply(
        &path,
        "[CFOptions \"default\"]\nttl=1\nwrite_buffer_size=1M\n\
         compaction_options_fifo={max_table_files_size=1;}\n\
         compaction_filter=RemoveEmptyValueCompactionFilter\n",
    );
    assert_eq!(applied.count(Taken::Changed), 1, "{applied:#?}");
    assert_eq!(applied.left().count(), 3, "{applied:#?}");
    assert_eq!(contents(&path), before);
}

/// By the other rule the log would end where it is damaged.
#[test]
fn a_log_is_recovered_by_the_rule_that_it_was_written_under() {
    let place = Place::new();
    let path = place.path();
    with_damaged_log(&path, options(), DBRecoveryMode::SkipAnyCorruptedRecord);
    let applied = apply(
        &path,
        "[DBOptions]\nwal_recovery_mode=kPointInTimeRecovery\n",
    );
    assert_eq!(applied.count(Taken::Changed), 1, "{applied:#?}");
    let left = contents(&path);
    let keys: Vec<u8> = left["default"].keys().map(|key| key[0]).collect();
    assert_eq!(keys, [0x80, 0x82]);
}

#[test]
fn a_directory_whose_options_give_data_up_is_not_opened() {
    let place = Place::new();
    let path = place.path();
    make(&path, 100);
    record(
        &path,
        "best_efforts_recovery=false",
        "best_efforts_recovery=true",
    );
    let before = (contents(&path), recorded(&path));
    for rewrite in [false, true] {
        let error = Applier::new(&path, wanted(MOVED))
            .rewrite(rewrite)
            .apply(&mut |_| ())
            .expect_err("best efforts")
            .to_string();
        assert!(error.contains("best_efforts_recovery is on"), "{error}");
    }
    assert_eq!((contents(&path), recorded(&path)), before);
    assert_eq!(place.names(), ["data"]);
}

/// Even one that names the directory itself: a copy of the options would lead there.
#[test]
fn a_directory_that_names_where_its_log_lies_is_not_opened() {
    let place = Place::new();
    let path = place.path();
    make(&path, 100);
    let named = format!("[DBOptions]\n  wal_dir={}\n", path.display());
    record(&path, "[DBOptions]\n", &named);
    let before = recorded(&path);
    for rewrite in [false, true] {
        let error = Applier::new(&path, wanted(MOVED))
            .rewrite(rewrite)
            .apply(&mut |_| ())
            .expect_err("wal_dir")
            .to_string();
        assert!(error.contains("without wal_dir"), "{error}");
    }
    assert_eq!(recorded(&path), before);
}

/// As an older RocksDB has written it.
#[test]
fn what_is_recorded_and_cannot_be_read_is_not_replaced_by_a_default() {
    let place = Place::new();
    let path = place.path();
    make(&path, 100);
    record(
        &path,
        "\n  compression=kNoCompression",
        "\n  compression=kZSTDNotFinalCompression",
    );
    let before = (contents(&path), recorded(&path));
    let plan = Applier::new(&path, wanted(MOVED)).plan().expect("a plan");
    let told = |remark: &String| remark.contains("\"kZSTDNotFinalCompression\"");
    assert!(plan.remarks.iter().any(told), "{:?}", plan.remarks);
    for rewrite in [false, true] {
        let error = Applier::new(&path, wanted(MOVED))
            .rewrite(rewrite)
            .apply(&mut |_| ())
            .expect_err("it would be lost")
            .to_string();
        assert!(error.contains("\"kZSTDNotFinalCompression\""), "{error}");
        assert!(error.contains("replaced by defaults"), "{error}");
    }
    assert_eq!((contents(&path), recorded(&path)), before);
    assert_eq!(place.names(), ["data"]);
}

#[test]
fn objects_of_an_application_are_brought_by_it() {
    let place = Place::new();
    let path = place.path();
    let with = |options: &mut Options| options.set_merge_operator_associative("join", join);
    let mut own = options();
    with(&mut own);
    let db = DB::open(&own, &path).expect("a new database");
    db.put("key", "a").expect("a put");
    db.merge("key", "b").expect("a merge");
    drop(db);
    let text = "[DBOptions]\nmax_background_jobs=4\n";
    let error = Applier::new(&path, wanted(text)).plan().expect_err("join");
    assert!(error.to_string().contains("Applier::customise"), "{error}");
    let applied = Applier::new(&path, wanted(text))
        .customise(move |_, options| with(options))
        .apply(&mut |_| ())
        .expect("applied");
    assert_eq!(applied.count(Taken::Changed), 1);
    assert!(recorded(&path).contains("merge_operator=join"));
    let db = DB::open(&own, &path).expect("it opens");
    assert_eq!(db.get("key").expect("a get").as_deref(), Some(&b"ab"[..]));
}

#[test]
fn a_filter_without_its_bits_must_be_named() {
    let place = Place::new();
    let path = place.path();
    let mut own = options();
    let mut table = BlockBasedOptions::default();
    table.set_bloom_filter(10.0, false);
    own.set_block_based_table_factory(&table);
    drop(DB::open(&own, &path).expect("a new database"));
    let error = Applier::new(&path, wanted("[DBOptions]\nmax_background_jobs=4\n"))
        .plan()
        .expect_err("no bits");
    assert!(error.to_string().contains("bits per key"), "{error}");
}

#[test]
fn a_store_of_lissoms_records_its_settings() {
    let place = Place::new();
    let path = place.path();
    let db = Db::open(&path, Settings::default()).expect("a new store");
    db.create_cf("second").expect("made");
    for number in 0..1_000 {
        db.put(super::data::key(number), "value").expect("a put");
    }
    let text = "{\"policy\": \"fixed-4\", \"size_ratio\": 6, \"compression\": \"zstd\", \
                \"bloom_bits_per_key\": 8, \"max_write_buffer_number\": 3, \"workers\": 9}";
    let settings = SettingsText::parse(text).expect("well-formed");
    let error = Applier::new(&path, settings.clone())
        .plan()
        .expect_err("it is open");
    assert!(error.to_string().contains("--running"), "{error}");
    drop(db);
    // As where nobody may write, the lock cannot be had: who only looks needs none.
    let lock = path.join("LOCK");
    fs::remove_file(&lock).expect("removed");
    fs::create_dir(&lock).expect("made");
    let applier = Applier::new(&path, settings.clone());
    assert_eq!(applier.plan().expect("a plan").rows.len(), 6);
    applier.apply(&mut |_| ()).expect_err("it is written");
    fs::remove_dir(&lock).expect("removed");

    let applied = Applier::new(&path, settings)
        .apply(&mut |_| ())
        .expect("applied");
    assert_eq!(applied.count(Taken::Changed), 5, "{applied:#?}");
    assert_eq!(applied.left().count(), 0, "{applied:#?}");
    let unkept = applied
        .outcomes
        .iter()
        .find(|it| it.taken == Taken::Unkept)
        .expect("the directory does not keep all");
    assert_eq!(
        (unkept.row.name.as_str(), &unkept.row.old),
        ("workers", &None)
    );
    assert!(unkept.why.contains("Db::open is given"), "{unkept:?}");
    for family in ["default", "second"] {
        let recorded = recorded_settings(&path, family).expect("on record");
        assert_eq!(recorded.policy.to_string(), "fixed-4");
        assert_eq!(recorded.size_ratio, 6);
        assert_eq!(recorded.compression, [lissom::Compression::Zstd]);
        assert_eq!(recorded.max_write_buffer_number, 3);
    }
    let recorded = recorded_settings(&path, "default").expect("on record");
    let db = Db::open(&path, recorded).expect("it opens");
    let found = db.get(super::data::key(7)).expect("a get");
    assert_eq!(found.as_deref(), Some(&b"value"[..]));
}

#[test]
fn options_that_lissom_owns_name_the_setting() {
    let place = Place::new();
    let path = place.path();
    drop(Db::open(&path, Settings::default()).expect("a new store"));
    let text = "[CFOptions \"default\"]\ncompaction_style=kCompactionStyleUniversal\n\
                level0_file_num_compaction_trigger=2\n";
    let applied = apply(&path, text);
    assert_eq!(applied.count(Taken::Left), 2, "{applied:#?}");
    assert!(applied.outcomes[0].why.contains("policy"), "{applied:#?}");
    let error = Applier::new(&path, wanted(text))
        .rewrite(true)
        .apply(&mut |_| ())
        .expect_err("Lissom's");
    assert!(error.to_string().contains("lissom compact"), "{error}");
}
