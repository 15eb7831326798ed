//! Whether the files of the tree are where the tree says.

use std::collections::BTreeSet;
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
    let wrong = wrong(&db.live_files()?);
    if wrong.is_empty() {
        return Ok(());
    }
    // RocksDB's brake may have replaced some since they were listed.
    let listed: BTreeSet<String> = db.live_files()?.into_iter().map(|file| file.name).collect();
    let first = wrong.into_iter().find(|(name, _)| listed.contains(name));
    first.map_or(Ok(()), |(name, what)| {
        Err(Error::corrupt(format!(
            "cannot open {}: the table file {} {what}: restore it from a backup or checkpoint",
            db.path().display(),
            name.trim_start_matches('/'),
        )))
    })
}

/// The names of the files that are not as they should be, and how they are.
fn wrong(files: &[LiveFile]) -> Vec<(String, String)> {
    let described = files.iter().filter_map(|file| {
        let path = Path::new(&file.directory).join(file.name.trim_start_matches('/'));
        let wanted = file.size as u64;
        let what = match fs::metadata(&path) {
            Ok(found) if found.len() == wanted => return None,
            Ok(found) => format!("has {} bytes of {wanted}", found.len()),
            Err(error) => format!("cannot be read ({error})"),
        };
        Some((file.name.clone(), what))
    });
    described.collect()
}
