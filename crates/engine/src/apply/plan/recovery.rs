//! Options that say what RocksDB makes of a damaged log when it opens a database.

use super::{How, Row};
use crate::apply::text::{OptionsText, Section};

const RECOVERY: [&str; 5] = [
    "paranoid_checks",
    "track_and_verify_wals",
    "track_and_verify_wals_in_manifest",
    "wal_filter",
    "wal_recovery_mode",
];

/// RocksDB's defaults; `wal_filter` is an object, and by default there is none.
const DEFAULTS: [(&str, &str); 4] = [
    ("paranoid_checks", "true"),
    ("track_and_verify_wals", "false"),
    ("track_and_verify_wals_in_manifest", "false"),
    ("wal_recovery_mode", "kPointInTimeRecovery"),
];

/// Lines of `[DBOptions]` with which a database recovers otherwise than by default.
pub(in crate::apply) fn own_recovery(options: &OptionsText) -> String {
    DEFAULTS
        .iter()
        .filter_map(|(name, default)| {
            let value = options.get(&Section::Database, name)?;
            (value != *default).then(|| format!("{name}={value}\n"))
        })
        .collect()
}

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
    fn only_what_is_not_by_default_is_its_own() {
        let of = |text: &str| own_recovery(&OptionsText::recorded(text).0);
        assert_eq!(of("[DBOptions]\nuse_fsync=true\n"), "");
        for (name, default) in DEFAULTS {
            assert!(RECOVERY.contains(&name), "{name}");
            assert_eq!(of(&format!("[DBOptions]\n{name}={default}\n")), "");
        }
        let own = "wal_recovery_mode=kAbsoluteConsistency\n";
        let text = format!("[DBOptions]\nparanoid_checks=true\n{own}");
        assert_eq!(of(&text), own);
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
