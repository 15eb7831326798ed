//! Where time goes: reads beside merges, and levels.

use lissom_core::layout::LogicalLevel;

use super::{fixed, reads, run, scenario, session, updates};
use crate::content::Density;
use crate::reads::{Asked, Costs, costs};
use crate::tree::SimTree;
use crate::{LevelCost, Mix, Outcome, Scenario};

/// Half reads, half updates, then reads alone.
fn half_and_half(limit: u16) -> Scenario {
    let half = Mix {
        get_present: 0.5,
        update: 0.5,
        ..Mix::default()
    };
    let sessions = vec![
        session("half", 200_000, half),
        session("reads", 20_000, reads()),
    ];
    scenario(fixed(limit), sessions)
}

fn with_interference(mut scenario: Scenario) -> Outcome {
    scenario.machine.read_interference = 4.0;
    run(&scenario)
}

#[test]
fn reads_wait_for_merges_and_the_more_the_more_is_merged() {
    let slower = |limit: u16| {
        let alone = run(&half_and_half(limit));
        let beside = with_interference(half_and_half(limit));
        beside.sessions[0].seconds / alone.sessions[0].seconds
    };
    let (few, many) = (slower(1), slower(10));
    assert!(many > 1.0, "{many}");
    assert!(few > many, "{few} under one run a level, {many} under ten");
}

#[test]
fn writes_do_not_wait_for_what_reads_wait_for() {
    let sessions = || vec![session("u", 100_000, updates())];
    let alone = run(&scenario(fixed(1), sessions()));
    assert_eq!(alone, with_interference(scenario(fixed(1), sessions())));
}

/// Seconds at the device of a scan that returns so many entries of a tree whose keys lie in so
/// many runs.
fn scan_of(runs: usize, length: f64) -> f64 {
    const KEYS: f64 = 1e6;
    let scenario = scenario(fixed(10), Vec::new());
    let store = &scenario.store;
    let mut tree = SimTree::new(
        usize::from(store.shape.layout.num_levels()),
        store.entry_bytes,
    );
    let (_, last) = store.shape.layout.span(LogicalLevel(2));
    for run in 0..runs {
        let content = Density {
            fresh: KEYS / runs as f64,
            ..Density::default()
        };
        tree.place_run(usize::from(last.0) - run, vec![content], 65_536.0);
    }
    let mix = Mix {
        scan: 1.0,
        ..Mix::default()
    };
    let asked = Asked {
        tree: &tree,
        keys: &[KEYS],
        classes: &[1.0],
        in_memory: &[0.0],
        mix: &mix,
        scan_length: length,
    };
    costs(store, &scenario.machine, &asked).scan.device
}

/// What follows in one run is read ahead; what lies in several is looked for in each.
#[test]
fn a_run_costs_a_long_scan_more_reads_than_a_short_one() {
    let more = |length: f64| scan_of(3, length) - scan_of(1, length);
    let [one, many] = [1.0, 2_000.0].map(more);
    assert!(one > 0.0 && many > 2.0 * one, "{many} {one}");
    let each = |length: f64| scan_of(1, length) / length;
    assert!(each(2_000.0) < 0.2 * each(20.0));
}

/// What gets of so many present keys meet in runs with such contents, newest first, one in each
/// level.
fn gets_over(runs: &[Density], keys: f64) -> Costs {
    let scenario = scenario(fixed(1), Vec::new());
    let store = &scenario.store;
    let layout = &store.shape.layout;
    let mut tree = SimTree::new(usize::from(layout.num_levels()), store.entry_bytes);
    for (level, content) in (1..).zip(runs) {
        let (_, last) = layout.span(LogicalLevel(level));
        tree.place_run(usize::from(last.0), vec![*content], 65_536.0);
    }
    let asked = Asked {
        tree: &tree,
        keys: &[keys],
        classes: &[1.0],
        in_memory: &[0.0],
        mix: &reads(),
        scan_length: 0.0,
    };
    costs(store, &scenario.machine, &asked)
}

fn new_keys(fresh: f64) -> Density {
    Density {
        fresh,
        ..Density::default()
    }
}

fn assert_near(seen: &[f64], expected: &[f64]) {
    let near = |(a, b): (&f64, &f64)| (a - b).abs() < 1e-9;
    let all = seen.len() == expected.len() && seen.iter().zip(expected).all(near);
    assert!(all, "{seen:?}, and not {expected:?}");
}

#[test]
fn equal_runs_of_new_keys_have_equal_parts_of_the_gets() {
    let seen = gets_over(&[new_keys(3_000.0); 4], 12_000.0);
    assert_near(&seen.filter_true_positive, &[0.25; 4]);
    // Who has found a key asks no older run.
    let passed = seen.filter_positive.iter();
    let probes: Vec<f64> = passed
        .zip(&seen.filter_useful)
        .map(|(passed, stopped)| passed + stopped)
        .collect();
    assert_near(&probes, &[1.0, 0.75, 0.5, 0.25]);
}

#[test]
fn updates_hide_the_same_share_of_whatever_is_older() {
    const KEYS: f64 = 12_000.0;
    let [few, many] = [2_000.0, 9_000.0].map(|draws| Density::drawn(draws, KEYS, 0.0));
    let seen = gets_over(&[few, many, new_keys(KEYS)], KEYS);
    let left = 1.0 - few.hides;
    let expected = [few.hides, left * many.hides, left * (1.0 - many.hides)];
    assert_near(&seen.filter_true_positive, &expected);
}

/// Two loaded runs below one that has new keys, updates and deletes.
#[test]
fn new_keys_hide_nothing_beside_updates_that_do() {
    let newest = Density {
        fresh: 3_000.0,
        ..Density::drawn(4_000.0, 9_000.0, 0.25)
    };
    let loaded = new_keys(4_500.0);
    let keys = 12_000.0 - newest.deletes;
    let seen = gets_over(&[newest, loaded, loaded], keys);
    let left = 4_500.0 * (1.0 - newest.hides) / keys;
    assert_near(
        &seen.filter_true_positive,
        &[newest.living() / keys, left, left],
    );
}

#[test]
fn what_levels_cost_is_what_the_session_cost() {
    let outcome = run(&half_and_half(4));
    let near = |a: f64, b: f64| (a - b).abs() <= 1e-6 * (1.0 + b.abs());
    for session in &outcome.sessions {
        let sum = |of: fn(&LevelCost) -> f64| session.by_level.iter().map(of).sum::<f64>();
        let read = session.block_reads * session.operations;
        assert!(near(sum(|it| it.block_reads), read), "{session:?}");
        let written = sum(|it| it.merge_write_bytes);
        assert!(near(written, session.compaction_bytes), "{session:?}");
        for level in &session.by_level {
            let passed = level.false_positives;
            assert!(passed >= -1e-6, "{level:?}");
            assert!(passed <= level.filter_probes + 1e-6, "{level:?}");
        }
    }
    let [half, reads] = &outcome.sessions[..] else {
        panic!("{} sessions", outcome.sessions.len());
    };
    assert!(half.by_level.len() >= 2, "{half:?}");
    assert!(half.by_level.iter().any(|it| it.merge_seconds > 0.0));
    assert!(reads.by_level.iter().any(|it| it.filter_probes > 0.0));
}
