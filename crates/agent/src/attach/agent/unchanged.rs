//! An agent that has never delayed anything: its server need not be there for it to end or to go
//! on elsewhere.

use super::rig::{HIGH, Rig, TestAgent};
use crate::testing::usual_settings;

/// An agent that has looked at a server under low load.
fn idle(rig: &Rig) -> TestAgent {
    let mut agent = rig.attach(usual_settings()).expect("attached");
    rig.turn(&mut agent, 0);
    assert_eq!(rig.recorded(), ["default"]);
    agent
}

#[test]
fn it_leaves_a_server_that_is_away() {
    let rig = Rig::new();
    let mut agent = idle(&rig);
    rig.connector.world().reachable = false;
    agent.leave().expect("nothing to restore");
    assert!(rig.guard.0.borrow().released && rig.recorded().is_empty());
    assert!(rig.said("ended: nothing was changed") && rig.said("the mock is gone"));
}

#[test]
fn it_does_not_leave_a_server_that_is_away_once_it_has_delayed() {
    let rig = Rig::new();
    let mut agent = rig.delaying();
    for _ in 0..4 {
        rig.turn(&mut agent, 0);
    }
    rig.connector.world().reachable = false;
    agent.leave().expect_err("its settings are not seen");
    assert!(!rig.guard.0.borrow().released);
    assert_eq!(rig.recorded(), ["default"]);
}

#[test]
fn it_follows_a_failover_and_leaves_nothing_to_restore() {
    let rig = Rig::new();
    let mut agent = idle(&rig);
    {
        let mut world = rig.connector.world();
        world.identity = "there".into();
        world.cut();
    }
    for _ in 0..3 {
        rig.turn(&mut agent, HIGH);
    }
    assert!(rig.said("another server answers now"));
    assert!(!rig.said("is left to its watchdog") && rig.is_delayed());
    assert!(rig.guard.0.borrow().left.is_empty());
    assert_eq!(rig.recorded(), ["default"], "of the new one");
    agent.leave().expect("restored");
    assert!(rig.is_as_owned() && rig.recorded().is_empty());
}

#[test]
fn the_next_agent_does_not_say_that_its_server_was_left_changed() {
    let rig = Rig::new();
    drop(idle(&rig));
    rig.connector.world().identity = "there".into();
    let mut agent = rig.attach(usual_settings()).expect("attached");
    assert!(!rig.said("was left with changed settings"));
    assert!(rig.recorded().is_empty());
    agent.leave().expect("nothing to restore");
}
