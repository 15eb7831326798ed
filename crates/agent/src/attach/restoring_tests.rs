//! `--restore` against a server in memory, and state files.

use std::path::Path;

use super::*;
use crate::connect::Address;
use crate::decide::{LeasedRateLimiter, OptionName, Stage, manage};
use crate::files::Places;
use crate::server::Connector;
use crate::testing::{MockConnector, World, usual_family, usual_lease, usual_settings};

/// The state file of an address.
fn at(directory: &Path, host: &str) -> Ledger {
    let address = Address {
        host: host.into(),
        port: 3306,
        socket: None,
    };
    let places = Places::new(directory.to_owned(), &address);
    Ledger::open(places.state).expect("readable")
}

/// A server that somebody has left delayed.
fn delayed(lease: &Lease) -> MockConnector {
    let connector = MockConnector::new(World::usual());
    let options = lease.families["default"].options(Stage::Delayed);
    connector.world().family("default").options = options;
    connector
}

fn restored(ledger: &Ledger, connector: &MockConnector) -> RestoreReport {
    let mut server = connector.clone().connect().expect("reachable");
    let report = restore_recorded(ledger, &mut server, "the mock", None).expect("restored");
    assert_eq!(report.check(), Ok(()));
    report
}

#[test]
fn what_was_recorded_at_one_address_is_restored_at_another() {
    let directory = tempfile::tempdir().expect("a directory");
    let lease = usual_lease("here");
    let connector = delayed(&lease);
    // The agent has followed a failover, and lives on.
    let followed = at(directory.path(), "service");
    followed.record(&lease).expect("written");
    followed.record(&usual_lease("there")).expect("written");
    let ledger = at(directory.path(), "old");
    let report = restored(&ledger, &connector);
    assert!(report.recorded && !report.restarted);
    assert_eq!(report.changes.len(), 1, "{report:?}");
    assert!(report.elsewhere.is_empty(), "that agent looks after it");
    assert!(connector.world().is_as_owned());
    assert_eq!(followed.leases(), Ok(vec![usual_lease("there")]));
    drop(followed);
    let report = restored(&ledger, &connector);
    assert!(!report.recorded);
    assert_eq!(report.elsewhere, ["there"]);
}

#[test]
fn a_damaged_file_of_another_address_is_in_nobodys_way() {
    let directory = tempfile::tempdir().expect("a directory");
    let damaged = directory.path().join("attach-damaged.state");
    std::fs::write(damaged, "{").expect("writable");
    let lease = usual_lease("here");
    let connector = delayed(&lease);
    let ledger = at(directory.path(), "old");
    ledger.record(&lease).expect("written");
    assert!(restored(&ledger, &connector).recorded);
    assert!(connector.world().is_as_owned());
}

#[test]
fn what_a_restart_has_ended_is_forgotten_and_nothing_is_set() {
    let directory = tempfile::tempdir().expect("a directory");
    let lease = usual_lease("here");
    let connector = delayed(&lease);
    connector.world().started_at += 500;
    let ledger = at(directory.path(), "old");
    ledger.record(&lease).expect("written");
    let report = restored(&ledger, &connector);
    assert!(report.restarted && !report.recorded);
    assert!(connector.world().sent.is_empty());
    assert_eq!(ledger.is_empty(), Ok(true));
}

#[test]
fn a_server_of_the_same_name_keeps_its_settings_and_the_lease_stays() {
    let directory = tempfile::tempdir().expect("a directory");
    let lease = usual_lease("here");
    let connector = delayed(&lease);
    connector.world().started_at -= 500;
    let ledger = at(directory.path(), "old");
    ledger.record(&lease).expect("written");
    let report = restored(&ledger, &connector);
    assert!(!report.recorded && !report.restarted);
    assert_eq!(report.elsewhere, ["here"]);
    assert!(connector.world().sent.is_empty());
    assert_eq!(ledger.leases(), Ok(vec![lease]));
}

/// A recorded lease of two column families, of which the server has one: `cf_hot` is gone.
fn without_a_family(directory: &Path) -> (Lease, MockConnector, Ledger) {
    let mut lease = usual_lease("here");
    let leased = lease.families["default"];
    lease.families.insert("cf_hot".into(), leased);
    let connector = delayed(&lease);
    let ledger = at(directory, "old");
    ledger.record(&lease).expect("written");
    (lease, connector, ledger)
}

#[test]
fn what_is_gone_stays_recorded_until_it_is_there_again() {
    let directory = tempfile::tempdir().expect("a directory");
    let (lease, connector, ledger) = without_a_family(directory.path());
    let report = restored(&ledger, &connector);
    assert!(connector.world().is_as_owned());
    assert!(report.recorded && report.elsewhere.is_empty());
    assert_eq!(report.kept.len(), 1, "{report:?}");
    for words in ["column family cf_hot", "attach-old"] {
        assert!(report.kept[0].contains(words), "{report:?}");
    }
    connector.world().create_family("cf_hot");
    connector.world().family("cf_hot").options = lease.families["cf_hot"].delayed;
    let report = restored(&ledger, &connector);
    assert!(connector.world().is_as_owned());
    assert_eq!((report.changes.len(), report.kept.len()), (1, 0));
    assert_eq!(ledger.is_empty(), Ok(true));
}

#[test]
fn the_event_goes_on_with_what_stays_recorded_and_nothing_else() {
    let directory = tempfile::tempdir().expect("a directory");
    let (lease, connector, ledger) = without_a_family(directory.path());
    let mut server = connector.clone().connect().expect("reachable");
    let mut restore =
        || restore_recorded(&ledger, &mut server, "the mock", Some("ops")).expect("restored");
    assert_eq!(restore().kept.len(), 1);
    assert_eq!(connector.world().event, None, "there was none");
    connector.world().event = Some(lease.clone());
    assert_eq!(restore().kept.len(), 1);
    let event = connector.world().event.clone();
    assert_eq!(event, Some(lease.only("cf_hot")));
    // Its owner sets what an agent might have set.
    let trigger = OptionName::Level0FileNumCompactionTrigger;
    connector.world().own("default", trigger, 20);
    let mut anybody = connector.clone().connect().expect("reachable");
    anybody.await_event(None).expect("it has acted");
    assert!(connector.world().is_as_owned());
}

#[test]
fn the_event_of_another_agent_acts_before_it_is_removed() {
    let directory = tempfile::tempdir().expect("a directory");
    let mut settings = usual_settings();
    settings.max_level0_files = 30;
    let leased = manage("default", &usual_family(), &settings).expect("managed");
    let mut lease = usual_lease("here");
    lease.families.insert("default".into(), leased);
    let connector = delayed(&lease);
    connector.world().event = Some(lease);
    let ledger = at(directory.path(), "old");
    ledger.record(&usual_lease("here")).expect("written");
    let mut server = connector.clone().connect().expect("reachable");
    restore_recorded(&ledger, &mut server, "the mock", Some("ops")).expect("restored");
    assert!(connector.world().is_as_owned());
    assert!(connector.world().event.is_none());
}

#[test]
fn a_server_with_an_agent_is_not_touched() {
    let directory = tempfile::tempdir().expect("a directory");
    let lease = usual_lease("here");
    let connector = delayed(&lease);
    connector.world().occupied = true;
    let ledger = at(directory.path(), "old");
    ledger.record(&lease).expect("written");
    let mut server = connector.clone().connect().expect("reachable");
    let error = restore_recorded(&ledger, &mut server, "the mock", None).expect_err("occupied");
    assert!(error.to_string().contains("another agent"), "{error}");
    assert_eq!(ledger.leases(), Ok(vec![lease]));
}

/// A recorded lease of `default`, `cf_hot` and the rate limiter, none of which is as its owner
/// gave it.
fn all_changed(directory: &Path) -> (Lease, MockConnector, Ledger) {
    let mut lease = usual_lease("here");
    let leased = lease.families["default"];
    lease.families.insert("cf_hot".into(), leased);
    lease.rate_limiter = Some(LeasedRateLimiter {
        original: 77,
        step: 10,
    });
    let connector = delayed(&lease);
    {
        let mut world = connector.world();
        world.create_family("cf_hot");
        world.family("cf_hot").options = leased.delayed;
        world.rate_limiter = 30;
        world.owned_rate_limiter = 77;
    }
    let ledger = at(directory, "old");
    ledger.record(&lease).expect("written");
    (lease, connector, ledger)
}

/// What is told of a restoration that fails in part.
fn failing(ledger: &Ledger, connector: &MockConnector) -> RestoreReport {
    let mut server = connector.clone().connect().expect("reachable");
    let report = restore_recorded(ledger, &mut server, "the mock", Some("ops")).expect("told");
    let error = report.check().expect_err("it fails in part");
    assert_eq!(error.to_string(), report.failures.join("\n"));
    report
}

#[test]
fn a_family_that_takes_no_options_keeps_nothing_else_from_being_restored() {
    type Obstruct = fn(&mut World, Option<String>);
    let obstacles: [(Obstruct, &str); 2] = [
        (|world, name| world.refusing = name, "the mock refuses"),
        (
            |world, name| world.unreadable = name,
            "cf_hot is unreadable",
        ),
    ];
    for (obstruct, why) in obstacles {
        let directory = tempfile::tempdir().expect("a directory");
        let (lease, connector, ledger) = all_changed(directory.path());
        obstruct(&mut connector.world(), Some("cf_hot".into()));
        let report = failing(&ledger, &connector);
        let [stays] = report.failures.as_slice() else {
            panic!("one refusal: {report:?}");
        };
        let refusal = format!("cf_hot of the mock cannot be given its original settings ({why})");
        for words in [refusal.as_str(), "they stay recorded", "--restore` again"] {
            assert!(stays.contains(words), "{words}: {stays}");
        }
        let done = report.changes.join(", ");
        for words in ["default: ", "bytes_per_sec=77"] {
            assert!(done.contains(words), "{words}: {done}");
        }
        let text = serde_json::to_string(&report).expect("JSON");
        assert!(text.contains(stays.as_str()), "{text}");
        assert_eq!(ledger.leases(), Ok(vec![lease.only("cf_hot")]));
        obstruct(&mut connector.world(), None);
        assert_eq!(restored(&ledger, &connector).changes.len(), 1);
        assert!(connector.world().is_as_owned());
        assert_eq!(ledger.is_empty(), Ok(true));
    }
}

#[test]
fn a_rate_limiter_that_is_refused_stays_recorded_alone() {
    let directory = tempfile::tempdir().expect("a directory");
    let (mut lease, connector, ledger) = all_changed(directory.path());
    connector.world().refuses_rate_limiter = true;
    let said = failing(&ledger, &connector).failures.join("\n");
    assert!(said.starts_with("the rate limiter of the mock"), "{said}");
    lease.families.clear();
    assert_eq!(ledger.leases(), Ok(vec![lease]));
    connector.world().refuses_rate_limiter = false;
    restored(&ledger, &connector);
    assert!(connector.world().is_as_owned());
    assert_eq!(ledger.is_empty(), Ok(true));
}

#[test]
fn each_refusal_has_its_sentence_and_a_server_that_says_ok_has_one() {
    let directory = tempfile::tempdir().expect("a directory");
    let (lease, connector, ledger) = all_changed(directory.path());
    connector.world().refusing = Some("cf_hot".into());
    connector.world().lies = 1;
    let said = failing(&ledger, &connector).failures.join("\n");
    assert_eq!(said.matches("cannot be given").count(), 2, "{said}");
    assert!(said.contains("default of the mock"), "{said}");
    assert!(said.contains("the server said OK, but"), "{said}");
    let mut left = lease;
    left.rate_limiter = None;
    assert_eq!(ledger.leases(), Ok(vec![left]));
}

#[test]
fn what_is_refused_of_one_address_keeps_nothing_of_another_from_being_restored() {
    let directory = tempfile::tempdir().expect("a directory");
    let (lease, connector, ledger) = all_changed(directory.path());
    ledger.forget(&lease).expect("written");
    ledger.record(&lease.only("cf_hot")).expect("written");
    let other = at(directory.path(), "service");
    other.record(&lease.only("default")).expect("written");
    connector.world().refusing = Some("cf_hot".into());
    failing(&ledger, &connector);
    assert_eq!(*connector.world().family("default"), usual_family());
    assert_eq!(other.leases(), Ok(Vec::new()));
    assert_eq!(ledger.leases(), Ok(vec![lease.only("cf_hot")]));
}

#[test]
fn the_event_is_as_it_was_where_anything_is_refused() {
    let directory = tempfile::tempdir().expect("a directory");
    let (lease, connector, ledger) = all_changed(directory.path());
    connector.world().event = Some(lease.clone());
    connector.world().refusing = Some("cf_hot".into());
    assert!(failing(&ledger, &connector).event.is_some(), "it is said");
    assert_eq!(connector.world().event, Some(lease));
}

#[test]
fn an_event_beside_which_nothing_is_recorded_stays_and_that_is_said() {
    let directory = tempfile::tempdir().expect("a directory");
    let connector = delayed(&usual_lease("here"));
    connector.world().event = Some(usual_lease("here"));
    let ledger = at(directory.path(), "old");
    let mut server = connector.clone().connect().expect("reachable");
    let report = restore_recorded(&ledger, &mut server, "the mock", Some("ops")).expect("told");
    assert!(!report.recorded && connector.world().event.is_some());
    let said = report.event.expect("it is said");
    assert!(said.contains("in the schema ops"), "{said}");
    assert_eq!(RestoreReport::of_nothing(Some("ops")).event, Some(said));
    assert_eq!(RestoreReport::of_nothing(None), RestoreReport::default());
}

#[test]
fn what_was_restored_before_the_connection_was_lost_is_told() {
    let directory = tempfile::tempdir().expect("a directory");
    let (lease, connector, ledger) = all_changed(directory.path());
    let mut told = 0;
    for calls in 0..20 {
        connector.world().families = delayed(&lease).world().families.clone();
        connector.world().create_family("cf_hot");
        connector.world().family("cf_hot").options = lease.families["cf_hot"].delayed;
        connector.world().calls_left = Some(calls);
        let mut server = connector.clone().connect().expect("reachable");
        let restored = restore_recorded(&ledger, &mut server, "the mock", None);
        connector.world().calls_left = None;
        let Ok(report) = restored else { continue };
        told += usize::from(!report.changes.is_empty() && report.check().is_err());
    }
    assert!(told > 0);
}
