//! What only the first trials do, as loading data for all.

use lissom_search::record::Event;

use super::{FOR_EVER, run, whole};
use crate::error::TrialsError;
use crate::session::testing::{Pages, Virtual, Watch, plan};

/// Four trials that begin at once take 60 s each, since one loads and the others wait for it;
/// behind them each takes 3 s.
fn loading() -> Virtual {
    Virtual {
        more_setup: 2.0,
        loading: (4, 57.0),
        ..Virtual::default()
    }
}

/// What was last kept for repeats, if that was changed.
fn reserved(pages: &Pages) -> Option<f64> {
    let mut seconds = pages.events.iter().filter_map(|it| match it {
        Event::Reserved { seconds, .. } => Some(*seconds),
        _ => None,
    });
    seconds.next_back()
}

#[test]
fn what_the_first_of_several_workers_wait_for_takes_no_time_from_repeats() {
    let mut plan = plan(1_200.0, 60.0, 3);
    plan.setup.method.workers = 4;
    let mut trials = loading();
    let (found, pages) = whole(&plan, &mut trials);
    let found = found.expect("a result");
    assert_eq!(found.setup_seconds, 3.0);
    assert_ne!(reserved(&pages), Some(0.0), "nine of 43 s fit into a third");
    assert!(found.verdict.is_some_and(|it| it.complete_rounds == 3));
    assert!(trials.clock <= 1_200.0, "{}", trials.clock);
}

#[test]
fn a_long_load_leaves_others_than_the_default_to_be_tried() {
    let plan = plan(1_200.0, 60.0, 0);
    let mut trials = Virtual {
        loading: (1, 700.0),
        ..Virtual::default()
    };
    let (found, _) = whole(&plan, &mut trials);
    let found = found.expect("a result");
    assert!(found.trials.len() > 3, "{:?}", trials.started);
    assert!(found.best.is_some_and(|it| !it.is_default));
    assert!(trials.clock <= 1_200.0, "{}", trials.clock);
}

#[test]
fn a_load_that_leaves_no_time_for_repeats_keeps_none_from_the_search() {
    // The latter ends within what was kept before anything was known.
    for seconds in [200.0, 300.0] {
        let plan = plan(400.0, 60.0, 3);
        let mut trials = Virtual {
            loading: (1, seconds),
            ..Virtual::default()
        };
        let (found, pages) = whole(&plan, &mut trials);
        assert_eq!(reserved(&pages), Some(0.0));
        let best = found.expect("a result").best.expect("measured");
        assert_eq!(best.seconds, 60.0);
    }
}

#[test]
fn a_search_that_loads_goes_on_wherever_it_was() {
    let mut plan = plan(3_000.0, 60.0, 3);
    plan.setup.method.workers = 4;
    let mut watch = Watch::for_looks(FOR_EVER);
    run(&plan, &mut loading(), &mut Pages::default(), &mut watch).expect("a result");
    let needed = FOR_EVER - watch.looks.get();
    for looks in (0..needed).step_by(5) {
        let (mut pages, mut watch) = (Pages::default(), Watch::for_looks(looks));
        let error = run(&plan, &mut loading(), &mut pages, &mut watch).err();
        assert_eq!(error, Some(TrialsError::new("interrupted")), "{looks}");
        let mut watch = Watch::for_looks(FOR_EVER);
        let found = run(&plan, &mut loading(), &mut pages, &mut watch).expect("it goes on");
        assert_eq!(pages.log().searches.len(), 1, "the same search");
        assert_ne!(reserved(&pages), Some(0.0), "{looks}");
        assert!(
            found.verdict.is_some_and(|it| it.complete_rounds == 3),
            "{looks}"
        );
    }
}
