//! A log that is damaged in its midst.

use std::fs;
use std::path::Path;

use rust_rocksdb::{DB, DBRecoveryMode, Options};

/// Makes a database of three entries in its log, with keys 0x80 to 0x82, and flips a byte within
/// the value of the second, which is a long run of its key.
pub fn with_damaged_log(path: &Path, mut options: Options, rule: DBRecoveryMode) {
    options.set_write_buffer_size(8 << 20);
    options.set_wal_recovery_mode(rule);
    let db = DB::open(&options, path).expect("a new database");
    for letter in [0x80_u8, 0x81, 0x82] {
        db.put([letter], vec![letter; 100_000]).expect("a put");
    }
    drop(db);
    let entries = fs::read_dir(path).expect("readable");
    let log = entries
        .map(|entry| entry.expect("an entry").path())
        .filter(|file| file.extension().is_some_and(|end| end == "log"))
        .max_by_key(|file| file.metadata().expect("a file").len())
        .expect("a log");
    let mut bytes = fs::read(&log).expect("readable");
    let run = bytes
        .windows(1_000)
        .position(|run| run.iter().all(|byte| *byte == 0x81));
    bytes[run.expect("the value") + 500] ^= 1;
    fs::write(&log, bytes).expect("written");
}
