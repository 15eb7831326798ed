//! Column families that vanish: what was changed stays recorded, and is taken back once they are
//! there again; whatever becomes of that, all others are looked after.

use super::rig::{HIGH, Rig, TestAgent, with_event};
use crate::settings::Settings;
use crate::testing::{usual_family, usual_settings};

#[test]
fn what_was_gone_at_the_end_is_restored_by_the_next_agent() {
    let rig = Rig::left_without_a_family();
    assert_eq!(rig.in_event(), ["cf_hot"], "it goes on");
    rig.connector.world().create_family("cf_hot");
    assert!(!rig.is_as_owned(), "it has what was set last");
    let mut agent = rig.attach(with_event()).expect("attached");
    assert!(rig.is_as_owned());
    assert!(rig.recorded().is_empty());
    agent.leave().expect("restored");
}

#[test]
fn what_is_still_gone_is_restored_when_it_is_there_again() {
    let rig = Rig::left_without_a_family();
    rig.said.borrow_mut().clear();
    // Other values than those that the family was left with.
    let mut settings = usual_settings();
    settings.max_level0_files = 30;
    let mut agent = rig.attach(settings).expect("attached");
    for load in [HIGH, HIGH, 0, 0] {
        rig.turn(&mut agent, load);
    }
    assert_eq!(rig.times_said("cf_hot"), 1, "it is told once");
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
    let rig = Rig::left_without_a_family();
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
fn what_was_never_delayed_is_not_left_behind() {
    for is_killed in [false, true] {
        let rig = Rig::new();
        rig.connector.world().create_family("cf_hot");
        let mut agent = rig.attach(with_event()).expect("attached");
        rig.turn(&mut agent, 0);
        assert_eq!(rig.recorded(), ["cf_hot", "default"]);
        rig.connector.world().drop_family("cf_hot");
        if is_killed {
            drop(agent);
            agent = rig.attach(with_event()).expect("attached");
        }
        rig.turn(&mut agent, 0);
        agent.leave().expect("restored");
        assert!(!rig.said("not restored"), "killed: {is_killed}");
        assert!(rig.recorded().is_empty() && rig.in_event().is_empty());
    }
}

#[test]
fn what_is_delayed_is_recorded_as_changed_before_it_is() {
    let mut delays = 0;
    for calls in 0..12 {
        let rig = Rig::new();
        rig.connector.world().create_family("cf_hot");
        let mut agent = rig.attach(with_event()).expect("attached");
        rig.turn(&mut agent, HIGH);
        assert!(!rig.is_recorded_as_changed("cf_hot"));
        rig.connector.world().calls_left = Some(calls);
        rig.turn(&mut agent, HIGH);
        // It is killed here.
        let options = rig.connector.world().family("cf_hot").options;
        if options != usual_family().options {
            assert!(rig.is_recorded_as_changed("cf_hot"), "{calls} calls");
            delays += 1;
        }
    }
    assert!(delays > 0);
}

/// An agent that is about to delay `cf_hot` for the first time.
fn about_to_delay() -> (Rig, TestAgent) {
    let rig = Rig::new();
    rig.connector.world().create_family("cf_hot");
    let mut agent = rig.attach(with_event()).expect("attached");
    rig.turn(&mut agent, HIGH);
    (rig, agent)
}

#[test]
fn what_the_guard_or_the_event_does_not_know_of_is_not_delayed() {
    for guard in [true, false] {
        let (rig, mut agent) = about_to_delay();
        rig.guard.0.borrow_mut().broken = guard;
        rig.connector.world().events_run = guard;
        rig.turn(&mut agent, HIGH);
        assert!(rig.is_as_owned(), "guard: {guard}");
    }
}

#[test]
fn what_is_delayed_is_known_as_changed_to_the_guard_and_the_event() {
    let (rig, mut agent) = about_to_delay();
    rig.turn(&mut agent, HIGH);
    assert!(rig.is_delayed());
    let guarded = rig.guard.0.borrow().lease.clone();
    let event = rig.connector.world().event.clone();
    for lease in [guarded, event] {
        assert!(lease.expect("held").families["cf_hot"].changed);
    }
}

#[test]
fn what_is_restored_and_cannot_be_written_down_is_looked_after() {
    let rig = Rig::left_without_a_family();
    let mut agent = rig.attach(with_event()).expect("attached");
    rig.turn(&mut agent, 0);
    rig.connector.world().create_family("cf_hot");
    let in_the_way = rig.directory.path().join("state.tmp");
    std::fs::create_dir(&in_the_way).expect("in the way");
    rig.turn(&mut agent, 0);
    assert!(rig.is_as_owned() && agent.refusal().is_none());
    assert!(rig.said("cf_hot has its original settings again, but stays recorded"));
    assert!(!rig.said("is there again") && rig.shows("changes_outstanding 0"));
    std::fs::remove_dir(&in_the_way).expect("out of the way");
    for _ in 0..12 {
        rig.turn(&mut agent, HIGH);
    }
    let options = rig.connector.world().family("cf_hot").options;
    assert_ne!(
        options,
        usual_family().options,
        "it is delayed as all others"
    );
    agent.leave().expect("restored");
    assert!(rig.is_as_owned() && rig.recorded().is_empty());
}

#[test]
fn an_event_goes_on_after_what_is_refused() {
    let rig = Rig::new();
    rig.connector.world().create_family("cf_hot");
    drop(rig.delaying_by(with_event()));
    // The next agent is on another machine.
    std::fs::remove_file(rig.directory.path().join("state")).expect("recorded");
    rig.connector.world().refusing = Some("cf_hot".into());
    rig.attach(with_event())
        .expect_err("cf_hot is delayed still");
    assert!(!rig.is_delayed() && !rig.is_as_owned());
}

#[test]
fn the_event_of_the_next_agent_has_what_an_earlier_one_left() {
    let rig = Rig::left_without_a_family();
    let settings = Settings {
        column_families: vec!["default".into()],
        ..with_event()
    };
    let mut agent = rig.attach(settings).expect("attached");
    assert_eq!(rig.in_event(), ["cf_hot"], "at every moment");
    rig.turn(&mut agent, HIGH);
    assert_eq!(rig.in_event(), ["cf_hot", "default"]);
    rig.connector.world().create_family("cf_hot");
    rig.turn(&mut agent, HIGH);
    assert_eq!(rig.in_event(), ["default"], "the other one is restored");
    agent.leave().expect("restored");
    assert!(rig.is_as_owned() && rig.in_event().is_empty());
}

/// A column family is there again after all else was restored, and takes no options: `cf_hot`.
fn refused() -> (Rig, TestAgent) {
    let rig = Rig::left_without_a_family();
    let agent = rig.attach(with_event()).expect("attached");
    rig.connector.world().create_family("cf_hot");
    rig.connector.world().refusing = Some("cf_hot".into());
    rig.said.borrow_mut().clear();
    rig.sent();
    (rig, agent)
}

#[test]
fn what_takes_no_options_is_tried_again_and_in_no_others_way() {
    let (rig, mut agent) = refused();
    let heard = rig.guard.0.borrow().renewals;
    for _ in 0..3 {
        rig.turn(&mut agent, HIGH);
    }
    assert!(agent.is_well() && rig.is_delayed());
    assert_eq!(rig.guard.0.borrow().renewals, heard + 3);
    let sent = rig.sent();
    let tried = sent
        .iter()
        .filter(|it| it.column_family() == Some("cf_hot"));
    assert_eq!(tried.count(), 3, "once in each interval");
    assert_eq!(rig.times_said("column family cf_hot is there again"), 1);
    for line in [
        "up 1",
        "changes_outstanding 1",
        "delayed{column_family=\"cf_hot\"} 1",
    ] {
        assert!(rig.shows(line), "{line}");
    }
    rig.connector.world().family("default").level0_files = 20;
    rig.turn(&mut agent, HIGH);
    assert!(!rig.is_delayed(), "the bound holds");
}

#[test]
fn what_takes_its_options_at_last_is_looked_after_again() {
    let (rig, mut agent) = refused();
    for _ in 0..3 {
        rig.turn(&mut agent, HIGH);
    }
    rig.connector.world().refusing = None;
    for _ in 0..4 {
        rig.turn(&mut agent, 0);
    }
    assert!(rig.said("taken back: cf_hot"));
    assert!(rig.is_as_owned() && rig.shows("changes_outstanding 0"));
    rig.turn(&mut agent, HIGH);
    let options = rig.connector.world().family("cf_hot").options;
    assert_ne!(options, usual_family().options, "it is delayed again");
    agent.leave().expect("restored");
    assert_eq!(agent.refusal(), None);
    assert!(rig.is_as_owned() && rig.recorded().is_empty());
}

#[test]
fn what_takes_no_options_to_the_end_stays_recorded_and_is_told() {
    let (rig, mut agent) = refused();
    for _ in 0..2 {
        rig.turn(&mut agent, HIGH);
    }
    agent.leave().expect("all else is restored");
    assert!(!rig.is_delayed() && rig.guard.0.borrow().released);
    let refusal = agent.refusal().expect("cf_hot").to_string();
    assert!(refusal.contains("cf_hot (the mock refuses)"), "{refusal}");
    assert!(rig.said(&refusal) && !rig.said("ended: the server has"));
    assert_eq!(rig.recorded(), ["cf_hot"]);
    assert_eq!(rig.in_event(), ["cf_hot"]);
}
