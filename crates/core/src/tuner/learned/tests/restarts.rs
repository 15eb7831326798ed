//! What is kept over a restart.

use serde_json::{Value, json};

use super::machine::{ALONE, MACHINE, shaped, tree, uniform};
use super::*;
use crate::shape::RunLimit;

fn reopened(state: &Value) -> Learned {
    let mut tuner = Learned::new(0.0);
    tuner.restore(state).expect("its own state");
    assert_eq!(tuner.state(), *state);
    tuner
}

#[test]
fn a_workload_that_comes_back_is_served_at_once_also_after_a_restart() {
    let mut tuner = Learned::new(0.0);
    let writes = MACHINE.fly(&mut tuner, &uniform(1), 0.05, 60);
    let reads = MACHINE.fly(&mut tuner, &writes, 0.95, 60);
    assert_ne!(writes, reads);
    assert_eq!(MACHINE.fly(&mut tuner, &reads, 0.05, OTHER), writes);

    // Until they have been measured they may have to be left again.
    MACHINE.fly(&mut tuner, &writes, 0.05, 12);
    let mut again = reopened(&tuner.state());
    assert_eq!(MACHINE.fly(&mut again, &uniform(3), 0.95, 1), reads);
}

#[test]
fn a_march_that_had_not_proved_itself_is_taken_back() {
    let mut tuner = Learned::new(0.0);
    let left = ALONE.fly(&mut tuner, &uniform(1), 0.95, 60);
    let on_its_way = ALONE.fly(&mut tuner, &left, 0.05, OTHER + 3);
    assert!(!left.is_same(&on_its_way));
    let mut again = reopened(&tuner.state());
    let mut limits = on_its_way.clone();
    let reasons = ALONE.watch(&mut again, &mut limits, 0.05, 1);
    assert!(left.is_same(&limits), "{limits}");
    assert!(reasons[0].contains("had not proved itself"), "{reasons:?}");
    // Limits that somebody has set meanwhile are not those.
    let mut again = reopened(&tuner.state());
    let others = ALONE.fly(&mut again, &uniform(7), 0.5, 1);
    assert!(others.is_same(&uniform(7)), "{others}");

    // Later it has.
    ALONE.fly(&mut tuner, &on_its_way, 0.05, 40);
    assert_eq!(tuner.state()["undo"], Value::Null);
}

#[test]
fn what_serves_a_workload_is_not_left_for_a_way_back_that_was_owed_before() {
    let mut tuner = Learned::new(0.0);
    let writes = MACHINE.fly(&mut tuner, &uniform(1), 0.05, 60);
    let reads = MACHINE.fly(&mut tuner, &writes, 0.95, 60);
    let mut state = tuner.state();
    state["undo"] = serde_json::to_value(uniform(7)).expect("limits");
    state["unproved"] = serde_json::to_value(&reads).expect("limits");
    let mut again = reopened(&state);
    let mut limits = reads.clone();
    let reasons = MACHINE.watch(&mut again, &mut limits, 0.95, 6);
    assert_eq!((reasons.len(), &limits), (2, &reads), "{reasons:?}");
    assert!(reasons[0].contains("had not proved itself"), "{reasons:?}");
    assert!(
        reasons[1].contains("it served this workload"),
        "{reasons:?}"
    );
}

#[test]
fn a_state_that_cannot_be_is_refused_with_a_sentence() {
    let mut tuner = Learned::new(0.0);
    MACHINE.fly(&mut tuner, &uniform(1), 0.5, 5);
    let long = json!({"levels": vec![3; 13], "deeper": 3});
    let remembered = |limits: Value, bars: Value| json!([{"shares": [0, 1, 0, 0, 0], "data": 1e9, "limits": limits, "bars": bars}]);
    let limits = json!({"levels": [], "deeper": 3});
    let bar = json!([{"level": 13, "limit": 3, "proved": 1}]);
    let mut negative = tuner.state();
    negative["cost"]["byte"] = json!(-1.0);
    let with = |part: &str, value: Value| {
        let mut state = tuner.state();
        state[part] = value;
        state
    };
    let none = json!([]);
    let sound = with("memory", remembered(limits.clone(), none.clone()));
    reopened(&with("undo", limits.clone()));
    Learned::new(0.0).restore(&sound).expect("legal");
    for (state, says) in [
        (negative, "cannot be"),
        (with("undo", long.clone()), "cannot be"),
        (with("memory", remembered(long, none)), "cannot be"),
        (with("memory", remembered(limits, bar)), "cannot be"),
        (json!({"cost": 1}), "cannot be read"),
    ] {
        let why = Learned::new(0.0).restore(&state).expect_err("no state");
        assert!(why.contains(says), "{state}: {why}");
    }
}

/// It told of no deletes, of no entries of scans, nor what these take, and not what was left
/// of a bar.
#[test]
fn a_state_of_an_older_program_is_taken_up() {
    let mut tuner = Learned::new(0.0);
    let limits = MACHINE.fly(&mut tuner, &uniform(1), 0.95, 60);
    tuner.phase.bars.bar(LogicalLevel(1), RunLimit::clamped(9));
    let mut state = tuner.state();
    let remembered = &mut state["memory"][0];
    let shares = remembered["shares"].as_array_mut().expect("shares");
    assert_eq!(shares.pop(), Some(json!(0.0)));
    let parts = remembered.as_object_mut().expect("parts");
    assert_eq!(parts.remove("scanned"), Some(json!(0.0)));
    let cost = &mut state["cost"];
    let parts = cost.as_object_mut().expect("parts");
    assert_eq!(parts.remove("tells_reads"), Some(json!(true)));
    let usual = cost["usual"].as_object_mut().expect("parts");
    assert!(usual.remove("scanned").is_some());
    let fit = &mut cost["fit"];
    let rows = fit["products"].as_array_mut().expect("rows");
    rows.truncate(7);
    for row in rows {
        row.as_array_mut().expect("a row").truncate(7);
    }
    let sums = fit["sums"].as_array_mut().expect("sums");
    sums.truncate(7);
    let told = sums.clone();
    let mut again = Learned::new(0.0);
    again.restore(&state).expect("an older state");
    let sums = again.state()["cost"]["fit"]["sums"].clone();
    let sums = sums.as_array().expect("sums");
    assert_eq!(sums[..7], told);
    assert!(sums[7..].iter().all(|sum| *sum == json!(0.0)), "{sums:?}");
    assert_eq!(MACHINE.fly(&mut again, &uniform(3), 0.95, 1), limits);
    let bars = &again.phase.bars;
    assert!(bars.stand(LogicalLevel(1), RunLimit::clamped(9)));
}

/// What a merge of everything writes was saved up, level by level: level 1 twice. Where an older
/// program has told nothing of it, and under another bound, it begins with a rewrite of the tree.
#[test]
fn what_merges_may_write_is_kept() {
    let mut tuner = Learned::new(0.0);
    MACHINE.fly(&mut tuner, &uniform(1), 0.5, 5);
    let state = tuner.state();
    let mut older = state.clone();
    let parts = older.as_object_mut().expect("parts");
    assert!(parts.remove("credit").is_some());
    let raised = Allowance {
        max_write_amplification: Some(60.0),
        ..Allowance::exploring(0.0)
    };
    let mut raised = Learned::with(raised, Learning::default());
    raised.restore(&state).expect("an own state");
    let tuners = [reopened(&state), reopened(&older), raised];
    let saved = 20_200.0 / 20_100.0;
    assert_eq!(tuners.map(rewrites_after_reads), [saved, 1.0, 1.0]);
    let mut odd = state;
    odd["credit"] = json!("much");
    let why = Learned::new(0.0).restore(&odd).expect_err("no number");
    assert!(why.contains("cannot be read"), "{why}");
}

/// What merges may write after a mission that only reads, in rewrites of the tree.
fn rewrites_after_reads(mut tuner: Learned) -> f64 {
    MACHINE.fly(&mut tuner, &uniform(1), 1.0, 1);
    let runs = shaped(&small_shape(), &uniform(1)).runs;
    let credit = tuner.state()["credit"]["bytes"].as_f64();
    credit.expect("a bound") / tree(&runs).total_bytes() as f64
}
