//! Arms of perfect knowledge.

use super::*;
use crate::arms::ArmName;

const ARMS: [&str; 3] = ["fixed-1", "fixed-4", "fixed-10"];

#[test]
fn a_searched_oracle_is_behind_no_static_arm_and_not_behind_the_one_by_sessions() {
    let mut plan = plan("five-sessions", &ARMS);
    let by_sessions = run_simulation(&plan, &mut |_| ()).expect("simulated");
    plan.oracle = Some(OracleKind::Search);
    let searched = run_simulation(&plan, &mut |_| ()).expect("simulated");
    assert_eq!(searched.arms[..3], by_sessions.arms[..3]);
    let seconds = |arm: &SimulatedArm| arm.outcome.seconds();
    assert_eq!(searched.arms[3].arm, ORACLE);
    for arm in &by_sessions.arms {
        let (own, other) = (seconds(&searched.arms[3]), seconds(arm));
        assert!(own <= other, "{}: {own} against {other}", arm.arm);
    }
    let again = run_simulation(&plan, &mut |_| ()).expect("simulated");
    assert_eq!(again, searched);
}

#[test]
fn what_an_oracle_follows_is_told_as_an_arm_of_a_measurement() {
    let mut plan = plan("five-sessions", &ARMS);
    for (kind, how) in [
        (
            OracleKind::Sessions,
            "the fastest static arm of each session",
        ),
        (OracleKind::Search, "searched by "),
    ] {
        plan.oracle = Some(kind);
        let seen = run_simulation(&plan, &mut |_| ()).expect("simulated");
        let followed = seen.oracle.as_ref().expect("an oracle");
        assert_eq!(followed.kind, kind);
        let arm: ArmName = followed.arm.parse().expect("an arm");
        let sessions = &seen.arms[0].outcome.sessions;
        let named: Vec<&str> = arm
            .schedule()
            .expect("arms by session")
            .iter()
            .map(|(session, _)| session.as_str())
            .collect();
        let expected: Vec<&str> = sessions.iter().map(|it| it.name.as_str()).collect();
        assert_eq!(named, expected);
        let text = render_simulation(&seen);
        assert!(text.contains(&format!("The oracle: {how}")), "{text}");
        assert!(text.contains(&followed.arm), "{text}");
        // Two other arms in each session, and at most eight passes.
        let passes = 2 * sessions.len() as u32;
        match kind {
            OracleKind::Sessions => assert_eq!(followed.runs, 1),
            OracleKind::Search => {
                let runs = followed.runs;
                assert!((1 + passes..=1 + 8 * passes).contains(&runs), "{runs}");
            }
        }
    }
}

#[test]
fn nothing_is_searched_where_there_is_nothing_to_choose_between() {
    let mut plan = plan("update-only", &["fixed-1", "learned"]);
    plan.oracle = Some(OracleKind::Search);
    let error = run_simulation(&plan, &mut |_| ()).expect_err("one static arm");
    let error = error.to_string();
    assert!(error.starts_with("oracle: a search needs two"), "{error}");
}
