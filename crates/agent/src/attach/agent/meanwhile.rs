//! Another agent came and died while this one was away: its event acts before this one goes on, or
//! ends.

use super::rig::{HIGH, Rig, with_event};
use crate::decide::manage;
use crate::settings::Settings;
use crate::testing::{World, usual_family, usual_lease};

/// An agent with other bounds, whose files are on another machine, has delayed the server.
fn delay_from_elsewhere(world: &mut World) {
    let settings = Settings {
        max_level0_files: 30,
        ..with_event()
    };
    let leased = manage("default", &usual_family(), &settings).expect("managed");
    let mut event = usual_lease("here");
    event.families.insert("default".into(), leased);
    world.family("default").options = leased.delayed;
    world.event = Some(event);
}

#[test]
fn after_a_restart_the_event_of_an_agent_that_came_and_died_acts_first() {
    let rig = Rig::new();
    let mut agent = rig.delaying();
    {
        let mut world = rig.connector.world();
        world.restart();
        delay_from_elsewhere(&mut world);
        // Its event cannot act while it lives.
        world.occupied = true;
    }
    for _ in 0..2 {
        rig.turn(&mut agent, 0);
    }
    assert!(!agent.is_well() && !rig.is_as_owned());
    assert!(rig.said("another agent is attached"));
    rig.connector.world().occupied = false;
    rig.turn(&mut agent, 0);
    assert!(agent.is_well() && rig.is_as_owned() && rig.said("restarted"));
    rig.turn(&mut agent, HIGH);
    assert!(rig.is_delayed());
    agent.leave().expect("restored");
    assert!(rig.is_as_owned());
}

#[test]
fn after_a_lost_connection_it_acts_first_too() {
    let rig = Rig::new();
    let mut agent = rig.delaying_by(with_event());
    rig.connector.world().cut();
    delay_from_elsewhere(&mut rig.connector.world());
    rig.connector.world().occupied = true;
    for _ in 0..2 {
        rig.turn(&mut agent, 0);
    }
    assert!(!agent.is_well() && !rig.is_as_owned());
    rig.connector.world().occupied = false;
    rig.turn(&mut agent, 0);
    assert!(agent.is_well() && rig.is_as_owned());
    for _ in 0..2 {
        rig.turn(&mut agent, HIGH);
    }
    assert!(rig.is_delayed());
    agent.leave().expect("restored");
    assert!(rig.is_as_owned());
}

#[test]
fn an_agent_that_leaves_after_a_lost_connection_removes_no_event_that_has_not_acted() {
    let rig = Rig::new();
    let mut agent = rig.delaying_by(with_event());
    rig.connector.world().cut();
    delay_from_elsewhere(&mut rig.connector.world());
    agent.leave().expect_err("the connection is gone");
    agent.leave().expect("restored");
    assert!(rig.is_as_owned() && rig.in_event().is_empty());
}

#[test]
fn after_a_lost_connection_an_agent_does_not_wait_for_its_own_event() {
    let rig = Rig::new();
    let mut agent = rig.delaying_by(with_event());
    rig.connector.world().events_run = false;
    rig.connector.world().cut();
    for _ in 0..2 {
        rig.turn(&mut agent, HIGH);
    }
    assert!(agent.is_well() && rig.is_as_owned());
}

#[test]
fn where_no_event_takes_back_another_agents_settings_its_own_go_back() {
    let rig = Rig::new();
    rig.connector.world().create_family("cf_hot");
    let mut agent = rig.delaying_by(with_event());
    let of_its_own = || rig.connector.world().family("cf_hot").options;
    assert_ne!(of_its_own(), usual_family().options);
    {
        let mut world = rig.connector.world();
        world.cut();
        delay_from_elsewhere(&mut world);
        world.events_run = false;
    }
    // Nobody else would do it.
    rig.guard.0.borrow_mut().lease = None;
    for _ in 0..4 {
        rig.turn(&mut agent, HIGH);
    }
    assert!(!agent.is_well() && rig.said("no event runs at the mock"));
    assert_eq!(of_its_own(), usual_family().options);
    assert_eq!(rig.times_said("taken back: cf_hot"), 1);
    assert_eq!(rig.times_said("nothing to take back"), 0);
    rig.connector.world().events_run = true;
    rig.turn(&mut agent, HIGH);
    assert!(agent.is_well() && rig.is_as_owned());
    agent.leave().expect("restored");
    assert!(rig.is_as_owned());
}

#[test]
fn to_leave_beside_what_no_event_takes_back_is_no_good_end() {
    let rig = Rig::new();
    let mut agent = rig.delaying_by(with_event());
    {
        let mut world = rig.connector.world();
        world.cut();
        delay_from_elsewhere(&mut world);
        world.events_run = false;
    }
    agent.leave().expect_err("the connection is gone");
    agent.leave().expect("its own are restored");
    let refusal = agent.refusal().expect("another agent's are not");
    let why = "no event runs at the mock";
    assert!(refusal.to_string().contains(why), "{refusal}");
    assert_eq!(rig.times_said(why), 1);
    assert!(!rig.said("ended: the server has"));
}
