//! Running the program, and directories for it.

use std::io::{PipeWriter, Write};
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::thread;
use std::time::Duration;

use rust_rocksdb::{DB, DBCompressionType, Options};

pub fn command(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_lissom"));
    command.args(arguments).stdin(Stdio::null());
    command
}

pub fn run(arguments: &[&str]) -> Output {
    command(arguments).output().expect("the program starts")
}

pub fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).expect("the program writes UTF-8")
}

/// The end for writing of a pipe that nobody reads.
pub fn unread() -> PipeWriter {
    let (reader, writer) = std::io::pipe().expect("a pipe");
    drop(reader);
    writer
}

/// Says that a test is left out. Where `LISSOM_NO_SKIP` is set, it fails instead.
pub fn skip(why: &str) {
    assert!(std::env::var_os("LISSOM_NO_SKIP").is_none(), "{why}");
    // Past the test harness, which would keep it back.
    let _ = writeln!(std::io::stderr(), "skipped: {why}");
}

/// Waits until something holds, for a minute at the most.
#[track_caller]
pub fn wait_until(mut holds: impl FnMut() -> bool) {
    for _ in 0..6_000 {
        if holds() {
            return;
        }
        thread::sleep(Duration::from_millis(10));
    }
    panic!("it does not come to hold");
}

/// Standard output of a command that must succeed.
pub fn done(arguments: &[&str]) -> String {
    let output = run(arguments);
    assert_eq!(
        output.status.code(),
        Some(0),
        "{arguments:?}: {}",
        text(&output.stderr)
    );
    assert!(output.stderr.is_empty(), "{}", text(&output.stderr));
    text(&output.stdout)
}

/// Standard error of a command that must end with this code and say nothing
/// else.
pub fn ends(arguments: &[&str], code: i32) -> String {
    let output = run(arguments);
    assert_eq!(
        output.status.code(),
        Some(code),
        "{arguments:?}: {}",
        text(&output.stderr)
    );
    assert!(output.stdout.is_empty(), "{}", text(&output.stdout));
    text(&output.stderr)
}

pub fn json(arguments: &[&str]) -> serde_json::Value {
    serde_json::from_str(&done(arguments)).expect("JSON")
}

/// A directory that RocksDB alone has made, with several levels.
pub fn plain(path: &Path) -> Options {
    let mut options = Options::default();
    options.create_if_missing(true);
    options.set_write_buffer_size(64 << 10);
    options.set_target_file_size_base(64 << 10);
    options.set_max_bytes_for_level_base(256 << 10);
    options.set_level_compaction_dynamic_level_bytes(false);
    options.set_compression_type(DBCompressionType::Lz4);
    let db = DB::open(&options, path).expect("a new database");
    for number in 0..20_000u64 {
        let key = format!("{:016x}", number.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        db.put(key, format!("{number:0100}")).expect("a put");
    }
    db.flush().expect("a flush");
    options
}

pub fn entries(path: &Path, levels: i32) -> usize {
    let mut options = Options::default();
    options.set_num_levels(levels);
    let db = DB::open_for_read_only(&options, path, false).expect("readable");
    let all: Result<Vec<_>, _> = db.iterator(rust_rocksdb::IteratorMode::Start).collect();
    all.expect("readable").len()
}
