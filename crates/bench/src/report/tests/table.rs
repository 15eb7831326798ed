//! The table's rows and columns.

use super::*;
use crate::drive::{LatencySummary, Sample};
use crate::store::{LevelShape, TunerCounters};

#[test]
fn the_table_shows_headroom_arms_sessions_and_cautions() {
    let text = render_table(&results(&["mock-a", "mock-b", "mock-fails"], 3));
    assert!(
        text.contains("Not a comparison: 0 complete rounds"),
        "{text}"
    );
    let text = render_table(&results(&["mock-a", "mock-b"], 3));
    for words in [
        "Headroom",
        "best static",
        "mock-a",
        "mock-b",
        "updates-zipf",
        "closing",
        "±",
        "The hull is not whole",
        "Against the offered load: quiet, 100000 a second",
        "debt at the end, MB",
        "These are two quantities",
        "deeper held back, %",
        "p99.9",
    ] {
        assert!(text.contains(words), "no {words} in {text}");
    }
    assert!(!text.contains("Not a comparison"));
    assert!(!text.contains("Load models"), "no arm here has one");
}

#[test]
fn the_table_tells_what_rates_are_a_share_of() {
    let mut results = results(&["mock-a"], 1);
    assert!(!render_table(&results).contains("The highest rate"));
    results.parameters.offered = Some(crate::run::Offer {
        maximum: 34_000.4,
        share: 0.9,
        of: results.parameters.arms.first().cloned(),
        boots: Vec::new(),
        programs: Vec::new(),
    });
    let told = "\nThe highest rate is 90 % of the 34,000 operations a second that mock-a carried";
    assert!(render_table(&results).contains(told));
}

#[test]
fn table_and_page_name_the_program() {
    let mut results = results(&["mock-a"], 1);
    assert!(!render_table(&results).contains("commit"));
    results.runs[0].program = Some(crate::run::Program {
        version: "0.1.0".into(),
        commit: Some("0123456789abcdef".into()),
        dirty: false,
        sources: None,
    });
    let named = "lissom 0.1.0, commit 0123456789ab";
    assert!(render_table(&results).contains(&format!("; {named}\n")));
    let programs = format!("\"programs\":[\"{named}\"]");
    assert!(report_html(&results).contains(&programs));
}

#[test]
fn arms_of_lissom_without_an_excess_have_a_row_of_zeros() {
    let mut results = results(&["mock-a", "mock-b", "mock-c"], 1);
    let rows = |results: &Results| {
        let text = render_table(results);
        let (_, table) = text.split_once("Pieces over their bound")?;
        let rows = table.lines().skip(1).take_while(|line| !line.is_empty());
        Some(rows.map(single_spaced).collect::<Vec<String>>())
    };
    assert_eq!(rows(&results), None, "no arm has a bound");
    let titles = "arm pieces Level0 NoCommonCuts SharedBoundaries";
    let counters = &mut results.runs[0].totals.counters;
    (counters.drains, counters.compactions) = (Some(0), 7);
    let none = [titles, "mock-a 7.00 0.00 0.00 0.00"];
    assert_eq!(rows(&results).unwrap(), none);
    let counters = &mut results.runs[2].totals.counters;
    (counters.drains, counters.compactions) = (Some(3), 9);
    counters.excesses.insert("NoCommonCuts".into(), 2);
    let some = [titles, none[1], "mock-c 9.00 0.00 2.00 0.00"];
    assert_eq!(rows(&results).unwrap(), some);
}

#[test]
fn a_round_that_is_not_whole_stands_in_no_table() {
    let mut results = results(&["mock-a", "mock-b"], 1);
    for run in &mut results.runs {
        let counters = &mut run.totals.counters;
        counters.drains = Some(0);
        counters.tuner = Some(TunerCounters {
            asked: 40,
            changed: 2,
            steps: 30,
            skipped: None,
            micros: 800,
        });
    }
    let whole = render_table(&results);
    for table in ["Pieces over", "Memory of", "What the learners"] {
        assert!(whole.contains(table), "no {table} in {whole}");
    }
    let mut cut = results.runs[0].clone();
    cut.round = 1;
    cut.totals.peak_resident_bytes = 1 << 40;
    cut.totals.counters.compactions += 99;
    cut.totals.counters.excesses.insert("Rare".to_owned(), 1);
    cut.totals.counters.tuner.as_mut().unwrap().asked = 99;
    let second = |number: u32| Sample {
        at: f64::from(number + 1),
        seconds: 1.0,
        point_reads: LatencySummary {
            count: 9,
            mean: 5.0,
            ..LatencySummary::default()
        },
        levels: vec![LevelShape {
            files: 10 * number,
            ..LevelShape::default()
        }],
        ..Sample::default()
    };
    cut.samples = (0..4).map(second).collect();
    results.runs.push(cut);
    assert_eq!(render_table(&results), whole);
}

#[test]
fn published_results_are_read_judged_and_shown() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../bench/results");
    for name in [
        "hull-update-only",
        "hull-five-sessions",
        "hull-mixed-sessions",
        "transitions",
        "paced",
    ] {
        let file = format!("{folder}/{name}.json");
        let results = Results::read(file.as_ref()).unwrap();
        assert_eq!(
            results.verdict.as_ref().unwrap().complete_rounds,
            3,
            "{name}"
        );
        let text = render_table(&results);
        assert!(
            text.contains("What it cost") && text.contains("±"),
            "{text}"
        );
        assert!(
            report_html(&results).contains("\"points\":[]"),
            "published without samples"
        );
    }
}

#[test]
fn memory_stands_beside_what_the_settings_state() {
    let mut results = results(&["mock-a", "mock-b"], 1);
    assert!(!render_table(&results).contains("Memory of the process"));
    let totals = &mut results.runs[0].totals;
    totals.counters.drains = Some(0);
    totals.baseline_resident_bytes = 10 << 20;
    totals.peak_resident_bytes = 50 << 20;
    let rows = |results: &Results| {
        let text = render_table(results);
        let (_, table) = text.split_once("Memory of the process").expect("a table");
        let rows = table.lines().skip(2).take_while(|line| !line.is_empty());
        rows.map(str::to_owned).collect::<Vec<_>>()
    };
    let found = rows(&results);
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].contains("40 MiB") && !found[0].contains("over its bound"));
    results.runs[0].totals.peak_resident_bytes = 1 << 40;
    assert!(rows(&results)[0].contains("over its bound"));
}

#[test]
fn what_learners_left_out_stands_beside_their_updates() {
    let arms = ["mock-a", "mock-b", "mock-c", "mock-d"];
    let mut results = results(&arms, 1);
    let rows = |results: &Results| {
        let text = render_table(results);
        let (_, table) = text.split_once("What the learners did in a run\n")?;
        let rows = table.lines().take_while(|line| !line.is_empty());
        Some(rows.map(single_spaced).collect::<Vec<String>>())
    };
    assert_eq!(rows(&results), None, "no arm has a tuner");
    // The second as in results of a program that did not count what was left out.
    let work = [(30, Some(7)), (5, None), (0, Some(3)), (0, Some(0))];
    for (run, (steps, skipped)) in results.runs.iter_mut().zip(work) {
        run.totals.counters.tuner = Some(TunerCounters {
            asked: 40,
            changed: 2,
            steps,
            skipped,
            micros: 800,
        });
    }
    let found = rows(&results).unwrap();
    let expected = [
        "arm missions changes of limits updates left out µs a mission of the time",
        "mock-a 40.0 2.00 30.0 7.00 20.0 ",
        "mock-b 40.0 2.00 5.00 - 20.0 ",
        "mock-c 40.0 2.00 0.00 3.00 20.0 ",
    ];
    assert_eq!(found.len(), expected.len(), "{found:?}");
    for (row, expected) in found.iter().zip(expected) {
        assert!(row.starts_with(expected), "{row}");
    }
}

/// As in a demo, whose sessions are over before a tuner has been asked twice.
#[test]
fn sessions_too_short_to_learn_from_have_a_sentence_in_place_of_a_table() {
    use crate::judge::{Convergence, Figure};
    let mut results = results(&["mock-a", "mock-b"], 1);
    let missions = |missions: f64| Convergence {
        arm: "learned".parse().unwrap(),
        session: "ingest".into(),
        best: "fixed-1".parse().unwrap(),
        missions: Figure::of([missions]).unwrap(),
        near: None,
        tells: true,
        rested: Figure::of([0.0]).unwrap(),
    };
    let told = |results: &Results| {
        let text = render_table(results);
        let sentence = text.contains("over before its second mission ended");
        (sentence, text.contains("Missions until"))
    };
    assert_eq!(told(&results), (false, false), "none follows the workload");
    for (number, seen) in [(1.0, (true, false)), (2.0, (false, true))] {
        results.verdict.as_mut().unwrap().convergence = vec![missions(number)];
        assert_eq!(told(&results), seen, "{number} missions");
    }
}

#[test]
fn write_amplifications_that_span_too_little_stand_in_brackets() {
    let mut results = results(&["mock-a", "mock-b"], 3);
    let cell = |results: &Results| {
        let text = render_table(results);
        let (_, table) = text.split_once("What it cost").expect("a table");
        let row = table.lines().find(|line| line.contains("mock-a"));
        let rest = row
            .expect("a row")
            .trim_start()
            .trim_start_matches("mock-a");
        let (cell, _) = rest.trim_start().split_once("   ").expect("cells");
        cell.to_owned()
    };
    let short = cell(&results);
    assert!(short.starts_with('(') && short.ends_with(')'), "{short}");
    assert!(report_html(&results).contains("\"write_shortfall\":{\"written\":"));
    for run in &mut results.runs {
        run.totals.user_bytes *= 1000;
    }
    results.verdict = None;
    let enough = cell(&results);
    assert!(!enough.contains('(') && enough.contains('±'), "{enough}");
    assert!(report_html(&results).contains("\"write_shortfall\":null"));
}

#[test]
fn no_column_hides_its_spread() {
    let mut results = results(&["mock-a", "mock-b"], 3);
    for run in &mut results.runs {
        let round = f64::from(run.round);
        let totals = &mut run.totals;
        totals.counters.data_blocks_read = Some(1000);
        totals.writes.p999 = 1000.0 * (2.0 + round);
        totals.counters.largest_piece_bytes = (3 + u64::from(run.round)) << 20;
        totals.baseline_resident_bytes = 0;
        totals.peak_resident_bytes = (50 + 10 * u64::from(run.round)) << 20;
        let latencies = run.sessions.iter_mut().flat_map(|it| &mut it.latencies);
        for (_, latency) in latencies {
            latency.max = 10_000.0 * (1.0 + round);
        }
        let quiet = run.sessions.iter_mut().find(|it| it.name == "quiet");
        quiet.unwrap().latency.p999 = 500.0 + 100.0 * round;
    }
    results.verdict = None;
    let text = render_table(&results);
    let row = |title: &str, arm: &str| {
        let (_, table) = text.split_once(title).expect("a table");
        let row = table
            .lines()
            .find(|line| line.trim_start().starts_with(arm));
        row.expect("a row").to_owned()
    };
    let costs = row("What it cost", "mock-a");
    assert!(
        costs.contains("60.0 ±10.0 MiB") && costs.contains("5 MiB"),
        "{costs}"
    );
    // Mocks count no blocks; a thousand of them are some by read.
    assert!(!costs.contains(" - "), "{costs}");
    let latencies = row("\nLatencies", "mock-a");
    assert!(latencies.contains("3.00 ±1.00 ms"), "{latencies}");
    assert!(latencies.contains("30.0 ms"), "the longest of any round");
    let quiet = row("By session", "quiet");
    assert_eq!(quiet.matches("600 ±100 µs*").count(), 2, "{quiet}");
}
