//! Whether the files of the tree are where the tree says.

use std::fs;
use std::path::Path;

use rust_rocksdb::LiveFile;

use crate::RocksDb;
use crate::error::{Error, Result};

/// Every table file is there and as long as it should be.
///
/// RocksDB looks at 16 of them at open unless it keeps all files open, and misses the
/// others when somebody reads them.
///
/// # Errors
/// [`ErrorKind::Corrupt`](crate::ErrorKind::Corrupt) with the first file that is not.
pub(crate) fn check(db: &RocksDb) -> Result<()> {
    let Some(first) = wrong(&db.live_files()?) else {
        return Ok(());
    };
    // RocksDB's brake may have replaced it since it was listed.
    let still = |file: &LiveFile| file.name == first.0;
    if !db.live_files()?.iter().any(still) {
        return Ok(());
    }
    let (name, what) = first;
    Err(Error::corrupt(format!(
        "cannot open {}: the table file {} {what}: restore it from a backup or checkpoint",
        db.path().display(),
        name.trim_start_matches('/'),
    )))
}

/// The first file that is not as it should be, and how it is.
fn wrong(files: &[LiveFile]) -> Option<(String, String)> {
    files.iter().find_map(|file| {
        let path = Path::new(&file.directory).join(file.name.trim_start_matches('/'));
        let wanted = file.size as u64;
        let what = match fs::metadata(&path) {
            Ok(found) if found.len() == wanted => return None,
            Ok(found) => format!("has {} bytes of {wanted}", found.len()),
            Err(error) => format!("cannot be read ({error})"),
        };
        Some((file.name.clone(), what))
    })
}
