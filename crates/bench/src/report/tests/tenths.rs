//! Memory in the course of a long run.

use super::*;
use crate::arms::ArmName;
use crate::drive::{ProcessUse, Sample};
use crate::store::LevelShape;

/// Ten minutes: 10 MiB of the harness, and of the store 100, 10 more by minute and 30 by round.
fn minutes(round: u32) -> Vec<Sample> {
    let sample = |minute: u32| Sample {
        seconds: 60.0,
        process: ProcessUse {
            resident_bytes: u64::from(110 + 10 * minute + 30 * round) << 20,
            ..ProcessUse::default()
        },
        levels: vec![LevelShape {
            level: 1,
            files: 40 + minute,
            ..LevelShape::default()
        }],
        ..Sample::default()
    };
    (0..10).map(sample).collect()
}

#[test]
fn long_runs_tell_their_memory_and_files_by_tenths() {
    let title = "Memory and table files at the end of each tenth of a run";
    let mut results = results(&["mock-a", "mock-b"], 3);
    assert!(!render_table(&results).contains(title), "all are short");
    let long: ArmName = "mock-a".parse().unwrap();
    for run in results.runs.iter_mut().filter(|run| run.arm == long) {
        run.totals.baseline_resident_bytes = 10 << 20;
        run.samples = minutes(run.round);
    }
    let text = render_table(&results);
    let (_, table) = text.split_once(title).expect("a table");
    let lines = table.lines().skip(1).take_while(|line| !line.is_empty());
    let rows: Vec<String> = lines.map(single_spaced).collect();
    // The middle round's, and half of the 60 MiB between the first and the last.
    let expected = [
        "arm 10 % 20 % 30 % 40 % 50 % 60 % 70 % 80 % 90 % 100 %",
        "mock-a memory, MiB 130 ±30 140 ±30 150 ±30 160 ±30 170 ±30 180 ±30 190 ±30 200 ±30 \
         210 ±30 220 ±30",
        "table files 40.0 ±0.0 41.0 ±0.0 42.0 ±0.0 43.0 ±0.0 44.0 ±0.0 45.0 ±0.0 46.0 ±0.0 \
         47.0 ±0.0 48.0 ±0.0 49.0 ±0.0",
    ];
    assert_eq!(rows[..3], expected);
    assert_eq!(rows.len(), 4, "and how to read it: {rows:?}");
}
