//! SQL, as text.

use super::change::Change;
use super::lease::{Lease, LeasedFamily};
use super::limiter::steps;
use super::options::{Assignment, OptionName};

/// The lock that the agent's session holds; it ends with the session.
pub const AGENT_LOCK: &str = "lissom.attach";
/// The lock that the watchdog's session holds.
pub const WATCHDOG_LOCK: &str = "lissom.watchdog";
/// The event that restores from within the server.
pub const EVENT: &str = "lissom_attach";
/// Seconds between two looks of the event.
pub const EVENT_INTERVAL: u64 = 5;
/// How many such events wait for their agent to be gone.
pub const COUNT_EVENTS: &str = "SELECT COUNT(*) FROM information_schema.EVENTS \
     WHERE EVENT_NAME = 'lissom_attach' AND STATUS = 'ENABLED'";

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

fn update_cf_options(column_family: &str, set: &[Assignment]) -> String {
    let texts: Vec<String> = set.iter().map(Assignment::to_string).collect();
    format!(
        "SET GLOBAL rocksdb_update_cf_options = '{column_family}={{{}}}'",
        texts.join(";")
    )
}

/// An event that takes back what the agent set once nobody holds the agent's
/// lock. It ends by itself, so that a forgotten one undoes nothing for ever.
pub fn create_event(schema: &str, lease: &Lease, lifetime_seconds: u64) -> String {
    let mut body = String::new();
    for (name, leased) in &lease.families {
        body += &restore_family(name, leased);
    }
    if let Some(limiter) = &lease.rate_limiter {
        let ours: Vec<String> = steps(limiter.step)
            .filter(|it| *it != limiter.original)
            .map(|it| it.to_string())
            .collect();
        let back = set(&Change::RateLimiter {
            bytes_per_sec: limiter.original,
        });
        body += &format!(
            "IF @@GLOBAL.rocksdb_rate_limiter_bytes_per_sec IN ({}) THEN {back}; END IF; ",
            ours.join(", ")
        );
    }
    format!(
        "CREATE EVENT `{schema}`.`{EVENT}` ON SCHEDULE EVERY {EVENT_INTERVAL} SECOND \
         ENDS CURRENT_TIMESTAMP + INTERVAL {lifetime_seconds} SECOND \
         ON COMPLETION NOT PRESERVE \
         COMMENT 'lissom attach: restores RocksDB options when the agent is gone' \
         DO BEGIN IF IS_FREE_LOCK('{AGENT_LOCK}') = 1 THEN {body}END IF; END"
    )
}

/// Takes each option back by itself: only where it has the agent's value.
fn restore_family(name: &str, leased: &LeasedFamily) -> String {
    OptionName::ALL
        .into_iter()
        .filter(|option| leased.delayed.get(*option) != leased.original.get(*option))
        .map(|option| {
            let back = Assignment {
                option,
                value: leased.original.get(option),
            };
            format!(
                "IF EXISTS (SELECT 1 FROM information_schema.ROCKSDB_CF_OPTIONS \
                 WHERE BINARY CF_NAME = '{name}' AND OPTION_TYPE = '{}' AND `VALUE` = '{}') \
                 THEN {}; END IF; ",
                option.name().to_ascii_uppercase(),
                shown(option, leased.delayed.get(option)),
                update_cf_options(name, &[back])
            )
        })
        .collect()
}

/// As `ROCKSDB_CF_OPTIONS` shows it.
fn shown(option: OptionName, value: i64) -> String {
    match (option, value) {
        (OptionName::DisableAutoCompactions, 0) => "OFF".into(),
        (OptionName::DisableAutoCompactions, _) => "ON".into(),
        _ => value.to_string(),
    }
}

/// How many schemas of this name the user sees, which is all that it has a privilege on.
pub fn count_schemas(schema: &str) -> String {
    format!("SELECT COUNT(*) FROM information_schema.SCHEMATA WHERE SCHEMA_NAME = '{schema}'")
}

/// Removes the event.
pub fn drop_event(schema: &str) -> String {
    format!("DROP EVENT IF EXISTS `{schema}`.`{EVENT}`")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decide::{Stage, manage};
    use crate::testing::{usual_family, usual_lease, usual_settings};

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
    fn the_event_looks_at_the_lock_and_at_each_value() {
        let event = create_event("ops", &usual_lease("here"), 3_600);
        for part in [
            "CREATE EVENT `ops`.`lissom_attach` ON SCHEDULE EVERY 5 SECOND",
            "INTERVAL 3600 SECOND ON COMPLETION NOT PRESERVE",
            "IF IS_FREE_LOCK('lissom.attach') = 1 THEN IF EXISTS",
            "BINARY CF_NAME = 'default' AND OPTION_TYPE = 'LEVEL0_FILE_NUM_COMPACTION_TRIGGER' \
             AND `VALUE` = '20') THEN SET GLOBAL rocksdb_update_cf_options = \
             'default={level0_file_num_compaction_trigger=4}'; END IF; ",
            "END IF; END IF; END",
        ] {
            assert!(event.contains(part), "{part}\n{event}");
        }
        assert!(!event.contains("DISABLE_AUTO_COMPACTIONS"), "{event}");
        assert!(!event.contains("rate_limiter"), "{event}");
        assert_eq!(
            drop_event("ops"),
            "DROP EVENT IF EXISTS `ops`.`lissom_attach`"
        );
        assert!(COUNT_EVENTS.contains(&format!("'{EVENT}'")));
        assert!(count_schemas("ops").ends_with("WHERE SCHEMA_NAME = 'ops'"));
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
