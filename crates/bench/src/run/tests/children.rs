//! Arms that fail, and arms in processes of their own.

use std::io::Cursor;
use std::sync::mpsc::channel;
use std::time::Duration;

use super::*;
use crate::report::render_table;

#[test]
fn a_failed_arm_ends_neither_the_run_nor_the_others() {
    let out = tempfile::tempdir().unwrap();
    let plan = plan(&["mock-fails", "mock-stale", "mock-good"], out.path());
    let results = run(&plan, &mut Silent).unwrap();
    assert_eq!(results.runs.len(), 3, "one good run in each round");
    assert_eq!(results.failures.len(), 6);
    assert!(
        results
            .failures
            .iter()
            .any(|f| f.sentence.contains("wrong answer"))
    );
    let verdict = results.verdict.unwrap();
    assert_eq!(verdict.complete_rounds, 0);
    assert!(verdict.cautions[0].contains("Not a comparison: 0 complete rounds"));
}

#[test]
fn a_child_tells_the_same_story() {
    let out = tempfile::tempdir().unwrap();
    let plan = plan(&["mock-good"], out.path());
    let job = job(&plan, &Machine::default(), &plan.arms[0], 0).unwrap();
    let mut lines = Vec::new();
    let program = Program {
        version: "0.1.0".into(),
        commit: Some("0123456789abcdef".into()),
        dirty: true,
        sources: Some("0011223344556677".into()),
    };
    let job = Cursor::new(serde_json::to_vec(&job).unwrap());
    run_arm_child(job, &mut lines, Some(program.clone()), || ()).unwrap();
    let events: Vec<Event> = String::from_utf8(lines)
        .unwrap()
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let (last, before) = events.split_last().unwrap();
    assert!(
        before
            .iter()
            .all(|event| matches!(event, Event::Progress(_)))
            && !before.is_empty()
    );
    let Event::Done(run) = last else {
        panic!("{last:?}")
    };
    assert_eq!(run.sessions.len(), plan.workload.sessions.len() + 1);
    assert_eq!(run.program.as_ref(), Some(&program));
    let mut lines = Vec::new();
    run_arm_child("nonsense".as_bytes(), &mut lines, None, || ()).unwrap();
    assert!(String::from_utf8(lines).unwrap().contains("failed"));
}

#[test]
fn a_child_hears_that_its_parent_is_gone() {
    let out = tempfile::tempdir().unwrap();
    let plan = plan(&["mock-good"], out.path());
    let job = job(&plan, &Machine::default(), &plan.arms[0], 0).unwrap();
    let alone = |input: &[u8]| {
        let (sender, called) = channel();
        let input = Cursor::new(input.to_vec());
        run_arm_child(input, std::io::sink(), None, move || {
            let _ = sender.send(());
        })
        .unwrap();
        called.recv_timeout(Duration::from_secs(60)).is_ok()
    };
    let mut line = serde_json::to_vec(&job).unwrap();
    line.push(b'\n');
    assert!(alone(&line));
    assert!(!alone(b"nonsense\n"), "it ends by itself");
}

#[test]
fn programs_are_told_apart() {
    let program = |commit: Option<&str>, dirty| Program {
        version: "0.1.0".into(),
        commit: commit.map(str::to_owned),
        dirty,
        sources: None,
    };
    let known = program(Some("0123456789abcdef0123"), false);
    assert_eq!(known.to_string(), "lissom 0.1.0, commit 0123456789ab");
    let dirty = program(Some("0123"), true);
    assert_eq!(dirty.to_string(), "lissom 0.1.0, commit 0123, dirty");
    let own = Program {
        sources: Some("0011223344556677".into()),
        ..dirty.clone()
    };
    let named = "lissom 0.1.0, commit 0123, dirty, sources 001122334455";
    assert_eq!(own.to_string(), named);
    let unknown = program(None, false);
    assert_eq!(unknown.to_string(), "lissom 0.1.0, commit unknown");

    let out = tempfile::tempdir().unwrap();
    let plan = plan(&["mock-a"], out.path());
    let mut results = run(&plan, &mut Silent).unwrap();
    assert!(results.programs().is_empty(), "nobody told");
    let said = |results: &Results| judge(&results.parameters, &results.runs).cautions.join(" ");
    assert!(!said(&results).contains("different programs"));
    results.runs[0].program = Some(known.clone());
    results.runs[1].program = Some(dirty.clone());
    results.runs[2].program = Some(known.clone());
    assert_eq!(results.programs(), [&known, &dirty]);
    let cautions = said(&results);
    assert!(
        cautions.contains("commit 0123456789ab; lissom"),
        "{cautions}"
    );
    assert!(cautions.contains("commit 0123, dirty was built from sources"));
    results.save(out.path()).unwrap();
    assert_eq!(Results::read(out.path()).unwrap().runs, results.runs);
}

#[test]
fn a_child_that_dies_is_a_failure_with_a_sentence() {
    let out = tempfile::tempdir().unwrap();
    let mut plan = plan(&["mock-good"], out.path());
    plan.launcher = Launcher::Child {
        program: "/bin/false".into(),
        arguments: Vec::new(),
    };
    let results = run(&plan, &mut Silent).unwrap();
    assert!(results.runs.is_empty());
    assert!(
        results.failures[0]
            .sentence
            .contains("ended without a result")
    );
}

/// It may have been a wrong answer.
#[test]
fn what_failed_once_stays_on_record() {
    let out = tempfile::tempdir().unwrap();
    let mut plan = plan(&["mock-good"], out.path());
    plan.rounds = 1;
    let launcher = plan.launcher.clone();
    plan.launcher = Launcher::Child {
        program: "/bin/false".into(),
        arguments: Vec::new(),
    };
    for _ in 0..2 {
        let failed = run(&plan, &mut Silent).unwrap();
        assert_eq!(failed.failures.len(), 1, "the same once");
        assert!(!failed.failures[0].made_good);
    }
    plan.launcher = launcher;
    let results = run(&plan, &mut Silent).unwrap();
    assert_eq!((results.runs.len(), results.failures.len()), (1, 1));
    assert!(results.failures[0].made_good);
    let table = render_table(&results);
    assert!(
        table.contains("! failed, and succeeded when it was run again: "),
        "{table}"
    );
}
