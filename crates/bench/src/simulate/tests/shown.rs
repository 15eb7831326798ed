//! What is shown: tables, comparisons with measured runs, the picture of the limits.

use super::*;
use crate::trajectories::LIMITS_FILE;

#[test]
fn ties_share_a_rank_and_neither_the_oracle_nor_the_closing_session_has_one() {
    let arms = ["fixed-4", "fixed-4@eager", "fixed-10"];
    let seen = run_simulation(&plan("update-only", &arms), &mut |_| ()).expect("simulated");
    let text = render_simulation(&seen);
    let ranks = text.split("Ranks;").nth(1).expect("a table");
    let ranks = ranks.split("\n\n").next().expect("its end");
    assert!(
        !ranks.contains("oracle") && !ranks.contains("closing"),
        "{ranks}"
    );
    let mean = ranks.lines().find(|line| line.trim().starts_with("mean"));
    let mean: Vec<&str> = mean.expect("a row").split_whitespace().collect();
    assert_eq!(mean[1], mean[2], "{ranks}");
}

#[test]
fn the_table_names_the_best_static_arm() {
    let arms = ["fixed-1", "fixed-10", "thresholds-30-70"];
    let seen = run_simulation(&plan("five-sessions", &arms), &mut |_| ()).expect("simulated");
    let text = render_simulation(&seen);
    assert!(text.contains("Best static arm: fixed-"), "{text}");
    assert!(text.contains("Without the closing session the best static arm is fixed-"));
    assert!(text.contains("thresholds-30-70: "), "{text}");
    assert!(text.contains("% over the best of each session"), "{text}");
    assert!(text.contains("  oracle: "), "{text}");
    assert!(text.contains("Changes of the run limits"), "{text}");
    assert!(text.matches('*').count() >= 6, "{text}");
}

#[test]
fn the_heading_names_the_program_and_what_the_hull_lacks() {
    let mut seen = run_simulation(&plan("update-only", &["fixed-1"]), &mut |_| ()).expect("seen");
    seen.program = Some(Program {
        version: "0.1.0".into(),
        commit: Some("0123456789abcdef".into()),
        dirty: false,
        sources: None,
    });
    let text = render_simulation(&seen);
    let head = "update-only, simulated: 50000 entries; lissom 0.1.0, commit 0123456789ab\n";
    assert!(text.starts_with(head), "{text}");
    let lacks = "The hull is not whole: it lacks fixed-K of more than one run, lazy-leveling.";
    assert!(text.contains(lacks), "{text}");
    let whole = ["fixed-1", "fixed-4", "lazy-leveling"];
    let seen = run_simulation(&plan("update-only", &whole), &mut |_| ()).expect("simulated");
    assert!(!render_simulation(&seen).contains("The hull is not whole"));
}

/// Times of three rounds, with so much below and above the middle.
fn around(seconds: f64, half: f64) -> Figure {
    Figure::of([seconds - half, seconds, seconds + half]).expect("values")
}

/// A comparison of two arms, whose times spread by so much.
fn compared(half: f64) -> Calibration {
    let of = |arm: &str, session: &str, measured: f64, simulated: f64| Compared {
        arm: arm.into(),
        session: session.into(),
        measured: around(measured, half),
        simulated,
    };
    let sum = |arm: &str, measured: f64, simulated: f64| ComparedTotal {
        arm: arm.into(),
        measured: around(measured, half),
        simulated,
    };
    Calibration {
        program: None,
        measured_by: Vec::new(),
        workload: "w".into(),
        machine: MachineModel::default(),
        error: 0.1,
        error_before: 0.1,
        compared: vec![
            of("fixed-1", "reads", 10.0, 11.0),
            of("fixed-1", "writes", 30.0, 20.0),
            of("fixed-4", "reads", 12.0, 12.0),
            of("fixed-4", "writes", 20.0, 21.0),
        ],
        totals: vec![sum("fixed-4", 32.0, 33.0), sum("fixed-1", 40.0, 31.0)],
    }
}

#[test]
fn a_comparison_tells_who_wins_and_by_how_much() {
    let mut seen = compared(0.5);
    let text = render_calibration(&seen);
    let line = "Fastest in total: measured fixed-4 by 25.0 %, simulated fixed-1 by 6.5 %; of 2 \
                sessions that were measured apart, who is simulated the fastest is among the \
                fastest in 1\n";
    assert!(text.ends_with(line), "{text}");
    seen.totals.truncate(1);
    assert!(!render_calibration(&seen).contains("Fastest"));
}

#[test]
fn one_fit_and_one_comparison_stand_as_they_are() {
    let (fitted, other) = (compared(0.5), compared(4.0));
    let (first, second) = (render_calibration(&fitted), render_calibration(&other));
    let only = render_calibrations(std::slice::from_ref(&fitted), &[], None);
    assert_eq!(only, first);
    let both = [fitted, other];
    let text = render_calibrations(&both[..1], &both[1..], None);
    let between = "The fitted constants against other results";
    assert_eq!(text, format!("{first}\n{between}\n\n{second}"));
    let text = render_calibrations(&[], &both, None);
    assert_eq!(text, format!("{first}\n{second}"), "nothing was fitted");
}

#[test]
fn what_is_fitted_together_has_one_error_and_its_caution_before_all() {
    let mut fitted = [compared(0.5), compared(0.5)];
    fitted[1].workload = "v".into();
    (fitted[0].error_before, fitted[1].error_before) = (0.7, 0.1);
    (fitted[0].error, fitted[1].error) = (0.3, 0.1);
    // The roots of (0.49 + 0.01) / 2 and of (0.09 + 0.01) / 2.
    let head = "w, v, fitted together: error 0.500 before, 0.224 now (root mean square of log \
                ratios, each of the results weighing the same)\n";
    let tables = fitted.each_ref().map(render_calibration).join("\n");
    let text = render_calibrations(&fitted, &[], None);
    assert_eq!(text, format!("{head}\n{tables}"));
    let text = render_calibrations(&fitted, &[], Some("Mind."));
    assert_eq!(text, format!("{head}  ! Mind.\n\n{tables}"));
}

#[test]
fn inside_the_spread_nobody_wins() {
    // 28 to 36 s and 36 to 44; reads 6 to 14 and 8 to 16, writes 26 to 34 and 16 to 24.
    let mut seen = compared(4.0);
    let text = render_calibration(&seen);
    let told = "measured a tie of fixed-4, fixed-1, simulated fixed-1 by 6.5 %; of 1 sessions";
    assert!(text.contains(told) && text.ends_with("in 0\n"), "{text}");
    for total in &mut seen.totals {
        total.measured = Figure::of([total.measured.median]).expect("a value");
    }
    let text = render_calibration(&seen);
    assert!(text.contains("it has under 3 rounds"), "{text}");
    assert!(!text.contains("measured fixed-4"), "{text}");
}

#[test]
fn the_picture_has_a_line_for_each_level_of_each_learner_and_names_the_sessions() {
    let arms = ["fixed-4", "thresholds-30-70", "learned"];
    let seen = run_simulation(&learning(&arms), &mut |_| ()).expect("simulated");
    let out = tempfile::tempdir().expect("a directory");
    let path = write_limits(&seen, out.path()).expect("written");
    assert!(path.ends_with(LIMITS_FILE));
    let svg = std::fs::read_to_string(&path).expect("a picture");
    let followers = [&seen.arms[1], &seen.arms[2]];
    let levels = followers.iter().flat_map(|arm| &arm.outcome.sessions);
    let levels = levels.map(|session| session.levels).max().expect("levels");
    assert!(levels >= 2, "{levels}");
    for arm in followers {
        for level in 1..=levels {
            let line = format!("<title>{}, level {level}</title>", arm.arm);
            assert_eq!(svg.matches(&line).count(), 1, "{line}: {svg}");
        }
    }
    assert_eq!(svg.matches("<title>").count(), 2 * usize::from(levels));
    assert!(svg.contains(&format!(">level {levels}</text>")), "a legend");
    for session in &seen.arms[0].outcome.sessions {
        let name = format!(">{}</text>", session.name);
        assert_eq!(svg.matches(&name).count(), 4, "{name}: {svg}");
    }
    for arm in followers {
        let times = format!(
            ">{}: time of an operation, µs; grey: fixed-4, the best",
            arm.arm
        );
        assert!(svg.contains(&times), "{svg}");
    }
    // Between the first place and the end of the line a step goes up or down for each change.
    let (line, _) = svg
        .split_once("<title>thresholds-30-70, level 1</title>")
        .expect("a line");
    let line = line.rsplit("d=\"").next().expect("a path");
    let held = &seen.arms[1].outcome.held;
    assert_eq!(line.matches('V').count(), held.len() - 1, "{line}");
    let rest = svg.replace("http://www.w3.org/2000/svg", "");
    assert!(!rest.contains("http") && !rest.contains("url("));
}

#[test]
fn a_picture_that_cannot_be_written_says_where() {
    let seen = run_simulation(&plan("update-only", &["learned"]), &mut |_| ()).expect("simulated");
    let out = tempfile::tempdir().expect("a directory");
    let file = out.path().join("file");
    std::fs::write(&file, "").expect("written");
    let error = write_limits(&seen, &file).expect_err("a file").to_string();
    assert!(
        error.starts_with("cannot write ") && error.contains("file/limits.svg: "),
        "{error}"
    );
    assert!(
        error.ends_with("check the path and the free space"),
        "{error}"
    );
}

#[test]
fn levels_are_shown_for_each_arm_and_session() {
    let arms = ["fixed-1", "fixed-10"];
    let seen = run_simulation(&plan("five-sessions", &arms), &mut |_| ()).expect("simulated");
    let text = render_levels(&seen);
    for (at, session) in seen.arms[0].outcome.sessions.iter().enumerate() {
        let title = format!("Cost by level: {};", session.name);
        let (_, table) = text.split_once(&title).expect("a table");
        let table = table.split("\n\n").next().expect("its end");
        // Arms, levels and what they stand under.
        for arm in &seen.arms {
            let levels = arm.outcome.sessions[at].by_level.len();
            let names = table
                .lines()
                .filter_map(|line| line.split_whitespace().next());
            let rows = names.filter(|name| *name == arm.arm);
            assert_eq!(rows.count(), levels, "{}: {table}", arm.arm);
            assert!(levels > 0, "{}", arm.arm);
        }
    }
}

/// A file that was written before a constant was known.
#[test]
fn a_machine_without_a_newer_constant_has_its_default() {
    let file = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../bench/results/machine-two-cores.json"
    );
    let text = std::fs::read_to_string(file).expect("published constants");
    let mut values: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    let fields = values.as_object_mut().expect("constants");
    fields.remove("read_interference");
    let machine: MachineModel = serde_json::from_value(values).expect("a machine");
    assert_eq!(machine.read_interference, 0.0);
}
