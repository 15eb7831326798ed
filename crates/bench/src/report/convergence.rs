//! How soon arms that follow the workload converged, as text.

use std::fmt::Write as _;

use super::grid::Grid;
use crate::arms::ArmName;
use crate::distinct::distinct;
use crate::judge::{Convergence, NEAR};

/// Arms beside each other.
const ABREAST: usize = 5;

/// What a table of missions until arms were near says above it.
pub(crate) fn near_title() -> String {
    format!(
        "Missions until the rest of a session took at most {:.0} % longer than under its best \
         static arm",
        100.0 * NEAR
    )
}

/// What it says below it.
pub(crate) const NEAR_NOTE: &str = "  -: it was near from its first missions on, or all the time,
  as was the same learner when it was held, or it had fewer than two missions: that tells nothing
  of learning. A number is no gain either where the learner that is held has a -. Sessions in which
  no arm had two missions are left out.
";

/// Missions from which on a session tells how soon an arm follows it: a tuner that is asked
/// at the end of the only one has changed nothing of it.
pub(crate) const LEAST_MISSIONS: u64 = 2;

/// What stands in place of such a table where no session has so many.
pub(crate) const TOO_SHORT: &str = "Each session was over before its second mission ended: too \
                                    short to tell how soon an arm follows the workload.";

/// Two tables, sessions as rows and arms as columns; empty where nothing is told.
pub(super) fn render_convergence(found: &[Convergence], rounds: usize) -> String {
    let enough = |it: &&Convergence| it.missions.median >= LEAST_MISSIONS as f64;
    let told: Vec<&Convergence> = found.iter().filter(enough).collect();
    if told.is_empty() && !found.is_empty() {
        return format!("\n{TOO_SHORT}\n");
    }
    let arms = distinct(told.iter().map(|it| &it.arm));
    let mut text = String::new();
    for arms in arms.chunks(ABREAST) {
        let near = grid(&told, arms, |it| near(it, rounds));
        let rested = grid(&told, arms, |it| {
            format!("{:.0} of {:.0}", it.rested.median, it.missions.median)
        });
        let _ = write!(
            text,
            "\n{}\n{near}{NEAR_NOTE}\nMissions until the run limits last changed\n{rested}",
            near_title()
        );
    }
    text
}

fn grid(told: &[&Convergence], arms: &[&ArmName], cell: impl Fn(&Convergence) -> String) -> Grid {
    let names: Vec<String> = arms.iter().map(ToString::to_string).collect();
    let mut titles = vec!["session", "best static"];
    titles.extend(names.iter().map(String::as_str));
    let mut grid = Grid::new(&titles);
    // A session has one best static arm, whoever is held against it.
    for (session, best) in distinct(told.iter().map(|it| (&it.session, &it.best))) {
        let of = |arm: &&ArmName| {
            let mut all = told.iter();
            let found = all.find(|it| it.arm == **arm && it.session == *session);
            found.map_or("-".into(), |it| cell(it))
        };
        let mut row = vec![session.to_string(), best.to_string()];
        row.extend(arms.iter().map(of));
        grid.row(row);
    }
    grid
}

/// Missions until it was near, of those of the session; in how many rounds, where not in
/// all. Nothing where that tells nothing of learning.
fn near(it: &Convergence, rounds: usize) -> String {
    if !it.tells {
        return "-".into();
    }
    let of = it.missions.median;
    let Some(near) = &it.near else {
        return format!("not in {of:.0}");
    };
    let seen = near.values.len();
    let part = if seen < rounds {
        format!(" in {seen} of {rounds} rounds")
    } else {
        String::new()
    };
    format!("{:.0} of {of:.0}{part}", near.median)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::Figure;
    use crate::report::testing::single_spaced;

    fn found(arm: &str, session: &str, near: &[f64]) -> Convergence {
        Convergence {
            arm: arm.parse().expect(arm),
            session: session.into(),
            best: "fixed-4".parse().expect("an arm"),
            missions: Figure::of([40.0; 3]).expect("figures"),
            near: Figure::of(near.iter().copied()),
            tells: true,
            rested: Figure::of([12.0, 13.0, 29.0]).expect("figures"),
        }
    }

    /// Lines whose words are one blank apart.
    fn rows(text: &str) -> Vec<String> {
        text.lines().map(single_spaced).collect()
    }

    #[test]
    fn arms_stand_beside_each_other_and_what_did_not_come_near_says_so() {
        let all = [
            found("learned", "reads", &[7.0, 9.0, 8.0]),
            found("learned", "writes", &[30.0, 20.0]),
            found("lerp", "reads", &[]),
        ];
        let text = render_convergence(&all, 3);
        let rows = rows(&text);
        for row in [
            "session best static learned lerp",
            "reads fixed-4 8 of 40 not in 40",
            "writes fixed-4 25 of 40 in 2 of 3 rounds -",
            "reads fixed-4 13 of 40 13 of 40",
        ] {
            assert!(rows.iter().any(|it| it == row), "no {row} in {text}");
        }
        assert_eq!(render_convergence(&[], 3), "");
        let untold = Convergence {
            tells: false,
            ..found("learned", "reads", &[0.0; 3])
        };
        let text = render_convergence(&[untold], 3);
        let row = text.lines().find(|line| line.contains("reads"));
        assert!(row.expect("a row").ends_with(" -"), "{text}");
        assert!(text.contains("that tells nothing\n  of learning"), "{text}");
    }

    #[test]
    fn sessions_of_fewer_than_two_missions_are_left_out() {
        let of = |arm: &str, session: &str, missions: f64| Convergence {
            missions: Figure::of([missions; 3]).expect("figures"),
            ..found(arm, session, &[1.0; 3])
        };
        let all = [
            of("learned", "ingest", 0.0),
            of("learned", "scans", 2.0),
            of("learned", "bursts", 3.0),
            of("lerp", "ingest", 1.0),
            of("lerp", "scans", 1.0),
            of("lerp", "bursts", 2.0),
            of("thresholds-30-70", "bursts", 1.0),
        ];
        let text = render_convergence(&all, 3);
        let rows = rows(&text);
        for row in [
            "session best static learned lerp",
            "scans fixed-4 1 of 2 -",
            "bursts fixed-4 1 of 3 1 of 2",
        ] {
            assert!(rows.iter().any(|it| it == row), "no {row} in {text}");
        }
        assert!(!text.contains("ingest"), "{text}");
        assert!(text.contains("no arm had two missions are left out"));
        let short = [&all[..1], &all[3..5], &all[6..]].concat();
        assert_eq!(render_convergence(&short, 3), format!("\n{TOO_SHORT}\n"));
    }
}
