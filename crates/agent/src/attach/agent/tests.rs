//! The agent against a server in memory, fault by fault.

use std::time::Duration;

use super::rig::{HIGH, Rig, with_event};
use crate::ErrorKind;
use crate::decide::{Actuator, Entry, Event, Stage};
use crate::settings::Settings;
use crate::testing::{usual_family, usual_settings};

#[test]
fn it_delays_resumes_and_leaves_nothing_behind() {
    let rig = Rig::new();
    let mut agent = rig.attach(usual_settings()).expect("attached");
    assert_eq!(rig.sent().len(), 1, "the privilege is tried");
    rig.turn(&mut agent, HIGH);
    rig.turn(&mut agent, HIGH);
    assert!(rig.is_delayed());
    assert!(rig.said("delay default: level0_file_num_compaction_trigger=20"));
    for _ in 0..4 {
        rig.turn(&mut agent, 0);
    }
    assert!(rig.is_as_owned());
    rig.turn(&mut agent, HIGH);
    assert!(rig.is_delayed());
    agent.leave().expect("restored");
    assert!(rig.is_as_owned());
    assert!(rig.guard.0.borrow().released);
    assert!(!rig.directory.path().join("state").exists());
    assert!(rig.said("ended"));
}

#[test]
fn the_privilege_is_tried_where_it_is_needed() {
    for (asked, has_default) in [(vec!["cf_hot".to_owned()], true), (Vec::new(), false)] {
        let rig = Rig::new();
        rig.connector.world().create_family("cf_hot");
        if !has_default {
            rig.connector.world().drop_family("default");
        }
        let settings = Settings {
            column_families: asked,
            ..usual_settings()
        };
        rig.attach(settings).expect("attached");
        let sent = rig.sent();
        let [tried] = sent.as_slice() else {
            panic!("one change: {sent:?}");
        };
        assert_eq!(tried.column_family(), Some("cf_hot"));
        assert!(rig.is_as_owned());
    }
}

#[test]
fn the_state_file_and_the_guard_come_before_the_first_delay() {
    let rig = Rig::new();
    rig.guard.0.borrow_mut().broken = true;
    let mut agent = rig.attach(usual_settings()).expect("attached");
    rig.sent();
    for _ in 0..5 {
        rig.turn(&mut agent, HIGH);
    }
    assert!(rig.sent().is_empty());
    assert!(agent.is_well());
    assert!(rig.said("nothing is delayed: no watchdog can be started"));
    rig.guard.0.borrow_mut().broken = false;
    for _ in 0..10 {
        rig.turn(&mut agent, HIGH);
    }
    assert!(rig.is_delayed(), "a new guard was looked for after a while");
    assert!(rig.directory.path().join("state").exists());
}

#[test]
fn after_a_lost_connection_the_lease_is_put_into_safe_hands_again() {
    let rig = Rig::new();
    let mut agent = rig.delaying_by(with_event());
    // As whoever restores does while the agent cannot be there.
    let state = rig.directory.path().join("state");
    std::fs::remove_file(&state).expect("recorded");
    {
        let mut world = rig.connector.world();
        world.event = None;
        world.cut();
    }
    for _ in 0..3 {
        rig.turn(&mut agent, HIGH);
    }
    assert!(rig.is_delayed());
    assert!(state.exists());
    assert!(rig.connector.world().event.is_some());
}

#[test]
fn without_its_guard_everything_goes_back_at_once() {
    let rig = Rig::new();
    let mut agent = rig.delaying();
    rig.guard.0.borrow_mut().lease = None;
    rig.turn(&mut agent, HIGH);
    assert!(rig.is_as_owned());
    assert!(rig.said("because nothing may be delayed: the watchdog ended"));
    rig.turn(&mut agent, HIGH);
    assert!(rig.is_delayed(), "there is a new guard");
}

#[test]
fn a_connection_lost_at_any_call_ends_in_the_original_settings() {
    for calls in 0..60 {
        let rig = Rig::new();
        let mut agent = rig.attach(usual_settings()).expect("attached");
        rig.connector.world().calls_left = Some(calls);
        for load in [HIGH, HIGH, HIGH, 0, 0, 0, HIGH, HIGH] {
            rig.turn(&mut agent, load);
        }
        if agent.leave().is_err() {
            agent.leave().expect("the second connection holds");
        }
        assert!(rig.is_as_owned(), "lost after {calls} calls");
    }
}

#[test]
fn an_agent_that_is_not_in_control_is_not_heard() {
    let rig = Rig::new();
    let mut agent = rig.delaying();
    let heard = |rig: &Rig| rig.guard.0.borrow().renewals;
    let before = heard(&rig);
    rig.connector.world().reachable = false;
    for _ in 0..5 {
        rig.turn(&mut agent, HIGH);
    }
    assert!(!agent.is_well() && rig.shows("intervals_total 2"));
    assert_eq!(heard(&rig), before);
    assert!(rig.said("lost the server"));
    rig.connector.world().reachable = true;
    rig.connector.world().lies = 3;
    rig.turn(&mut agent, 0);
    assert_eq!(heard(&rig), before, "the resumption was not taken");
    assert!(rig.said("the server said OK, but"));
    for _ in 0..4 {
        rig.turn(&mut agent, 0);
    }
    assert!(rig.is_as_owned());
    assert!(heard(&rig) > before);
    assert!(rig.said("looked after again"));
}

#[test]
fn a_family_that_vanishes_is_not_created_again() {
    let rig = Rig::new();
    let mut agent = {
        let mut world = rig.connector.world();
        world.families.insert("cf_hot".into(), usual_family());
        world.owned.insert("cf_hot".into(), usual_family());
        drop(world);
        rig.delaying()
    };
    {
        let mut world = rig.connector.world();
        world.families.remove("cf_hot");
        world.owned.remove("cf_hot");
    }
    for load in [HIGH, 0, 0, 0, 0] {
        rig.turn(&mut agent, load);
    }
    agent.leave().expect("restored");
    assert!(!rig.connector.world().families.contains_key("cf_hot"));
    assert!(rig.said("cf_hot is gone"));
}

#[test]
fn a_family_that_is_created_anew_does_not_stay_delayed() {
    let rig = Rig::new();
    rig.connector.world().create_family("cf_hot");
    let mut agent = rig.delaying();
    rig.connector.world().drop_family("cf_hot");
    rig.turn(&mut agent, HIGH);
    rig.connector.world().create_family("cf_hot");
    let options = rig.connector.world().family("cf_hot").options;
    assert_ne!(options, usual_family().options, "it has what was set last");
    agent.leave().expect("restored");
    assert!(rig.is_as_owned());
}

#[test]
fn it_does_not_leave_while_its_lost_session_may_still_act() {
    let rig = Rig::new();
    let mut agent = rig.delaying();
    rig.connector.world().cut();
    rig.connector.world().occupied = true;
    agent.leave().expect_err("the connection is gone");
    let error = agent.leave().expect_err("the lock is held");
    assert!(error.to_string().contains("has not ended yet"), "{error}");
    assert!(!rig.guard.0.borrow().released);
    rig.connector.world().occupied = false;
    agent.leave().expect("restored");
    assert!(rig.is_as_owned());
}

#[test]
fn an_interval_that_took_too_long_delays_nothing() {
    let rig = Rig::new();
    let mut agent = rig.attach(usual_settings()).expect("attached");
    rig.turn(&mut agent, HIGH);
    rig.connector.world().slowness = Duration::from_secs(3);
    rig.turn(&mut agent, 100 * HIGH);
    assert!(rig.is_as_owned());
    rig.connector.world().slowness = Duration::ZERO;
    rig.turn(&mut agent, 100 * HIGH);
    assert!(rig.is_delayed());
}

#[test]
fn counters_that_cannot_be_read_keep_nothing_delayed() {
    let rig = Rig::new();
    let mut agent = rig.delaying();
    rig.connector.world().uncounted = true;
    rig.connector.world().family("default").level0_files = 20;
    rig.turn(&mut agent, HIGH);
    assert!(agent.is_well() && !rig.is_delayed());
    assert!(rig.said("counts as low: the mock counts nothing"));
    agent.leave().expect("restored");
    assert!(rig.is_as_owned());
    drop(agent);
    let error = rig.attach(usual_settings()).expect_err("no counters");
    assert!(error.to_string().contains("counts nothing"), "{error}");
}

#[test]
fn two_agents_do_not_share_a_server() {
    let rig = Rig::new();
    rig.connector.world().occupied = true;
    let error = rig.attach(usual_settings()).expect_err("occupied");
    assert!(error.to_string().contains("another agent"), "{error}");
    rig.connector.world().occupied = false;
    rig.connector.world().watched = true;
    let error = rig.attach(usual_settings()).expect_err("watched");
    assert!(error.to_string().contains("still at work"), "{error}");
    assert!(rig.sent().is_empty());
}

#[test]
fn a_family_that_is_not_there_is_said_with_those_that_are() {
    let rig = Rig::new();
    let mut settings = usual_settings();
    settings.column_families = vec!["default".into(), "cf_cold".into()];
    let error = rig.attach(settings).expect_err("no such family");
    assert_eq!(error.kind(), ErrorKind::Fix);
    let sentence = error.to_string();
    assert!(
        sentence.contains("\"cf_cold\"; it has default"),
        "{sentence}"
    );
}

#[test]
fn nobody_is_left_without_a_brake_unasked() {
    let rig = Rig::new();
    rig.connector.world().create_family("cf_new");
    rig.connector.world().family("cf_new").dynamic_level_bytes = true;
    let mut settings = usual_settings();
    for dry_run in [false, true] {
        settings.dry_run = dry_run;
        let error = rig.attach(settings.clone()).expect_err("no brake");
        assert_eq!(error.kind(), ErrorKind::Fix);
        let sentence = error.to_string();
        for words in ["column family cf_new of the mock", "give --server-lease"] {
            assert!(sentence.contains(words), "{sentence}");
        }
    }
    assert!(rig.sent().is_empty());
    let asked = Settings {
        actuator: Some(Actuator::DisableAutoCompactions),
        ..usual_settings()
    };
    let others = Settings {
        column_families: vec!["default".into()],
        ..usual_settings()
    };
    for settings in [with_event(), asked, others] {
        rig.attach(settings).expect("attached");
    }
}

#[test]
fn metrics_tell_what_the_server_has_and_that_it_does_not_obey() {
    let rig = Rig::new();
    let shows = |delayed: u8, outstanding: u8| {
        let family = "{column_family=\"default\"}";
        let lines = [
            "up 1".to_owned(),
            format!("delayed{family} {delayed}"),
            format!("changes_outstanding {outstanding}"),
        ];
        lines.iter().all(|line| rig.shows(line))
    };
    let mut agent = rig.delaying();
    assert!(shows(1, 0) && rig.shows("intervals_total 2"));
    rig.connector.world().lies = 100;
    for _ in 0..4 {
        rig.turn(&mut agent, 0);
    }
    assert!(rig.is_delayed() && shows(1, 1), "it stays delayed");
    rig.connector.world().lies = 0;
    rig.turn(&mut agent, 0);
    assert!(rig.is_as_owned() && shows(0, 0));
    rig.connector.world().lies = 1;
    rig.turn(&mut agent, HIGH);
    assert!(rig.is_as_owned() && shows(0, 1), "it was not delayed");
    rig.turn(&mut agent, HIGH);
    assert!(rig.is_delayed() && shows(1, 0));
}

#[test]
fn a_dry_run_sets_nothing_and_says_what_it_would() {
    let rig = Rig::new();
    let mut settings = usual_settings();
    settings.dry_run = true;
    settings.rate_limiter = true;
    rig.connector.world().rate_limiter = 5;
    let mut agent = rig.attach(settings).expect("attached");
    for load in [HIGH, HIGH, HIGH, 0, 0, 0, 0] {
        rig.turn(&mut agent, load);
    }
    agent.leave().expect("nothing to restore");
    assert!(rig.sent().is_empty());
    assert!(rig.said("ended: nothing was changed") && !rig.said("original settings"));
    assert!(rig.said("delay default"));
    assert!(rig.said("not sent (dry run)"));
    assert!(!rig.directory.path().join("state").exists());
}

#[test]
fn an_event_in_the_server_is_put_there_and_removed() {
    let rig = Rig::new();
    let mut agent = rig.delaying_by(with_event());
    assert!(rig.connector.world().event.is_some());
    agent.leave().expect("restored");
    assert!(rig.connector.world().event.is_none());
}

#[test]
fn an_event_that_would_not_run_is_refused_before_anything_is_set() {
    let rig = Rig::new();
    let mut settings = with_event();
    rig.connector.world().events_run = false;
    let error = rig.attach(settings.clone()).expect_err("no event runs");
    assert_eq!(error.kind(), ErrorKind::Fix);
    assert!(error.to_string().contains("no event runs"), "{error}");
    assert!(rig.sent().is_empty());
    settings.dry_run = true;
    rig.attach(settings).expect("a dry run keeps no event");
}

#[test]
fn while_no_event_runs_nothing_is_delayed() {
    let rig = Rig::new();
    let mut agent = rig.attach(with_event()).expect("attached");
    rig.connector.world().events_run = false;
    for _ in 0..5 {
        rig.turn(&mut agent, HIGH);
    }
    assert!(rig.is_as_owned());
    assert!(rig.said("nothing is delayed: no event runs at the mock"));
    rig.connector.world().events_run = true;
    for _ in 0..10 {
        rig.turn(&mut agent, HIGH);
    }
    assert!(rig.is_delayed(), "it is tried again after a while");
}

#[test]
fn an_event_that_is_removed_or_would_not_run_is_noticed() {
    let rig = Rig::new();
    let mut agent = rig.delaying_by(with_event());
    rig.connector.world().event = None;
    rig.turn(&mut agent, HIGH);
    assert!(rig.is_delayed() && rig.connector.world().event.is_some());
    rig.connector.world().events_run = false;
    rig.turn(&mut agent, HIGH);
    assert!(agent.is_well() && rig.is_as_owned());
    assert!(rig.said("nothing is delayed: no event runs at the mock"));
}

#[test]
fn every_decision_stands_in_the_journal_with_its_reason() {
    let rig = Rig::new();
    let mut agent = rig.delaying();
    for _ in 0..3 {
        rig.turn(&mut agent, 0);
    }
    let text = std::fs::read_to_string(rig.directory.path().join("journal")).expect("a journal");
    let mut stages = Vec::new();
    for line in text.lines() {
        let entry: Entry = serde_json::from_str(line).expect("JSON");
        if let Event::Decision { decision, .. } = entry.event {
            stages.push(decision.to);
        }
    }
    assert_eq!(stages, [Some(Stage::Delayed), Some(Stage::Original)]);
}
