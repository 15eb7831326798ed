//! apply: what each option takes, and doing it.

use std::path::Path;

use lissom::apply::{How, Wanted};
use lissom_search::space::{BuiltIn, Change, Configuration, Constants, Kind, Parameter, Setting};
use rust_rocksdb::DB;
use tempfile::TempDir;

use super::support::{command, done, ends, entries, json, plain, run, text, unread};

fn write(directory: &Path, content: &str) -> String {
    let file = directory.join("wanted");
    std::fs::write(&file, content).expect("written");
    file.to_str().expect("UTF-8").to_owned()
}

/// A directory with a database that RocksDB alone has made, and the database's path.
fn database() -> (TempDir, String) {
    let place = tempfile::tempdir().expect("a directory");
    let path = place.path().join("data");
    plain(&path);
    let data = path.to_str().expect("UTF-8").to_owned();
    (place, data)
}

#[test]
fn options_of_a_closed_directory_are_told_and_changed() {
    let (place, data) = database();
    let file = write(
        place.path(),
        "[DBOptions]\n  max_background_jobs=6\n[CFOptions \"default\"]\n  \
         compaction_pri=kOldestLargestSeqFirst\n  write_buffer_size=64K\n",
    );
    let foreseen = done(&["apply", &data, &file, "--dry-run"]);
    for words in [
        "[DBOptions]",
        "max_background_jobs: 2 -> 6, at reopening",
        "of 3 options 2 change at reopening, 1 is so already",
    ] {
        assert!(foreseen.contains(words), "{words}\n{foreseen}");
    }
    for line in foreseen.lines().skip(1) {
        assert!(line.chars().count() <= 80, "{line}");
    }
    let again = done(&["apply", &data, &file, "--dry-run"]);
    assert_eq!(again, foreseen, "a dry run changes nothing");

    let said = done(&["apply", &data, &file]);
    assert!(
        said.contains("max_background_jobs: 2 -> 6, changed"),
        "{said}"
    );
    assert!(
        said.contains("2 options changed, 1 so before, 0 left"),
        "{said}"
    );
    let said = done(&["apply", &data, &file]);
    assert!(said.contains("0 options changed, 3 so before"), "{said}");
    assert_eq!(entries(data.as_ref(), 7), 20_000);
}

#[test]
fn what_cannot_be_changed_ends_with_1_and_its_reason() {
    let (place, data) = database();
    let file = write(
        place.path(),
        "[CFOptions \"default\"]\ncomparator=mine\nnum_levels=1\ncompression=kZSTD\n",
    );
    let output = run(&["apply", &data, &file]);
    assert_eq!(output.status.code(), Some(1));
    let said = text(&output.stdout);
    for words in [
        "comparator: leveldb.BytewiseComparator -> mine, not changed",
        "--rewrite does it",
        "compression: kLZ4Compression -> kZSTD, changed",
    ] {
        assert!(said.contains(words), "{words}\n{said}");
    }
    assert!(text(&output.stderr).contains("2 options were not changed"));
    let report = run(&["apply", &data, &file, "--json"]);
    assert_eq!(report.status.code(), Some(1));
    let report: serde_json::Value = serde_json::from_slice(&report.stdout).expect("JSON");
    assert_eq!(report["outcomes"][0]["taken"], "left");
    let unheard = command(&["apply", &data, &file])
        .stdout(unread())
        .output()
        .expect("started");
    assert_eq!(unheard.status.code(), Some(1));
}

#[test]
fn what_rocksdb_records_nowhere_is_a_remark() {
    let (place, data) = database();
    let file = write(
        place.path(),
        "[DBOptions]\nmax_background_jobs=6\n\
         [TableOptions/BlockBasedTable \"default\"]\nblock_cache=1M\n",
    );
    let foreseen = done(&["apply", &data, &file, "--dry-run"]);
    assert!(foreseen.contains("1 changes at reopening"), "{foreseen}");
    for _ in 0..2 {
        let said = done(&["apply", &data, &file]);
        for words in [
            "for the program to set",
            "RocksDB records it in no OPTIONS file",
            "0 left as before, 1 for the program that opens the database to set",
        ] {
            assert!(said.contains(words), "{words}\n{said}");
        }
    }
}

/// As `lissom search --space lissom` writes them.
#[test]
fn settings_that_only_the_program_keeps_are_a_remark() {
    let place = tempfile::tempdir().expect("a directory");
    let path = place.path().join("data");
    let data = path.to_str().expect("UTF-8");
    drop(lissom::Db::open(&path, lissom::Settings::default()).expect("a new database"));
    let file = write(
        place.path(),
        "{\"size_ratio\": 6, \"workers\": 3, \"memory_budget_bytes\": 268435456}",
    );
    let said = done(&["apply", data, &file]);
    for words in [
        "size_ratio: 10 -> 6, changed",
        "workers: not recorded -> 3, for the program to set",
        "0 left as before, 2 for the program that opens the database to set",
    ] {
        assert!(said.contains(words), "{words}\n{said}");
    }
}

#[test]
fn mistakes_in_the_file_are_named_with_their_lines() {
    let (place, data) = database();
    for (content, words) in [
        ("", "no option is set"),
        (
            "[DBOptions]\nspeed=1\n",
            "line 2: RocksDB 11.12 has no option speed",
        ),
        (
            "[CFOptions \"other\"]\nttl=1\n",
            "there is no column family \"other\"",
        ),
        (
            "{\"policy\": \"fixed-2\"}",
            "is a directory of plain RocksDB",
        ),
    ] {
        let file = write(place.path(), content);
        let sentence = ends(&["apply", &data, &file], 1);
        assert!(sentence.contains(words), "{sentence}");
    }
    let sentence = ends(&["apply", &data, "/no/such/file"], 1);
    assert!(sentence.contains("cannot read /no/such/file"), "{sentence}");
    let file = write(place.path(), "[DBOptions]\nmax_background_jobs=3\n");
    let sentence = ends(&["apply", "/no/such/directory", &file], 1);
    assert!(sentence.contains("there is no directory"), "{sentence}");
    let sentence = ends(&["apply", &data, "--finish"], 1);
    assert!(sentence.contains("nothing to finish"), "{sentence}");
    let sentence = ends(&["apply", &data, "--undo"], 1);
    assert!(sentence.contains("nothing to take back"), "{sentence}");
}

#[test]
fn all_data_are_rewritten_taken_back_and_finished() {
    let place = tempfile::tempdir().expect("a directory");
    let path = place.path().join("data");
    let options = plain(&path);
    let data = path.to_str().expect("UTF-8");
    let file = write(
        place.path(),
        "[CFOptions \"default\"]\nnum_levels=4\n[TableOptions/BlockBasedTable \"default\"]\n\
         block_size=16K\n",
    );
    let foreseen = json(&["apply", data, &file, "--dry-run", "--rewrite", "--json"]);
    assert!(foreseen["rebuild"]["needed_bytes"].as_u64() > Some(0));
    assert!(!place.path().join("data.rebuild").exists());
    let said = done(&["apply", data, &file, "--rewrite"]);
    assert!(said.contains("20000 entries"), "{said}");
    assert!(said.contains("data.before-apply"), "{said}");
    for words in ["`lissom apply PATH --finish`", "`lissom apply PATH --undo`"] {
        assert!(said.contains(words), "{words}\n{said}");
    }
    assert_eq!(entries(&path, 4), 20_000);

    let said = done(&["apply", data, &file, "--rewrite"]);
    assert!(said.contains("was rebuilt"), "{said}");
    let other = place.path().join("other");
    let content = "[CFOptions \"default\"]\nnum_levels=5\n";
    std::fs::write(&other, content).expect("written");
    let other = other.to_str().expect("UTF-8");
    let sentence = ends(&["apply", data, other, "--rewrite"], 1);
    assert!(sentence.contains("--finish"), "{sentence}");
    let mut fewer = options.clone();
    fewer.set_num_levels(4);
    let db = DB::open(&fewer, &path).expect("it opens");
    db.put("more", "data").expect("a put");
    drop(db);
    let output = run(&["apply", data, "--undo"]);
    assert_eq!(output.status.code(), Some(2));
    let said = text(&output.stderr);
    assert!(said.contains("give --yes to take it back"), "{said}");
    assert!(
        !said.contains("--dry-run"),
        "it goes with no --undo: {said}"
    );
    let said = done(&["apply", data, "--undo", "--yes"]);
    assert!(said.contains("as it was before"), "{said}");
    assert!(said.contains("`lissom apply PATH --finish`"), "{said}");
    assert_eq!(entries(&path, 7), 20_000);
    assert_eq!(entries(&place.path().join("data.undone"), 4), 20_001);

    done(&["apply", data, &file, "--rewrite"]);
    let output = run(&["apply", data, "--finish"]);
    assert_eq!(output.status.code(), Some(1));
    let said = text(&output.stdout);
    assert_eq!(said.matches("removed ").count(), 1, "{said}");
    let said = text(&output.stderr);
    assert!(said.contains("data.undone was not removed"), "{said}");
    assert_eq!(entries(&place.path().join("data.undone"), 4), 20_001);
    let said = done(&["apply", data, "--finish", "--yes"]);
    assert_eq!(said.matches("removed ").count(), 1, "{said}");
    let left: Vec<_> = std::fs::read_dir(place.path())
        .expect("readable")
        .map(|entry| text(entry.expect("an entry").file_name().as_encoded_bytes()))
        .collect();
    assert_eq!(left.len(), 3, "the database and two files: {left:?}");
    assert_eq!(entries(&path, 4), 20_000);
}

#[test]
fn a_running_store_is_asked() {
    let place = tempfile::tempdir().expect("a directory");
    let path = place.path().join("data");
    let data = path.to_str().expect("UTF-8");
    let db = lissom::Db::open(&path, lissom::Settings::default()).expect("a new database");
    let file = write(place.path(), "{\"policy\": \"fixed-4\"}");
    let sentence = ends(&["apply", data, &file], 1);
    assert!(sentence.contains("--running"), "{sentence}");
    let said = done(&["apply", data, &file, "--running"]);
    assert!(
        said.contains("policy: fixed-1 -> fixed-4, changed"),
        "{said}"
    );
    let file = write(
        place.path(),
        "[CFOptions \"default\"]\nmemtable_whole_key_filtering=true\nttl=60\n",
    );
    let output = run(&["apply", data, &file, "--running"]);
    assert_eq!(output.status.code(), Some(1));
    let said = text(&output.stdout);
    assert!(
        said.contains("memtable_whole_key_filtering: false -> true, changed"),
        "{said}"
    );
    assert!(said.contains("ttl: 0 -> 60, not changed"), "{said}");
    drop(db);
    let left = std::fs::read_dir(&path).expect("readable");
    let requests = left
        .map(|entry| text(entry.expect("an entry").file_name().as_encoded_bytes()))
        .filter(|name| name.starts_with("LISSOM-APPL"))
        .count();
    assert_eq!(requests, 0);
}

/// Another setting than the default.
fn other(parameter: &Parameter) -> Setting {
    let kind = &parameter.kind;
    let all: Vec<Setting> = match kind {
        Kind::Choice(words) => words.iter().cloned().map(Setting::Choice).collect(),
        Kind::Integer(grid) | Kind::Float(grid) => {
            let ends = [grid.min, grid.max].map(Setting::Float);
            ends.iter().filter_map(|it| kind.admit(it)).collect()
        }
        Kind::Boolean => [false, true].map(Setting::Boolean).to_vec(),
    };
    let mut others = all.into_iter().filter(|it| *it != parameter.default);
    others.next().expect("more than one setting")
}

/// What the space says that a change takes is what a running store says of it.
#[test]
fn the_space_of_lissom_tells_what_changes_at_run_time() {
    let file = BuiltIn::Lissom.file().expect("reads");
    let space = file.with(&Constants::new()).expect("is legal");
    let parameters = space.parameters().iter();
    let wanted: Configuration = parameters.map(|it| (it.name.clone(), other(it))).collect();
    let wanted = serde_json::to_string(&wanted).expect("plain data");
    let wanted = Wanted::parse(&wanted).expect("settings of Lissom's");
    let place = tempfile::tempdir().expect("a directory");
    let path = place.path().join("data");
    let db = lissom::Db::open(&path, lissom::Settings::default()).expect("a new database");
    let plan = db.autopilot().plan_to_apply(&wanted).expect("a plan");
    assert_eq!(plan.rows.len(), space.parameters().len());
    for row in &plan.rows {
        let parameter = space.parameter(&row.name).expect(&row.name);
        assert_eq!(
            parameter.change == Change::SetOptions,
            row.how == How::RunTime,
            "{}: {}, {}",
            row.name,
            parameter.change,
            row.why
        );
    }
}
