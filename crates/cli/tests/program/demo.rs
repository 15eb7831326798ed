//! demo.

use super::support::{done, json};

/// On a disk, which a directory for what is temporary need not be: the demo goes around the
/// system's cache.
fn directory() -> tempfile::TempDir {
    tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a directory")
}

#[test]
#[ignore = "takes two minutes"]
fn the_demo_measures_and_then_shows_the_learner_in_a_simulation() {
    let directory = directory();
    let out = directory.path().join("out");
    let arguments = ["demo", "--out", out.to_str().expect("UTF-8")];
    let text = done(&arguments);
    let (measured, simulated) = text
        .split_once("\nSimulated, not measured: ")
        .expect("both parts");
    assert!(measured.starts_with("mixed-sessions: "), "{measured}");
    assert!(!measured.contains("learned-from-10"), "{measured}");
    for words in [
        "five-sessions, simulated: 2000000 entries; lissom ",
        "Virtual time, s",
        "Run limits under learned: ",
        "Run limits under learned-from-10: ",
        "  lissom sim five-sessions --noise 0.05",
        "/out/report.html",
    ] {
        assert!(simulated.contains(words), "{words}: {simulated}");
    }
    let page = std::fs::read_to_string(out.join("report.html")).expect("a page");
    assert!(page.contains("\"supplement\":{\"heading\":\"Simulated, not measured: "));

    // All runs are there, so that this only simulates.
    let both = json(&[&arguments[..], &["--json"]].concat());
    assert_eq!(both["runs"].as_array().map(Vec::len), Some(18));
    assert_eq!(both["simulated"]["workload"], "five-sessions");
    let arms = both["simulated"]["arms"].as_array().expect("arms");
    let learner = arms.iter().find(|arm| arm["arm"] == "learned-from-10");
    let decisions = &learner.expect("the learner from far off")["outcome"]["decisions"];
    let ends = |decision: &serde_json::Value| decision["limits"] != "10";
    assert!(
        decisions.as_array().expect("decisions").iter().any(ends),
        "it has to change its limits: {decisions}"
    );
}
