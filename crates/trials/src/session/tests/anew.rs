//! Trials that end instead of waiting, and begin anew when they go on.

use lissom_search::objective::metrics::THROUGHPUT;
use lissom_search::record::Event;

use super::{FOR_EVER, run, whole};
use crate::error::TrialsError;
use crate::session::testing::{Pages, Virtual, Watch, plan};

#[test]
fn survivors_that_begin_anew_come_to_the_last_point_in_any_time() {
    for budget in (400u32..2_000).step_by(130) {
        let plan = plan(f64::from(budget), 60.0, 0);
        let mut trials = Virtual {
            restarts: true,
            more_setup: 9.0,
            ..Virtual::default()
        };
        let (found, _) = whole(&plan, &mut trials);
        let found = found.expect("a result");
        assert!(trials.clock <= f64::from(budget), "{}", trials.clock);
        assert_eq!(found.cut_off, None, "{budget}");
        assert_eq!(found.setup_seconds, 10.0, "of each attempt");
        let best = found.best.expect("measured");
        assert_eq!(best.seconds, 60.0, "{budget}");
        let last = found.trials.iter().filter_map(|it| it.readings.last());
        let reached = last.filter_map(|it| it.metrics.get(THROUGHPUT));
        let most = reached.fold(0.0, f64::max);
        assert_eq!(best.metrics.get(THROUGHPUT), Some(most), "{budget}");
    }
}

#[test]
fn whether_trials_begin_anew_stands_in_the_log() {
    let plan = plan(1_500.0, 60.0, 0);
    let mut restarting = Virtual {
        restarts: true,
        ..Virtual::default()
    };
    let (mut pages, mut watch) = (Pages::default(), Watch::for_looks(40));
    let error = run(&plan, &mut restarting, &mut pages, &mut watch).err();
    assert_eq!(error, Some(TrialsError::new("interrupted")));
    // There is more room than before.
    let mut watch = Watch::for_looks(FOR_EVER);
    let found = run(&plan, &mut Virtual::default(), &mut pages, &mut watch);
    let best = found.expect("it goes on").best.expect("measured");
    assert_eq!(best.seconds, 60.0);
    let told = pages.events.iter().filter_map(|it| match it {
        Event::Restarts { restarts, .. } => Some(*restarts),
        _ => None,
    });
    assert_eq!(told.collect::<Vec<_>>(), [true, false]);
}
