//! A shorter history that fails as well: halves, quarters and so on are dropped
//! as long as it goes on failing (Zeller's ddmin, without its last part).

use std::time::{Duration, Instant};

use super::history::Op;

/// What is left of `history` after at most `patience`. `fails` may be moody: a
/// part is kept whenever it does not fail.
pub fn reduce(history: &[Op], patience: Duration, fails: impl Fn(&[Op]) -> bool) -> Vec<Op> {
    let deadline = Instant::now() + patience;
    let mut left = history.to_vec();
    let mut size = left.len() / 2;
    while size > 0 && Instant::now() < deadline {
        let mut at = 0;
        while at < left.len() && Instant::now() < deadline {
            let mut shorter = left[..at].to_vec();
            shorter.extend_from_slice(&left[(at + size).min(left.len())..]);
            if fails(&shorter) {
                left = shorter;
            } else {
                at += size;
            }
        }
        size /= 2;
    }
    left
}

#[test]
fn the_operations_that_matter_are_left() {
    let history: Vec<Op> = (0..200).map(|at| Op::GetSingle(0, at)).collect();
    let both = |ops: &[Op]| {
        let has = |number: u32| {
            ops.iter()
                .any(|op| matches!(op, Op::GetSingle(_, n) if *n == number))
        };
        has(17) && has(150)
    };
    let left = reduce(&history, Duration::from_secs(10), both);
    assert_eq!(left.len(), 2, "{left:?}");
}
