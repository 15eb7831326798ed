//! Over TLS: certificates of clients, encryption without a check, a server that restarts.

use crate::certificates::{AUTHORITY, CLIENT, CLIENT_KEY, FOREIGN_CLIENT};
use crate::children::{Start, run_if_child};
use crate::endings::delayed;
use crate::load::Load;
use crate::mariadb::{MariaDb, PASSWORD, TRIGGER};
use crate::refusals::refusal;
use crate::wait_for;

/// Attaches, and ends well.
fn attaches(start: Start<'_>) {
    let mut agent = start.agent();
    wait_for("the agent is attached", || {
        assert!(agent.is_alive(), "{}", agent.said());
        agent.said().contains("found server")
    });
    assert!(agent.terminate(), "{}", agent.said());
}

/// Makes a user that has to show a certificate.
fn create_certified(server: &MariaDb) {
    let mut root = server.root();
    for host in ["localhost", "127.0.0.1"] {
        let user = format!("'certified'@'{host}'");
        for statement in [
            format!("CREATE USER {user} IDENTIFIED BY '{PASSWORD}' REQUIRE X509"),
            format!("GRANT PROCESS, SUPER ON *.* TO {user}"),
        ] {
            assert!(root.run(&statement), "{statement}");
        }
    }
}

#[test]
#[ignore = "installs and starts MariaDB"]
fn a_user_that_must_show_a_certificate_attaches_with_it_only() {
    run_if_child();
    let Some(server) = MariaDb::with_tls() else {
        return;
    };
    server.certify_clients();
    create_certified(&server);
    let original = server.options();
    let test = "encrypted::a_user_that_must_show_a_certificate_attaches_with_it_only";
    let start = || Start::new(test, server.url("certified")).trusting(&server.path(AUTHORITY));
    let key = server.path(CLIENT_KEY);
    let sentence = refusal(start());
    assert!(sentence.contains("refuses user certified"), "{sentence}");
    let sentence = refusal(start().showing(&server.path(FOREIGN_CLIENT), &key));
    // The server may say why, or end the connection without a word.
    assert!(sentence.contains("127.0.0.1:"), "{sentence}");
    attaches(start().showing(&server.path(CLIENT), &key));
    assert_eq!(server.options(), original);
}

#[test]
#[ignore = "installs and starts MariaDB"]
fn encryption_without_a_check_takes_whatever_certificate() {
    run_if_child();
    let Some(mut server) = MariaDb::with_tls() else {
        return;
    };
    server.show_certificate_of_elsewhere();
    let test = "encrypted::encryption_without_a_check_takes_whatever_certificate";
    let mut start = Start::new(test, server.url("lissom"));
    // The server answers nobody over TCP without TLS.
    start.option_file = "[client]\nssl-mode=REQUIRED\n".into();
    attaches(start);
}

#[test]
#[ignore = "installs and starts MariaDB"]
fn a_server_that_restarts_while_it_is_delayed_is_found_again() {
    run_if_child();
    let Some(mut server) = MariaDb::with_tls() else {
        return;
    };
    let test = "encrypted::a_server_that_restarts_while_it_is_delayed_is_found_again";
    let start = Start::new(test, server.url("lissom")).trusting(&server.path(AUTHORITY));
    let (mut agent, load, original) = delayed(&server, start);
    server.restart();
    drop(load);
    assert_eq!(server.options(), original, "a restart brings them back");
    wait_for("the restart is noticed", || {
        agent
            .said()
            .contains("restarted, with its configured settings")
    });
    let load = Load::on(&server);
    wait_for("the delay after the restart", || {
        server.option(TRIGGER) == "40"
    });
    drop(load);
    assert!(agent.terminate(), "{}", agent.said());
    assert_eq!(server.options(), original);
}
