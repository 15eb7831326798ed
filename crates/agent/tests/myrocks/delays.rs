//! Delay, resume, read back; a server that restarts.

use lissom_agent::decide::{Entry, Event, Reason, Stage};

use crate::children::{AgentProcess, MAX_LEVEL0_FILES, Start, any_file_holds, run_if_child};
use crate::load::Load;
use crate::mariadb::{MariaDb, PASSWORD, SWITCH, TRIGGER};
use crate::wait_for;

#[test]
#[ignore = "installs and starts MariaDB"]
fn level0_waits_at_high_load_and_is_compacted_at_low() {
    run_if_child();
    let Some(server) = MariaDb::with_myrocks() else {
        return;
    };
    let original = server.options();
    let test = "delays::level0_waits_at_high_load_and_is_compacted_at_low";
    let mut agent = Start::new(test, server.url("lissom")).agent();
    let load = Load::on(&server);
    wait_for("the delay is read back", || {
        assert!(agent.is_alive(), "{}", agent.said());
        server.option(TRIGGER) == "40"
    });
    wait_for("level 0 grows over its trigger", || {
        server.level0_files() > 8
    });
    drop(load);
    wait_for("the original options are back", || {
        server.options() == original
    });
    wait_for("level 0 is compacted", || server.level0_files() <= 4);
    assert!(agent.terminate(), "{}", agent.said());
    assert_eq!(server.options(), original);
    let said = agent.said();
    for words in ["delay default", "io_high_limit is", "ended: the server has"] {
        assert!(said.contains(words), "{words}: {said}");
    }
    assert!(agent.journal().contains("\"result\":\"applied\""));
    assert!(!any_file_holds(&agent, PASSWORD));
}

/// Whether an agent, which must live, has come to the bound on files.
fn has_come_to_bound(agent: &mut AgentProcess) -> bool {
    assert!(agent.is_alive(), "{}", agent.said());
    agent.said().contains("max_level0_files is 40")
}

/// Files that level 0 had, and had gained in an interval, whenever an agent ended a delay at the
/// bound on files.
fn ended_at_bound(journal: &str) -> Vec<(u64, u64)> {
    let entries = journal
        .lines()
        .map(|line| serde_json::from_str::<Entry>(line).expect("JSON"));
    let decisions = entries.filter_map(|entry| match entry.event {
        Event::Decision { decision, .. } => Some(decision),
        _ => None,
    });
    decisions
        .filter(|decision| decision.from == Some(Stage::Delayed))
        .filter_map(|decision| match decision.why {
            Reason::Level0Files { files, growth, .. } => Some((files, growth)),
            _ => None,
        })
        .collect()
}

#[test]
#[ignore = "installs and starts MariaDB"]
fn with_rocksdbs_brakes_switched_off_the_agent_holds_the_bound() {
    run_if_child();
    let Some(server) = MariaDb::with_myrocks() else {
        return;
    };
    let original = server.options();
    let test = "delays::with_rocksdbs_brakes_switched_off_the_agent_holds_the_bound";
    let mut start = Start::new(test, server.url("lissom"));
    start.actuator = "disable-auto-compactions";
    start.any_load_is_high = true;
    let mut agent = start.agent();
    let load = Load::on(&server);
    wait_for("compactions are switched off", || {
        has_come_to_bound(&mut agent) || server.option(SWITCH) == "ON"
    });
    wait_for("level 0 is half way to its bound", || {
        has_come_to_bound(&mut agent) || server.level0_files() > MAX_LEVEL0_FILES / 2
    });
    wait_for("the bound, under the same load", || {
        has_come_to_bound(&mut agent)
    });
    wait_for("level 0 is compacted, under the same load", || {
        server.level0_files() < MAX_LEVEL0_FILES / 2
    });
    drop(load);
    assert!(agent.terminate(), "{}", agent.said());
    assert_eq!(server.options(), original);
    // How many files level 0 has at most is a matter of how long an interval of a busy machine
    // takes. That the agent ends the delay in the first one in which it can be at its bound is not.
    let ended = ended_at_bound(&agent.journal());
    assert!(!ended.is_empty(), "{}", agent.said());
    for (files, growth) in ended {
        let counted = "what an interval adds is counted before it comes";
        assert!(files + growth >= MAX_LEVEL0_FILES, "{counted}: {files}");
        let before = files.saturating_sub(growth);
        assert!(before < MAX_LEVEL0_FILES, "it was at {before} before");
    }
}

#[test]
#[ignore = "installs and starts MariaDB"]
fn a_restarted_server_is_noticed_and_delayed_again() {
    run_if_child();
    let Some(mut server) = MariaDb::with_myrocks() else {
        return;
    };
    let original = server.options();
    let test = "delays::a_restarted_server_is_noticed_and_delayed_again";
    let mut agent = Start::new(test, server.url("lissom")).agent();
    let load = Load::on(&server);
    wait_for("the delay", || server.option(TRIGGER) == "40");
    server.restart();
    drop(load);
    assert_eq!(server.options(), original, "a restart brings them back");
    wait_for("the restart is noticed", || {
        agent.said().contains("restarted")
    });
    let load = Load::on(&server);
    wait_for("the delay after the restart", || {
        server.option(TRIGGER) == "40"
    });
    drop(load);
    assert!(agent.terminate(), "{}", agent.said());
    assert_eq!(server.options(), original);
}
