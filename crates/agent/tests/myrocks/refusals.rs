//! What is in the way is said in one sentence, and nothing is changed.

use crate::certificates::{AUTHORITY, FOREIGN_AUTHORITY};
use crate::children::{Start, run_if_child, signal};
use crate::load::Load;
use crate::mariadb::{MariaDb, SCHEMA, TRIGGER};
use crate::wait_for;

/// What an agent says that cannot attach.
pub fn refusal(start: Start<'_>) -> String {
    let mut agent = start.agent();
    let ended_well = agent.child.wait().expect("it ends").success();
    let said = agent.said();
    assert!(!ended_well, "{said}");
    let sentence = said
        .lines()
        .find_map(|line| line.split_once("error: "))
        .unwrap_or_else(|| panic!("no sentence: {said}"))
        .1;
    sentence.to_owned()
}

#[test]
#[ignore = "installs and starts MariaDB"]
fn each_obstacle_has_its_sentence() {
    run_if_child();
    let Some(server) = MariaDb::with_myrocks() else {
        return;
    };
    let original = server.options();
    let test = "refusals::each_obstacle_has_its_sentence";
    let mut wrong = Start::new(test, server.url("lissom"));
    wrong.password = "a wrong one";
    let sentence = refusal(wrong);
    assert!(sentence.contains("refuses user lissom"), "{sentence}");
    assert!(!sentence.contains("a wrong one"), "{sentence}");
    let sentence = refusal(Start::new(test, server.url("poor")));
    assert!(sentence.contains("lacks a privilege"), "{sentence}");
    assert!(sentence.contains("GRANT PROCESS, SUPER"), "{sentence}");

    let mut first = Start::new(test, server.url("lissom")).agent();
    wait_for("the first agent is attached", || {
        first.said().contains("found server")
    });
    let sentence = refusal(Start::new(test, server.url("lissom")));
    assert!(sentence.contains("another agent is attached"), "{sentence}");
    assert!(first.terminate(), "{}", first.said());
    assert_eq!(server.options(), original);
}

#[test]
#[ignore = "installs and starts MariaDB"]
fn a_server_without_myrocks_is_said_to_be_none() {
    run_if_child();
    let Some(server) = MariaDb::without_myrocks() else {
        return;
    };
    let test = "refusals::a_server_without_myrocks_is_said_to_be_none";
    let sentence = refusal(Start::new(test, server.url("lissom")));
    assert!(sentence.contains("not a MyRocks server"), "{sentence}");
}

#[test]
#[ignore = "installs and starts MariaDB"]
fn an_event_that_the_server_would_not_run_is_refused_at_once() {
    run_if_child();
    let Some(server) = MariaDb::with_myrocks() else {
        return;
    };
    let original = server.options();
    let test = "refusals::an_event_that_the_server_would_not_run_is_refused_at_once";
    let refused_in = |schema: &str| {
        let mut start = Start::new(test, server.url("lissom"));
        start.event = schema;
        refusal(start)
    };
    let sentence = refused_in("mysql");
    assert!(sentence.contains("lacks a privilege"), "{sentence}");
    assert!(sentence.contains("EVENT on the schema"), "{sentence}");
    // A privilege may be there before its schema is.
    let mut root = server.root();
    for host in ["localhost", "127.0.0.1"] {
        let grant = format!("GRANT EVENT ON lissom_absent.* TO 'lissom'@'{host}'");
        assert!(root.run(&grant), "{grant}");
    }
    let sentence = refused_in("lissom_absent");
    assert!(sentence.contains("no schema lissom_absent"), "{sentence}");
    assert!(root.run("SET GLOBAL event_scheduler = OFF"));
    let sentence = refused_in(SCHEMA);
    assert!(sentence.contains("event_scheduler is OFF"), "{sentence}");
    assert_eq!(server.options(), original);
}

#[test]
#[ignore = "installs and starts MariaDB"]
fn settings_that_no_event_takes_back_are_not_taken_for_the_servers_own() {
    run_if_child();
    let Some(server) = MariaDb::with_myrocks() else {
        return;
    };
    let original = server.options();
    let test = "refusals::settings_that_no_event_takes_back_are_not_taken_for_the_servers_own";
    let mut start = Start::new(test, server.url("lissom"));
    start.event = SCHEMA;
    let mut lost = start.agent();
    let load = Load::on(&server);
    wait_for("the delay", || server.option(TRIGGER) == "40");
    let mut root = server.root();
    // It would notice, and delay nothing any more.
    signal("-STOP", lost.child.id());
    assert!(root.run("SET GLOBAL event_scheduler = OFF"));
    lost.kill_both();
    drop(load);
    // In a directory of its own, as on another machine.
    let sentence = refusal(Start::new(test, server.url("lissom")));
    assert!(
        sentence.contains("as an earlier agent set it"),
        "{sentence}"
    );
    assert!(sentence.contains("event_scheduler is OFF"), "{sentence}");
    assert_eq!(server.option(TRIGGER), "40");
    assert!(root.run("SET GLOBAL event_scheduler = ON"));
    let mut next = Start::new(test, server.url("lissom")).agent();
    wait_for("the event has acted, and the agent is attached", || {
        next.said().contains("found server")
    });
    assert!(next.terminate(), "{}", next.said());
    assert_eq!(server.options(), original);
}

#[test]
#[ignore = "installs and starts MariaDB"]
fn a_connection_that_is_not_as_safe_as_was_asked_is_refused() {
    run_if_child();
    let Some(mut server) = MariaDb::with_tls() else {
        return;
    };
    let original = server.options();
    let test = "refusals::a_connection_that_is_not_as_safe_as_was_asked_is_refused";
    let start = |server: &MariaDb| Start::new(test, server.url("lissom"));
    let sentence = refusal(start(&server));
    assert!(sentence.contains("asks for TLS"), "{sentence}");
    let sentence = refusal(start(&server).trusting(&server.path(FOREIGN_AUTHORITY)));
    let words = "certificate is not accepted: UnknownIssuer; check ssl-ca";
    assert!(sentence.contains(words), "{sentence}");
    server.show_certificate_of_elsewhere();
    let sentence = refusal(start(&server).trusting(&server.path(AUTHORITY)));
    let words = "certificate is not accepted: certificate not valid for name \"127.0.0.1\"";
    assert!(sentence.contains(words), "{sentence}");
    assert_eq!(server.options(), original);
}

#[test]
#[ignore = "installs and starts MariaDB"]
fn tls_is_not_given_up_where_the_server_has_none() {
    run_if_child();
    let Some(server) = MariaDb::with_myrocks() else {
        return;
    };
    let test = "refusals::tls_is_not_given_up_where_the_server_has_none";
    let mut start = Start::new(test, server.url("lissom"));
    start.option_file = "[client]\nssl-mode=REQUIRED\n".into();
    let sentence = refusal(start);
    assert!(sentence.contains("offers no TLS"), "{sentence}");
}
