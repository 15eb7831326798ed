//! The loop, in virtual time.

mod anew;
mod interrupted;
mod repeats;
mod set_up;
mod several;
mod trouble;

use std::collections::BTreeSet;

use lissom_search::record::Event;
use lissom_search::search::Decision;

use super::testing::{NOTE, Pages, Virtual, Watch, number, plan};
use super::*;

const FOR_EVER: u32 = u32::MAX;

fn run(
    plan: &Plan,
    trials: &mut Virtual,
    pages: &mut Pages,
    watch: &mut Watch,
) -> Result<Findings> {
    let found = unwritten(plan, trials, pages, watch)?;
    record_end(pages, &found)?;
    Ok(found)
}

/// What a session finds that nobody writes.
fn unwritten(
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
fn no_more_trials_run_at_once_than_there_are_workers() {
    let mut plan = plan(3_000.0, 60.0, 0);
    plan.setup.method.workers = 3;
    let mut trials = Virtual::default();
    let (found, _) = whole(&plan, &mut trials);
    assert!(found.expect("a result").best.is_some());
    assert_eq!(trials.most, 3);
}

#[test]
fn what_the_program_tells_of_the_best_is_a_note() {
    let (found, _) = whole(&plan(3_000.0, 60.0, 0), &mut Virtual::default());
    let notes = found.expect("a result").notes;
    let told = notes.iter().filter(|it| it.contains(NOTE));
    assert_eq!(told.count(), 1, "{notes:?}");
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
fn the_worse_half_is_stopped_together() {
    let plan = plan(3_000.0, 60.0, 0);
    let mut trials = Virtual::default();
    let (found, pages) = whole(&plan, &mut trials);
    found.expect("a result");
    let is_stop = |it: &Event| {
        let stop = |it: &Decision| matches!(it, Decision::Stop { .. });
        matches!(it, Event::Decision { decision, .. } if stop(decision))
    };
    let runs = pages
        .events
        .chunk_by(|one, other| is_stop(one) && is_stop(other));
    let longest = runs.map(<[Event]>::len).max();
    assert!(longest > Some(2), "{longest:?}");
    assert_eq!(Some(trials.most_stopped), longest);
}

#[test]
fn as_many_trials_may_be_alive_as_planned_or_as_the_time_allows() {
    let alive = |budget: f64| {
        let plan = plan(budget, 60.0, 0);
        let search = Search::new(&plan.space, plan.setup, &[]);
        most_alive(&search.expect("legal"))
    };
    // The default, the best of earlier searches, four arms, three rounds of at most four.
    assert_eq!(alive(100_000.0), 18);
    // 12 s each at least, half of them 24 s more, and a quarter again.
    assert_eq!(alive(65.0), 2);
}

#[test]
fn what_is_kept_for_repeats_may_go_to_trials() {
    let mut plan = plan(1_200.0, 60.0, 3);
    plan.setup.method.points = lissom_search::search::TimePoints::Fixed(vec![60.0]);
    assert!(plan.setup.method.reserve_seconds > 300.0);
    let search = Search::new(&plan.space, plan.setup, &[]).expect("legal");
    // Of 18 that are planned, 20 would fit, and without what is kept 14.
    assert_eq!((most_alive(&search), most_started(&search)), (18, 18));
}

#[test]
fn as_many_trials_may_be_started_as_the_time_allows_where_it_is_used() {
    let started = |whole_budget| {
        let mut plan = plan(6_000.0, 60.0, 0);
        plan.setup.method.whole_budget = whole_budget;
        let search = Search::new(&plan.space, plan.setup, &[]).expect("legal");
        (most_alive(&search), most_started(&search))
    };
    assert_eq!(started(false), (18, 18));
    // 12 s each at least.
    assert_eq!(started(true), (18, 500));
}
