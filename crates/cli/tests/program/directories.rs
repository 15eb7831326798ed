//! inspect, adopt, pin, compact, detach.

use std::time::{Duration, Instant};
#[cfg(target_os = "linux")]
use std::{path::Path, process::Command};

use rust_rocksdb::DB;
#[cfg(target_os = "linux")]
use rust_rocksdb::{DBCompressionType, Options};

use super::support::{command, done, ends, entries, json, plain, text, unread};

const WIDTH: usize = 80;

fn fits_the_terminal(drawing: &str) {
    for line in drawing.lines().skip(1) {
        assert!(line.chars().count() <= WIDTH, "{line}");
    }
    assert!(!drawing.contains('\x1b'), "no colours in a pipe");
}

#[test]
fn a_directory_goes_there_and_back() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().to_str().expect("UTF-8");
    plain(directory.path());
    let drawing = done(&["inspect", path]);
    assert!(drawing.contains("not adopted"), "{drawing}");
    assert!(drawing.contains("kCompactionStyleLevel"), "{drawing}");
    fits_the_terminal(&drawing);

    let foreseen = done(&["adopt", path, "--dry-run"]);
    assert!(foreseen.contains("column family default"), "{foreseen}");
    assert!(!directory.path().join("LISSOM").exists());
    let asked = super::support::run(&["adopt", path]);
    assert_eq!(asked.status.code(), Some(2));
    assert!(
        text(&asked.stderr).contains("--yes"),
        "{}",
        text(&asked.stderr)
    );
    let report = json(&[
        "adopt",
        path,
        "--yes",
        "--json",
        "--policy",
        "fixed-4",
        "--size-ratio",
        "4",
    ]);
    assert_eq!(report["carried_out"], true);
    assert_eq!(entries(directory.path(), 194), 20_000);
    assert!(done(&["adopt", path, "--yes"]).contains("nothing is left to do"));
    let drawing = done(&["inspect", path]);
    let words = "fixed-4, run limits 4, size ratio 4";
    assert!(drawing.contains(words), "{drawing}");
    let other = ["adopt", path, "--yes", "--policy", "fixed-2"];
    assert!(done(&other).contains("adopted: "));
    assert!(done(&other).contains("nothing is left to do"));
    assert_eq!(entries(directory.path(), 194), 20_000);

    let drawing = done(&["inspect", path, "--why"]);
    assert!(drawing.contains("driven by Lissom"), "{drawing}");
    assert!(
        drawing.contains("fixed-2, run limits 2, size ratio 4"),
        "{drawing}"
    );
    assert!(drawing.contains("last decisions"), "{drawing}");
    let seen = json(&["inspect", path, "--why", "--json"]);
    assert!(seen["limits"].is_array());
    fits_the_terminal(&drawing);
    let seen = json(&["inspect", path, "--json"]);
    assert_eq!(seen["families"][0]["tree"]["driven_by"], "lissom");
    assert_eq!(seen["families"][0]["entries"], 20_000);

    done(&["compact", path, "--yes"]);
    assert!(done(&["compact", path]).contains("is one run already"));
    assert_eq!(entries(directory.path(), 194), 20_000);

    let foreseen = json(&["detach", path, "--dry-run", "--json"]);
    assert_eq!(foreseen["carried_out"], false);
    done(&["pin", path]);
    for left_behind in [
        "LISSOM-COMPACT",
        "LISSOM-COMPACT.tmp",
        "LISSOM.damaged",
        "LISSOM.format-9",
        "LISSOM.tmp",
    ] {
        std::fs::write(directory.path().join(left_behind), "[]").expect("written");
    }
    assert!(done(&["detach", path, "--yes"]).contains("detached"));
    let left = std::fs::read_dir(directory.path()).expect("a directory");
    let ours = left
        .map(|entry| text(entry.expect("an entry").file_name().as_encoded_bytes()))
        .find(|name| name.starts_with("LISSOM"));
    assert_eq!(ours, None);
    assert_eq!(entries(directory.path(), 7), 20_000);
    assert!(done(&["detach", path]).contains("plain RocksDB directory already"));
}

/// Eight files of 16 MB over each other in L0, whose merge takes a good part of a second.
#[cfg(target_os = "linux")]
fn overlapping(path: &Path) {
    let mut options = Options::default();
    options.create_if_missing(true);
    options.set_write_buffer_size(64 << 20);
    options.set_disable_auto_compactions(true);
    options.set_compression_type(DBCompressionType::None);
    let db = DB::open(&options, path).expect("a new database");
    for round in 0..8u64 {
        for number in 0..16_000u64 {
            let key = format!("{:016x}", number.wrapping_mul(0x9e37_79b9_7f4a_7c15));
            db.put(key, format!("{round:01000}")).expect("a put");
        }
        db.flush().expect("a flush");
    }
}

/// The program, for a user who has the right like for one who has it not.
#[cfg(target_os = "linux")]
fn without_a_right_to_priorities() -> Command {
    use std::os::unix::fs::MetadataExt;
    let program = env!("CARGO_BIN_EXE_lissom");
    let own = std::fs::metadata("/proc/self").expect("a process");
    if own.uid() != 0 {
        return Command::new(program);
    }
    let mut command = Command::new("setpriv");
    command.args(["--bounding-set=-sys_nice", "--inh-caps=-sys_nice", program]);
    command
}

/// Most users may not raise the priority of a thread again, so that no merge gives way.
#[cfg(target_os = "linux")]
#[test]
fn whoever_may_not_change_priorities_adopts_as_well() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().to_str().expect("UTF-8");
    overlapping(directory.path());
    for work in ["adopt", "compact", "detach"] {
        let output = without_a_right_to_priorities()
            .args([work, path, "--yes"])
            .output()
            .expect("the program starts, by util-linux");
        assert!(output.status.success(), "{work}: {}", text(&output.stderr));
    }
    assert_eq!(entries(directory.path(), 7), 16_000);
}

#[test]
fn a_journal_without_decisions_is_there() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().to_str().expect("UTF-8");
    plain(directory.path());
    done(&["adopt", path, "--yes"]);
    let journal = directory.path().join("LISSOM-JOURNAL");
    assert!(journal.exists());
    std::fs::write(&journal, "").expect("written");
    let drawing = done(&["inspect", path, "--why"]);
    assert!(
        drawing.contains("no recent decisions are on record"),
        "{drawing}"
    );
}

#[test]
fn the_pin_is_a_file_that_comes_and_goes() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().to_str().expect("UTF-8");
    plain(directory.path());
    let pin = directory.path().join("LISSOM-PIN");
    let sentence = ends(&["pin", path], 1);
    assert!(
        sentence.contains("is not adopted") && sentence.contains("`lissom adopt`"),
        "{sentence}"
    );
    assert!(!pin.exists());
    assert!(done(&["pin", path, "--off"]).contains("were not held"));

    done(&["adopt", path, "--yes"]);
    assert!(done(&["pin", path]).contains("are held"));
    assert!(pin.exists());
    assert!(done(&["pin", path]).contains("already"));
    assert!(done(&["inspect", path]).contains("limits held"));
    let report = json(&["pin", path, "--off", "--json"]);
    assert_eq!(
        (&report["pinned"], &report["changed"]),
        (&false.into(), &true.into())
    );
    assert!(!pin.exists());
    // Its levels say whose it is, too.
    std::fs::remove_file(directory.path().join("LISSOM")).expect("the state is lost");
    assert!(done(&["pin", path]).contains("are held"));
}

#[test]
fn a_running_store_is_held_and_let_go() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().to_str().expect("UTF-8");
    let settings = lissom::Settings {
        policy: "thresholds-20-80".parse().expect("a policy"),
        mission_operations: 200,
        ..lissom::Settings::default()
    };
    let db = lissom::Db::open(path, settings).expect("a new database");
    let glance = || db.autopilot().glance("default").expect("a column family");
    let write_until = |what: &dyn Fn() -> bool| {
        let deadline = Instant::now() + Duration::from_secs(60);
        while !what() {
            assert!(Instant::now() < deadline, "{:?}", glance());
            for number in 0..200 {
                db.put(format!("key {number}"), "value").expect("written");
            }
            std::thread::sleep(Duration::from_millis(2));
        }
    };
    // Writes alone raise the limits after every mission.
    let three_missions_later = || {
        let asked = glance().tuner.asked;
        write_until(&|| glance().tuner.asked >= asked + 3);
    };
    // It is noticed within a tenth of a second.
    let noticed = || std::thread::sleep(Duration::from_millis(500));

    assert!(done(&["pin", path]).contains("are held"));
    noticed();
    let held = glance().limits;
    three_missions_later();
    assert_eq!(glance().limits, held);
    assert!(done(&["pin", path, "--off"]).contains("may change again"));
    write_until(&|| glance().limits != held);
    assert!(done(&["pin", path]).contains("are held"));
    noticed();
    let held = glance().limits;
    three_missions_later();
    assert_eq!(glance().limits, held);
}

#[test]
fn an_open_database_is_looked_at_and_not_taken() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().to_str().expect("UTF-8");
    let options = plain(directory.path());
    let db = DB::open(&options, directory.path()).expect("it opens");
    db.put("more", "data").expect("a put");
    assert!(done(&["inspect", path]).contains("not adopted"));
    let output = command(&["adopt", path, "--yes"])
        .output()
        .expect("started");
    assert_eq!(output.status.code(), Some(1));
    let sentence = text(&output.stderr);
    assert!(sentence.contains("close it there first"), "{sentence}");
    assert_eq!(
        db.get("more").expect("a get").as_deref(),
        Some(&b"data"[..])
    );
}

#[test]
fn what_is_no_database_is_said_to_be_none() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().to_str().expect("UTF-8");
    for command in [
        "inspect",
        "adopt",
        "detach",
        "pin",
        "compact",
        "measure-device",
    ] {
        let sentence = ends(&[command, path], 1);
        assert!(
            sentence.contains("has no file CURRENT"),
            "{command}: {sentence}"
        );
        let sentence = ends(&[command, "/no/such/directory"], 1);
        assert!(
            sentence.contains("there is no directory"),
            "{command}: {sentence}"
        );
    }
    plain(directory.path());
    let sentence = ends(&["inspect", path, "--column-family", "other"], 1);
    assert!(
        sentence.contains("no column family \"other\"; it has default"),
        "{sentence}"
    );
    for command in [
        &["compact", path, "--yes"][..],
        &["pin", path][..],
        &["measure-device", path][..],
    ] {
        let sentence = ends(command, 1);
        assert!(sentence.contains("is not adopted"), "{sentence}");
    }
}

#[test]
fn nobody_reading_is_no_failure() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().to_str().expect("UTF-8");
    plain(directory.path());
    for arguments in [&["inspect", path][..], &["adopt", path, "--yes"]] {
        let output = command(arguments)
            .stdout(unread())
            .output()
            .expect("started");
        assert_eq!(text(&output.stderr), "", "{arguments:?}");
        assert_eq!(output.status.code(), Some(0), "{arguments:?}");
    }
    let inspected = json(&["inspect", path, "--json"]);
    assert_eq!(inspected["families"][0]["tree"]["driven_by"], "lissom");
}

#[test]
fn a_failure_that_nobody_reads_of_has_its_exit_code() {
    for (arguments, code) in [
        (&["inspect", "/no/such/directory"][..], 1),
        (&["apply", ".", "file", "--yes"], 2),
    ] {
        let output = command(arguments)
            .stderr(unread())
            .output()
            .expect("started");
        assert_eq!(output.status.code(), Some(code), "{arguments:?}");
    }
}

#[test]
fn a_running_store_is_asked_to_compact() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().to_str().expect("UTF-8");
    let db = lissom::Db::open(path, lissom::Settings::default()).expect("a new database");
    for turn in 0..3 {
        for number in 0..100 {
            db.put(format!("key {number}"), format!("value {turn}"))
                .expect("written");
        }
        db.rocksdb().flush().expect("flushed");
    }
    let said = done(&["compact", path, "--running"]);
    assert!(said.contains("asked to merge default"), "{said}");
    let deadline = Instant::now() + Duration::from_secs(60);
    let is_one_run = || {
        let glance = db.autopilot().glance("default").expect("a column family");
        glance.tree.level0_files == 0 && glance.tree.runs.len() == 1
    };
    while !is_one_run() {
        assert!(Instant::now() < deadline, "the request was not taken up");
        std::thread::sleep(Duration::from_millis(20));
    }
    let wrong = super::support::run(&["compact", path, "--running", "--column-family", "no"]);
    assert!(
        text(&wrong.stderr).contains("has no column family \"no\"; it has default"),
        "{}",
        text(&wrong.stderr)
    );
}
