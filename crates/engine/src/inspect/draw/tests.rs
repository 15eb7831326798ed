//! Drawings as text: each file in `drawn` holds a tree as `lissom_core` draws
//! it for the planner, a line of dashes, and the picture.
//! `LISSOM_REWRITE=1 cargo test --release -p lissom drawn` draws anew.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use lissom_core::testing::drawing;

use super::{Style, WIDTH, draw};
use crate::inspect::portrait::{self, Known};
use crate::inspect::{Decision, Inspection, LimitReason};

const DASHES: &str = "----\n";

fn inspection(name: &str, drawn: &str) -> Inspection {
    let seen = drawing::parse(drawn).expect(name);
    let known = Known {
        shape: &seen.shape,
        state: &seen.state,
        policy: Some("lazy-leveling"),
        unreadable_files: seen.unreadable.len(),
    };
    let tree = portrait::flexible(&seen.tree, known);
    Inspection {
        directory: format!("data/{name}"),
        adopted: true,
        pinned: name == "busy",
        remarks: Vec::new(),
        families: vec![portrait::frame(
            "default",
            &seen.tree,
            &BTreeMap::new(),
            tree,
        )],
        owed: None,
        limits: Vec::new(),
        decisions: Vec::new(),
    }
}

/// The file's text with its picture as it is now.
fn drawn(path: &Path, text: &str) -> String {
    let name = path.file_stem().expect("a name").to_string_lossy();
    let tree = text.split(DASHES).next().expect("a drawing");
    format!(
        "{tree}{DASHES}{}",
        draw(&inspection(&name, tree), &Style::default())
    )
}

#[test]
fn pictures_are_as_drawn() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/inspect/draw/drawn");
    let files: Vec<_> = fs::read_dir(&folder)
        .expect("the folder of drawings is part of the crate")
        .map(|entry| entry.expect("a readable folder").path())
        .collect();
    assert!(files.len() >= 3, "drawings are missing");
    for path in files {
        let text = fs::read_to_string(&path).expect("a drawing is text");
        let now = drawn(&path, &text);
        for line in now.lines() {
            assert!(line.chars().count() <= WIDTH, "{line}");
        }
        if std::env::var_os("LISSOM_REWRITE").is_some() {
            fs::write(&path, now).expect("the drawing can be written");
        } else {
            assert_eq!(now, text, "{}", path.display());
        }
    }
}

#[test]
fn colours_change_nothing_but_colours() {
    let seen = inspection("x", "limits 4\nL0: 0-9\n1.14: 0-99:300\n1.15: 0-99:900\n");
    let bare = draw(&seen, &Style::default());
    let coloured = draw(&seen, &Style { colour: true });
    assert!(coloured.contains("\x1b[32m"));
    let mut stripped = String::new();
    for (at, part) in coloured.split("\x1b[").enumerate() {
        stripped += if at == 0 {
            part
        } else {
            part.split_once('m').expect("a colour").1
        };
    }
    assert_eq!(stripped, bare);
}

#[test]
fn decisions_hang_under_their_numbers() {
    let mut seen = inspection("x", "limits 4\n");
    seen.decisions = vec![Decision {
        number: 12,
        at_seconds: 3_725.0,
        column_family: "default".into(),
        sentence: "word ".repeat(30),
    }];
    let text = draw(&seen, &Style::default());
    assert!(text.contains("  #12      1:02:05  default: word"), "{text}");
    assert!(text.lines().all(|line| line.chars().count() <= WIDTH));
}

#[test]
fn a_reason_hangs_under_its_time_where_that_is_known() {
    let reason = |level: u16, at_seconds: Option<f64>| LimitReason {
        column_family: "default".into(),
        level,
        limit: 3,
        before: None,
        at_seconds,
        openings_since: at_seconds.map(|_| 1),
        why: "word ".repeat(20),
        missions_since: 0,
        missions_elsewhere: 0,
        all_read: true,
        took_before: None,
        took_since: None,
    };
    let mut seen = inspection("x", "limits 4\n");
    seen.limits = vec![reason(1, Some(3_725.0)), reason(2, None)];
    let text = draw(&seen, &Style::default());
    let first = "    1:02:05  default: level 1 has 3, decided one opening ago: word";
    assert!(text.contains(first), "{text}");
    let second = "\n             default: level 2 has 3: word";
    assert!(text.contains(second), "{text}");
    assert!(text.lines().all(|line| line.chars().count() <= WIDTH));
}
