//! What is in the way is said in one sentence, and nothing is changed.

use crate::children::{Start, run_if_child};
use crate::mariadb::MariaDb;

/// What an agent says that cannot attach.
fn refusal(start: Start<'_>) -> String {
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
    crate::wait_for("the first agent is attached", || {
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
