//! What tuners and schedules decided over virtual time, and why.

use std::fmt::Write as _;

use lissom_sim::LimitChange;

use super::{SimulatedArm, Simulation};

/// Every change of the run limits, and what schedules ordered, of each arm.
pub fn render_decisions(seen: &Simulation) -> String {
    seen.arms.iter().map(decisions).collect()
}

fn decisions(arm: &SimulatedArm) -> String {
    let mut text = format!("\n{}\n", arm.arm);
    for it in &arm.outcome.orders {
        let session = session(arm, it.session);
        let _ = writeln!(text, "{}{session}: {}", moment(it.at), it.order.why);
    }
    for it in &arm.outcome.decisions {
        let session = session(arm, it.session);
        let (moment, mission) = (moment(it.at), it.mission);
        let _ = writeln!(
            text,
            "{moment}mission {mission:>4}, {session}: {}",
            it.limits
        );
        for why in &it.why {
            text += &reason(why);
        }
    }
    text
}

/// How an arm's run limits changed: at most so many changes with their reasons, and how many
/// there are more.
pub(crate) fn render_limit_changes(arm: &SimulatedArm, most: usize) -> String {
    let changes = arm.outcome.limit_changes();
    let mut text = course(arm, changes.len());
    for at in told(&changes, most) {
        text += &change(arm, &changes[at]);
    }
    let more = changes.len().saturating_sub(most);
    if more > 0 {
        let _ = writeln!(
            text,
            "  and {more} more; the first ones of each session are told"
        );
    }
    text
}

/// A heading: where the limits began, and where they ended.
fn course(arm: &SimulatedArm, changes: usize) -> String {
    let first = arm.outcome.held.first().map(|it| it.limits.to_string());
    let last = arm.outcome.sessions.last().map(|it| it.limits.as_str());
    let course = match (first, last) {
        (Some(first), Some(last)) if changes > 0 => {
            format!(": {first} at first, {last} at the end")
        }
        (Some(first), _) => format!(": {first} all the way"),
        (None, _) => String::new(),
    };
    let ending = if changes == 1 { "" } else { "s" };
    format!(
        "\nRun limits under {}{course}, {changes} change{ending}\n",
        arm.arm
    )
}

/// Which changes are told where there is room for so many, in their order: the first ones of
/// each session, so that none of them takes the room of all.
fn told(changes: &[LimitChange<'_>], most: usize) -> Vec<usize> {
    let session = |at: usize| changes[at].decision.session;
    let in_session = |at: usize| (0..at).filter(|it| session(*it) == session(at)).count();
    let mut ranked: Vec<(usize, usize)> =
        (0..changes.len()).map(|at| (in_session(at), at)).collect();
    ranked.sort_unstable();
    ranked.truncate(most);
    let mut told: Vec<usize> = ranked.into_iter().map(|(_, at)| at).collect();
    told.sort_unstable();
    told
}

fn change(arm: &SimulatedArm, change: &LimitChange<'_>) -> String {
    let decision = change.decision;
    let from = change.before.as_ref().map(|it| format!("from {it} "));
    format!(
        "{}{}: {}to {}\n{}",
        moment(decision.at),
        session(arm, decision.session),
        from.unwrap_or_default(),
        decision.limits,
        reason(why(&decision.why))
    )
}

/// The reason of a change without the level and its limits, which stand before it: a learner
/// gives all levels of a change the same one.
fn why(said: &[String]) -> &str {
    let first = said.first().map_or("no reason was told", String::as_str);
    first.splitn(3, ": ").nth(2).unwrap_or(first)
}

/// When it was, since the first session began.
fn moment(at: f64) -> String {
    format!("  {at:>8.1} s  ")
}

/// As far in as what follows a moment.
fn reason(why: &str) -> String {
    format!("              {why}\n")
}

fn session(arm: &SimulatedArm, at: usize) -> &str {
    &arm.outcome.sessions[at].name
}

#[cfg(test)]
mod tests {
    use lissom::core::{RunLimit, RunLimits};
    use lissom_sim::{Decision, HeldLimits, Outcome, SessionOutcome};

    use super::*;

    /// An arm of two sessions whose one limit is 4 at first.
    fn arm(decided: &[(usize, &str)]) -> SimulatedArm {
        let decision = |(number, (session, limits)): (usize, &(usize, &str))| Decision {
            at: 10.0 * number as f64 + 0.5,
            mission: 10 * number as u64,
            session: *session,
            limits: (*limits).into(),
            why: vec![
                format!("level 1: {limits} instead of another: it costs less: by {number} %"),
                "level 2: what stands behind the first".into(),
            ],
        };
        let last = decided.last().map_or("4", |(_, limits)| *limits);
        let sessions = ["reads", "writes"].map(|name| SessionOutcome {
            name: name.into(),
            limits: last.into(),
            ..SessionOutcome::default()
        });
        let held = HeldLimits {
            at: 0.0,
            session: 0,
            operations: 0.0,
            limits: RunLimits::uniform(RunLimit::clamped(4)),
        };
        SimulatedArm {
            arm: "learned".into(),
            is_static: false,
            chooses_limits: true,
            learns: true,
            outcome: Outcome {
                sessions: sessions.to_vec(),
                held: vec![held],
                decisions: decided.iter().enumerate().map(decision).collect(),
                ..Outcome::default()
            },
            others: Vec::new(),
        }
    }

    #[test]
    fn a_change_tells_the_limits_before_and_after_and_one_reason() {
        // The second one only merges.
        let text = render_limit_changes(&arm(&[(0, "3"), (0, "3"), (1, "2")]), 6);
        let expected = "\nRun limits under learned: 4 at first, 2 at the end, 2 changes\n\
                        \x20      0.5 s  reads: from 4 to 3\n\
                        \x20             it costs less: by 0 %\n\
                        \x20     20.5 s  writes: from 3 to 2\n\
                        \x20             it costs less: by 2 %\n";
        assert_eq!(text, expected);
        let none = render_limit_changes(&arm(&[(0, "4")]), 6);
        assert_eq!(
            none,
            "\nRun limits under learned: 4 all the way, 0 changes\n"
        );
    }

    #[test]
    fn where_there_is_no_room_for_all_every_session_has_its_first_changes() {
        let many = [(0, "3"), (0, "2"), (0, "1"), (1, "2"), (1, "3")];
        let text = render_limit_changes(&arm(&many), 3);
        for line in [
            "reads: from 4 to 3\n",
            "reads: from 3 to 2\n",
            "writes: from 1 to 2\n",
            "  and 2 more; the first ones of each session are told\n",
        ] {
            assert!(text.contains(line), "{line}: {text}");
        }
        assert_eq!(text.matches(": from ").count(), 3, "{text}");
        let all = render_limit_changes(&arm(&many), 5);
        assert!(!all.contains(" more; "), "{all}");
    }

    #[test]
    fn every_decision_is_listed_with_all_that_was_said() {
        let arm = arm(&[(0, "3"), (1, "3")]);
        let text = decisions(&arm);
        let expected = "\nlearned\n\
                        \x20      0.5 s  mission    0, reads: 3\n\
                        \x20             level 1: 3 instead of another: it costs less: by 0 %\n\
                        \x20             level 2: what stands behind the first\n";
        assert!(text.starts_with(expected), "{text}");
        assert!(text.contains("mission   10, writes: 3\n"), "{text}");
    }
}
