use super::*;
use crate::arms::ArmName;
use crate::run::{ArmRun, Launcher, Progress, RunPlan, Silent, Watcher, run};
use crate::workload::{Rate, load_workload, parse_workload};

fn results(arms: &[&str], rounds: u32) -> Results {
    let out = tempfile::tempdir().unwrap();
    let mut plan = plan(arms, out.path());
    plan.rounds = rounds;
    run(&plan, &mut Silent).unwrap()
}

fn plan(arms: &[&str], out: &std::path::Path) -> RunPlan {
    let mut workload = load_workload("mixed-sessions")
        .unwrap()
        .sized(Some(1000), 1.0)
        .unwrap();
    for session in &mut workload.sessions {
        session.rate = if session.name == "quiet" {
            Rate::Constant { per_second: 1e5 }
        } else {
            Rate::Closed
        };
    }
    let arms = arms.iter().map(|name| name.parse().unwrap()).collect();
    let mut plan = RunPlan::new(workload, arms, out.to_path_buf()).unwrap();
    plan.launcher = Launcher::InProcess;
    plan
}

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
        "p99.9",
    ] {
        assert!(text.contains(words), "no {words} in {text}");
    }
    assert!(!text.contains("Not a comparison"));
    assert!(!text.contains("Load models"), "no arm here has one");
}

#[test]
fn table_and_page_name_the_program() {
    let mut results = results(&["mock-a"], 1);
    assert!(!render_table(&results).contains("commit"));
    results.runs[0].program = Some(crate::run::Program {
        version: "0.1.0".into(),
        commit: Some("0123456789abcdef".into()),
        dirty: false,
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
        let cells = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
        Some(rows.map(cells).collect::<Vec<String>>())
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
fn the_best_of_a_session_and_who_ties_with_it_are_marked_though_the_table_is_cut() {
    let names = [
        "mock-a", "mock-b", "mock-c", "mock-d", "mock-e", "mock-f", "mock-g",
    ];
    // 10, 9 ... 4 s with a range of 0.4 s each; the last but one reaches into the last's.
    let stars = |rounds| {
        let mut results = results(&names, rounds);
        for run in &mut results.runs {
            let place = names.iter().position(|name| *name == run.arm.to_string());
            let wide = if place == Some(5) { 5.0 } else { 1.0 };
            let closing = run.sessions.last_mut().unwrap();
            closing.seconds =
                10.0 - place.unwrap() as f64 + wide * 0.2 * (f64::from(run.round) - 1.0);
        }
        results.verdict = None;
        let text = render_table(&results);
        let rows: Vec<&str> = text
            .lines()
            .filter(|line| line.trim_start().starts_with("closing "))
            .collect();
        assert!(rows.len() >= 2, "{text}");
        let starred: Vec<String> = rows
            .iter()
            .flat_map(|row| row.split_whitespace())
            .filter(|cell| cell.ends_with('*'))
            .map(str::to_owned)
            .collect();
        starred
    };
    assert_eq!(stars(3), ["±1.00*", "±0.20*"], "5.0 ±1.0 meets 4.0 ±0.2");
    assert_eq!(stars(2), [""; 0], "two rounds are no comparison");
}

/// Results of these arms with so many seconds in every even and odd closed session.
fn timed(arms: [(&str, [f64; 2]); 3]) -> Results {
    let mut results = results(&["mock-a", "mock-b", "mock-c"], 3);
    let mocks = results.parameters.arms.clone();
    let named = arms.map(|(name, _)| name.parse::<ArmName>().unwrap());
    for run in &mut results.runs {
        let place = mocks.iter().position(|mock| *mock == run.arm).unwrap();
        run.arm = named[place].clone();
        for (number, session) in run.sessions.iter_mut().enumerate() {
            session.seconds = arms[place].1[number % 2];
        }
    }
    results.parameters.arms = named.to_vec();
    results.verdict = None;
    results
}

#[test]
fn headroom_is_told_over_all_arms_and_over_those_of_one_store() {
    // Five closed sessions of either kind; quiet is open.
    let arms = [
        ("fixed-1", [2.0, 4.0]),
        ("rocksdb-leveled-tuned", [1.0, 5.0]),
        ("fixed-10", [4.0, 3.0]),
    ];
    let told = |results: &Results| {
        let text = render_table(results);
        let (_, rest) = text.split_once("Headroom").expect("a table");
        let (told, _) = rest.split_once("Time of closed").expect("the next one");
        told.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let text = told(&timed(arms));
    for words in [
        "best static arm 30.0 ±0.0 fixed-1",
        "best of each session 20.0 10.0 33.3 % any static arm: no store",
        "chosen in other rounds 20.0 ±0.0 10.0 33.3 %",
        "best of each session 25.0 5.00 16.7 % fixed-1, fixed-10: one store can switch",
        "chosen in other rounds 25.0 ±0.0 5.00 16.7 %",
        "winner's curse",
    ] {
        assert!(text.contains(words), "no {words} in {text}");
    }
    let mut own = arms;
    own[1].0 = "fixed-4";
    let text = told(&timed(own));
    assert!(
        !text.contains("any static arm"),
        "both are the same: {text}"
    );
    assert!(
        text.contains("fixed-1, fixed-4, fixed-10: one store"),
        "{text}"
    );
}

#[test]
fn what_arms_won_and_their_ranks_are_told() {
    let arms = [
        ("fixed-1", [2.0, 4.0]),
        ("fixed-10", [4.0, 1.0]),
        ("learned", [2.0, 1.5]),
    ];
    let text = render_table(&timed(arms));
    let rows: Vec<String> = text
        .lines()
        .map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "))
        .collect();
    // Five closed sessions of either kind: 30, 25, and 17.5 s; the bound is 15.
    for row in [
        "arm best of each session chosen in other rounds",
        "learned +16.7 %, 75 % +16.7 %, 75 %",
        "session fixed-1 fixed-10 learned",
    ] {
        assert!(rows.iter().any(|it| it == row), "no {row} in {text}");
    }
    let ranks = text.split("\nRanks\n").nth(1).expect("a table");
    let mut ranks = ranks.lines().filter(|line| !line.contains("closing"));
    let mean = ranks.find(|line| line.trim_start().starts_with("mean"));
    let mean: Vec<&str> = mean.expect("means").split_whitespace().collect();
    assert_eq!(mean.len(), 4, "{text}");
    let static_arms = [
        ("fixed-1", [2.0, 4.0]),
        ("fixed-4", [3.0, 3.0]),
        ("fixed-10", [4.0, 1.0]),
    ];
    let text = render_table(&timed(static_arms));
    assert!(
        !text.contains("\nRanks\n") && !text.contains("was won"),
        "{text}"
    );
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
        totals.writes.max = 10_000.0 * (1.0 + round);
        totals.counters.largest_piece_bytes = (3 + u64::from(run.round)) << 20;
        totals.baseline_resident_bytes = 0;
        totals.peak_resident_bytes = (50 + 10 * u64::from(run.round)) << 20;
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

#[test]
fn sessions_that_offer_a_rate_for_a_time_have_a_picture() {
    let out = tempfile::tempdir().unwrap();
    let offered = r#"
name = "offered"
about = "For tests."
entries = 1000
[[session]]
name = "two waves"
seconds = 0.4
rate = { periodic = { high = 2000, low = 500, seconds = 0.1 } }
mix = { update = 1, get_present = 1 }
[[session]]
name = "by-number"
operations = 50
rate = { constant = { per_second = 5000 } }
mix = { update = 1 }
"#;
    let workload = parse_workload(offered, "f").unwrap();
    let arms = ["mock-a", "mock-b"].iter();
    let arms = arms.map(|name| name.parse().unwrap()).collect();
    let mut plan = RunPlan::new(workload, arms, out.path().to_path_buf()).unwrap();
    plan.launcher = Launcher::InProcess;
    plan.sample_millis = 50;
    plan.rounds = 1;
    let results = run(&plan, &mut Silent).unwrap();
    let pictures = write_offered_pictures(&results, out.path()).unwrap();
    assert_eq!(pictures, [out.path().join("offered-two-waves.svg")]);
    let picture = std::fs::read_to_string(&pictures[0]).unwrap();
    for words in ["<svg", "mock-a: operations a second", "mock-b: p99", "debt"] {
        assert!(picture.contains(words), "no {words}");
    }
    assert!(picture.matches("<polyline").count() >= 8, "lines are drawn");
    let table = render_table(&results);
    let head = "two waves, 2000 a second for 0.1 s, then 500 for 0.1 s";
    assert!(
        table.contains(head) && table.contains("longest (max)"),
        "{table}"
    );
}

#[test]
fn columns_are_aligned() {
    let mut grid = grid::Grid::new(&["arm", "s", ""]);
    grid.row(["a".into(), "1.0".into(), "x".into()]);
    grid.row(["long-name".into(), "100 ±2".into(), "yy".into()]);
    let text = grid.left_from(2).to_string();
    assert_eq!(
        text,
        "  arm              s\n  a              1.0   x\n  long-name   100 ±2   yy\n"
    );
}

#[test]
fn numbers_read_well() {
    assert_eq!(words::count(2_000_000), "2,000,000");
    assert_eq!(words::micros(1500.0), "1.50 ms");
    assert_eq!(words::mebibytes(f64::from(2 << 20)), "2 MiB");
    assert_eq!(words::mebibytes(f64::from(256 << 10)), "256 KiB");
    let figure = crate::judge::Figure::of([10.0, 12.0, 13.0]).unwrap();
    assert_eq!(words::figure(&figure), "12.0 ±1.5");
    assert_eq!(words::figure_with(&figure, 3), "12.000 ±1.500");
    assert_eq!(words::micros_figure(&figure), "12.0 ±1.5 µs");
    let slow = crate::judge::Figure::of([900.0, 1100.0, 9100.0]).unwrap();
    assert_eq!(words::micros_figure(&slow), "1.10 ±4.10 ms");
    let single = crate::judge::Figure::of([f64::from(3 << 19)]).unwrap();
    assert_eq!(words::bytes_figure(&single), "1.50 MiB");
    let none = crate::judge::Figure::of([0.0, 0.0]).unwrap();
    assert_eq!(words::bytes_figure(&none), "0.00 ±0.00 MiB");
}

#[test]
fn the_page_holds_the_data_and_needs_no_network() {
    let results = results(&["mock-a", "mock-</script>b"], 1);
    let page = report_html(&results);
    let start = page.find("id=\"data\">").unwrap() + "id=\"data\">".len();
    let end = start + page[start..].find("</script>").unwrap();
    let data: serde_json::Value = serde_json::from_str(&page[start..end]).unwrap();
    assert_eq!(
        data["runs"][1]["arm"], "mock-</script>b",
        "names cannot end the element"
    );
    assert_eq!(data["runs"][0]["sessions"].as_array().unwrap().len(), 11);
    assert!(!data["runs"][0]["points"].as_array().unwrap().is_empty());
    assert_eq!(data["parameters"]["workload"]["name"], "mixed-sessions");
    assert!(
        data["verdict"]["arms"][0]["total_seconds"]["median"]
            .as_f64()
            .unwrap()
            > 0.0
    );
    let rest = page.replace("http://www.w3.org/2000/svg", "");
    assert!(!rest.contains("http:") && !rest.contains("https:") && !rest.contains("{{"));
}

/// Counts the runs in the exports whenever an arm begins: what an interruption leaves.
struct Interrupted<'a> {
    out: &'a std::path::Path,
    exported: Vec<usize>,
}

impl Watcher for Interrupted<'_> {
    fn arm_begins(&mut self, _: &ArmName, _: u32, _: usize, _: usize) {
        let read = |name| std::fs::read_to_string(self.out.join(name)).unwrap_or_default();
        let runs = read(REPORT_FILE).matches("\"points\":").count();
        assert_eq!(read(TABLE_FILE).contains("1,000 entries"), runs > 0);
        self.exported.push(runs);
    }
    fn progress(&mut self, _: &Progress) {}
    fn arm_ended(&mut self, _: &ArmRun) {}
}

#[test]
fn an_interrupted_run_has_its_exports() {
    let out = tempfile::tempdir().unwrap();
    let mut watcher = Interrupted {
        out: out.path(),
        exported: Vec::new(),
    };
    let mut plan = plan(&["mock-a", "mock-fails", "mock-b"], out.path());
    plan.rounds = 1;
    run(&plan, &mut Exporting::new(&mut watcher, out.path())).unwrap();
    assert_eq!(watcher.exported, [0, 1, 1], "the second arm fails");
}

#[test]
fn the_page_is_written_into_the_directory() {
    let out = tempfile::tempdir().unwrap();
    let path = write_report(&results(&["mock-a"], 1), out.path()).unwrap();
    assert_eq!(path, out.path().join(REPORT_FILE));
    assert!(
        std::fs::read_to_string(path)
            .unwrap()
            .starts_with("<!doctype html>")
    );
}
