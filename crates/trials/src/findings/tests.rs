//! Findings of sessions in virtual time.

use lissom_search::verdict::Standing;

use super::*;
use crate::session::testing::{Pages, Virtual, Watch, plan};
use crate::session::{Opening, Session};

pub(crate) fn found(budget: f64, rounds: u32) -> Findings {
    with(&plan(budget, 60.0, rounds), &mut Virtual::default())
}

fn with(plan: &Plan, trials: &mut Virtual) -> Findings {
    let mut pages = Pages::default();
    let opening = Opening::of(plan, &pages.log(), false).expect("legal");
    let mut watch = Watch::for_looks(u32::MAX);
    Session::run(plan, opening, trials, &mut pages, &mut watch).expect("an end")
}

#[test]
fn findings_hold_everything_that_happened() {
    let found = found(3_000.0, 3);
    let best = found.best.as_ref().expect("measured");
    assert!(!best.is_default);
    let row = found.trials.iter().find(|it| it.trial == best.trial);
    let row = row.expect("it is a trial");
    assert_eq!(row.place, Some(1));
    assert_eq!(row.readings.len(), found.points.len());
    assert_eq!(row.readings.last().expect("three").values.len(), 1);
    let spent: Vec<f64> = row.readings.iter().map(|it| it.spent).collect();
    assert!(spent.is_sorted() && spent.iter().all(|it| *it <= found.spent_seconds));
    assert!(found.trials.iter().all(|it| !it.why.is_empty()));
    let stopped = found.trials.iter().filter(|it| it.stopped.is_some());
    assert_eq!(
        stopped.count() + found.failures().count(),
        found.trials.len()
    );
    assert_eq!(found.repeats.len(), 9);
    assert_eq!(found.repeat_seconds, Some(60.0));
    let verdict = found.verdict.as_ref().expect("repeats");
    assert_eq!(verdict.goals[0].comparisons.len(), 2);
    let against_default = &verdict.goals[0].comparisons[1];
    assert_eq!(against_default.standing, Standing::Better);
    assert!(!found.contributions.is_empty());
    for contribution in &found.contributions {
        assert!(contribution.gains.is_some(), "{contribution:?}");
        assert_eq!(contribution.spreads, [0.0]);
    }
    let differing = found.parameters.iter().take_while(|it| it.differs).count();
    let all = found.parameters.iter().filter(|it| it.differs).count();
    assert_eq!(differing, all, "those that differ come first");
    assert!(all >= 1);
}

#[test]
fn the_text_says_what_was_found_and_how_sure_it_is() {
    let text = render(&found(3_000.0, 3));
    for words in [
        "small on a test, throughput: ",
        "\nbest: trial ",
        "times the default",
        "outside the spread",
        "option   default",
    ] {
        assert!(text.contains(words), "{words}: {text}");
    }
    assert!(!text.contains("not run again"), "{text}");
    let unsure = render(&found(3_000.0, 0));
    assert!(
        unsure.contains("caution: the best was not run again"),
        "{unsure}"
    );
}

#[test]
fn a_search_that_found_nothing_says_why() {
    let mut trials = Virtual {
        silent: true,
        ..Virtual::default()
    };
    let found = with(&plan(200.0, 60.0, 3), &mut trials);
    assert_eq!(found.best, None);
    assert!(
        found
            .parameters
            .iter()
            .all(|it| it.best.is_none() && !it.differs)
    );
    let text = render(&found);
    assert!(
        text.contains("caution: nothing was found: the time is used up"),
        "{text}"
    );
    assert!(!text.contains("best:"), "{text}");
}

#[test]
fn findings_are_json() {
    let found = found(3_000.0, 3);
    let value = serde_json::to_value(&found).expect("plain data");
    assert_eq!(value["objective"], "throughput");
    assert_eq!(value["goals"][0]["direction"], "maximise");
    assert_eq!(value["repeats"][0]["contender"], "best");
    assert!(value["best"]["configuration"]["px"].as_i64().is_some());
    assert!(value["trials"][0]["origin"].as_str().is_some());
}
