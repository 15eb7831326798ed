//! All data in new files.

use std::fs;
use std::path::Path;

use lissom::apply::{Applier, Changes, How, OptionsText, Phase, Section, Taken, finish, undo};
use rust_rocksdb::{DB, DBCompactionStyle, DBCompressionType, Options};

use super::contents::{Contents, contents_with};
use super::data::{
    FEWER_LEVELS, Place, apply, contents, family, join, key, make, make_with, options, record,
    recorded, rewrite, wanted,
};

fn entries(contents: &Contents) -> Vec<(String, u64)> {
    contents
        .iter()
        .map(|(name, entries)| (name.clone(), entries.len() as u64))
        .collect()
}

#[test]
fn everything_is_copied_and_the_options_are_as_wanted() {
    let place = Place::new();
    let path = place.path();
    make(&path, 20_000);
    let before = contents(&path);
    let plan = Applier::new(&path, wanted(FEWER_LEVELS))
        .rewrite(true)
        .plan()
        .expect("a plan");
    assert!(plan.rebuild.expect("a rebuild").needed_bytes > 0);
    assert_eq!(place.names(), ["data"], "a plan changes nothing");

    let mut phases = Vec::new();
    let applied = Applier::new(&path, wanted(FEWER_LEVELS))
        .rewrite(true)
        .apply(&mut |progress| phases.push(progress.phase))
        .expect("rebuilt");
    assert_eq!(applied.count(Taken::Changed), 3, "{applied:#?}");
    assert!(
        phases
            .iter()
            .filter(|phase| **phase == Phase::Copying)
            .count()
            > 10
    );
    assert!(phases.contains(&Phase::Checking));
    let copied: Vec<(String, u64)> = applied
        .rebuilt
        .expect("a copy")
        .families
        .iter()
        .map(|family| (family.name.clone(), family.entries))
        .collect();
    assert_eq!(copied, entries(&before));
    assert_eq!(contents(&path), before);
    assert_eq!(contents(&place.beside(".before-apply")), before);
    assert_eq!(place.names(), ["data", "data.before-apply"]);

    let now = OptionsText::parse(&recorded(&path)).expect("well-formed");
    assert_eq!(now.get(&family("default"), "num_levels"), Some("4"));
    assert_eq!(now.get(&family("second"), "num_levels"), Some("7"));
    let table = Section::Table("default".into());
    assert_eq!(now.get(&table, "block_size"), Some("16384"));
    let old = OptionsText::parse(&recorded(&place.beside(".before-apply"))).expect("well-formed");
    assert_eq!(old.get(&family("default"), "num_levels"), Some("7"));
    assert_eq!(
        now.get(&Section::Database, "create_if_missing"),
        old.get(&Section::Database, "create_if_missing")
    );

    let again = rewrite(&path, FEWER_LEVELS);
    assert!(again.rebuilt.is_none(), "it was rebuilt already");
    let finished = finish(&path, false).expect("finished");
    assert_eq!((finished.removed.len(), finished.kept.len()), (1, 0));
    assert!(finished.removed[0].bytes > 0);
    assert_eq!(place.names(), ["data"]);
    assert!(finish(&path, false).is_err());
    assert_eq!(contents(&path), before);
}

/// Its options may have been changed since, without its files.
#[test]
fn an_older_rebuild_is_not_taken_for_the_one_that_is_asked_for() {
    let place = Place::new();
    let path = place.path();
    make(&path, 2_000);
    rewrite(&path, FEWER_LEVELS);
    let other = "[CFOptions \"default\"]\ncompression=kNoCompression\n";
    apply(&path, other);
    let again = Applier::new(&path, wanted(other)).rewrite(true);
    let refused = again
        .apply(&mut |_| ())
        .expect_err("the old directory is there");
    assert!(refused.to_string().contains("--finish"), "{refused}");
    finish(&path, false).expect("finished");
    let rebuilt = again.apply(&mut |_| ()).expect("rebuilt").rebuilt;
    assert!(rebuilt.is_some(), "the files are written anew");
}

/// The options say by then what the files are not.
#[test]
fn room_is_reckoned_with_the_files_own_compression() {
    let place = Place::new();
    let path = place.path();
    let mut own = options();
    own.set_compression_type(DBCompressionType::Lz4);
    make_with(&path, 20_000, &own);
    let needed = || {
        let text = "[CFOptions \"default\"]\nnum_levels=4\n";
        let applier = Applier::new(&path, wanted(text)).rewrite(true);
        let plan = applier.plan().expect("a plan");
        plan.rebuild.expect("a rebuild").needed_bytes
    };
    let compressed = needed();
    let none = "[CFOptions \"default\"]\ncompression=kNoCompression\n";
    assert_eq!(apply(&path, none).count(Taken::Changed), 1);
    // More than 20,000 keys and values of 160 bytes were compressed.
    let plain = needed();
    assert!(plain > compressed + (1 << 20), "{compressed} {plain}");
}

#[test]
fn without_consent_a_rebuild_is_offered_only() {
    let place = Place::new();
    let path = place.path();
    make(&path, 20_000);
    let text = "[CFOptions \"default\"]\nnum_levels=1\nwrite_buffer_size=1M\n";
    let applied = apply(&path, text);
    assert_eq!(applied.count(Taken::Changed), 1, "{applied:#?}");
    let left = applied.left().next().expect("num_levels");
    assert_eq!(left.row.how, How::Rebuild);
    assert!(left.why.contains("--rewrite"), "{left:?}");
    assert_eq!(place.names(), ["data"]);
}

#[test]
fn from_universal_to_leveled() {
    let place = Place::new();
    let path = place.path();
    let mut universal = options();
    universal.set_compaction_style(DBCompactionStyle::Universal);
    make_with(&path, 10_000, &universal);
    let before = contents(&path);
    let sections = ["default", "second", "third"]
        .map(|name| format!("[CFOptions \"{name}\"]\ncompaction_style=kCompactionStyleLevel\n"));
    let applied = rewrite(&path, &sections.concat());
    assert_eq!(applied.count(Taken::Changed), 3, "{applied:#?}");
    assert_eq!(contents(&path), before);
    let db = DB::open_cf(&options(), &path, ["default", "second", "third"]).expect("leveled");
    db.put("more", "data").expect("a put");
}

#[test]
fn merges_are_resolved_by_the_operator_that_is_brought() {
    let place = Place::new();
    let path = place.path();
    let with = |options: &mut Options| options.set_merge_operator_associative("join", join);
    let mut own = options();
    with(&mut own);
    let db = DB::open(&own, &path).expect("a new database");
    for number in 0..500 {
        for part in ["a", "b", "c"] {
            db.merge(key(number), part).expect("a merge");
            if number % 100 == 0 {
                db.flush().expect("a flush");
            }
        }
    }
    drop(db);
    let before = contents_with(&path, &own);
    assert_eq!(before["default"][key(1).as_bytes()], b"abc");
    let text = "[TableOptions/BlockBasedTable \"default\"]\nblock_size=8K\n";
    let error = Applier::new(&path, wanted(text))
        .rewrite(true)
        .apply(&mut |_| ())
        .expect_err("nobody has the operator");
    assert!(error.to_string().contains("merge_operator=join"), "{error}");
    Applier::new(&path, wanted(text))
        .rewrite(true)
        .customise(move |_, options| with(options))
        .apply(&mut |_| ())
        .expect("rebuilt");
    assert_eq!(contents_with(&path, &own), before);
    assert!(recorded(&path).contains("merge_operator=join"));

    let db = DB::open(&own, &path).expect("it opens");
    db.merge(key(1), "d").expect("a merge");
    drop(db);
    let mut asked = None;
    let refused = undo(&path, |changes| {
        asked = Some(changes);
        false
    });
    assert!(refused.is_err());
    // Nobody here can open it to count.
    assert_eq!(asked, Some(Changes { writes: None }));
}

fn level0_files(path: &Path, family: &str) -> usize {
    let families = ["default", "second", "third"];
    let options = Options::default();
    let db = DB::open_cf_for_read_only(&options, path, families, false).expect("readable");
    let files = db.live_files().expect("files");
    files
        .iter()
        .filter(|file| file.column_family_name == family && file.level == 0)
        .count()
}

/// Its writers stop at six files in level 0, and nobody takes them away.
#[test]
fn a_database_that_its_application_compacts_is_copied() {
    let place = Place::new();
    let path = place.path();
    make(&path, 10_000);
    record(&path, "kCompactionStyleLevel", "kCompactionStyleNone");
    let before = contents(&path);
    let applied = rewrite(
        &path,
        "[CFOptions \"default\"]\nwrite_buffer_size=64K\nlevel0_file_num_compaction_trigger=2\n\
         level0_slowdown_writes_trigger=4\nlevel0_stop_writes_trigger=6\n",
    );
    assert_eq!(applied.count(Taken::Changed), 4, "{applied:#?}");
    assert_eq!(contents(&path), before);
    assert!(recorded(&path).contains("compaction_style=kCompactionStyleNone"));
    assert!(!recorded(&path).contains("compaction_style=kCompactionStyleLevel"));
    assert!(level0_files(&path, "default") < 6);
}

/// RocksDB writes into them by itself, so that no copy would ever equal them.
#[test]
fn statistics_of_rocksdbs_own_are_not_copied() {
    const STATISTICS: &str = "___rocksdb_stats_history___";
    let mine = |path: &Path| {
        let mut all = contents(path);
        let statistics = all.remove(STATISTICS);
        assert!(statistics.is_some(), "there are none");
        all
    };
    let place = Place::new();
    let path = place.path();
    // RocksDB refuses to open with these statistics while level 0 is crowded.
    let mut calm = options();
    calm.set_write_buffer_size(16 << 20);
    make_with(&path, 2_000, &calm);
    let on = "[DBOptions]\npersist_stats_to_disk=true\n";
    assert_eq!(apply(&path, on).count(Taken::Changed), 1);
    let before = mine(&path);
    for levels in [5, 6] {
        let text = format!("[CFOptions \"default\"]\nnum_levels={levels}\n");
        let rebuilt = rewrite(&path, &text).rebuilt.expect("a copy");
        assert_eq!(rebuilt.families.len(), 3, "{rebuilt:?}");
        assert_eq!(mine(&path), before);
        finish(&path, false).expect("finished");
    }
    assert!(recorded(&path).contains("persist_stats_to_disk=true"));
    let jobs = "[DBOptions]\nmax_background_jobs=4\n";
    assert_eq!(apply(&path, jobs).count(Taken::Changed), 1);
    assert_eq!(mine(&path), before);
}

/// RocksDB refuses writes without a log then.
#[test]
fn a_database_that_recycles_its_logs_is_copied() {
    let place = Place::new();
    let path = place.path();
    make(&path, 2_000);
    let on = "[DBOptions]\nrecycle_log_file_num=2\n";
    assert_eq!(apply(&path, on).count(Taken::Changed), 1);
    let before = contents(&path);
    rewrite(&path, FEWER_LEVELS);
    assert_eq!(contents(&path), before);
    assert!(recorded(&path).contains("recycle_log_file_num=2"));
}

/// It is not data, and stays in the old directory.
#[test]
fn the_archive_of_the_log_is_left_behind() {
    let place = Place::new();
    let path = place.path();
    let mut own = options();
    own.set_wal_ttl_seconds(3_600);
    make_with(&path, 5_000, &own);
    let logs = |path: &Path| fs::read_dir(path.join("archive")).map_or(0, Iterator::count);
    assert!(logs(&path) > 0, "no log was archived");
    let before = contents(&path);
    rewrite(&path, FEWER_LEVELS);
    assert_eq!(contents(&path), before);
    assert!(logs(&place.beside(".before-apply")) > 0);
    finish(&path, false).expect("finished");
    assert_eq!(place.names(), ["data"]);
}
