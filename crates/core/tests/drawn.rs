//! Decisions as drawn trees. Each file in `tests/drawn` holds cases: a drawing,
//! a line of dashes, the plans. `LISSOM_REWRITE=1 cargo test -p lissom-core
//! drawn` writes the plans anew; read the difference before you commit it.

use std::fs;
use std::path::Path;

use lissom_core::planner;
use lissom_core::testing::drawing;

const DASHES: &str = "----\n";

fn answer(drawing: &str) -> String {
    match drawing::parse(drawing) {
        Ok(seen) => drawing::show(&seen, &planner::plan(&seen)),
        Err(error) => format!("{error}\n"),
    }
}

/// The file's text with every case's plans as they are now.
fn answered(text: &str) -> String {
    text.split("\n\n\n")
        .map(|case| {
            let drawing = case.split(DASHES).next().unwrap_or(case);
            let drawing = format!("{}\n", drawing.trim_end());
            format!("{drawing}{DASHES}{}", answer(&drawing).trim_end())
        })
        .collect::<Vec<_>>()
        .join("\n\n\n")
        + "\n"
}

#[test]
#[expect(
    clippy::disallowed_methods,
    reason = "the drawings are files, which are rewritten on request"
)]
fn drawn_trees_are_planned_as_written() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/drawn");
    let mut files: Vec<_> = fs::read_dir(&folder)
        .expect("the folder of drawings is part of the crate")
        .map(|entry| entry.expect("a readable folder").path())
        .collect();
    files.sort();
    assert!(files.len() >= 5, "drawings are missing");
    let rewrite = std::env::var_os("LISSOM_REWRITE").is_some();
    for path in files {
        let text = fs::read_to_string(&path).expect("a drawing is text");
        let now = answered(&text);
        if rewrite {
            fs::write(&path, now).expect("the drawing can be written");
        } else {
            assert_eq!(now, text, "{}", path.display());
        }
    }
}
