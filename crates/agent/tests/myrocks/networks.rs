//! What lies between the agent and its server: a failover, a cut, a stall.

use std::thread;
use std::time::Duration;

use crate::children::{AgentProcess, Start, is_running, run_if_child};
use crate::forwarder::Forwarder;
use crate::load::Load;
use crate::mariadb::{MariaDb, TRIGGER};
use crate::wait_for;

/// Longer than these agents' lease.
const LONGER_THAN_A_LEASE: Duration = Duration::from_secs(6);

/// An agent that has delayed a server under load, at the end of a way.
fn delayed(server: &MariaDb, way: &Forwarder, test: &str) -> (AgentProcess, Load) {
    let mut agent = Start::new(test, way.url("lissom")).agent();
    let load = Load::on(server);
    wait_for("the delay", || {
        assert!(agent.is_alive(), "{}", agent.said());
        server.option(TRIGGER) == "40"
    });
    (agent, load)
}

#[test]
#[ignore = "installs and starts MariaDB"]
fn after_a_failover_the_old_server_is_restored_at_its_own_address() {
    run_if_child();
    let Some(old) = MariaDb::with_myrocks() else {
        return;
    };
    let new = old.another();
    let (old_original, new_original) = (old.options(), new.options());
    let way = Forwarder::to(&old);
    let test = "networks::after_a_failover_the_old_server_is_restored_at_its_own_address";
    let (mut agent, load) = delayed(&old, &way, test);
    let left = agent.watchdog();
    way.turn_to(&new);
    drop(load);
    wait_for("the other server is noticed", || {
        agent.said().contains("another server answers now")
    });
    thread::sleep(LONGER_THAN_A_LEASE);
    assert_eq!(old.option(TRIGGER), "40", "nobody can reach it");
    assert_eq!(new.options(), new_original);
    let report = agent.restore(&old.url("lissom")).expect("restored");
    assert!(report.recorded && !report.changes.is_empty(), "{report:?}");
    assert_eq!(old.options(), old_original);
    // The agent goes on at the other one.
    let load = Load::on(&new);
    wait_for("the delay of the other one", || {
        assert!(agent.is_alive(), "{}", agent.said());
        new.option(TRIGGER) == "40"
    });
    drop(load);
    assert!(agent.terminate(), "{}", agent.said());
    assert_eq!(new.options(), new_original);
    let report = agent.restore(&old.url("lissom")).expect("nothing is left");
    assert!(
        !report.recorded && report.elsewhere.is_empty(),
        "{report:?}"
    );
    way.turn_to(&old);
    wait_for("the old server's watchdog ends", || !is_running(left));
    assert_eq!(old.options(), old_original);
}

#[test]
#[ignore = "installs and starts MariaDB"]
fn a_network_that_is_cut_is_waited_for() {
    run_if_child();
    let Some(server) = MariaDb::with_myrocks() else {
        return;
    };
    let original = server.options();
    let way = Forwarder::to(&server);
    let test = "networks::a_network_that_is_cut_is_waited_for";
    let (mut agent, load) = delayed(&server, &way, test);
    way.cut();
    wait_for("the loss is noticed", || {
        agent.said().contains("lost the server")
    });
    thread::sleep(LONGER_THAN_A_LEASE);
    assert_eq!(server.option(TRIGGER), "40", "nobody can reach it");
    way.turn_to(&server);
    wait_for("the agent is back", || {
        agent.said().contains("looked after again")
    });
    drop(load);
    wait_for("the original options are back", || {
        server.options() == original
    });
    assert!(agent.terminate(), "{}", agent.said());
    assert_eq!(server.options(), original);
}

#[test]
#[ignore = "installs and starts MariaDB"]
fn a_network_that_is_cut_for_good_leaves_it_to_the_watchdog() {
    run_if_child();
    let Some(server) = MariaDb::with_myrocks() else {
        return;
    };
    let original = server.options();
    let way = Forwarder::to(&server);
    let test = "networks::a_network_that_is_cut_for_good_leaves_it_to_the_watchdog";
    let (mut agent, load) = delayed(&server, &way, test);
    way.cut();
    wait_for("the loss is noticed", || {
        agent.said().contains("lost the server")
    });
    let left = agent.watchdog();
    agent.kill();
    assert_eq!(server.option(TRIGGER), "40", "nobody can reach it");
    way.turn_to(&server);
    wait_for("the watchdog restores", || server.options() == original);
    drop(load);
    wait_for("it ends", || !is_running(left));
}

#[test]
#[ignore = "installs and starts MariaDB"]
fn a_network_that_stalls_is_a_lost_server() {
    run_if_child();
    let Some(server) = MariaDb::with_myrocks() else {
        return;
    };
    let original = server.options();
    let way = Forwarder::to(&server);
    let test = "networks::a_network_that_stalls_is_a_lost_server";
    let (mut agent, load) = delayed(&server, &way, test);
    way.stop_up(true);
    // The driver's own patience ends, and not the connection.
    wait_for("the loss is noticed", || {
        agent.said().contains("lost the server")
    });
    way.stop_up(false);
    wait_for("the agent is back", || {
        agent.said().contains("looked after again")
    });
    drop(load);
    wait_for("the original options are back", || {
        server.options() == original
    });
    assert!(agent.terminate(), "{}", agent.said());
    assert_eq!(server.options(), original);
}
