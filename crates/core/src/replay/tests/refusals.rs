//! Merges for the reads' sake that the planner refused, or that were not paid for.

use super::*;

/// Three runs in level 2, which is the deepest, as a journal tells them.
fn three_runs() -> TreeSummary {
    let layout = small_shape().layout;
    let (_, last) = layout.span(LogicalLevel(2));
    let mut levels = vec![Vec::new(); usize::from(last.0) + 1];
    for (newer, files) in [(0, 200), (1, 1), (2, 1)] {
        levels[usize::from(last.0 - newer)] = numbered_files(files);
    }
    TreeSummary::of(&Tree::new(levels).expect("runs"), &layout)
}

/// The journal of a learner in missions that only read. All that it wants merged is refused.
fn refused_always(allowance: Allowance, missions: u64) -> Vec<Entry> {
    let mut tuner = parsed("learned").tuner_within(allowance);
    let (shape, mut limits, mut refused) = (small_shape(), uniform(5), Vec::new());
    let mut entries = vec![begin(0, "learned", limits.clone(), allowance)];
    for number in 1..=missions {
        let mut entry = mission(number, 100);
        let Event::Mission {
            mission: seen,
            tree,
            trial,
            refused: told,
            ..
        } = &mut entry.event
        else {
            continue;
        };
        seen.operations.gets_found = 10_000;
        seen.duration = Duration::from_secs(1);
        seen.get.mean = Duration::from_micros(100);
        *tree = three_runs();
        *told = refused;
        *trial = tuner.ask(&Question {
            shape: &shape,
            tree: &tree.as_tree(),
            limits: &limits,
            refused: told,
            mission: seen,
        });
        limits = trial.limits.clone();
        let wanted = trial.consolidate.iter().chain(&trial.push_down);
        refused = wanted.map(|it| it.level).collect();
        entries.push(entry);
    }
    entries
}

/// What was said at each mission.
fn said(entries: &[Entry]) -> Vec<Vec<String>> {
    let of_mission = |entry: &Entry| match &entry.event {
        Event::Mission { trial, .. } => Some(reasons(trial, false)),
        _ => None,
    };
    entries.iter().filter_map(of_mission).collect()
}

/// What is said at each mission when it is decided again.
fn said_again(entries: &[Entry]) -> Vec<Vec<String>> {
    let decided = replayed(entries, "default", |allowance| {
        parsed("learned").tuner_within(allowance)
    });
    decided.into_iter().map(|it| it.why).collect()
}

#[test]
fn what_was_refused_is_refused_again() {
    let mut entries = refused_always(Allowance::exploring(0.0), 60);
    let recorded = said(&entries);
    let given_up = recorded.iter().flatten();
    let given_up = given_up.filter(|why| why.contains("too much of it would be merged at once"));
    assert!(given_up.count() > 3, "{recorded:?}");
    assert_eq!(said_again(&entries), recorded);
    // Older journals do not tell it.
    for entry in &mut entries {
        if let Event::Mission { refused, .. } = &mut entry.event {
            refused.clear();
        }
    }
    assert_ne!(said_again(&entries), recorded);
}

#[test]
fn what_waited_for_credit_waits_again() {
    let none = Allowance {
        max_write_amplification: Some(0.0),
        ..Allowance::exploring(0.0)
    };
    let mut entries = refused_always(none, 60);
    let recorded = said(&entries);
    let waits = recorded.iter().flatten();
    let waits = waits.filter(|why| why.contains("max_write_amplification"));
    assert_eq!(waits.count(), 1, "{recorded:?}");
    assert_eq!(said_again(&entries), recorded);
    // Older stores had no bound.
    if let Event::Begin { allowance, .. } = &mut entries[0].event {
        *allowance = Allowance::UNRECORDED;
    }
    assert_ne!(said_again(&entries), recorded);
}
