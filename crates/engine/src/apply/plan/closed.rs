//! Options of a closed directory of plain RocksDB.

use super::How;
use super::decide::{Question, Verdict};
use crate::apply::catalogue::Change;

/// RocksDB reads such an option from a file and writes it into none.
pub(super) const UNKEPT: &str = "RocksDB records it in no OPTIONS file: the program that opens \
                                 the database sets it";

/// What takes effect by reopening is in the OPTIONS file that RocksDB writes then.
pub(super) fn verdict(question: &Question<'_>) -> Verdict {
    match question.setting.known.change {
        Change::Unkept | Change::Gone => (How::Unkept, UNKEPT.into()),
        Change::Never(why) => (How::Impossible, why.to_owned()),
        Change::RunTime => (
            How::Reopening,
            "recorded for the next open; an open database could change it at run time".into(),
        ),
        Change::Open => (How::Reopening, "RocksDB reads it at open".into()),
    }
}
