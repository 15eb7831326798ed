//! One server after another behind one address: restarts, failovers, returns.

use std::time::Duration;

use super::rig::{HIGH, Rig, TestAgent, with_event};
use crate::decide::{Lease, OptionName};
use crate::files::Ledger;
use crate::settings::Settings;
use crate::testing::{World, usual_lease, usual_settings};

#[test]
fn a_restarted_server_is_read_anew() {
    let rig = Rig::new();
    let mut agent = rig.delaying();
    {
        let mut world = rig.connector.world();
        world.own("default", OptionName::Level0SlowdownWritesTrigger, 30);
        world.restart();
    }
    rig.turn(&mut agent, HIGH);
    assert!(!agent.is_well(), "the old connection is gone");
    rig.turn(&mut agent, HIGH);
    assert!(rig.said("restarted"));
    assert!(rig.is_as_owned(), "its load is not known yet");
    rig.turn(&mut agent, HIGH);
    assert!(rig.is_delayed());
    agent.leave().expect("restored");
    assert!(rig.is_as_owned());
}

#[test]
fn after_a_failover_the_old_server_is_left_to_its_guard() {
    let rig = Rig::new();
    let mut agent = rig.delaying();
    {
        let mut world = rig.connector.world();
        world.identity = "there".into();
        world.families = world.owned.clone();
        world.cut();
    }
    for _ in 0..3 {
        rig.turn(&mut agent, HIGH);
    }
    assert!(rig.said("another server answers now"));
    assert_eq!(rig.guard.0.borrow().left[0].identity, "here");
    agent.leave().expect("restored");
    assert!(rig.is_as_owned());
    let state = std::fs::read_to_string(rig.directory.path().join("state"));
    assert!(state.expect("it stays").contains("\"here\""));
}

#[test]
fn a_server_that_comes_back_is_restored_before_it_is_read() {
    let rig = Rig::new();
    let mut agent = rig.delaying();
    let delayed = rig.connector.world().families.clone();
    {
        let mut world = rig.connector.world();
        world.identity = "there".into();
        world.families = world.owned.clone();
        world.cut();
    }
    for _ in 0..2 {
        rig.turn(&mut agent, HIGH);
    }
    {
        let mut world = rig.connector.world();
        world.identity = "here".into();
        world.families = delayed;
        world.cut();
    }
    rig.said.borrow_mut().clear();
    for _ in 0..2 {
        rig.turn(&mut agent, HIGH);
    }
    assert!(rig.is_as_owned());
    assert!(rig.said("taken back: default: level0_file_num_compaction_trigger=4"));
    rig.turn(&mut agent, HIGH);
    assert!(rig.is_delayed());
    agent.leave().expect("restored");
    assert!(rig.is_as_owned());
}

#[test]
fn what_was_recorded_at_another_address_is_restored_first() {
    let rig = Rig::new();
    drop(rig.delaying());
    let other = rig.directory.path().join("attach-other.state");
    std::fs::rename(rig.directory.path().join("state"), &other).expect("recorded");
    let mut agent = rig.attach(usual_settings()).expect("attached");
    assert!(rig.is_as_owned());
    assert!(!other.exists());
    agent.leave().expect("restored");
    assert!(rig.is_as_owned());
}

#[test]
fn a_server_of_the_same_name_takes_nothing_from_the_one_before() {
    let rig = Rig::new();
    rig.connector.world().now = Duration::from_secs(100);
    let mut agent = rig.delaying();
    let delayed = rig.connector.world().families.clone();
    {
        let mut world = rig.connector.world();
        world.started_at = 500;
        world.families = world.owned.clone();
        world.cut();
    }
    for _ in 0..3 {
        rig.turn(&mut agent, HIGH);
    }
    assert!(rig.said("another server answers now"));
    assert_eq!(rig.guard.0.borrow().left[0].started_at, 1_000);
    let state = std::fs::read_to_string(rig.directory.path().join("state"));
    assert!(state.expect("it stays").contains("\"started_at\":1000"));
    {
        let mut world = rig.connector.world();
        world.started_at = 1_000;
        world.families = delayed;
        world.cut();
    }
    for _ in 0..2 {
        rig.turn(&mut agent, 0);
    }
    assert!(rig.is_as_owned());
    agent.leave().expect("restored");
    assert!(rig.is_as_owned());
}

/// Another server answers, with `default` and `cf_hot` as an agent that is dead delayed them, and
/// with this event of that one.
fn fail_over_to_a_dead_agents(rig: &Rig, event: Lease) {
    let delayed = event.families.values().next().expect("one").delayed;
    let mut world = rig.connector.world();
    world.identity = "there".into();
    world.families = world.owned.clone();
    for name in event.families.keys() {
        if let Some(family) = world.families.get_mut(name) {
            family.options = delayed;
        }
    }
    world.event = Some(event);
    world.cut();
}

#[test]
fn after_a_failover_a_dead_agents_event_acts_first() {
    let rig = Rig::new();
    let mut agent = rig.delaying_by(with_event());
    fail_over_to_a_dead_agents(&rig, usual_lease("there"));
    for _ in 0..2 {
        rig.turn(&mut agent, 0);
    }
    assert!(agent.is_well() && rig.is_as_owned());
}

#[test]
fn after_a_failover_a_dead_agents_watchdog_comes_first() {
    let rig = Rig::new();
    let mut agent = rig.delaying();
    fail_over_to_a_dead_agents(&rig, usual_lease("there"));
    rig.connector.world().event = None;
    rig.connector.world().watched = true;
    for _ in 0..3 {
        rig.turn(&mut agent, 0);
    }
    assert!(!agent.is_well() && rig.said("watchdog of an earlier agent"));
    // It has restored.
    {
        let mut world = rig.connector.world();
        world.families = world.owned.clone();
        world.watched = false;
    }
    for _ in 0..2 {
        rig.turn(&mut agent, HIGH);
    }
    assert!(agent.is_well() && rig.is_delayed());
    agent.leave().expect("restored");
    assert!(rig.is_as_owned());
}

#[test]
fn an_event_that_the_agent_did_not_put_stays() {
    let rig = Rig::new();
    let settings = Settings {
        column_families: vec!["default".into()],
        ..with_event()
    };
    let mut agent = rig.delaying_by(settings);
    let mut event = usual_lease("there");
    let leased = event.families.remove("default").expect("usual");
    // It is gone there: the event has nothing to do yet. And `default` is left alone.
    event.families.insert("cf_hot".into(), leased);
    fail_over_to_a_dead_agents(&rig, event);
    let trigger = OptionName::Level0FileNumCompactionTrigger;
    rig.connector.world().own("default", trigger, 100);
    for _ in 0..3 {
        rig.turn(&mut agent, 0);
    }
    assert!(agent.is_well());
    assert_eq!(rig.in_event(), ["cf_hot"]);
    agent.leave().expect("nothing to restore");
    assert_eq!(rig.in_event(), ["cf_hot"]);
}

/// What is recorded at another address of the server `there`: these column families.
fn record_elsewhere(rig: &Rig, names: [&str; 1]) {
    let mut lease = usual_lease("there");
    let mut leased = lease.families["default"];
    leased.changed = true;
    lease.families = names.map(|name| (name.into(), leased)).into();
    let path = rig.directory.path().join("attach-other.state");
    let ledger = Ledger::open(path).expect("nothing there");
    ledger.record(&lease).expect("written");
}

/// The server `there`, which has `default` only, answers. What is recorded of it is restored,
/// and then it is lost before the agent has accepted it: the one before is there again.
fn glance_at_another(rig: &Rig, agent: &mut TestAgent) {
    let before = {
        let mut world = rig.connector.world();
        let before = (world.families.clone(), world.owned.clone());
        world.identity = "there".into();
        world.owned = World::usual().owned;
        world.families = world.owned.clone();
        world.unreadable = Some("default".into());
        world.cut();
        before
    };
    for _ in 0..2 {
        rig.turn(agent, HIGH);
        assert!(!agent.is_well());
    }
    let mut world = rig.connector.world();
    world.unreadable = None;
    world.identity = "here".into();
    (world.families, world.owned) = before;
    world.cut();
}

#[test]
fn what_is_left_of_a_server_that_was_not_accepted_hides_nothing_of_the_one_before() {
    let rig = Rig::new();
    rig.connector.world().create_family("cf_hot");
    let mut agent = rig.delaying();
    record_elsewhere(&rig, ["cf_hot"]);
    glance_at_another(&rig, &mut agent);
    assert!(rig.said("not restored, since it is gone: column family cf_hot"));
    rig.turn(&mut agent, HIGH);
    rig.connector.world().family("cf_hot").level0_files = 20;
    rig.turn(&mut agent, HIGH);
    let options = rig.connector.world().family("cf_hot").options;
    assert!(agent.is_well());
    assert_eq!(options.level0_file_num_compaction_trigger, 4, "its bound");
    agent.leave().expect("restored");
    assert!(rig.is_as_owned());
}

#[test]
fn what_is_left_of_the_server_before_is_remembered_if_the_next_is_not_accepted() {
    for leaves_at_once in [false, true] {
        let rig = Rig::left_without_a_family();
        let mut agent = rig.delaying_by(with_event());
        record_elsewhere(&rig, ["cf_other"]);
        glance_at_another(&rig, &mut agent);
        if leaves_at_once {
            agent.leave().expect_err("the connection is gone");
        } else {
            rig.turn(&mut agent, HIGH);
            rig.turn(&mut agent, HIGH);
            assert!(agent.is_well());
            assert_eq!(rig.in_event(), ["cf_hot", "default"]);
            rig.connector.world().create_family("cf_hot");
            assert!(!rig.is_as_owned());
            rig.turn(&mut agent, 0);
            assert!(rig.said("taken back: cf_hot"));
            rig.connector.world().drop_family("cf_hot");
        }
        agent.leave().expect("restored");
        let event = if leaves_at_once {
            vec!["cf_hot"]
        } else {
            vec![]
        };
        assert_eq!(rig.in_event(), event);
    }
}
