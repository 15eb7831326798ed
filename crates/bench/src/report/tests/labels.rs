//! Arms whose names spell a schedule have labels wherever people read.

use super::standing::timed;
use super::*;
use crate::arms::ArmName;
use crate::report::labels::Labels;
use crate::run::Failure;

/// As long as such names are; the name of the other oracle begins with it.
const ORACLE: &str = "oracle:ingest=fixed-4,short-scans=fixed-1,updates-zipf=fixed-10,\
                      absent-keys=fixed-1,hot-reads=fixed-1,ingest-bursts=fixed-1,\
                      deletes=fixed-1,scans-after-deletes=fixed-1,quiet=fixed-1,\
                      half-scans=fixed-1,closing=fixed-1";

/// Results of two oracles, the first one over the space bound, and a failure of the second.
fn two_oracles() -> (Results, String) {
    let second = format!("{ORACLE}0");
    let mut results = timed([
        ("fixed-1", [2.0, 4.0]),
        (ORACLE, [1.0, 1.0]),
        (second.as_str(), [1.5, 1.5]),
    ]);
    let first: ArmName = ORACLE.parse().unwrap();
    for run in results.runs.iter_mut().filter(|run| run.arm == first) {
        run.totals.peak_space_amplification = 9.0;
    }
    results.failures.push(Failure {
        arm: second.parse().unwrap(),
        round: 0,
        sentence: format!("arm {second}, round 1: refused"),
        made_good: false,
    });
    (results, second)
}

#[test]
fn labels_are_short_and_no_two_are_the_same() {
    let names = [
        "switch-lazy:a=fixed-1,b=fixed-10",
        "fixed-4",
        "oracle:a=fixed-1",
        "switch-lazy:a=fixed-10,b=fixed-1",
        "oracle:a=fixed-10",
        "switch-file-granular:a=fixed-1",
    ];
    let arms: Vec<ArmName> = names.iter().map(|name| name.parse().unwrap()).collect();
    let labels = Labels::of_plan(&arms);
    let told: Vec<String> = arms.iter().map(|arm| labels.of(arm)).collect();
    let expected = [
        "switch-lazy",
        "fixed-4",
        "oracle",
        "switch-lazy-2",
        "oracle-2",
        "switch-file-granular",
    ];
    assert_eq!(told, expected);
    let sentence = "oracle:a=fixed-10 and oracle:a=fixed-1 are slow, fixed-4 is not";
    assert_eq!(
        labels.in_sentence(sentence),
        "oracle-2 and oracle are slow, fixed-4 is not"
    );
}

#[test]
fn a_long_schedule_is_wrapped_between_sessions() {
    let labels = Labels::of_plan(&[ORACLE.parse().unwrap()]);
    let schedules = labels.schedules();
    let lines: Vec<&str> = schedules.lines().collect();
    assert!(lines.iter().all(|line| line.len() <= 100), "{schedules}");
    let begins: Vec<&str> = lines.iter().map(|line| &line[..15]).collect();
    let expected = ["oracle: ingest=", "        hot-rea", "        quiet=f"];
    assert_eq!(begins, expected, "{schedules}");
    assert_eq!(schedules.split_whitespace().collect::<String>(), ORACLE);
    let fixed = Labels::of_plan(&["fixed-4".parse().unwrap()]);
    assert_eq!(fixed.schedules(), "");
}

#[test]
fn the_table_tells_a_schedule_once_and_is_no_wider_for_it() {
    let (results, second) = two_oracles();
    let text = render_table(&results);
    let rows = text.lines().filter(|line| !line.starts_with("  ! "));
    let widest = rows.map(|line| line.chars().count()).max();
    assert!(widest < Some(ORACLE.len() + 20), "{text}");
    assert!(!text.contains("oracle:ingest"), "{text}");
    let words = single_spaced(&text);
    assert_eq!(words.matches("ingest=fixed-4").count(), 2, "{text}");
    for told in [
        "oracle: ingest=fixed-4, short-scans=fixed-1, updates-zipf=fixed-10, absent-keys=fixed-1, \
         hot-reads=fixed-1,",
        "oracle-2: ingest=fixed-4, short-scans=fixed-1,",
        "! oracle reached a space amplification of 9.00",
        "! failed: arm oracle-2, round 1: refused",
        "oracle-2 15.0 ±0.0 15.0 50.0 % a real run with perfect knowledge",
        "session fixed-1 oracle oracle-2 ",
    ] {
        assert!(words.contains(told), "no {told} in {text}");
    }
    let verdict = verdict_of(&results);
    assert!(verdict.cautions.iter().any(|it| it.starts_with(ORACLE)));
    assert_eq!(verdict.arms[2].arm.to_string(), second);
}

#[test]
fn a_switch_stands_by_its_label_and_wins_nothing_beside_others() {
    let text = render_table(&timed([
        ("fixed-1", [2.0, 4.0]),
        ("fixed-10", [4.0, 1.0]),
        ("switch-lazy:ingest=fixed-1,closing=fixed-10", [2.0, 1.5]),
    ]));
    let words = single_spaced(&text);
    let told = "switch-lazy: ingest=fixed-1, closing=fixed-10 ";
    assert!(words.contains(told), "no {told} in {text}");
    assert!(
        !words.contains(" switch-lazy +"),
        "it knows the sessions: {text}"
    );
    assert!(!text.contains("switch-lazy:ingest"), "{text}");
}

#[test]
fn the_page_has_labels_and_tells_what_they_stand_for() {
    let (results, second) = two_oracles();
    let page = report_html(&results);
    let data = data_of(&page);
    let labels = &data["labels"];
    assert_eq!(labels.as_array().unwrap().len(), 2);
    assert_eq!(labels[0]["label"], "oracle");
    assert_eq!(labels[1]["label"], "oracle-2");
    assert_eq!(labels[1]["sessions"][0], "ingest=fixed-4");
    assert_eq!(labels[1]["arm"], second.as_str());
    assert_eq!(data["verdict"]["arms"][2]["arm"], second.as_str());
    let cautions = data["verdict"]["cautions"].as_array().unwrap();
    let mut cautions = cautions.iter().filter_map(serde_json::Value::as_str);
    assert!(cautions.any(|it| it.starts_with("oracle reached")));
    assert_eq!(
        data["failures"][0]["sentence"],
        "arm oracle-2, round 1: refused"
    );
    assert!(page.contains("it.arm = label(it.arm)"), "it shows them");
    assert!(page.contains("it.sessions.join"), "and what they stand for");
}
