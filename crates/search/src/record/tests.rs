//! What is written can be read, and a search goes on where it was.

mod learned;
mod unreadable;

use super::*;
use crate::objective::Metrics;
use crate::objective::metrics::THROUGHPUT;
use crate::search::{Decision, Outcome, Search, Setup, TimePoints, TrialId};
use crate::space::{BuiltIn, Configuration, Constants, Setting, Space};
use crate::testing::{Answer, Lab};
use crate::verdict::{Ablated, Contender, FollowUp, Repeated};

fn space() -> Space {
    let file = BuiltIn::Dremel.file().expect("reads");
    file.with(&Constants::new()).expect("is legal")
}

fn setup() -> Setup {
    let mut setup = Setup::new("throughput".parse().expect("an objective"), 5_000.0);
    setup.method.samples = 300;
    setup.method.points = TimePoints::settled_within(50.0);
    setup
}

fn target() -> Target {
    Target::new("five sessions", ["five-sessions", "lissom 0.1.0", "1 GiB"])
}

fn surface(configuration: &Configuration) -> Answer {
    let bytes = configuration
        .get("write_buffer_size")
        .and_then(Setting::number);
    let throughput = bytes.expect("a number").sqrt();
    Ok([(THROUGHPUT.to_owned(), throughput)].into())
}

fn first_line(search: &Search) -> String {
    let begin = Begin::of(search, target());
    encode(&Event::Begin(Box::new(begin))).expect("plain data")
}

/// The log of a whole search, and what it found.
fn logged(mut search: Search) -> (String, Search) {
    let mut text = first_line(&search);
    let mut lab = Lab::new(&surface);
    lab.noise = 0.05;
    let run = lab.run(&mut search, |event| {
        text += &encode(event).expect("numbers")
    });
    run.expect("reports are taken");
    (text, search)
}

fn fresh() -> Search {
    Search::new(&space(), setup(), &[]).expect("legal")
}

#[test]
fn every_prefix_of_a_log_resumes_to_the_same_decisions() {
    let (text, finished) = logged(fresh());
    let lines: Vec<&str> = text.lines().collect();
    for cut in (1..lines.len()).step_by(7) {
        let (kept, rest) = lines.split_at(cut);
        let log = Log::parse(&(kept.join("\n") + "\n")).expect("whole lines");
        let (mut resumed, elapsed) = resume(&log, &space(), &target()).expect("the same search");
        assert_eq!(
            elapsed,
            log.searches[0].events.last().map_or(0.0, Event::at)
        );
        let rest = rest.join("\n") + "\n";
        let rest = Log::parse(&(first_line(&resumed) + &rest)).expect("whole lines");
        for event in &rest.searches[0].events {
            match event {
                Event::Decision { at, decision } => assert_eq!(resumed.ask(*at), *decision),
                Event::Measurement { measurement, .. } => {
                    resumed.tell(measurement.clone()).expect("fits");
                }
                _ => panic!("one search, and nothing behind it"),
            }
        }
        assert_eq!(resumed.order(), finished.order(), "cut after {cut} lines");
    }
}

#[test]
fn a_line_that_was_cut_off_is_passed_over() {
    let (text, _) = logged(fresh());
    let whole = Log::parse(&text).expect("whole");
    assert_eq!((whole.whole_bytes, whole.needs_break), (text.len(), false));
    assert!(whole.searches[0].is_done());
    let without_break = text.trim_end();
    let log = Log::parse(without_break).expect("only the break is missing");
    assert_eq!(
        (log.whole_bytes, log.needs_break),
        (without_break.len(), true)
    );
    assert_eq!(log.searches, whole.searches);
    let cut = &text[..text.len() - 20];
    let log = Log::parse(cut).expect("tolerated");
    assert!(cut[..log.whole_bytes].ends_with('\n') && !log.needs_break);
    assert_eq!(
        log.searches[0].events.len() + 1,
        whole.searches[0].events.len()
    );
    assert!(!log.searches[0].is_done());
    assert_eq!(Log::parse("").expect("empty"), Log::default());
}

#[test]
fn another_space_or_target_is_a_sentence() {
    let (text, _) = logged(fresh());
    let log = Log::parse(&text).expect("whole");
    let file = BuiltIn::Dremel.file().expect("reads");
    let other = file
        .with(&Constants::new().with("memory", 5e8))
        .expect("is legal");
    assert!(log.earlier(&other, &target()).is_empty());
    let error = log.stranger(&other, &target()).expect("other constants");
    assert!(
        error
            .to_string()
            .contains("belongs to another space (dremel"),
        "{error}"
    );
    assert_eq!(log.stranger(&space(), &target()), None);
    assert_eq!(Log::default().stranger(&space(), &target()), None);
    let elsewhere = Target::new("elsewhere", ["2 GiB"]);
    let error = resume(&log, &space(), &elsewhere).expect_err("another target");
    assert!(
        error
            .to_string()
            .contains("belongs to another target (five sessions"),
        "{error}"
    );
    let error = resume(&Log::default(), &space(), &target()).expect_err("empty");
    assert!(error.to_string().contains("no search to resume"), "{error}");
}

#[test]
fn a_log_of_other_decisions_is_a_sentence() {
    let (text, _) = logged(fresh());
    let mut log = Log::parse(&text).expect("whole");
    let events = &mut log.searches[0].events;
    let stop = events.iter_mut().find_map(|event| match event {
        Event::Decision {
            decision: Decision::Stop { trial, .. },
            ..
        } => Some(trial),
        _ => None,
    });
    stop.expect("halving stops some").0 += 100;
    let error = resume(&log, &space(), &target())
        .expect_err("tampered")
        .to_string();
    assert!(error.contains("cannot be resumed"), "{error}");
    assert!(error.contains("where this program decides"), "{error}");
}

#[test]
fn a_later_search_learns_from_the_log() {
    let (text, first) = logged(fresh());
    let log = Log::parse(&text).expect("whole");
    let earlier = log.earlier(&space(), &target());
    assert_eq!(earlier.len(), first.trials().len());
    let mut setup = setup();
    setup.seed = 2;
    let second = Search::new(&space(), setup, &earlier).expect("legal");
    let (more, second) = logged(second);
    let reused = second.trials().iter().filter(|trial| {
        let known = first.trials().iter();
        known
            .map(|it| &it.configuration)
            .any(|it| *it == trial.configuration)
    });
    assert!(
        reused.count() > 1,
        "the best of each arm, besides the default"
    );
    let both = Log::parse(&(text + &more)).expect("one behind the other");
    assert_eq!(both.searches.len(), 2);
    let (resumed, _) = resume(&both, &space(), &target()).expect("the second");
    assert_eq!(resumed.order(), second.order());
}

#[test]
fn what_older_logs_do_not_tell_may_be_missing() {
    let built = |build: &str| {
        let facts = ["a machine", build].map(str::to_owned);
        Target::built("sessions", &facts, &facts[1..])
    };
    let begin = Begin {
        repeats: Some(3),
        ..Begin::of(&fresh(), built("build 1"))
    };
    let text = encode(&Event::Begin(Box::new(begin.clone()))).expect("plain data");
    let log = Log::parse(&text).expect("whole");
    assert_eq!(log.searches[0].begin, begin);
    assert!(built("build 2").is_another_build_of(&begin.target));
    assert!(!built("build 1").is_another_build_of(&begin.target));
    let older = first_line(&fresh());
    for name in ["\"repeats\"", "\"but_build\""] {
        assert!(text.contains(name) && !older.contains(name), "{older}");
    }
    let log = Log::parse(&older).expect("whole");
    let begin = &log.searches[0].begin;
    assert_eq!(begin.repeats, None);
    assert!(!Target::new("elsewhere", ["2 GiB"]).is_another_build_of(&begin.target));
}

#[test]
fn what_follows_a_search_is_kept() {
    let (mut text, finished) = logged(fresh());
    assert!(!Log::parse(&text).expect("whole").searches[0].has_ended());
    let metrics = Metrics::new([(THROUGHPUT.to_owned(), 7.5)].into()).expect("finite");
    let repeated = Repeated {
        round: 1,
        contender: Contender::RunnerUp,
        metrics: Some(metrics.clone()),
    };
    let ablated = Ablated {
        parameter: "block_size".to_owned(),
        configuration: None,
        metrics: None,
    };
    let in_vain = [
        FollowUp::Repeat {
            round: 1,
            contender: Contender::RunnerUp,
        },
        FollowUp::Ablation {
            parameter: "block_size".to_owned(),
        },
    ]
    .map(|what| Event::InVain {
        at: 5_950.5,
        what,
        why: "its machine is gone".to_owned(),
    });
    let [lost, cut_off] = in_vain.clone();
    for event in [
        Event::Repeats {
            at: 5_900.0,
            rounds: 3,
            seconds: 41.5,
        },
        lost,
        cut_off,
        Event::Repeated {
            at: 6_000.0,
            repeated: repeated.clone(),
        },
        Event::Ablated {
            at: 6_010.5,
            ablated: ablated.clone(),
        },
        Event::End { at: 6_011.0 },
    ] {
        text += &encode(&event).expect("numbers");
    }
    let log = Log::parse(&text).expect("whole");
    let last = &log.searches[0];
    assert!(last.is_done() && last.has_ended());
    assert_eq!(last.repeated().collect::<Vec<_>>(), [&repeated]);
    assert_eq!(last.ablated().collect::<Vec<_>>(), [&ablated]);
    assert!(in_vain.iter().all(|it| last.events.contains(it)));
    let (resumed, elapsed) = resume(&log, &space(), &target()).expect("the same search");
    assert_eq!(elapsed, 6_011.0);
    assert_eq!(resumed.order(), finished.order());
}

#[test]
fn a_changed_reserve_is_replayed() {
    let mut search = fresh();
    let mut text = first_line(&search);
    let decision = search.ask(0.0);
    search.reserve(4_999.0);
    // It leaves no time for another trial.
    let after = search.ask(2.0);
    assert!(matches!(after, Decision::Wait { .. }), "{after}");
    for event in [
        Event::Decision { at: 0.0, decision },
        Event::Reserved {
            at: 1.0,
            seconds: 4_999.0,
        },
        Event::Decision {
            at: 2.0,
            decision: after,
        },
    ] {
        text += &encode(&event).expect("numbers");
    }
    let log = Log::parse(&text).expect("whole");
    let (resumed, _) = resume(&log, &space(), &target()).expect("the same decisions");
    assert_eq!(resumed.setup().method.reserve_seconds, 4_999.0);
    assert_eq!(log.searches[0].begin.setup, setup(), "as it began");
}

#[test]
fn whether_trials_begin_anew_is_replayed() {
    let mut search = fresh();
    let mut text = first_line(&search);
    for restarts in [true, false, true] {
        search.note_restarts(restarts);
        let decision = search.ask(0.0);
        for event in [
            Event::Restarts { at: 0.0, restarts },
            Event::Decision { at: 0.0, decision },
        ] {
            text += &encode(&event).expect("numbers");
        }
        let log = Log::parse(&text).expect("whole");
        let (resumed, _) = resume(&log, &space(), &target()).expect("the same decisions");
        assert_eq!(resumed.restarts(), restarts);
    }
}

#[test]
fn failures_are_learned_and_lost_trials_are_not() {
    let mut search = fresh();
    let mut text = first_line(&search);
    let metrics = Metrics::new([(THROUGHPUT.to_owned(), 7.5)].into()).expect("finite");
    let outcomes = [
        Outcome::Lost {
            why: "a restart".to_owned(),
        },
        Outcome::Failed {
            cause: crate::search::Cause::Crash,
            detail: "a signal".to_owned(),
        },
        Outcome::Failed {
            cause: crate::search::Cause::Hang,
            detail: "no answer".to_owned(),
        },
        Outcome::Measured {
            seconds: 50.0,
            setup_seconds: 0.0,
            metrics,
            series: Vec::new(),
            notes: Vec::new(),
        },
    ];
    let mut trials = Vec::new();
    for _ in &outcomes {
        let decision = search.ask(0.0);
        trials.push(decision.trial().expect("a start"));
        text += &encode(&Event::Decision { at: 0.0, decision }).expect("numbers");
    }
    for (trial, outcome) in trials.into_iter().zip(outcomes) {
        let log = Log::parse(&text).expect("whole");
        let earlier = log.earlier(&space(), &target());
        assert!(earlier.is_empty(), "nothing was measured yet");
        let measurement = crate::search::Measurement { trial, outcome };
        text += &encode(&Event::Measurement {
            at: 1.0,
            measurement,
        })
        .expect("numbers");
    }
    let log = Log::parse(&text).expect("whole");
    let earlier = log.earlier(&space(), &target());
    let learned = earlier.iter().map(|it| (it.measured.is_some(), it.hung));
    let wanted = [(false, false), (false, true), (true, false)];
    assert_eq!(learned.collect::<Vec<_>>(), wanted);
}

#[test]
fn what_is_no_number_is_not_written() {
    // It would stand there as null, and damage the log.
    for (event, says) in [
        (Event::End { at: f64::NAN }, "an event at NaN s"),
        (
            Event::Reserved {
                at: 1.0,
                seconds: f64::INFINITY,
            },
            "an event that tells inf s",
        ),
        (
            Event::Decision {
                at: 1.0,
                decision: Decision::Continue {
                    trial: TrialId(1),
                    until: f64::NAN,
                    reason: "x".to_owned(),
                },
            },
            "an event that tells NaN s",
        ),
    ] {
        let error = encode(&event).expect_err(says).to_string();
        assert!(error.starts_with(says), "{error}");
    }
}
