//! How many workers are on drains.

use crate::planner::plan;
use crate::testing::drawing::parse;

/// Pieces that three workers begin of a drain of four files of so many bytes, where others
/// run elsewhere. The level holds 40,000 bytes when it is full.
fn begun(file_bytes: u64, elsewhere: usize) -> usize {
    let files = ["0-19", "20-39", "40-59", "60-79"];
    let source: Vec<String> = files
        .iter()
        .map(|keys| format!("{keys}:{file_bytes}"))
        .collect();
    let seen = parse(&format!(
        "2.13: {}
         3.15: {}
         drain 2.13 -> 3.15
         workers 3
         elsewhere {elsewhere}",
        source.join(" "),
        files.join(" ")
    ));
    plan(&seen.expect("a drawing")).plans.len()
}

#[test]
fn one_worker_is_kept_for_l0_whichever_family_drains() {
    let begun_beside = [0, 1, 2, 3].map(|others| begun(2_000, others));
    assert_eq!(begun_beside, [2, 1, 0, 0]);
    assert_eq!(begun(20_000, 2), 3, "in a hurry it may have all");
}
