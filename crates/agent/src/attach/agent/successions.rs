//! One server after another behind one address: restarts, failovers, returns.

use std::time::Duration;

use super::rig::{HIGH, Rig};
use crate::decide::OptionName;
use crate::testing::usual_settings;

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
