//! The process's inside, with a server that fails.

use tempfile::TempDir;

use super::*;
use crate::decide::{Stage, manage};
use crate::files::{Ledger, read_leases};
use crate::testing::{MockConnector, World, usual_family, usual_lease, usual_settings};

fn child(connector: &MockConnector) -> Child<MockConnector> {
    Child::new(connector.clone(), Duration::from_secs(3600), None)
}

/// Tries without waiting for the pause after a failure.
fn try_now(child: &mut Child<MockConnector>) {
    child.not_before = Duration::ZERO;
    child.restore_if_due();
}

fn delayed() -> MockConnector {
    let connector = MockConnector::new(World::usual());
    let leased = manage("default", &usual_family(), &usual_settings()).expect("managed");
    let delayed = leased.options(Stage::Delayed);
    connector.world().family("default").options = delayed;
    connector
}

/// A child that holds a lease.
fn holding(connector: &MockConnector, lease: Lease) -> Child<MockConnector> {
    let mut child = child(connector);
    child.begin().expect("reachable");
    let lease = Box::new(lease);
    child.hear(Order::Hold { lease }, &mut Vec::new());
    child
}

/// A child that holds the lease in a state file, which its agent still has.
struct Recorded {
    state: PathBuf,
    ledger: Ledger,
    connector: MockConnector,
    child: Child<MockConnector>,
    _directory: TempDir,
}

fn recorded(lease: Lease) -> Recorded {
    let directory = tempfile::tempdir().expect("a directory");
    let state = directory.path().join("state");
    let ledger = Ledger::open(state.clone()).expect("nothing there");
    ledger.record(&lease).expect("written");
    let connector = delayed();
    let mut child = holding(&connector, lease);
    child.state = Some(state.clone());
    Recorded {
        state,
        ledger,
        connector,
        child,
        _directory: directory,
    }
}

#[test]
fn it_holds_answers_and_restores_when_the_agent_is_gone() {
    let connector = delayed();
    let mut child = child(&connector);
    child.begin().expect("reachable");
    let mut said = Vec::new();
    let lease = Box::new(usual_lease("here"));
    child.hear(Order::Hold { lease }, &mut said);
    child.hear(Order::Renew, &mut said);
    let said = String::from_utf8(said).expect("JSON");
    assert_eq!(said.lines().count(), 2, "{said}");
    child.restore_if_due();
    assert_ne!(*connector.world().family("default"), usual_family());
    child.lose_agent();
    child.restore_if_due();
    assert_eq!(*connector.world().family("default"), usual_family());
    assert_eq!(child.keeper.due(child.now()), Due::Leave);
}

#[test]
fn it_tries_until_the_server_is_back() {
    let connector = delayed();
    let mut child = holding(&connector, usual_lease("here"));
    connector.world().cut();
    connector.world().reachable = false;
    child.lose_agent();
    for _ in 0..3 {
        try_now(&mut child);
        assert_eq!(child.keeper.due(child.now()), Due::Restore);
    }
    connector.world().reachable = true;
    child.restore_if_due();
    assert_eq!(child.keeper.due(child.now()), Due::Restore, "not so soon");
    connector.world().lies = 1;
    try_now(&mut child);
    assert_eq!(child.keeper.due(child.now()), Due::Restore, "it lied");
    try_now(&mut child);
    assert_eq!(child.keeper.due(child.now()), Due::Leave);
    assert_eq!(*connector.world().family("default"), usual_family());
}

#[test]
fn it_stays_while_the_agents_session_may_still_undo_it() {
    let connector = delayed();
    let mut child = holding(&connector, usual_lease("here"));
    connector.world().occupied = true;
    child.lose_agent();
    child.restore_if_due();
    assert_eq!(*connector.world().family("default"), usual_family());
    assert_eq!(child.keeper.due(child.now()), Due::Restore, "it may act");
    let leased = manage("default", &usual_family(), &usual_settings()).expect("managed");
    connector.world().family("default").options = leased.options(Stage::Delayed);
    connector.world().occupied = false;
    child.restore_if_due();
    assert_eq!(*connector.world().family("default"), usual_family());
    assert_eq!(child.keeper.due(child.now()), Due::Leave);
}

#[test]
fn what_is_restored_for_good_is_forgotten() {
    let mut it = recorded(usual_lease("here"));
    it.connector.world().occupied = true;
    it.child.lose_agent();
    it.child.restore_if_due();
    drop(it.ledger);
    let kept = read_leases(&it.state).expect("readable");
    assert_eq!(kept.len(), 1, "its session may still act");
    it.connector.world().occupied = false;
    it.child.restore_if_due();
    assert_eq!(read_leases(&it.state), Ok(Vec::new()));
}

#[test]
fn where_nothing_was_changed_it_forgets_that_and_leaves_a_server_that_is_away() {
    let mut lease = usual_lease("here");
    for leased in lease.families.values_mut() {
        leased.changed = false;
    }
    let mut it = recorded(lease);
    drop(it.ledger);
    it.connector.world().reachable = false;
    it.child.lose_agent();
    assert_eq!(it.child.keeper.due(it.child.now()), Due::Leave);
    assert_eq!(read_leases(&it.state), Ok(Vec::new()));
}

#[test]
fn what_cannot_be_restored_stays_recorded() {
    let mut lease = usual_lease("here");
    let mut leased = lease.families["default"];
    lease.families.insert("cf_gone".into(), leased);
    leased.changed = false;
    lease.families.insert("cf_untouched".into(), leased);
    let mut it = recorded(lease);
    drop(it.ledger);
    it.child.lose_agent();
    it.child.restore_if_due();
    assert_eq!(*it.connector.world().family("default"), usual_family());
    assert_eq!(it.child.keeper.due(it.child.now()), Due::Leave);
    let kept = read_leases(&it.state).expect("readable");
    assert!(kept[0].families.keys().eq(["cf_gone"]), "{kept:?}");
}

#[test]
fn another_server_at_the_address_is_not_touched() {
    let connector = delayed();
    let mut child = holding(&connector, usual_lease("here"));
    connector.world().identity = "there".into();
    connector.world().cut();
    child.lose_agent();
    for _ in 0..3 {
        try_now(&mut child);
        assert_eq!(child.keeper.due(child.now()), Due::Restore);
    }
    assert!(connector.world().sent.is_empty());
    assert_eq!(child.pause, PAUSE * 8);
}

/// What it answers to an order.
fn answer(child: &mut Child<MockConnector>, order: Order) -> Answer {
    let mut said = Vec::new();
    child.hear(order, &mut said);
    let said = String::from_utf8(said).expect("JSON");
    message(&said).expect("an answer")
}

#[test]
fn a_lease_of_another_server_is_not_taken() {
    let connector = delayed();
    let mut child = child(&connector);
    child.begin().expect("reachable");
    for (identity, started_at) in [("there", 1_000), ("here", 500)] {
        let mut lease = Box::new(usual_lease(identity));
        (lease.started_at, lease.seen_at) = (started_at, started_at);
        let said = answer(&mut child, Order::Hold { lease });
        assert!(matches!(said, Answer::Failed { .. }), "{said:?}");
        assert_eq!(child.keeper.lease(), None);
    }
    let lease = Box::new(usual_lease("here"));
    assert_eq!(answer(&mut child, Order::Hold { lease }), Answer::Held);
}

#[test]
fn a_lease_is_taken_over_a_new_session_where_the_last_has_ended() {
    let connector = delayed();
    let mut child = child(&connector);
    child.begin().expect("reachable");
    connector.world().cut();
    let lease = Box::new(usual_lease("here"));
    assert_eq!(answer(&mut child, Order::Hold { lease }), Answer::Held);
}

#[test]
fn a_renewal_is_refused_without_a_connection_to_the_leases_server() {
    let connector = delayed();
    let mut child = holding(&connector, usual_lease("here"));
    let mut ping_in = |identity: &str| {
        connector.world().identity = identity.into();
        connector.world().cut();
        child.spoken_at = Duration::ZERO;
        child.begun -= PING;
        child.ping();
        answer(&mut child, Order::Renew)
    };
    assert_eq!(ping_in("here"), Answer::Renewed, "over a new session");
    let said = ping_in("there");
    assert!(matches!(said, Answer::Failed { .. }), "{said:?}");
    assert_eq!(ping_in("here"), Answer::Renewed);
}

#[test]
fn a_panic_is_an_error() {
    let error = unharmed::<()>(|| panic!("as the driver may")).expect_err("it panicked");
    assert!(error.to_string().contains("driver"), "{error}");
}

#[test]
fn orders_end_with_the_pipe() {
    let text = line(&Order::Renew) + "noise\n" + &line(&Order::Release);
    let orders = listen(std::io::Cursor::new(text));
    let heard: Vec<Order> = orders.iter().collect();
    assert_eq!(heard, [Order::Renew, Order::Release]);
}

#[test]
fn it_is_nothing_to_start_by_hand() {
    let error = watch(std::io::empty(), std::io::sink()).expect_err("no agent");
    assert!(error.to_string().contains("lissom attach"), "{error}");
}
