//! Figures from what was counted.

use super::*;
use crate::drive::{LatencySummary, OpKind};
use crate::store::TunerCounters;

#[test]
fn debt_is_charged_at_the_measured_speed() {
    let mut owing = run("fixed-10", 0, [1.0, 1.0, 1.0]);
    owing.totals.debt_bytes = Some(500);
    owing.totals.counters.compaction_read_bytes = 1000;
    owing.totals.counters.compaction_micros = 4_000_000;
    // 1000 bytes in 4 s are 250 bytes per second; 500 bytes owe 2 s.
    assert_eq!(debt_seconds(&owing, &[&owing], None), Some(2.0));
    let mut idle = run("fixed-1", 0, [1.0, 1.0, 1.0]);
    idle.totals.debt_bytes = Some(125);
    assert_eq!(
        debt_seconds(&idle, &[&idle], None),
        None,
        "nobody compacted: there is no speed"
    );
    assert_eq!(debt_seconds(&idle, &[&idle, &owing], None), Some(0.5));
    idle.totals.debt_bytes = Some(0);
    assert_eq!(debt_seconds(&idle, &[&idle], None), Some(0.0));
    let verdict = judge(&parameters(&["fixed-10"]), &[owing]);
    assert_eq!(verdict.arms[0].total_seconds.median, 5.0);
    let headroom = verdict.headroom.unwrap();
    assert_eq!(headroom.all.best_per_session[2].seconds, 3.0);
    assert_eq!(headroom.all.in_other_rounds, None, "there is one round");
    assert_eq!(headroom.switchable, None, "there is one arm");
}

#[test]
fn debt_is_charged_as_it_was_timed_whatever_planners_count() {
    let arms = ["rocksdb-universal", "fixed-10"];
    let mut runs = arms.map(|name| run(name, 0, [1.0, 1.0, 1.0]));
    runs[0].totals.settle_seconds = Some(4.0);
    let totals = &mut runs[1].totals;
    totals.settle_seconds = Some(1.5);
    // 2 s at the speed that users left to its compactions.
    totals.debt_bytes = Some(500);
    totals.counters.compaction_read_bytes = 1000;
    totals.counters.compaction_micros = 4_000_000;
    let judged = |runs: &[ArmRun]| {
        let verdict = judge(&parameters(&arms), runs);
        let seconds = verdict.arms.iter().map(|arm| arm.total_seconds.median);
        let seconds: Vec<f64> = seconds.collect();
        let told = verdict.arms.iter().all(|arm| arm.debt_seconds.is_some());
        let cautions = verdict.cautions.into_iter();
        let of_debt: Vec<String> = cautions.filter(|it| it.contains("debt")).collect();
        (seconds, told, of_debt)
    };
    assert_eq!(judged(&runs), (vec![7.0, 4.5], true, Vec::new()));
    runs[1].totals.settle_seconds = None;
    let (seconds, told, of_debt) = judged(&runs);
    assert_eq!((seconds, told), (vec![7.0, 5.0], true));
    let words = "The debt of fixed-10 in round 1 was not timed";
    assert!(of_debt[0].starts_with(words), "{of_debt:?}");
}

#[test]
fn who_does_not_come_to_rest_is_charged_what_it_was_given() {
    let arms = ["rocksdb-universal", "fixed-10"];
    let mut runs = arms.map(|name| run(name, 0, [1.0, 1.0, 1.0]));
    runs[1].totals.settle_seconds = Some(59.0);
    let mut parameters = parameters(&arms);
    parameters.settle_seconds = Some(60);
    let verdict = judge(&parameters, &runs);
    let seconds = |arm: &ArmVerdict| arm.debt_seconds.as_ref().map(|debt| debt.median);
    let owed: Vec<Option<f64>> = verdict.arms.iter().map(seconds).collect();
    assert_eq!(owed, [Some(60.0), Some(59.0)]);
    let cautions = verdict.cautions.into_iter();
    let of_debt: Vec<String> = cautions.filter(|it| it.contains("debt")).collect();
    let words = "rocksdb-universal did not come to rest in 60 s: ";
    assert!(
        matches!(&of_debt[..], [it] if it.starts_with(words)),
        "{of_debt:?}"
    );
}

#[test]
fn what_is_not_told_is_not_charged_and_said_to_be_missing() {
    let arms = ["rocksdb-leveled", "rocksdb-universal"];
    let runs = arms.map(|name| run(name, 0, [1.0, 1.0, 1.0]));
    assert_eq!(runs[0].debt_bytes(), Some(0));
    assert_eq!(runs[1].debt_bytes(), None, "RocksDB's 0 is no answer");
    let verdict = judge(&parameters(&arms), &runs);
    let [leveled, universal] = &verdict.arms[..] else {
        panic!("two arms: {verdict:?}");
    };
    assert!(leveled.debt_seconds.is_some() && universal.debt_seconds.is_none());
    assert_eq!(universal.total_seconds.median, 3.0);
    let said = |name: &str| {
        let words = format!("No debt is charged to {name}, ");
        verdict.cautions.iter().any(|it| it.starts_with(&words))
    };
    assert!(said("rocksdb-universal") && !said("rocksdb-leveled"));
}

#[test]
fn read_amplification_is_blocks_of_users_over_operations_that_read() {
    let of = |count| LatencySummary {
        count,
        ..LatencySummary::default()
    };
    let mut one = run("fixed-1", 0, [1.0, 1.0, 1.0]);
    one.sessions[0].latencies = vec![(OpKind::GetPresent, of(30)), (OpKind::Update, of(500))];
    one.sessions[0].counters.data_blocks_read = Some(60);
    one.sessions[1].latencies = vec![(OpKind::Scan, of(10)), (OpKind::ReadModifyWrite, of(20))];
    one.sessions[1].counters.data_blocks_read = Some(75);
    one.sessions[2].latencies = vec![(OpKind::Put, of(7))];
    one.totals.counters.data_blocks_read = Some(135);
    let verdict = judge(&parameters(&["fixed-1"]), &[one.clone()]);
    let median = |figure: &Option<Figure>| figure.as_ref().map(|it| it.median);
    let arm = &verdict.arms[0];
    assert_eq!(median(&arm.read_amplification), Some(135.0 / 60.0));
    let sessions: Vec<Option<f64>> = arm
        .sessions
        .iter()
        .map(|session| median(&session.read_amplification))
        .collect();
    assert_eq!(sessions, [Some(2.0), Some(2.5), None, None]);
    one.totals.counters.data_blocks_read = None;
    let verdict = judge(&parameters(&["fixed-1"]), &[one]);
    assert_eq!(verdict.arms[0].read_amplification, None, "an older file");
}

#[test]
fn latencies_of_closed_sessions_hold_nothing_of_open_ones() {
    let of = |count: u64, longest: f64| LatencySummary {
        count,
        p999: longest / 2.0,
        max: longest,
        ..LatencySummary::default()
    };
    let mut one = run("fixed-1", 0, [1.0, 1.0, 1.0]);
    // The third is open.
    let longest = [10.0, 30.0, 500.0, 20.0];
    for (session, longest) in one.sessions.iter_mut().zip(longest) {
        session.latencies = vec![(OpKind::Update, of(100, longest))];
        session.latency = of(100, longest);
    }
    one.totals.writes = of(300, 30.0);
    let median = |figure: &Option<Figure>| figure.as_ref().map(|it| it.median);
    let judged = |it: &ArmRun| {
        let verdict = judge(&parameters(&["fixed-1"]), std::slice::from_ref(it));
        let arm = &verdict.arms[0];
        let medians = [&arm.write_p999, &arm.longest_write].map(median);
        (medians, arm.longest_operation.median)
    };
    assert_eq!(judged(&one), ([Some(15.0), Some(30.0)], 30.0));
    // An older file counts what the open session waited, and tells no percentile without it.
    one.totals.writes = of(400, 500.0);
    assert_eq!(judged(&one), ([None, Some(30.0)], 30.0));
}

#[test]
fn counters_are_differences() {
    let early = Counters {
        flushed_bytes: 10,
        drains: Some(1),
        ..Counters::default()
    };
    let mut late = Counters {
        flushed_bytes: 25,
        drains: Some(3),
        ..Counters::default()
    };
    late.excesses.insert("burst".into(), 2);
    let since = late.since(&early);
    assert_eq!(
        (since.flushed_bytes, since.drains, since.excesses["burst"]),
        (15, Some(2), 2)
    );
}

#[test]
fn what_a_tuner_left_out_is_a_difference_where_it_was_counted() {
    let counted = |skipped| Counters {
        tuner: Some(TunerCounters {
            skipped,
            ..TunerCounters::default()
        }),
        ..Counters::default()
    };
    let since = |late, early: &Counters| counted(late).since(early).tuner.unwrap().skipped;
    assert_eq!(since(Some(8), &counted(Some(3))), Some(5));
    assert_eq!(since(Some(8), &Counters::default()), Some(8));
    assert_eq!(since(Some(2), &counted(Some(8))), Some(0), "another tuner");
    assert_eq!(since(None, &counted(None)), None, "an older file");
    let older = r#"{"asked": 4, "changed": 1, "steps": 3, "micros": 9}"#;
    let older: TunerCounters = serde_json::from_str(older).unwrap();
    assert_eq!((older.steps, older.skipped), (3, None));
}
