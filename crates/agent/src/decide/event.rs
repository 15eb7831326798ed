//! The event that restores from within the server: its SQL, and what it would take back.

use super::change::Change;
use super::lease::{Lease, LeasedFamily};
use super::limiter::steps;
use super::observation::Families;
use super::options::{Assignment, OptionName};
use super::statement::{AGENT_LOCK, set, update_cf_options};

/// Its name.
pub const EVENT: &str = "lissom_attach";
/// Seconds between two looks of the event.
pub const EVENT_INTERVAL: u64 = 5;
/// The bodies of such events that are the server's own, and not those of the one that it
/// replicates.
pub const BODIES: &str = "SELECT EVENT_DEFINITION FROM information_schema.EVENTS \
     WHERE EVENT_NAME = 'lissom_attach' AND STATUS IN ('ENABLED', 'DISABLED')";
/// How many such events look whether their agent is gone.
pub const COUNT_ENABLED: &str = "SELECT COUNT(*) FROM information_schema.EVENTS \
     WHERE EVENT_NAME = 'lissom_attach' AND STATUS = 'ENABLED'";

/// What the server refuses of one column family keeps it from none of those after it.
const CONTINUE: &str = "DECLARE CONTINUE HANDLER FOR SQLEXCEPTION BEGIN END;";
/// What stands before a column family's name in a body, and before the rate limits.
const FAMILY: &str = "BINARY CF_NAME = '";
const RATE_LIMITS: &str = "@@GLOBAL.rocksdb_rate_limiter_bytes_per_sec IN (";

/// An event that takes back what the agent set once nobody holds the agent's
/// lock. It ends by itself, so that a forgotten one undoes nothing for ever.
pub fn create(schema: &str, lease: &Lease, lifetime_seconds: u64) -> String {
    format!("CREATE {}", definition(schema, lease, lifetime_seconds))
}

/// The same in the place of one that is there, which holds until then.
pub fn alter(schema: &str, lease: &Lease, lifetime_seconds: u64) -> String {
    format!("ALTER {}", definition(schema, lease, lifetime_seconds))
}

/// Removes the event.
pub fn remove(schema: &str) -> String {
    format!("DROP EVENT IF EXISTS `{schema}`.`{EVENT}`")
}

/// Has the event restore this lease only. Where none is seen, that may be for want of the
/// privilege: removing none says so, and does nothing else.
pub fn narrow(schema: &str, lease: &Lease, lifetime_seconds: u64, is_seen: bool) -> String {
    if is_seen {
        alter(schema, lease, lifetime_seconds)
    } else {
        remove(schema)
    }
}

/// How many such events a schema has.
pub fn count(schema: &str) -> String {
    format!(
        "SELECT COUNT(*) FROM information_schema.EVENTS \
         WHERE EVENT_SCHEMA = '{schema}' AND EVENT_NAME = '{EVENT}'"
    )
}

/// How many of these would run.
pub fn count_running(schema: &str) -> String {
    format!(
        "{} AND STATUS = 'ENABLED' AND @@GLOBAL.event_scheduler = 'ON'",
        count(schema)
    )
}

/// How many schemas of this name the user sees, which is all that it has a privilege on.
pub fn count_schemas(schema: &str) -> String {
    format!("SELECT COUNT(*) FROM information_schema.SCHEMATA WHERE SCHEMA_NAME = '{schema}'")
}

fn definition(schema: &str, lease: &Lease, lifetime_seconds: u64) -> String {
    format!(
        "EVENT `{schema}`.`{EVENT}` ON SCHEDULE EVERY {EVENT_INTERVAL} SECOND \
         ENDS CURRENT_TIMESTAMP + INTERVAL {lifetime_seconds} SECOND \
         ON COMPLETION NOT PRESERVE ENABLE \
         COMMENT 'lissom attach: restores RocksDB options when the agent is gone' \
         DO BEGIN {CONTINUE} IF IS_FREE_LOCK('{AGENT_LOCK}') = 1 THEN {}END IF; END",
        restore(lease)
    )
}

fn restore(lease: &Lease) -> String {
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
        body += &format!("IF {RATE_LIMITS}{}) THEN {back}; END IF; ", ours.join(", "));
    }
    body
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
                 WHERE {FAMILY}{name}' AND OPTION_TYPE = '{}' AND `VALUE` = '{}') \
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

/// The values that events take back where they find them: an agent has set them.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Traces {
    options: Vec<(String, Assignment)>,
    rate_limits: Vec<u64>,
}

impl Traces {
    /// From the bodies of events.
    pub fn of<'a>(bodies: impl Iterator<Item = &'a str>) -> Traces {
        let mut traces = Traces::default();
        for body in bodies {
            let families = body.split(FAMILY).skip(1);
            traces.options.extend(families.filter_map(option));
            traces.rate_limits.extend(rate_limits(body));
        }
        traces
    }

    /// Those that a lease would not take back: they are of another agent.
    #[must_use]
    pub fn besides(mut self, own: Option<&Lease>) -> Traces {
        if let Some(own) = own {
            self.options
                .retain(|(name, set)| !own.takes_back(name, set));
            self.rate_limits.retain(|it| !own.takes_back_limit(*it));
        }
        self
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.options.is_empty() && self.rate_limits.is_empty()
    }

    /// Those that are in force, as text.
    pub fn in_force(&self, families: &Families, rate_limiter: u64) -> Vec<String> {
        let options = self.options.iter().filter(|(name, set)| {
            let family = families.get(name);
            family.is_some_and(|it| it.options.get(set.option) == set.value)
        });
        let limits = self.rate_limits.iter().filter(|it| **it == rate_limiter);
        options
            .map(|(name, set)| format!("{name}: {set}"))
            .chain(limits.map(|it| format!("rocksdb_rate_limiter_bytes_per_sec={it}")))
            .collect()
    }
}

/// `NAME' AND OPTION_TYPE = 'OPTION' AND ... = 'VALUE'`, and more after it.
fn option(text: &str) -> Option<(String, Assignment)> {
    let mut quoted = text.split('\'').step_by(2);
    let (family, name, value) = (quoted.next()?, quoted.next()?, quoted.next()?);
    let option = OptionName::ALL
        .into_iter()
        .find(|option| option.name().eq_ignore_ascii_case(name))?;
    let value = match value {
        "ON" => 1,
        "OFF" => 0,
        number => number.parse().ok()?,
    };
    Some((family.to_owned(), Assignment { option, value }))
}

fn rate_limits(body: &str) -> Vec<u64> {
    body.split_once(RATE_LIMITS)
        .and_then(|(_, rest)| rest.split_once(')'))
        .map(|(list, _)| list.split(", ").filter_map(|it| it.parse().ok()).collect())
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decide::{Actuator, LeasedRateLimiter, Stage, manage};
    use crate::testing::{usual_family, usual_lease, usual_settings};

    #[test]
    fn the_event_looks_at_the_lock_and_at_each_value() {
        let event = create("ops", &usual_lease("here"), 3_600);
        for part in [
            "CREATE EVENT `ops`.`lissom_attach` ON SCHEDULE EVERY 5 SECOND",
            "INTERVAL 3600 SECOND ON COMPLETION NOT PRESERVE ENABLE COMMENT",
            "DO BEGIN DECLARE CONTINUE HANDLER FOR SQLEXCEPTION BEGIN END; \
             IF IS_FREE_LOCK('lissom.attach') = 1 THEN IF EXISTS",
            "BINARY CF_NAME = 'default' AND OPTION_TYPE = 'LEVEL0_FILE_NUM_COMPACTION_TRIGGER' \
             AND `VALUE` = '20') THEN SET GLOBAL rocksdb_update_cf_options = \
             'default={level0_file_num_compaction_trigger=4}'; END IF; ",
            "END IF; END IF; END",
        ] {
            assert!(event.contains(part), "{part}\n{event}");
        }
        assert!(!event.contains("DISABLE_AUTO_COMPACTIONS"), "{event}");
        assert!(!event.contains("rate_limiter"), "{event}");
        let altered = alter("ops", &usual_lease("here"), 3_600);
        assert_eq!(altered, event.replacen("CREATE", "ALTER", 1));
        assert_eq!(remove("ops"), "DROP EVENT IF EXISTS `ops`.`lissom_attach`");
        assert_eq!(narrow("ops", &usual_lease("here"), 3_600, true), altered);
        let unseen = narrow("ops", &usual_lease("here"), 3_600, false);
        assert_eq!(unseen, remove("ops"));
        let running = count_running("ops");
        assert!(running.ends_with("AND @@GLOBAL.event_scheduler = 'ON'"));
        for query in [BODIES, COUNT_ENABLED, running.as_str()] {
            assert!(
                query.contains(&format!("EVENT_NAME = '{EVENT}'")),
                "{query}"
            );
        }
        assert!(count_schemas("ops").ends_with("WHERE SCHEMA_NAME = 'ops'"));
    }

    /// A lease on two families and the rate limiter.
    fn lease() -> Lease {
        let mut settings = usual_settings();
        settings.actuator = Some(Actuator::DisableAutoCompactions);
        let switched = manage("cf_hot", &usual_family(), &settings).expect("managed");
        let mut lease = usual_lease("here");
        lease.families.insert("cf_hot".into(), switched);
        lease.rate_limiter = Some(LeasedRateLimiter {
            original: 77,
            step: 10,
        });
        lease
    }

    fn in_force(lease: &Lease, stage: Stage, rate_limiter: u64) -> Vec<String> {
        let families = lease.families.iter().map(|(name, leased)| {
            let mut family = usual_family();
            family.options = leased.options(stage);
            (name.clone(), family)
        });
        let body = create("ops", lease, 1);
        Traces::of([body.as_str()].into_iter()).in_force(&families.collect(), rate_limiter)
    }

    #[test]
    fn what_an_event_takes_back_is_read_from_its_body() {
        let left = in_force(&lease(), Stage::Delayed, 30);
        for trace in [
            "default: level0_file_num_compaction_trigger=20",
            "default: max_bytes_for_level_base=2147483648",
            "cf_hot: disable_auto_compactions=true",
            "cf_hot: level0_stop_writes_trigger=60",
            "rocksdb_rate_limiter_bytes_per_sec=30",
        ] {
            assert!(left.iter().any(|it| it == trace), "{trace}: {left:?}");
        }
        assert_eq!(left.len(), 8, "{left:?}");
        assert_eq!(in_force(&lease(), Stage::Draining, 77).len(), 4);
        assert!(in_force(&lease(), Stage::Original, 77).is_empty());
        let traces = Traces::of([create("ops", &lease(), 1).as_str()].into_iter());
        assert!(traces.in_force(&Families::new(), 77).is_empty());
    }

    #[test]
    fn what_a_lease_takes_back_as_well_is_of_no_other_agent() {
        let traces = Traces::of([create("ops", &lease(), 1).as_str()].into_iter());
        assert_eq!(traces.clone().besides(None), traces);
        assert!(traces.clone().besides(Some(&lease())).is_empty());
        let own = lease().only("default");
        let others = traces.besides(Some(&own));
        let mut family = usual_family();
        family.options = own.families["default"].delayed;
        let families = Families::from([("default".to_owned(), family)]);
        let limit = "rocksdb_rate_limiter_bytes_per_sec=30";
        assert_eq!(others.in_force(&families, 30), [limit]);
    }

    #[test]
    fn a_body_that_is_none_of_ours_takes_nothing_back() {
        for body in [
            "",
            "DO 1",
            "BINARY CF_NAME = 'default",
            "BINARY CF_NAME = 'default' AND OPTION_TYPE = 'TTL' AND `VALUE` = '4'",
            "@@GLOBAL.rocksdb_rate_limiter_bytes_per_sec IN (SELECT 1",
        ] {
            assert!(Traces::of([body].into_iter()).is_empty(), "{body}");
        }
    }
}
