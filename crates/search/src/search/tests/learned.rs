//! What is begun with where earlier searches have tried something.

use super::*;

fn configuration(x: i64, y: i64) -> Configuration {
    let settings = [("px", x), ("py", y)];
    let settings = settings.map(|(name, value)| (name.to_owned(), Setting::Integer(value)));
    settings.into_iter().collect()
}

fn measured_before(configuration: Configuration, throughput: f64) -> Earlier {
    let metrics = [(THROUGHPUT.to_owned(), throughput)];
    Earlier {
        configuration,
        measured: Some(EarlierReading {
            seconds: 100.0,
            metrics: Metrics::new(metrics.into()).expect("finite"),
        }),
        hung: false,
    }
}

fn hung(configuration: &Configuration) -> Earlier {
    Earlier {
        configuration: configuration.clone(),
        measured: None,
        hung: true,
    }
}

/// What a search starts first, with why.
fn first_starts(setup: &Setup, earlier: &[Earlier], count: usize) -> Vec<(Configuration, String)> {
    let mut search = Search::new(&space(), setup.clone(), earlier).expect("legal");
    let decisions = (0..count).map(|_| search.ask(0.0));
    decisions
        .map(|decision| match decision {
            Decision::Start {
                configuration,
                reason,
                ..
            } => (configuration, reason),
            other => panic!("{other}"),
        })
        .collect()
}

#[test]
fn the_best_of_an_arm_is_begun_with() {
    let failed = Earlier {
        configuration: configuration(97, 97),
        measured: None,
        hung: false,
    };
    let earlier = [
        measured_before(configuration(90, 90), 5.0),
        measured_before(configuration(95, 91), 7.0),
        failed,
    ];
    // The default comes before it.
    let starts = first_starts(&setup(10_000.0), &earlier, 2);
    let (first, reason) = &starts[1];
    assert_eq!(*first, configuration(95, 91));
    assert!(reason.contains("earlier searches"), "{reason}");
}

#[test]
fn what_failed_once_is_not_begun_with_again() {
    let (best, second) = (configuration(95, 91), configuration(90, 90));
    let failed = Earlier {
        configuration: best.clone(),
        measured: None,
        hung: false,
    };
    for later in [failed, hung(&best)] {
        let mut earlier = vec![
            measured_before(best.clone(), 7.0),
            measured_before(second.clone(), 5.0),
            later,
        ];
        for _ in 0..2 {
            let starts = first_starts(&setup(10_000.0), &earlier, 2);
            assert_eq!(starts[1].0, second);
            earlier.reverse();
        }
    }
}

#[test]
fn the_best_of_all_is_begun_with_where_it_is_of_no_arm() {
    let mut setup = setup(10_000.0);
    setup.method.samples = 2;
    let few = search(setup.clone());
    // Two of the four combinations of buckets are no arms.
    let mut corners = [(0, 0), (0, 99), (99, 0), (99, 99)].into_iter();
    let is_of_no_arm = |(x, y): &(i32, i32)| {
        let values = [f64::from(*x), f64::from(*y)];
        few.arms().find(&values).is_none()
    };
    let (x, y) = corners.find(is_of_no_arm).expect("two of them");
    let best = configuration(x.into(), y.into());
    let earlier = [measured_before(best.clone(), 7.0)];
    let starts = first_starts(&setup, &earlier, 2);
    assert_eq!(starts[1].0, best);
    assert_eq!(starts[1].1, "the best that earlier searches found");
}

#[test]
fn what_hung_does_not_come_first_again() {
    let setup = setup(10_000.0);
    let before = first_starts(&setup, &[], 5);
    let (slow, _) = &before[1];
    let earlier = [hung(slow), measured_before(before[2].0.clone(), 7.0)];
    let starts = first_starts(&setup, &earlier, 5);
    assert!(starts.iter().all(|(it, _)| it != slow), "{starts:?}");
    let search = Search::new(&space(), setup, &earlier).expect("legal");
    let point = search.space().point(slow).expect("legal");
    assert!(!search.tried.contains(&point), "rounds may come to it");
}

#[test]
fn an_arm_of_which_everything_hung_begins_with_it() {
    let mut setup = setup(10_000.0);
    setup.method.samples = 1;
    setup.method.with_default = false;
    let before = first_starts(&setup, &[], 1);
    let starts = first_starts(&setup, &[hung(&before[0].0)], 1);
    assert_eq!(starts[0].0, before[0].0);
}
