//! The page, the pictures and the exports of a run.

use super::*;
use crate::arms::ArmName;
use crate::drive::Sample;
use crate::run::{ArmRun, Progress, Watcher};
use crate::store::LevelShape;
use crate::trajectories::LIMITS_FILE;
use crate::workload::parse_workload;

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
    let mut results = run(&plan, &mut Silent).unwrap();
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

    let oracle: ArmName = "oracle:two waves=fixed-1".parse().unwrap();
    let mock = std::mem::replace(&mut results.parameters.arms[1], oracle.clone());
    for run in results.runs.iter_mut().filter(|run| run.arm == mock) {
        run.arm = oracle.clone();
    }
    write_offered_pictures(&results, out.path()).unwrap();
    let picture = std::fs::read_to_string(&pictures[0]).unwrap();
    assert!(picture.contains("oracle: p99") && !picture.contains("oracle:two"));
}

/// The run limits of each level at the end of half of a session.
fn sample(session: usize, operations: u64, limits: &[(u32, Option<u32>)]) -> Sample {
    let levels = limits.iter().map(|(level, run_limit)| LevelShape {
        level: *level,
        run_limit: *run_limit,
        ..LevelShape::default()
    });
    Sample {
        session,
        seconds: 1.0,
        operations_per_second: operations as f64 / 2.0,
        levels: levels.collect(),
        ..Sample::default()
    }
}

#[test]
fn limits_of_arms_that_follow_the_workload_are_drawn_and_published() {
    let out = tempfile::tempdir().unwrap();
    let mut results = results(&["mock-a", "mock-b"], 1);
    let file = out.path().join("published.json");
    let picture = out.path().join("published.report").join(LIMITS_FILE);
    publish_exports(&results, &file).unwrap();
    assert!(!picture.exists(), "no arm follows the workload");

    let learned: ArmName = "learned".parse().unwrap();
    let mock = std::mem::replace(&mut results.parameters.arms[1], learned.clone());
    let mut runs = results.runs.iter_mut();
    let run = runs.find(|run| run.arm == mock).unwrap();
    run.arm = learned;
    run.samples = vec![sample(0, 1, &[])];
    results.verdict = None;
    let drawn = |results: &Results| {
        publish_exports(results, &file).unwrap();
        std::fs::read_to_string(&picture).ok()
    };
    assert_eq!(drawn(&results), None, "its limits are not told");

    let run = results.runs.last_mut().unwrap();
    let operations = run.sessions[0].operations;
    run.samples = vec![
        sample(0, operations, &[(0, None), (1, Some(1)), (3, Some(10))]),
        sample(0, operations, &[(1, Some(4))]),
        sample(1, 0, &[(1, Some(4)), (3, Some(10))]),
    ];
    let svg = drawn(&results).unwrap();
    let line = |level: u32| {
        let title = format!("<title>learned, level {level}</title>");
        let (before, _) = svg.split_once(&title)?;
        before.rsplit("d=\"").next()
    };
    let steps = |level| line(level).map(|path| path.matches('V').count());
    assert_eq!([1, 2, 3].map(steps), [Some(1), None, Some(0)], "{svg}");
    assert!(svg.contains("Run limits, mixed-sessions, first round"));
    assert!(!svg.contains("time of an operation") && svg.contains(">ingest</text>"));
    let exports = write_exports(&results, out.path()).unwrap();
    assert!(exports.pictures.contains(&out.path().join(LIMITS_FILE)));
}

#[test]
fn the_page_holds_the_data_and_needs_no_network() {
    let results = results(&["mock-a", "mock-</script>b"], 1);
    let page = report_html(&results);
    let data = data_of(&page);
    assert_eq!(
        data["runs"][1]["arm"], "mock-</script>b",
        "names cannot end the element"
    );
    assert_eq!(data["runs"][0]["sessions"].as_array().unwrap().len(), 11);
    assert!(!data["runs"][0]["points"].as_array().unwrap().is_empty());
    assert_eq!(data["parameters"]["workload"]["name"], "mixed-sessions");
    assert_eq!(data["verdict"]["arms"][1]["is_rival"], true);
    assert!(page.contains("a.is_rival"), "the page looks at it");
    assert!(
        data["verdict"]["arms"][0]["total_seconds"]["median"]
            .as_f64()
            .unwrap()
            > 0.0
    );
    let rest = page.replace("http://www.w3.org/2000/svg", "");
    assert!(!rest.contains("http:") && !rest.contains("https:") && !rest.contains("{{"));
}

#[test]
fn a_supplement_stands_behind_the_benchmark_alone_where_it_is_given() {
    let results = results(&["mock-a"], 1);
    let none = data_of(&report_html(&results));
    assert!(none.get("supplement").is_none(), "{none}");
    let supplement = Supplement {
        heading: "Simulated".into(),
        note: "Nothing here is measured.".into(),
        picture: "<svg xmlns=\"http://www.w3.org/2000/svg\"><title>a</title></svg>".into(),
        alternative: "a picture".into(),
        again: "The same again".into(),
        command: "lissom sim </script>".into(),
    };
    let out = tempfile::tempdir().unwrap();
    let path = write_report_with(&results, &supplement, out.path()).unwrap();
    let page = std::fs::read_to_string(path).unwrap();
    let data = data_of(&page);
    let shown = serde_json::to_value(&supplement).unwrap();
    assert_eq!(data["supplement"], shown);
    assert_eq!(data["runs"], none["runs"], "the benchmark is the same");
    let (shows, ends) = ("supplementSection(page, data.supplement)", "\"footer\"");
    assert!(page.find(shows) < page.find(ends), "the page shows it");
    assert!(page.contains(shows));
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

#[test]
fn results_are_published_without_samples_and_shown_all_the_same() {
    let out = tempfile::tempdir().unwrap();
    let results = results(&["mock-a", "mock-b"], 3);
    assert!(results.runs.iter().any(|run| !run.samples.is_empty()));
    let file = out.path().join("published.json");
    results.publish(&file).unwrap();
    let text = std::fs::read_to_string(&file).unwrap();
    assert_eq!(text.matches("\"samples\":[]").count(), 6);
    let whole = results.save(out.path()).unwrap();
    assert!(text.len() < std::fs::read(whole).unwrap().len());
    let read = Results::read(&file).unwrap();
    let mut expected = results.slim();
    expected.verdict = read.verdict.clone();
    assert_eq!(read, expected);
    let shown = render_table(&read);
    assert!(
        shown.contains("Headroom") && shown.contains("closing"),
        "{shown}"
    );
    assert!(report_html(&read).contains("\"points\":[]"));
    publish_exports(&read, &file).unwrap();
    let beside = out.path().join("published.report");
    assert!(!beside.exists(), "without samples there is no more to tell");
    publish_exports(&results, &file).unwrap();
    let told = std::fs::read_to_string(beside.join(TABLE_FILE)).unwrap();
    assert_eq!(told, render_table(&results));
    let error = results
        .publish(&out.path().join("no/such.json"))
        .unwrap_err();
    assert!(error.to_string().starts_with("cannot write "), "{error}");
}
