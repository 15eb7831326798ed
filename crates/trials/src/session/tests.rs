//! The loop, in virtual time.

use std::collections::BTreeSet;

use lissom_search::record::{Event, Target};
use lissom_search::search::Outcome;

use super::testing::{Pages, Virtual, Watch, number, plan};
use super::*;

const FOR_EVER: u32 = u32::MAX;

fn run(
    plan: &Plan,
    trials: &mut Virtual,
    pages: &mut Pages,
    watch: &mut Watch,
) -> Result<Findings> {
    let opening = Opening::of(plan, &pages.log(), false)?;
    Session::run(plan, opening, trials, pages, watch)
}

fn whole(plan: &Plan, trials: &mut Virtual) -> (Result<Findings>, Pages) {
    let (mut pages, mut watch) = (Pages::default(), Watch::for_looks(FOR_EVER));
    let found = run(plan, trials, &mut pages, &mut watch);
    (found, pages)
}

#[test]
fn a_whole_session_searches_and_judges() {
    let plan = plan(3_000.0, 60.0, 3);
    let mut trials = Virtual::default();
    let (mut pages, mut watch) = (Pages::default(), Watch::for_looks(FOR_EVER));
    let found = run(&plan, &mut trials, &mut pages, &mut watch).expect("a result");
    let best = found.best.expect("measured").configuration;
    assert!(number(&best, "px") + number(&best, "py") > 120.0, "{best}");
    assert!(trials.runs.is_empty(), "everything was stopped");
    assert_eq!(trials.most, 1);
    assert!(trials.clock <= 3_000.0, "{}", trials.clock);
    let repeats: Vec<&str> = trials
        .started
        .iter()
        .filter_map(|it| it.strip_prefix("repeat-"))
        .collect();
    assert_eq!(
        repeats,
        [
            "1-best",
            "1-runner-up",
            "1-default",
            "2-runner-up",
            "2-default",
            "2-best",
            "3-default",
            "3-best",
            "3-runner-up",
        ]
    );
    let without: BTreeSet<&str> = trials
        .started
        .iter()
        .filter_map(|it| it.strip_prefix("without-"))
        .collect();
    assert!(!without.is_empty(), "{:?}", trials.started);
    assert!(
        without.is_subset(&BTreeSet::from(["px", "py"])),
        "{without:?}"
    );
    assert!(matches!(pages.events.last(), Some(Event::End { .. })));
    assert!(pages.log().searches[0].has_ended());
    assert!(
        watch.seen.iter().any(|it| it.contains("left")),
        "{:?}",
        watch.seen
    );
    assert!(
        watch
            .seen
            .iter()
            .any(|it| it.starts_with("round 2 of repeats: the search's best"))
    );
}

#[test]
fn an_interrupted_session_goes_on_wherever_it_was() {
    let plan = plan(3_000.0, 60.0, 3);
    let mut watch = Watch::for_looks(FOR_EVER);
    run(
        &plan,
        &mut Virtual::default(),
        &mut Pages::default(),
        &mut watch,
    )
    .expect("a result");
    let needed = FOR_EVER - watch.looks.get();
    // The last ones fall into the repeats and the ablations.
    for looks in (0..needed).step_by(5).chain(needed - 9..needed) {
        let mut pages = Pages::default();
        let mut interrupted = Virtual::default();
        let mut watch = Watch::for_looks(looks);
        let error = run(&plan, &mut interrupted, &mut pages, &mut watch).err();
        assert_eq!(error, Some(TrialsError::new("interrupted")), "{looks}");
        let seconds = pages.log().searches[0].elapsed();
        let mut trials = Virtual::default();
        let mut watch = Watch::for_looks(FOR_EVER);
        let found = run(&plan, &mut trials, &mut pages, &mut watch).expect("it goes on");
        assert!(found.best.is_some(), "{looks}");
        assert!(seconds + trials.clock <= 3_000.0);
        let log = pages.log();
        assert_eq!(log.searches.len(), 1, "the same search");
        let repeated: BTreeSet<_> = log.searches[0]
            .repeated()
            .map(|it| (it.round, it.contender))
            .collect();
        assert_eq!(
            log.searches[0].repeated().count(),
            repeated.len(),
            "once each"
        );
        assert!(repeated.len() <= 9 && log.searches[0].has_ended());
        assert!(
            found.verdict.is_some_and(|it| it.complete_rounds == 3),
            "{looks}"
        );
    }
}

#[test]
fn time_in_which_a_session_stands_still_is_not_spent() {
    let plan = plan(3_000.0, 60.0, 3);
    let (found, _) = whole(&plan, &mut Virtual::default());
    let spent = found.expect("a result").spent_seconds;
    for looks in [1, 10, 60] {
        let mut trials = Virtual::default();
        let (mut pages, mut watch) = (Pages::default(), Watch::for_looks(FOR_EVER));
        watch.suspending = Some(FOR_EVER - looks);
        let found = run(&plan, &mut trials, &mut pages, &mut watch).expect("a result");
        assert_eq!(trials.halts, 1);
        assert!(trials.clock > 3_600.0);
        assert!((found.spent_seconds - spent).abs() < 1e-6, "{looks}");
    }
}

#[test]
fn a_search_that_has_ended_is_followed_by_one_that_learns() {
    let plan = plan(2_000.0, 60.0, 0);
    let (_, mut pages) = whole(&plan, &mut Virtual::default());
    let again = Opening::of(&plan, &pages.log(), false).expect("another search");
    assert!(!again.is_resumed());
    let mut watch = Watch::for_looks(FOR_EVER);
    let found = Session::run(
        &plan,
        again,
        &mut Virtual::default(),
        &mut pages,
        &mut watch,
    );
    let found = found.expect("a result");
    assert_eq!(pages.log().searches.len(), 2);
    let origins: Vec<&str> = found.trials.iter().map(|it| it.origin.as_str()).collect();
    assert!(
        origins.contains(&"the best of its arm in an earlier search"),
        "{origins:?}"
    );
}

#[test]
fn an_interrupted_search_tells_its_workers() {
    let mut two = plan(2_000.0, 60.0, 0);
    two.setup.method.workers = 2;
    let (mut pages, mut watch) = (Pages::default(), Watch::for_looks(10));
    let _ = run(&two, &mut Virtual::default(), &mut pages, &mut watch);
    let three = {
        let mut plan = two.clone();
        plan.setup.method.workers = 3;
        plan
    };
    assert_eq!(interrupted_workers(&three, &pages.log()), Some(2));
    let other = plan(1_999.0, 60.0, 0);
    assert_eq!(interrupted_workers(&other, &pages.log()), None);
    let mut watch = Watch::for_looks(FOR_EVER);
    run(&two, &mut Virtual::default(), &mut pages, &mut watch).expect("it goes on");
    assert_eq!(interrupted_workers(&three, &pages.log()), None, "it ended");
    assert_eq!(interrupted_workers(&three, &Pages::default().log()), None);
}

#[test]
fn an_interrupted_search_can_be_left_for_another() {
    let plan = plan(2_000.0, 60.0, 0);
    let mut pages = Pages::default();
    let mut watch = Watch::for_looks(10);
    let _ = run(&plan, &mut Virtual::default(), &mut pages, &mut watch);
    let of = |anew| {
        Opening::of(&plan, &pages.log(), anew)
            .expect("legal")
            .is_resumed()
    };
    assert_eq!((of(false), of(true)), (true, false));
    let notes = |plan: &Plan, anew| {
        let opening = Opening::of(plan, &pages.log(), anew).expect("legal");
        (opening.is_resumed(), opening.notes().join("; "))
    };
    let (_, note) = notes(&plan, false);
    assert!(note.contains("goes on after "), "{note}");
    assert_eq!(notes(&plan, true).1, "");
    let other = testing::plan(1_999.0, 60.0, 0);
    let (resumed, note) = notes(&other, false);
    assert!(!resumed, "another budget is another search");
    assert!(
        note.contains("an interrupted search with other settings stands in the log"),
        "{note}"
    );
}

#[test]
fn a_log_may_hold_searches_of_other_targets() {
    let one = plan(2_000.0, 60.0, 0);
    let mut other = one.clone();
    other.target = Target::new("another test", ["other facts"]);
    let (_, mut pages) = whole(&one, &mut Virtual::default());
    let opening = Opening::of(&other, &pages.log(), false).expect("another search");
    let note = opening.notes().join("; ");
    assert!(
        note.starts_with("nothing is learned from earlier searches: ")
            && note.contains("another target (a test"),
        "{note}"
    );
    let mut watch = Watch::for_looks(10);
    let error = run(&other, &mut Virtual::default(), &mut pages, &mut watch).err();
    assert_eq!(error, Some(TrialsError::new("interrupted")));
    let opening = Opening::of(&other, &pages.log(), false).expect("the same");
    assert!(opening.is_resumed());
    let opening = Opening::of(&one, &pages.log(), false).expect("another one");
    let note = opening.notes().join("; ");
    assert!(
        note.contains("an interrupted search of another test stands in the log"),
        "{note}"
    );
    let mut watch = Watch::for_looks(FOR_EVER);
    run(&one, &mut Virtual::default(), &mut pages, &mut watch).expect("it learns");
    assert_eq!(pages.log().searches.len(), 3);
}

#[test]
fn an_interrupted_verdict_keeps_to_its_plan() {
    let plan = plan(3_000.0, 60.0, 3);
    let (found, pages) = whole(&plan, &mut Virtual::default());
    let repeats = |pages: &Pages| {
        let all = pages.events.iter().filter_map(|it| match it {
            Event::Repeats {
                rounds, seconds, ..
            } => Some((*rounds, *seconds)),
            _ => None,
        });
        all.collect::<Vec<_>>()
    };
    assert_eq!(repeats(&pages), [(3, 60.0)]);
    assert_eq!(found.expect("a result").repeat_seconds, Some(60.0));
    // As if another arithmetic had planned them.
    let mut begun = Pages::default();
    for event in &pages.events {
        let mut event = event.clone();
        if let Event::Repeats {
            rounds, seconds, ..
        } = &mut event
        {
            (*rounds, *seconds) = (2, 44.0);
            begun.events.push(event);
            break;
        }
        begun.events.push(event);
    }
    let mut watch = Watch::for_looks(FOR_EVER);
    let found = run(&plan, &mut Virtual::default(), &mut begun, &mut watch);
    let found = found.expect("a result");
    assert_eq!(repeats(&begun), [(2, 44.0)], "planned once");
    assert_eq!(found.repeat_seconds, Some(44.0));
    assert_eq!(found.verdict.expect("repeats").complete_rounds, 2);
}

#[test]
fn what_cannot_be_written_ends_the_session_and_its_trials() {
    let plan = plan(3_000.0, 60.0, 3);
    for at in [0, 1, 2, 17, 40] {
        let mut pages = Pages {
            failing: at..at + 1,
            ..Pages::default()
        };
        let mut trials = Virtual::default();
        let mut watch = Watch::for_looks(FOR_EVER);
        let error = run(&plan, &mut trials, &mut pages, &mut watch).err();
        assert_eq!(error, Some(TrialsError::new("the disk is full")), "{at}");
        assert!(trials.runs.is_empty(), "{at}");
        // Behind the first line the second attempt, with the trials' data gone, took
        // the event, so that nothing measured is lost.
        let taken = if at == 0 { 0 } else { at + 1 };
        assert_eq!(pages.events.len(), taken);
        let mut watch = Watch::for_looks(FOR_EVER);
        pages.failing = 0..0;
        run(&plan, &mut Virtual::default(), &mut pages, &mut watch).expect("it goes on");
    }
}

#[test]
fn a_program_without_the_metric_ends_the_search_at_once() {
    let plan = plan(3_000.0, 60.0, 3);
    let mut trials = Virtual {
        metric: Some("speed"),
        ..Virtual::default()
    };
    let (found, pages) = whole(&plan, &mut trials);
    let error = found.expect_err("nothing to go by").to_string();
    assert!(
        error.contains("trial 1 cannot be judged: it reported no metric throughput, but speed"),
        "{error}"
    );
    assert!(trials.runs.is_empty() && trials.started.len() == 1);
    // The program is mended, and the trial runs again.
    let told = pages.events.iter();
    assert_eq!(
        told.filter(|it| matches!(it, Event::Measurement { .. }))
            .count(),
        0
    );
}

#[test]
fn the_time_ends_trials_that_never_report() {
    let plan = plan(500.0, 60.0, 3);
    let mut trials = Virtual {
        silent: true,
        ..Virtual::default()
    };
    let (found, pages) = whole(&plan, &mut trials);
    let found = found.expect("an end");
    assert!(found.best.is_none() && found.verdict.is_none());
    assert!(
        found.reason.contains("before any trial was measured"),
        "{}",
        found.reason
    );
    assert!(trials.runs.is_empty() && trials.clock <= 500.0);
    assert!(pages.log().searches[0].has_ended());
}

#[test]
fn no_more_trials_run_at_once_than_there_are_workers() {
    let mut plan = plan(3_000.0, 60.0, 0);
    plan.setup.method.workers = 3;
    let mut trials = Virtual::default();
    let (found, _) = whole(&plan, &mut trials);
    assert!(found.expect("a result").best.is_some());
    assert_eq!(trials.most, 3);
}

#[test]
fn lost_runs_are_run_again_but_not_for_ever() {
    let plan = plan(3_000.0, 60.0, 3);
    let losing = [
        ("trial-2".to_owned(), 2),
        ("repeat-1-best".to_owned(), 1),
        ("repeat-2-best".to_owned(), u32::MAX),
    ];
    let mut trials = Virtual {
        losing: losing.into(),
        ..Virtual::default()
    };
    let (found, pages) = whole(&plan, &mut trials);
    found.expect("a result");
    let starts = |label: &str| trials.started.iter().filter(|it| *it == label).count();
    assert_eq!(starts("trial-2"), 3);
    assert_eq!(starts("repeat-1-best"), 2);
    assert_eq!(starts("repeat-2-best"), 3);
    let lost = pages.events.iter().filter(|it| {
        matches!(it, Event::Measurement { measurement, .. }
            if matches!(measurement.outcome, Outcome::Lost { .. }))
    });
    assert_eq!(lost.count(), 2);
}

#[test]
fn a_set_up_that_is_known_changes_what_is_kept_for_repeats() {
    let plan = plan(1_200.0, 60.0, 3);
    let reserved = |pages: &Pages| {
        let mut seconds = pages.events.iter().filter_map(|it| match it {
            Event::Reserved { seconds, .. } => Some(*seconds),
            _ => None,
        });
        seconds.next_back()
    };
    let mut trials = Virtual {
        more_setup: 60.0,
        ..Virtual::default()
    };
    let (found, pages) = whole(&plan, &mut trials);
    let found = found.expect("a result");
    assert_eq!(reserved(&pages), Some(0.0), "they would not fit");
    let cautions = &found.cautions;
    assert!(
        cautions.iter().any(|it| it.contains("61 s to set up")),
        "{cautions:?}"
    );
    assert!(found.verdict.is_none() && trials.clock <= 1_200.0);
    let mut trials = Virtual {
        more_setup: 5.0,
        ..Virtual::default()
    };
    let (found, _) = whole(&plan, &mut trials);
    let verdict = found.expect("a result").verdict.expect("repeats");
    assert_eq!(verdict.complete_rounds, 3, "shorter, but whole");
    assert!(trials.clock <= 1_200.0, "{}", trials.clock);
}

#[test]
fn ablations_are_of_what_the_repeats_chose() {
    let plan = plan(3_000.0, 60.0, 3);
    for (again, ablated) in [
        ([("best", None), ("runner-up", Some(900.0))], true),
        // The default is the best: nothing differs.
        ([("best", Some(100.0)), ("runner-up", Some(100.0))], false),
        ([("best", None), ("runner-up", None)], false),
    ] {
        let mut trials = Virtual {
            again: again.into(),
            ..Virtual::default()
        };
        let (found, _) = whole(&plan, &mut trials);
        let found = found.expect("a result");
        let started = trials.started.iter();
        let without = started.filter(|it| it.starts_with("without-")).count();
        assert_eq!(without > 0, ablated, "{again:?}: {:?}", found.chosen);
        assert_eq!(found.contributions.len(), without);
    }
}

#[test]
fn a_repeat_that_hangs_ends_with_the_budget_and_is_not_blamed() {
    let plan = plan(3_000.0, 60.0, 3);
    let mut trials = Virtual {
        hanging: vec!["repeat-3-default"],
        ..Virtual::default()
    };
    let (found, pages) = whole(&plan, &mut trials);
    let found = found.expect("a result");
    // Two set-ups of a second late, and what a look takes.
    assert!(trials.clock <= 3_004.0, "{}", trials.clock);
    assert!(trials.runs.is_empty());
    let log = pages.log();
    assert_eq!(log.searches[0].repeated().count(), 6);
    assert!(log.searches[0].has_ended(), "it is not tried again");
    let verdict = found.verdict.expect("repeats");
    assert_eq!(verdict.complete_rounds, 2);
    assert!(verdict.failures.is_empty(), "{:?}", verdict.failures);
    let cautions = &found.cautions;
    assert!(
        cautions
            .iter()
            .any(|it| it.contains("in three complete rounds")),
        "{cautions:?}"
    );
}

#[test]
fn attempts_end_with_the_budget() {
    let plan = plan(1_200.0, 60.0, 3);
    let mut trials = Virtual {
        losing: [("repeat-3-runner-up".to_owned(), u32::MAX)].into(),
        ..Virtual::default()
    };
    let (found, _) = whole(&plan, &mut trials);
    found.expect("a result");
    assert!(trials.clock <= 1_200.0, "{}", trials.clock);
    let label = |it: &&String| it.as_str() == "repeat-3-runner-up";
    assert!(trials.started.iter().filter(label).count() >= 1);
}

#[test]
fn trials_end_together_and_that_is_shown() {
    let plan = plan(3_000.0, 60.0, 3);
    let mut watch = Watch::for_looks(40);
    let mut trials = Virtual::default();
    let error = run(&plan, &mut trials, &mut Pages::default(), &mut watch).err();
    assert_eq!(error, Some(TrialsError::new("interrupted")));
    assert!(trials.runs.is_empty());
    let last = watch.seen.last().expect("something is shown");
    assert!(
        last.starts_with("ending ") && last.contains(" trial"),
        "{last}"
    );
}

#[test]
fn as_many_trials_may_be_alive_as_planned_or_as_the_time_allows() {
    let alive = |budget: f64| {
        let plan = plan(budget, 60.0, 0);
        let search = Search::new(&plan.space, plan.setup, &[]);
        most_alive(&search.expect("legal"))
    };
    // The default, four arms, three rounds of at most four.
    assert_eq!(alive(100_000.0), 17);
    // 12 s each at least.
    assert_eq!(alive(65.0), 6);
}
