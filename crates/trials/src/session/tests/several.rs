//! Several searches in one log.

use lissom_search::record::Target;
use lissom_search::space::{BuiltIn, Constants};

use super::{FOR_EVER, run, whole};
use crate::error::TrialsError;
use crate::session::testing::{Pages, Virtual, Watch, plan};
use crate::session::{Opening, Plan, Session};

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

/// A target of two facts, the first of which is the program's build.
fn built(build: &str, memory: &str) -> Target {
    let facts = [build, memory].map(str::to_owned);
    Target::built("a test", &facts, &facts[..1])
}

#[test]
fn it_is_told_why_an_interrupted_search_does_not_go_on() {
    let mut one = plan(2_000.0, 60.0, 0);
    one.target = built("build 1", "1 GiB");
    let (mut pages, mut watch) = (Pages::default(), Watch::for_looks(10));
    let _ = run(&one, &mut Virtual::default(), &mut pages, &mut watch);
    let note = |change: &dyn Fn(&mut Plan)| {
        let mut other = one.clone();
        change(&mut other);
        let opening = Opening::of(&other, &pages.log(), false).expect("legal");
        assert!(!opening.is_resumed());
        opening.notes().join("; ")
    };
    let of_build = note(&|it: &mut Plan| it.target = built("build 2", "1 GiB"));
    assert!(
        of_build.contains("it has measured another build of the program"),
        "{of_build}"
    );
    assert!(!of_build.contains("--log"), "{of_build}");
    let of_target = note(&|it: &mut Plan| it.target = built("build 2", "2 GiB"));
    assert!(
        of_target.contains("this one, which has another target (what is measured"),
        "{of_target}"
    );
    let file = BuiltIn::Dremel.file().expect("reads");
    let space = file.with(&Constants::new()).expect("is legal");
    let of_space = note(&|it: &mut Plan| it.space = space.clone());
    assert!(
        of_space.contains("which has another space (its parameters"),
        "{of_space}"
    );
    assert!(!of_space.contains("another target"), "{of_space}");
}

#[test]
fn searches_of_one_space_and_target_are_alike() {
    let one = plan(2_000.0, 60.0, 0);
    assert_eq!(one.identity(), plan(1_000.0, 60.0, 3).identity());
    let mut other = one.clone();
    other.target = Target::new("a test", ["other facts"]);
    assert_ne!(one.identity(), other.identity());
    let file = BuiltIn::Dremel.file().expect("reads");
    other.target = one.target.clone();
    other.space = file.with(&Constants::new()).expect("is legal");
    assert_ne!(one.identity(), other.identity());
}
