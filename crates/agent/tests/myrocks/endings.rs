//! However the agent ends, the server has its original settings.

use crate::certificates::AUTHORITY;
use crate::children::{AgentProcess, Start, run_if_child, signal};
use crate::load::Load;
use crate::mariadb::{MariaDb, PASSWORD, SCHEMA, Session, TRIGGER};
use crate::wait_for;

/// A server under load that an agent has delayed, and its original options.
pub fn delayed(server: &MariaDb, start: Start<'_>) -> (AgentProcess, Load, Vec<String>) {
    let original = server.options();
    let mut agent = start.agent();
    let load = Load::on(server);
    wait_for("the delay", || {
        assert!(agent.is_alive(), "{}", agent.said());
        server.option(TRIGGER) == "40"
    });
    (agent, load, original)
}

/// Ends the session that holds a lock, if there is one.
fn kill_session(root: &mut Session, lock: &str) -> bool {
    let holder = root.text(&format!("SELECT IS_USED_LOCK('{lock}')"));
    holder.is_some_and(|id| root.run(&format!("KILL {id}")))
}

fn rate_limiter(server: &MariaDb) -> Option<String> {
    let mut root = server.root();
    root.text("SELECT @@GLOBAL.rocksdb_rate_limiter_bytes_per_sec")
}

#[test]
#[ignore = "installs and starts MariaDB"]
fn a_killed_agent_leaves_it_to_the_watchdog() {
    run_if_child();
    let Some(server) = MariaDb::with_myrocks() else {
        return;
    };
    let limiter = rate_limiter(&server);
    let test = "endings::a_killed_agent_leaves_it_to_the_watchdog";
    let start = Start::new(test, server.url("lissom"));
    let (mut agent, load, original) = delayed(&server, start);
    agent.kill();
    // The rate limiter comes after the options of all column families.
    wait_for("the watchdog restores", || {
        server.options() == original && rate_limiter(&server) == limiter
    });
    drop(load);
    agent.await_watchdog();
}

#[test]
#[ignore = "installs and starts MariaDB"]
fn the_watchdog_restores_over_tls_as_well() {
    run_if_child();
    let Some(server) = MariaDb::with_tls() else {
        return;
    };
    let test = "endings::the_watchdog_restores_over_tls_as_well";
    let start = Start::new(test, server.url("lissom")).trusting(&server.path(AUTHORITY));
    let (mut agent, load, original) = delayed(&server, start);
    agent.kill();
    wait_for("the watchdog restores", || server.options() == original);
    drop(load);
    agent.await_watchdog();
}

#[test]
#[ignore = "installs and starts MariaDB"]
fn an_agent_that_hangs_is_restored_for() {
    run_if_child();
    let Some(server) = MariaDb::with_myrocks() else {
        return;
    };
    let test = "endings::an_agent_that_hangs_is_restored_for";
    let start = Start::new(test, server.url("lissom"));
    let (mut agent, load, original) = delayed(&server, start);
    signal("-STOP", agent.child.id());
    wait_for("the lease runs out", || server.options() == original);
    signal("-CONT", agent.child.id());
    drop(load);
    assert!(agent.terminate(), "{}", agent.said());
    assert_eq!(server.options(), original);
}

#[test]
#[ignore = "installs and starts MariaDB"]
fn what_both_left_is_restored_by_the_next_agent() {
    run_if_child();
    let Some(server) = MariaDb::with_myrocks() else {
        return;
    };
    let test = "endings::what_both_left_is_restored_by_the_next_agent";
    let start = Start::new(test, server.url("lissom"));
    let (mut agent, load, original) = delayed(&server, start);
    agent.kill_both();
    drop(load);
    assert_ne!(server.options(), original, "nobody is left to restore");
    let mut agent = agent.again(Start::new(test, server.url("lissom")));
    wait_for("the state file is used first", || {
        server.options() == original
    });
    assert!(agent.terminate(), "{}", agent.said());
    assert_eq!(server.options(), original);
}

#[test]
#[ignore = "installs and starts MariaDB"]
fn the_servers_own_event_restores_when_both_are_gone() {
    run_if_child();
    let Some(server) = MariaDb::with_myrocks() else {
        return;
    };
    let test = "endings::the_servers_own_event_restores_when_both_are_gone";
    let mut start = Start::new(test, server.url("lissom"));
    start.event = SCHEMA;
    let (mut agent, load, original) = delayed(&server, start);
    agent.kill_both();
    wait_for("the event restores", || server.options() == original);
    drop(load);
}

#[test]
#[ignore = "installs and starts MariaDB"]
fn the_event_follows_what_the_owner_sets() {
    run_if_child();
    let Some(server) = MariaDb::with_myrocks() else {
        return;
    };
    let test = "endings::the_event_follows_what_the_owner_sets";
    let mut start = Start::new(test, server.url("lissom"));
    start.event = SCHEMA;
    let (mut agent, load, mut expected) = delayed(&server, start);
    let mut root = server.root();
    let body = "SELECT EVENT_DEFINITION FROM information_schema.EVENTS \
         WHERE EVENT_NAME = 'lissom_attach'";
    assert!(server.has_logged(SCHEMA) && !server.has_logged("lissom_attach"));
    let stop = "LEVEL0_STOP_WRITES_TRIGGER";
    assert!(root.text(body).expect("an event").contains(stop));
    let owned = "SET GLOBAL rocksdb_update_cf_options = 'default={level0_stop_writes_trigger=500}'";
    assert!(root.run(owned));
    wait_for("the event is altered", || {
        let body = root.text(body).expect("there is one at every moment");
        !body.contains(stop)
    });
    agent.kill_both();
    expected[3] = "500".into();
    wait_for("the event restores all else", || {
        server.options() == expected
    });
    drop(load);
}

#[test]
#[ignore = "installs and starts MariaDB"]
fn an_event_that_is_removed_or_would_not_run_is_noticed() {
    run_if_child();
    let Some(server) = MariaDb::with_myrocks() else {
        return;
    };
    let test = "endings::an_event_that_is_removed_or_would_not_run_is_noticed";
    let mut start = Start::new(test, server.url("lissom"));
    start.event = SCHEMA;
    let (mut agent, load, original) = delayed(&server, start);
    let mut root = server.root();
    assert!(root.run(&format!("DROP EVENT {SCHEMA}.lissom_attach")));
    let count = "SELECT COUNT(*) FROM information_schema.EVENTS \
         WHERE EVENT_NAME = 'lissom_attach'";
    wait_for("it is there again", || {
        root.text(count).as_deref() == Some("1")
    });
    assert!(root.run("SET GLOBAL event_scheduler = OFF"));
    wait_for("nothing is delayed", || server.options() == original);
    drop(load);
    assert!(agent.terminate(), "{}", agent.said());
    assert_eq!(server.options(), original);
}

#[test]
#[ignore = "installs and starts MariaDB"]
fn a_session_that_is_killed_is_opened_again() {
    run_if_child();
    let Some(server) = MariaDb::with_myrocks() else {
        return;
    };
    let test = "endings::a_session_that_is_killed_is_opened_again";
    let start = Start::new(test, server.url("lissom"));
    let (mut agent, load, original) = delayed(&server, start);
    assert!(kill_session(&mut server.root(), "lissom.attach"));
    wait_for("the loss is noticed", || {
        agent.said().contains("lost the server")
    });
    wait_for("the agent is back", || {
        agent.said().contains("looked after again")
    });
    wait_for("the delay again", || server.option(TRIGGER) == "40");
    drop(load);
    assert!(agent.terminate(), "{}", agent.said());
    assert_eq!(server.options(), original);
}

#[test]
#[ignore = "installs and starts MariaDB"]
fn a_new_password_is_found_in_the_option_file() {
    run_if_child();
    let Some(server) = MariaDb::with_myrocks() else {
        return;
    };
    let test = "endings::a_new_password_is_found_in_the_option_file";
    let mut start = Start::new(test, server.url("lissom"));
    start.password = "";
    start.option_file = format!("[client]\npassword={PASSWORD}\n");
    let (mut agent, load, original) = delayed(&server, start);
    let mut root = server.root();
    for host in ["localhost", "127.0.0.1"] {
        let change = format!("ALTER USER 'lissom'@'{host}' IDENTIFIED BY 'another'");
        assert!(root.run(&change));
    }
    agent.write_option_file("[client]\npassword=another\n");
    assert!(kill_session(&mut root, "lissom.attach"));
    wait_for("the agent is back", || {
        agent.said().contains("looked after again")
    });
    wait_for("the delay again", || server.option(TRIGGER) == "40");
    // Now the watchdog has to connect anew.
    assert!(kill_session(&mut root, "lissom.watchdog"));
    agent.kill();
    wait_for("the watchdog restores", || server.options() == original);
    drop(load);
    agent.await_watchdog();
}
