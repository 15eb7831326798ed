//! Options that say what RocksDB makes of a damaged log when it opens a database.

use super::{How, Row};
use crate::apply::text::Section;

const RECOVERY: [&str; 5] = [
    "paranoid_checks",
    "track_and_verify_wals",
    "track_and_verify_wals_in_manifest",
    "wal_filter",
    "wal_recovery_mode",
];

/// Whether a change would have a say in the very recovery that it comes with: the log
/// is then read and flushed before, by the rules that it was written under.
pub(in crate::apply) fn changes_recovery(rows: &[Row]) -> bool {
    rows.iter().any(|row| {
        row.how == How::Reopening
            && row.section == Section::Database
            && RECOVERY.contains(&row.name.as_str())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::apply::catalogue::find;

    fn row(name: &str, how: How) -> Row {
        Row {
            section: Section::Database,
            name: name.into(),
            line: 1,
            old: None,
            new: String::new(),
            how,
            for_new_files: false,
            why: String::new(),
        }
    }

    #[test]
    fn only_changes_count() {
        for name in RECOVERY {
            assert!(find(&Section::Database, name).is_some(), "{name}");
            assert!(changes_recovery(&[row(name, How::Reopening)]), "{name}");
            assert!(!changes_recovery(&[row(name, How::Unchanged)]), "{name}");
        }
        assert!(!changes_recovery(&[row("use_fsync", How::Reopening)]));
    }
}
