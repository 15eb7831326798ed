//! Options that the stored tree itself must fit.
//!
//! Sources: RocksDB 11.12, include/rocksdb/advanced_options.h (num_levels,
//! level_compaction_dynamic_level_bytes: turning it on needs no more than a restart
//! since 8.2), utilities/option_change_migration/option_change_migration.cc (what
//! RocksDB compacts before such a change, which is when a rebuild is needed here),
//! and "db has more levels than options.num_levels", tried.

use super::How;
use super::decide::{Question, Verdict};
use crate::apply::text::Section;

const LEVEL: &str = "kCompactionStyleLevel";
const FIFO: &str = "kCompactionStyleFIFO";

const DELETES: &str = "under FIFO compaction it says which files RocksDB deletes, beginning with the \
                       next open, and nothing may be lost here: open the database with it by hand";
const DROPS: &str = "it drops entries, beginning with the next compaction, and nothing may be lost \
                     here: set it in the program that opens the database";

/// `None` of options that any tree fits.
pub(super) fn verdict(question: &Question<'_>) -> Option<Verdict> {
    let new = question.setting.value.canonical.as_str();
    match (question.section, question.name) {
        (Section::Family(_), "compaction_style") => Some(style(question, new)),
        (Section::Family(_), "num_levels") => Some(num_levels(question, new)),
        (Section::Family(_), "level_compaction_dynamic_level_bytes") => {
            Some(dynamic_level_bytes(question, new))
        }
        (Section::Family(_), "merge_operator") => Some(merge_operator(question)),
        (Section::Family(_), "compaction_filter" | "compaction_filter_factory") => {
            (new != "nullptr").then(|| because(How::Impossible, DROPS))
        }
        (Section::Family(_), name) if deletes_files(name, new) => {
            is_fifo(question).then(|| because(How::Impossible, DELETES))
        }
        (Section::Family(_), "cf_allow_ingest_behind")
        | (Section::Database, "allow_ingest_behind") => Some(ingest_behind(question, new)),
        _ => None,
    }
}

/// Options that say, in FIFO compaction, what is deleted and whether.
fn deletes_files(name: &str, new: &str) -> bool {
    match name {
        "ttl" => true,
        "disable_auto_compactions" => new == "false",
        _ => name.starts_with("compaction_options_fifo."),
    }
}

fn is_fifo(question: &Question<'_>) -> bool {
    present_style(question) == Some(FIFO)
}

fn present_style<'a>(question: &Question<'a>) -> Option<&'a str> {
    question
        .present
        .options
        .get(&family_section(question), "compaction_style")
}

fn family_section(question: &Question<'_>) -> Section {
    Section::Family(question.section.family().unwrap_or_default().to_owned())
}

fn because(how: How, why: &str) -> Verdict {
    (how, why.to_owned())
}

/// The deepest level that holds files; of the database's options, in any column
/// family.
fn deepest(question: &Question<'_>) -> Option<u32> {
    let all = question.present.deepest;
    match question.section.family() {
        Some(family) => all.get(family).copied(),
        None => all.values().max().copied(),
    }
}

fn style(question: &Question<'_>, new: &str) -> Verdict {
    match new {
        FIFO => because(
            How::Impossible,
            "it drops the oldest files by design, and nothing may be lost here",
        ),
        "kCompactionStyleUniversal" => because(
            How::Reopening,
            "every level counts as a sorted run from then on",
        ),
        LEVEL
            if question.old == Some("kCompactionStyleUniversal") && deepest(question).is_some() =>
        {
            because(
                How::Rebuild,
                "sorted runs of any size lie in the levels, which RocksDB merges into one before \
                 it goes over to leveled compaction",
            )
        }
        LEVEL => because(How::Reopening, "RocksDB reads it at open"),
        _ => because(
            How::Impossible,
            "nobody would compact, and writes would stop once level 0 is full",
        ),
    }
}

fn num_levels(question: &Question<'_>, new: &str) -> Verdict {
    let levels: i64 = new.parse().unwrap_or(0);
    match deepest(question) {
        Some(deepest) if levels <= i64::from(deepest) => (
            How::Rebuild,
            format!("level {deepest} holds files, and RocksDB opens no tree with fewer levels"),
        ),
        _ => because(How::Reopening, "no deeper level holds files"),
    }
}

fn dynamic_level_bytes(question: &Question<'_>, new: &str) -> Verdict {
    if new == "true" {
        return because(
            How::Reopening,
            "RocksDB moves the files down to the last levels when it opens the database",
        );
    }
    // Other styles are not taken, and the tree stays as it is.
    let style = question
        .wanted
        .get(&family_section(question), "compaction_style")
        .filter(|style| [LEVEL, "kCompactionStyleUniversal"].contains(style))
        .or_else(|| present_style(question));
    if style.is_some_and(|style| style != LEVEL) {
        return because(
            How::Reopening,
            "it means nothing unless compaction is leveled",
        );
    }
    match deepest(question) {
        None | Some(0) => because(How::Reopening, "only level 0 holds files"),
        Some(_) => because(
            How::Rebuild,
            "the data lie in the last levels, and RocksDB merges them into level 1 before it goes \
             over to fixed level sizes",
        ),
    }
}

fn merge_operator(question: &Question<'_>) -> Verdict {
    match question.old {
        Some("nullptr") => because(How::Reopening, "no merge operator is recorded"),
        _ => because(
            How::Impossible,
            "stored merge operands can be read by the operator that they were written for only",
        ),
    }
}

fn ingest_behind(question: &Question<'_>, new: &str) -> Verdict {
    match deepest(question) {
        Some(_) if new == "true" => because(
            How::Rebuild,
            "the last level must stay free for what is ingested behind, and data lie in the tree",
        ),
        _ => because(How::Reopening, "RocksDB reads it at open"),
    }
}
