//! One agent after another at one server: what the earlier one has left is taken back first.

use super::rig::{HIGH, Rig, with_event};
use crate::testing::usual_settings;

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

/// An agent has ended, and what it delayed was gone from the server then: `cf_hot`.
fn left_without_a_family() -> Rig {
    let rig = Rig::new();
    rig.connector.world().create_family("cf_hot");
    let mut agent = rig.delaying_by(with_event());
    rig.connector.world().drop_family("cf_hot");
    rig.turn(&mut agent, HIGH);
    agent.leave().expect("what is there is restored");
    assert!(rig.said("column family cf_hot; its original options stay in"));
    assert_eq!(rig.recorded(), ["cf_hot"]);
    rig
}

#[test]
fn what_was_gone_at_the_end_is_restored_by_the_next_agent() {
    let rig = left_without_a_family();
    let event = rig.connector.world().event.clone().expect("it goes on");
    assert!(event.families.keys().eq(["cf_hot"]));
    rig.connector.world().create_family("cf_hot");
    assert!(!rig.is_as_owned(), "it has what was set last");
    let mut agent = rig.attach(with_event()).expect("attached");
    assert!(rig.is_as_owned());
    assert!(rig.recorded().is_empty());
    agent.leave().expect("restored");
}

#[test]
fn what_is_still_gone_is_restored_when_it_is_there_again() {
    let rig = left_without_a_family();
    rig.said.borrow_mut().clear();
    // Other values than those that the family was left with.
    let mut settings = usual_settings();
    settings.max_level0_files = 30;
    let mut agent = rig.attach(settings).expect("attached");
    for load in [HIGH, HIGH, 0, 0] {
        rig.turn(&mut agent, load);
    }
    let said = rig.said.borrow();
    let told = said.iter().filter(|it| it.to_string().contains("cf_hot"));
    assert_eq!(told.count(), 1, "it is told once");
    drop(said);
    assert_eq!(rig.recorded(), ["cf_hot", "default"]);
    rig.connector.world().create_family("cf_hot");
    rig.turn(&mut agent, 0);
    assert!(agent.is_well() && rig.is_as_owned());
    for load in [HIGH, HIGH] {
        rig.turn(&mut agent, load);
    }
    assert!(!rig.is_as_owned(), "it is looked after, as all others");
    agent.leave().expect("restored");
    assert!(rig.is_as_owned());
    assert!(rig.recorded().is_empty());
}

#[test]
fn what_is_never_there_again_stays_recorded() {
    let rig = left_without_a_family();
    let mut agent = rig.attach(usual_settings()).expect("attached");
    rig.turn(&mut agent, HIGH);
    rig.said.borrow_mut().clear();
    agent.leave().expect("restored");
    assert!(rig.said("column family cf_hot; its original options stay in"));
    assert_eq!(rig.recorded(), ["cf_hot"]);
    drop(agent);
    // A restart of the server ends it.
    rig.connector.world().restart();
    let mut agent = rig.attach(usual_settings()).expect("attached");
    assert!(rig.recorded().is_empty());
    agent.leave().expect("restored");
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
