//! SQL, as text.

use super::change::Change;
use super::options::Assignment;

/// The lock that the agent's session holds; it ends with the session.
pub const AGENT_LOCK: &str = "lissom.attach";
/// The lock that the watchdog's session holds.
pub const WATCHDOG_LOCK: &str = "lissom.watchdog";

/// Whether a column family's name can be written into these statements: it stands
/// between quotes, and `rocksdb_update_cf_options` reads it up to `=`.
pub fn is_legal(column_family: &str) -> bool {
    !column_family.is_empty()
        && column_family
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"._:$-".contains(&byte))
}

/// The statement that makes a change.
pub fn set(change: &Change) -> String {
    match change {
        Change::Family { column_family, set } => update_cf_options(column_family, set),
        Change::RateLimiter { bytes_per_sec } => {
            format!("SET GLOBAL rocksdb_rate_limiter_bytes_per_sec = {bytes_per_sec}")
        }
    }
}

/// The statement that sets options of a column family.
pub(super) fn update_cf_options(column_family: &str, set: &[Assignment]) -> String {
    let texts: Vec<String> = set.iter().map(Assignment::to_string).collect();
    format!(
        "SET GLOBAL rocksdb_update_cf_options = '{column_family}={{{}}}'",
        texts.join(";")
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decide::{Stage, manage};
    use crate::testing::{usual_family, usual_settings};

    #[test]
    fn a_delay_names_one_family_and_what_differs() {
        let family = usual_family();
        let leased = manage("cf_hot", &family, &usual_settings()).expect("managed");
        let change = Change::Family {
            column_family: "cf_hot".into(),
            set: family.options.changes_to(&leased.options(Stage::Delayed)),
        };
        assert_eq!(
            set(&change),
            "SET GLOBAL rocksdb_update_cf_options = 'cf_hot={\
             level0_file_num_compaction_trigger=20;level0_slowdown_writes_trigger=40;\
             level0_stop_writes_trigger=60;max_bytes_for_level_base=2147483648}'"
        );
    }

    #[test]
    fn a_name_that_could_end_its_quotes_is_not_legal() {
        for name in ["default", "cf_hot", "rev:cf-1.$x"] {
            assert!(is_legal(name), "{name}");
        }
        for name in ["", "a'b", "a\\", "a={};b", "a b", "a\"b", "ä", "a\0"] {
            assert!(!is_legal(name), "{name:?}");
        }
    }
}
