use super::*;

const PRIOR: Terms = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 0.5, 0.25, 0.75];

/// One of the first term, and nothing else.
fn first() -> Terms {
    let mut met = [0.0; TERMS];
    met[0] = 1.0;
    met
}

#[test]
fn nothing_seen_is_the_prior() {
    assert_eq!(Fit::new().constants(&PRIOR, 1.0), PRIOR);
}

#[test]
fn what_was_seen_wins_where_it_says_something() {
    let truth = [2.0, 1.0, 3.0, 0.1, 9.0, 4.0, 0.2, 0.5, 1.5];
    let mut fit = Fit::new();
    for mission in 0..200u32 {
        let met: Terms = std::array::from_fn(|at| {
            let at = at as u32;
            f64::from((mission * (at + 2) * 7 + at * at * 3) % 101)
        });
        let took: f64 = met.iter().zip(&truth).map(|(a, b)| a * b).sum();
        fit.learn(&met, took, took, 0.0);
    }
    let found = fit.constants(&PRIOR, 10.0);
    for (found, truth) in found.iter().zip(&truth) {
        assert!(
            (found - truth).abs() < 0.1 * truth + 0.05,
            "{found} {truth}"
        );
    }
}

/// Every second mission takes three times as long.
#[test]
fn what_varies_is_fitted_by_its_mean_and_not_by_its_fastest() {
    let mut fit = Fit::new();
    for mission in 0..400 {
        let took = if mission % 2 == 0 { 1.0 } else { 3.0 };
        let expected = fit.constants(&PRIOR, 10.0)[0];
        fit.learn(&first(), took, expected, 0.0);
    }
    let found = fit.constants(&PRIOR, 10.0)[0];
    assert!((1.8..2.2).contains(&found), "{found}");
}

/// Learns missions of the first term that take so long, one after the other.
fn pass(fit: &mut Fit, times: impl IntoIterator<Item = f64>) -> f64 {
    for took in times {
        let expected = fit.constants(&PRIOR, 10.0)[0];
        fit.compare(took, expected, 0.0);
        fit.learn(&first(), took, expected, 0.0);
    }
    fit.constants(&PRIOR, 10.0)[0]
}

#[test]
fn a_machine_that_gets_slower_or_faster_is_known_within_thirty_missions() {
    for times in [10.0, 3.0, 1.5, 0.5, 0.1] {
        let mut fit = Fit::new();
        pass(&mut fit, [1.0; 100]);
        let found = pass(&mut fit, [times; 25]);
        assert!((found / times - 1.0).abs() < 0.1, "{found} of {times}");
    }
}

/// No constant is under a fiftieth of its prior, so that all miss.
#[test]
fn a_row_that_does_not_end_is_a_fault_of_the_model() {
    let mut fit = Fit::new();
    let fast = 0.1 * LEAST * PRIOR[0];
    pass(&mut fit, [fast; 100]);
    assert!(fit.row.missions > LONGEST_ROW, "{:?}", fit.row);
    // As many as are remembered, and not two.
    let weight = (ERROR * SURPRISE * fast).powi(2) * fit.products[0][0];
    assert!(weight > 0.9 / (1.0 - FORGETTING), "{weight}");
}

#[test]
fn a_pause_of_the_machine_and_a_few_slow_missions_are_no_other_machine() {
    let mut fit = Fit::new();
    pass(&mut fit, [1.0; 100]);
    let after = pass(&mut fit, [100.0, 1.0, 1.0, 3.0, 3.0, 3.0, 3.0, 3.0]);
    assert!(after < 1.3, "{after}");
    let again = pass(&mut fit, [1.0; 10]);
    assert!((again - 1.0).abs() < 0.2, "{again}");
}

#[test]
fn missions_that_vary_make_no_row() {
    let mut fit = Fit::new();
    let times = (0..400).map(|mission| if mission % 5 == 0 { 1.0 } else { 1.6 });
    let found = pass(&mut fit, times);
    assert!((1.35..1.6).contains(&found), "{found}");
    assert!(fit.row.missions < ROW);
}

#[test]
fn what_tells_little_misses_nothing() {
    let mut fit = Fit::new();
    pass(&mut fit, [1.0; 100]);
    for _ in 0..2 * ROW {
        fit.compare(2.0, 1.0, 1.0);
    }
    assert_eq!(fit.row, Row::default());
    fit.compare(2.0, 1.0, 0.0);
    assert_eq!(fit.row.missions, 1);
    fit.compare(0.5, 1.0, 0.0);
    assert_eq!(fit.row.missions, 1, "on the other side");
    fit.compare(f64::NAN, 1.0, 0.0);
    assert_eq!(fit.row, Row::default());
}

#[test]
fn who_tells_little_makes_little_be_forgotten() {
    let after = |error: f64| {
        let mut fit = Fit::new();
        for _ in 0..100 {
            fit.learn(&first(), 3.0, 3.0, 0.0);
        }
        for _ in 0..100 {
            fit.learn(&first(), 6.0, 6.0, error);
        }
        fit.constants(&PRIOR, 10.0)[0]
    };
    let (exact, rough) = (after(0.0), after(1.0));
    assert!(exact > 5.8 && rough < 4.0, "{exact} {rough}");
}

#[test]
fn one_direction_leaves_the_others_at_the_prior() {
    let mut fit = Fit::new();
    for _ in 0..100 {
        fit.learn(&first(), 3.0, 3.0, 0.0);
    }
    let found = fit.constants(&PRIOR, 1.0);
    assert!((found[0] - 3.0).abs() < 0.05, "{found:?}");
    assert_eq!(found[1..], PRIOR[1..]);
}

/// A mission of all terms but the last.
fn without_the_last() -> Terms {
    let mut met = [2.0; TERMS];
    met[TERMS - 1] = 0.0;
    met
}

/// Bit by bit.
#[test]
fn a_term_that_was_never_met_changes_no_other() {
    let mut fit = Fit::new();
    for took in 1..50u32 {
        fit.learn(&first(), 3.0, 3.0, 0.0);
        fit.learn(&without_the_last(), f64::from(took), f64::from(took), 0.0);
    }
    let with = |last: f64| {
        let mut prior = PRIOR;
        prior[TERMS - 1] = last;
        fit.constants(&prior, 1.0)[..TERMS - 1].to_vec()
    };
    assert_eq!(with(0.25), with(1e6));
    assert_eq!(with(0.25), with(1e-6));
}

/// A night of reads, of which each takes what it took.
#[test]
fn what_was_learned_of_one_kind_outlasts_many_missions_of_another() {
    let mut both = [0.0; TERMS];
    (both[0], both[5]) = (1.0, 1.0);
    let mut writes = [0.0; TERMS];
    writes[5] = 1.0;
    let mut fit = Fit::new();
    for _ in 0..30 {
        fit.learn(&both, 63.0, 63.0, 0.0);
        fit.learn(&writes, 60.0, 60.0, 0.0);
    }
    let before = fit.constants(&PRIOR, 1.0);
    for _ in 0..10_000 {
        fit.learn(&first(), 3.0, 3.0, 0.0);
    }
    let after = fit.constants(&PRIOR, 1.0);
    assert!((before[5] - 60.0).abs() < 3.0, "{before:?}");
    assert!((after[5] - before[5]).abs() < 3.0, "{after:?}");
    for _ in 0..200 {
        fit.learn(&writes, 30.0, 30.0, 0.0);
    }
    let anew = fit.constants(&PRIOR, 1.0);
    assert!(
        (anew[5] - 30.0).abs() < 3.0,
        "it can be learned anew: {anew:?}"
    );
}

#[test]
fn what_an_older_program_has_learned_is_taken_up() {
    let mut fit = Fit::new();
    let mut known = without_the_last();
    known[FEWEST_TERMS..].fill(0.0);
    fit.learn(&known, 3.0, 3.0, 0.0);
    let state = serde_json::to_value(&fit).expect("data");
    let read = |state: &serde_json::Value| serde_json::from_value::<Fit>(state.clone());
    assert_eq!(read(&state).expect("its own"), fit);
    let mut old = state.clone();
    let rows = old["products"].as_array_mut().expect("rows");
    rows.truncate(FEWEST_TERMS);
    for row in rows {
        let row = row.as_array_mut().expect("a row");
        row.truncate(FEWEST_TERMS);
    }
    let why = read(&old).expect_err("sums of more terms");
    assert!(why.to_string().contains("products of 7"), "{why}");
    let sums = old["sums"].as_array_mut().expect("sums");
    sums.truncate(FEWEST_TERMS);
    assert_eq!(read(&old).expect("an older state"), fit);
    old["products"][3] = serde_json::json!([1.0]);
    assert!(read(&old).is_err(), "a row is short");
}

#[test]
fn what_was_hardly_timed_moves_little() {
    let after = |error: f64| {
        let mut fit = Fit::new();
        fit.learn(&first(), 3.0, 3.0, error);
        fit.constants(&PRIOR, 1.0)[0]
    };
    let (exact, rough, none) = (after(0.0), after(1.0), after(100.0));
    assert!(
        exact > 2.8 && rough < 1.3 && rough > none,
        "{exact} {rough}"
    );
    assert!((none - PRIOR[0]).abs() < 1e-3, "{none}");
}

#[test]
fn nonsense_teaches_nothing() {
    let mut fit = Fit::new();
    for (met, took, error) in [
        (1.0, f64::NAN, 0.0),
        (f64::INFINITY, 1.0, 0.0),
        (1.0, 0.0, 0.0),
        (1.0, 1.0, f64::NAN),
    ] {
        assert!(!fit.learn(&[met; TERMS], took, took, error));
    }
    assert_eq!(fit, Fit::new());
    assert!(fit.is_sound());
    assert!(fit.learn(&[1.0; TERMS], 1.0, 1.0, 0.0));
}
