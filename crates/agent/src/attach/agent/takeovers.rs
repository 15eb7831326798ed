//! One agent after another at one server: what the earlier one has left is taken back first.

use std::time::Duration;

use super::rig::{HIGH, Rig, with_event};
use crate::testing::{World, usual_settings};

#[test]
fn what_a_killed_agent_left_is_restored_first() {
    let rig = Rig::new();
    drop(rig.delaying());
    rig.said.borrow_mut().clear();
    let mut agent = rig.attach(usual_settings()).expect("attached");
    assert!(rig.is_as_owned());
    assert!(rig.said("taken back: default: level0_file_num_compaction_trigger=4"));
    rig.turn(&mut agent, HIGH);
    rig.turn(&mut agent, HIGH);
    agent.leave().expect("restored");
    assert!(rig.is_as_owned());
}

#[test]
fn a_damaged_file_of_another_address_keeps_nothing_delayed() {
    let rig = Rig::new();
    drop(rig.delaying());
    let damaged = rig.directory.path().join("attach-other.state");
    std::fs::write(&damaged, "{").expect("writable");
    let error = rig.attach(usual_settings()).expect_err("it may hold more");
    assert!(error.to_string().contains("is damaged"), "{error}");
    assert!(rig.is_as_owned(), "what can be read comes first");
    std::fs::remove_file(&damaged).expect("it is there");
    rig.attach(usual_settings()).expect("attached");
}

#[test]
fn an_agent_that_may_not_begin_restores_what_another_has_left() {
    let rig = Rig::new();
    drop(rig.delaying());
    rig.connector.world().create_family("cf_new");
    rig.connector.world().family("cf_new").dynamic_level_bytes = true;
    let error = rig.attach(usual_settings()).expect_err("no brake");
    assert!(error.to_string().contains("cf_new"), "{error}");
    assert!(rig.is_as_owned());
}

#[test]
fn the_event_of_a_lost_agent_acts_before_the_next_one_begins() {
    let rig = Rig::new();
    drop(rig.delaying_by(with_event()));
    // The next one is on another machine.
    std::fs::remove_file(rig.directory.path().join("state")).expect("recorded");
    let mut agent = rig.attach(with_event()).expect("attached");
    assert!(rig.is_as_owned());
    rig.turn(&mut agent, HIGH);
    rig.turn(&mut agent, HIGH);
    assert!(rig.is_delayed());
    agent.leave().expect("restored");
    assert!(rig.is_as_owned());
}

#[test]
fn delayed_settings_that_no_event_takes_back_are_not_taken_for_the_original_ones() {
    let rig = Rig::new();
    drop(rig.delaying_by(with_event()));
    rig.connector.world().events_run = false;
    let state = rig.directory.path().join("state");
    let elsewhere = rig.directory.path().join("kept");
    std::fs::rename(&state, &elsewhere).expect("recorded");
    rig.sent();
    let error = rig.attach(usual_settings()).expect_err("still delayed");
    assert!(error.to_string().contains("no event runs"), "{error}");
    assert!(rig.sent().is_empty());
    // Where the state file is, it needs no event.
    std::fs::rename(&elsewhere, &state).expect("kept");
    rig.attach(usual_settings()).expect("attached");
    assert!(rig.is_as_owned());
}

#[test]
fn a_stale_state_file_does_not_remove_another_agents_event() {
    let rig = Rig::new();
    let state = rig.directory.path().join("state");
    let kept = rig.directory.path().join("kept");
    drop(rig.delaying());
    std::fs::rename(&state, &kept).expect("recorded");
    {
        let mut world = rig.connector.world();
        world.families = world.owned.clone();
    }
    // On another machine, with other values.
    let mut settings = with_event();
    settings.max_level0_files = 30;
    let mut other = rig.attach(settings.clone()).expect("attached");
    rig.turn(&mut other, HIGH);
    rig.turn(&mut other, HIGH);
    assert!(!rig.is_as_owned());
    drop(other);
    std::fs::rename(&kept, &state).expect("kept");
    settings.max_level0_files = 20;
    rig.attach(settings).expect("attached");
    assert!(rig.is_as_owned());
}

/// An agent on this machine follows a failover to a server that another agent, on another machine,
/// has delayed. Its user has no privilege to see that one's event.
#[test]
fn an_event_that_is_not_seen_has_time_to_act_once_its_agent_is_lost() {
    let rig = Rig::new();
    drop(rig.delaying_by(with_event()));
    let state = rig.directory.path().join("state");
    std::fs::remove_file(state).expect("recorded");
    let delayed = {
        let mut world = rig.connector.world();
        world.event_is_seen = false;
        world.identity = "elsewhere".into();
        std::mem::replace(&mut world.families, World::usual().families)
    };
    let mut agent = rig.attach(usual_settings()).expect("attached");
    {
        let mut world = rig.connector.world();
        world.identity = "here".into();
        world.families = delayed;
        world.occupied = true;
        world.cut();
    }
    for _ in 0..2 {
        rig.turn(&mut agent, 0);
    }
    assert!(!agent.is_well() && !rig.is_as_owned());
    rig.connector.world().occupied = false;
    rig.turn(&mut agent, 0);
    assert!(agent.is_well() && rig.is_as_owned());
    // Once only: nobody has held it since.
    let before = rig.connector.world().now;
    rig.connector.world().cut();
    rig.turn(&mut agent, 0);
    rig.turn(&mut agent, 0);
    let turns = Duration::from_secs(2);
    assert!(agent.is_well() && rig.connector.world().now == before + turns);
}

#[test]
fn what_is_refused_of_one_family_keeps_no_other_recorded() {
    let rig = Rig::new();
    rig.connector.world().create_family("cf_hot");
    drop(rig.delaying());
    rig.connector.world().refusing = Some("cf_hot".into());
    let error = rig
        .attach(usual_settings())
        .expect_err("cf_hot is delayed still");
    let refusal = "cf_hot of the mock cannot be given its original settings (the mock refuses)";
    assert!(error.to_string().contains(refusal), "{error}");
    assert!(!rig.is_delayed() && rig.said("taken back: default"));
    assert_eq!(rig.recorded(), ["cf_hot"]);
    rig.connector.world().refusing = None;
    rig.attach(usual_settings()).expect("attached");
    assert!(rig.is_as_owned() && rig.recorded().is_empty());
}
