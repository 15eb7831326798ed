//! A server that does not take what this agent sets, or does not take it back, or does not tell it
//! what it asks.

use super::rig::{HIGH, Rig};
use crate::settings::Settings;
use crate::testing::{usual_family, usual_settings};

#[test]
fn what_the_server_does_not_take_back_lets_the_lease_run_out() {
    let rig = Rig::new();
    rig.connector.world().create_family("cf_hot");
    let mut agent = rig.delaying();
    {
        let mut world = rig.connector.world();
        world.refusing = Some("cf_hot".into());
        // It must resume, and `default` need not.
        world.family("cf_hot").level0_files = 20;
    }
    let heard = |rig: &Rig| rig.guard.0.borrow().renewals;
    let before = heard(&rig);
    let lease = usual_settings().lease;
    for _ in 0..lease.as_secs() {
        rig.turn(&mut agent, HIGH);
    }
    assert!(agent.is_well() && rig.is_delayed());
    assert_eq!(heard(&rig), before);
    rig.guard.run_out(&rig.connector);
    assert!(!rig.is_delayed(), "what is taken is given back");
    rig.turn(&mut agent, HIGH);
    assert!(!rig.is_delayed(), "and is not delayed again");
    assert_eq!(rig.recorded(), ["cf_hot", "default"]);
    {
        let mut world = rig.connector.world();
        world.refusing = None;
        world.family("cf_hot").level0_files = 0;
    }
    for _ in 0..2 {
        rig.turn(&mut agent, HIGH);
    }
    assert!(heard(&rig) > before && rig.is_delayed());
    agent.leave().expect("restored");
    assert!(rig.is_as_owned() && rig.recorded().is_empty());
}

#[test]
fn what_is_refused_at_the_end_is_all_that_is_left() {
    let rig = Rig::new();
    rig.connector.world().create_family("cf_hot");
    let mut agent = rig.delaying();
    rig.connector.world().refusing = Some("cf_hot".into());
    let error = agent.leave().expect_err("the mock refuses");
    assert!(error.to_string().contains("the mock refuses"), "{error}");
    assert!(!rig.is_delayed() && !rig.is_as_owned());
    assert!(!rig.guard.0.borrow().released, "it goes on trying");
    assert_eq!(rig.recorded(), ["cf_hot", "default"]);
    rig.connector.world().refusing = None;
    agent.leave().expect("restored");
    assert!(rig.is_as_owned() && rig.recorded().is_empty());
}

#[test]
fn a_delay_that_is_refused_leaves_the_agent_in_control() {
    let rig = Rig::new();
    rig.connector.world().create_family("cf_hot");
    rig.connector.world().refusing = Some("cf_hot".into());
    let mut agent = rig.attach(usual_settings()).expect("attached");
    for _ in 0..5 {
        rig.turn(&mut agent, HIGH);
    }
    assert!(agent.is_well() && rig.is_delayed());
    assert_eq!(rig.guard.0.borrow().renewals, 5);
    let options = rig.connector.world().family("cf_hot").options;
    assert_eq!(options, usual_family().options);
}

#[test]
fn a_server_that_answers_is_not_said_to_be_lost() {
    let rig = Rig::new();
    let mut agent = rig.delaying();
    rig.connector.world().unreadable = Some("default".into());
    rig.turn(&mut agent, HIGH);
    assert!(!agent.is_well() && !rig.said("lost the server"));
    assert!(rig.said("the interval was not completed: default is unreadable"));
    rig.connector.world().unreadable = None;
    rig.turn(&mut agent, HIGH);
    assert!(agent.is_well() && rig.said("looked after again"));
}

#[test]
fn once_the_lease_is_over_nothing_is_set_that_the_watchdog_takes_back() {
    let rig = Rig::new();
    rig.connector.world().create_family("cf_hot");
    {
        let mut world = rig.connector.world();
        world.rate_limiter = 77_000_001;
        world.owned_rate_limiter = 77_000_001;
    }
    let mut agent = rig.delaying_by(Settings {
        rate_limiter: true,
        ..usual_settings()
    });
    {
        let mut world = rig.connector.world();
        world.refusing = Some("cf_hot".into());
        // Both must resume, and writers are not held back meanwhile.
        world.family("cf_hot").level0_files = 20;
        world.family("default").level0_files = 20;
    }
    let lease = usual_settings().lease;
    for _ in 0..lease.as_secs() {
        rig.turn(&mut agent, HIGH);
    }
    let of_default = || rig.connector.world().family("default").options;
    assert_ne!(of_default(), usual_family().options, "it catches up");
    rig.guard.run_out(&rig.connector);
    rig.sent();
    for _ in 0..3 {
        rig.turn(&mut agent, HIGH);
        assert_eq!(of_default(), usual_family().options);
        assert_eq!(rig.connector.world().rate_limiter, 77_000_001);
    }
    let sent = rig.sent();
    assert!(
        sent.iter().all(|it| it.column_family() == Some("cf_hot")),
        "{sent:?}"
    );
    assert_eq!(rig.times_said("nothing is delayed: the server was not"), 1);
    {
        let mut world = rig.connector.world();
        world.refusing = None;
        for name in ["cf_hot", "default"] {
            world.family(name).level0_files = 0;
        }
    }
    for _ in 0..2 {
        rig.turn(&mut agent, HIGH);
    }
    assert!(rig.is_delayed());
    agent.leave().expect("restored");
    assert!(rig.is_as_owned());
}
