//! Sessions that end early, and go on.

use std::collections::BTreeSet;

use lissom_search::record::Event;
use lissom_search::search::Decision;

use super::{FOR_EVER, run, unwritten, whole};
use crate::error::TrialsError;
use crate::session::testing::{self, Pages, Virtual, Watch, plan};
use crate::session::{Opening, Plan, interrupted_workers, record_end};

/// Interrupts a session of 3,000 s and three rounds of repeats here and there, and lets it go
/// on; its best has run for so many seconds at least.
fn goes_on_wherever_it_was(plan: &Plan, least: f64) {
    let mut watch = Watch::for_looks(FOR_EVER);
    run(
        plan,
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
        let error = run(plan, &mut interrupted, &mut pages, &mut watch).err();
        assert_eq!(error, Some(TrialsError::new("interrupted")), "{looks}");
        let seconds = pages.log().searches[0].elapsed();
        let mut trials = Virtual::default();
        let mut watch = Watch::for_looks(FOR_EVER);
        let found = run(plan, &mut trials, &mut pages, &mut watch).expect("it goes on");
        let best = found.best.expect("measured");
        let ran = least..=plan.setup.method.longest_run();
        assert!(ran.contains(&best.seconds), "{} s: {looks}", best.seconds);
        assert!(seconds + trials.clock <= 3_000.0, "{looks}");
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
fn an_interrupted_session_goes_on_wherever_it_was() {
    // To the last point.
    goes_on_wherever_it_was(&plan(3_000.0, 60.0, 3), 60.0);
}

#[test]
fn so_does_one_that_uses_its_whole_budget() {
    let mut plan = plan(3_000.0, 60.0, 3);
    plan.setup.method.whole_budget = true;
    // Those that run on when nothing is left of the time but what that takes begin anew, and may
    // come no farther than to the first point.
    goes_on_wherever_it_was(&plan, 36.0);
}

#[test]
fn what_was_found_and_not_written_is_found_again_without_a_trial() {
    let plan = plan(3_000.0, 60.0, 3);
    let (mut pages, mut watch) = (Pages::default(), Watch::for_looks(FOR_EVER));
    let first = unwritten(&plan, &mut Virtual::default(), &mut pages, &mut watch);
    let first = first.expect("a result");
    let events = pages.events.len();
    let mut trials = Virtual::default();
    let again = unwritten(&plan, &mut trials, &mut pages, &mut watch).expect("the same");
    assert!(trials.started.is_empty(), "{:?}", trials.started);
    assert_eq!(pages.events.len(), events);
    assert_eq!(again.best, first.best);
    assert_eq!(again.verdict, first.verdict);
    assert_eq!(again.contributions, first.contributions);
    record_end(&mut pages, &again).expect("room");
    let opening = Opening::of(&plan, &pages.log(), false).expect("another search");
    assert!(!opening.is_resumed());
}

#[test]
fn trials_are_told_whether_another_search_begins_and_when_one_ends() {
    let plan = plan(2_000.0, 60.0, 0);
    let mut pages = Pages::default();
    let mut told = |looks| {
        let (mut trials, mut watch) = (Virtual::default(), Watch::for_looks(looks));
        let _ = run(&plan, &mut trials, &mut pages, &mut watch);
        (trials.begun, trials.ended)
    };
    assert_eq!(told(10), (1, 0), "interrupted");
    assert_eq!(told(10), (0, 0), "interrupted again");
    assert_eq!(told(FOR_EVER), (0, 1), "it went on to its end");
    assert_eq!(told(FOR_EVER), (1, 1), "another one");
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
        note.contains("an interrupted search with other settings (--budget) stands in the log"),
        "{note}"
    );
}

#[test]
fn another_number_of_repeats_is_another_search() {
    let (three, two) = (plan(600.0, 60.0, 3), plan(600.0, 60.0, 2));
    assert_eq!(three.setup, two.setup, "as much is kept for both");
    let (mut pages, mut watch) = (Pages::default(), Watch::for_looks(10));
    let _ = run(&three, &mut Virtual::default(), &mut pages, &mut watch);
    let opening = |plan: &Plan, pages: &Pages| {
        let opening = Opening::of(plan, &pages.log(), false).expect("legal");
        (opening.is_resumed(), opening.notes().join("; "))
    };
    assert!(opening(&three, &pages).0);
    let (resumed, note) = opening(&two, &pages);
    assert!(!resumed);
    assert!(
        note.contains("with other settings (--repeats) stands in the log"),
        "{note}"
    );
    let Some(Event::Begin(begin)) = pages.events.first_mut() else {
        panic!("no beginning");
    };
    begin.repeats = None;
    assert!(opening(&two, &pages).0, "the log does not tell");
}

#[test]
fn the_settings_that_differ_are_named() {
    let one = plan(1_200.0, 60.0, 3);
    let (mut pages, mut watch) = (Pages::default(), Watch::for_looks(10));
    let _ = run(&one, &mut Virtual::default(), &mut pages, &mut watch);
    let mut other = one.clone();
    other.setup.seed = 2;
    other.setup.method.buckets = 3;
    let named = |plan: &Plan, pages: &Pages| {
        let opening = Opening::of(plan, &pages.log(), false).expect("legal");
        let note = opening.notes().join("; ");
        let (_, rest) = note.split_once(" settings (").expect("they differ");
        rest.split_once(')').map(|(named, _)| named.to_owned())
    };
    assert_eq!(named(&other, &pages).as_deref(), Some("--seed, --buckets"));
    let mut newer = one.clone();
    newer.setup.method.samples = 300;
    let defaults = "defaults of another version";
    assert_eq!(named(&newer, &pages).as_deref(), Some(defaults));
    let Some(Event::Begin(begin)) = pages.events.first_mut() else {
        panic!("no beginning");
    };
    begin.repeats = None;
    let named = named(&newer, &pages).expect("they differ");
    assert_eq!(named, format!("--repeats, or {defaults}"));
}

#[test]
fn what_this_program_decides_otherwise_is_left_by_new() {
    let plan = plan(2_000.0, 60.0, 0);
    let mut pages = Pages::default();
    let mut watch = Watch::for_looks(10);
    let _ = run(&plan, &mut Virtual::default(), &mut pages, &mut watch);
    let until = pages.events.iter_mut().find_map(|event| match event {
        Event::Decision {
            decision: Decision::Start { until, .. },
            ..
        } => Some(until),
        _ => None,
    });
    *until.expect("a start") += 1.0;
    let opening = |anew| Opening::of(&plan, &pages.log(), anew);
    let error = opening(false).expect_err("another decision").to_string();
    assert!(error.contains("cannot be resumed"), "{error}");
    assert!(error.ends_with("(--new)"), "{error}");
    assert!(opening(true).is_ok());
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
