//! Several searches in one log.

use lissom_search::record::Target;

use super::{FOR_EVER, run, whole};
use crate::error::TrialsError;
use crate::session::testing::{Virtual, Watch, plan};
use crate::session::{Opening, Session};

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
        origins.contains(&"the best of all or of its arm in an earlier search"),
        "{origins:?}"
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
