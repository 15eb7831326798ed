//! `lissom attach URL --restore`: what an agent that is gone has left is taken back.

use std::time::Duration;

use serde::Serialize;

use super::act::still_recorded;
use super::hands::EVENT_LIFETIME;
use crate::decide::{Change, Lease, Standing};
use crate::error::Result;
use crate::files::Ledger;
use crate::server::{Restoration, Role, Server, occupied, restore};

/// For the session of an agent that is gone to end.
const CLAIM_PATIENCE: Duration = Duration::from_secs(2);

/// What [`Attachment::restore`](super::Attachment::restore) did.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
pub struct RestoreReport {
    /// Whether settings of the server were recorded that are to be taken back.
    pub recorded: bool,
    /// Whether some were recorded that a restart of the server has ended.
    pub restarted: bool,
    /// What was set, as text.
    pub changes: Vec<String>,
    /// What stays recorded of this server, since its column families are gone, as sentences
    /// without a full stop.
    pub kept: Vec<String>,
    /// Servers whose settings are still to be restored at other addresses.
    pub elsewhere: Vec<String>,
}

/// Restores the server that answers, at whatever address its settings were recorded, and
/// removes the event of a schema, but for what stays recorded.
pub(super) fn restore_recorded<S: Server>(
    ledger: &Ledger,
    server: &mut S,
    place: &str,
    schema: Option<&str>,
) -> Result<RestoreReport> {
    if let Some(holder) = server.claim(Role::Agent, CLAIM_PATIENCE)? {
        return Err(occupied(place, &holder));
    }
    let instance = server.instance()?;
    let mut report = RestoreReport::default();
    let mut kept = None;
    for lease in ledger.of_server(&instance.identity)? {
        match lease.standing(&instance) {
            Standing::Foreign => {}
            Standing::Ended => {
                ledger.forget(&lease)?;
                report.restarted = true;
            }
            Standing::InForce => {
                let left = take_back(ledger, server, &lease, &mut report)?;
                kept = Lease::join(kept, left);
            }
        }
    }
    if let (true, Some(schema)) = (report.recorded, schema) {
        clear_event(server, schema, kept.as_ref())?;
    }
    let mut left = ledger.left()?;
    left.retain(|lease| lease.standing(&instance) != Standing::InForce);
    report.elsewhere = left.into_iter().map(|lease| lease.identity).collect();
    Ok(report)
}

/// Returns what stays recorded.
fn take_back<S: Server>(
    ledger: &Ledger,
    server: &mut S,
    lease: &Lease,
    report: &mut RestoreReport,
) -> Result<Option<Lease>> {
    let Restoration { changes, left } = restore(server, lease)?;
    let files = ledger.settle(lease, left.as_ref())?;
    report.changes.extend(changes.iter().map(Change::to_string));
    report.recorded = true;
    if let Some(left) = &left {
        report.kept.push(still_recorded(left, &files));
    }
    Ok(left)
}

/// It may be of another agent, which has set other values since: it acts first, while nobody
/// holds the lock. From then on it has nothing but what is kept: what is restored may be set
/// by somebody to whatever it takes back.
fn clear_event<S: Server>(server: &mut S, schema: &str, kept: Option<&Lease>) -> Result<()> {
    server.release(Role::Agent)?;
    server.await_event()?;
    if server.claim(Role::Agent, Duration::ZERO)?.is_some() {
        // An agent has begun meanwhile, and keeps one of its own.
        return Ok(());
    }
    match kept {
        None => server.drop_event(schema),
        Some(kept) => server.narrow_event(schema, kept, EVENT_LIFETIME),
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::connect::Address;
    use crate::decide::{OptionName, Stage, manage};
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
        restore_recorded(ledger, &mut server, "the mock", None).expect("restored")
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
        anybody.await_event().expect("it has acted");
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
}
