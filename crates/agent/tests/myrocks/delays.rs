//! Delay, resume, read back; a server that restarts.

use crate::children::{MAX_LEVEL0_FILES, Start, any_file_holds, run_if_child};
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
    let mut agent = start.agent();
    let load = Load::on(&server);
    wait_for("compactions are switched off", || {
        assert!(agent.is_alive(), "{}", agent.said());
        server.option(SWITCH) == "ON"
    });
    let mut most = 0;
    wait_for("the bound, under the same load", || {
        most = most.max(server.level0_files());
        server.option(SWITCH) == "OFF"
    });
    // What an interval adds is counted before it comes.
    let expected = MAX_LEVEL0_FILES / 2..=MAX_LEVEL0_FILES + 2;
    assert!(expected.contains(&most), "level 0 had {most} files");
    assert!(
        agent.said().contains("max_level0_files is 40"),
        "{}",
        agent.said()
    );
    drop(load);
    assert!(agent.terminate(), "{}", agent.said());
    assert_eq!(server.options(), original);
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
