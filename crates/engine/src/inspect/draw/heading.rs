//! What stands above and below the levels.

use super::bar::{bytes, plural};
use super::paint::{Colour, Style};
use super::wrap::hang;
use crate::inspect::portrait::{Flexible, Portrait, TreePortrait};
use crate::inspect::{Inspection, Owed};

/// The directory and whose it is.
pub(super) fn directory(seen: &Inspection, style: &Style) -> String {
    let mut whose = String::from(if seen.adopted {
        "driven by Lissom"
    } else {
        "not adopted: RocksDB drives it; `lissom adopt` takes it over"
    });
    if seen.pinned {
        whose += ", limits held (LISSOM-PIN)";
    }
    let mut text = style.paint(Colour::Bold, &seen.directory) + "\n" + &hang("", &whose);
    for remark in &seen.remarks {
        text += &style.paint(Colour::Yellow, &hang("", remark));
    }
    text
}

/// What waits, and how long it would take to merge it.
pub(super) fn owed(owed: &Owed) -> String {
    let more = match owed.waiting_bytes {
        0 => String::new(),
        waiting => format!(", merges of full levels owe {} more", bytes(waiting)),
    };
    let sentence = format!(
        "{} in L0 and {} in drains wait{more}: {:.1} s to catch up, if nobody else used the device",
        bytes(owed.level0_bytes),
        bytes(owed.drain_bytes),
        owed.catch_up_seconds
    );
    format!("\n{}", hang("", &sentence))
}

/// A column family and its figures.
pub(super) fn family(family: &Portrait, style: &Style) -> String {
    let mut words = vec![format!(
        "{} in {}",
        bytes(family.bytes),
        plural(family.files as u64, "file")
    )];
    words.extend(
        family
            .entries
            .map(|count| plural(count, "entrie"))
            .map(entries),
    );
    words.extend(
        family
            .filter_bits_per_key
            .map(|bits| format!("{bits:.1} filter bits per key")),
    );
    let mut sentences = vec![words.join(", ")];
    match &family.tree {
        TreePortrait::Lissom(tree) => sentences.extend(policy(tree)),
        TreePortrait::Rocksdb(tree) => sentences.push(tree.compaction_style.clone()),
    }
    style.paint(Colour::Bold, &format!("column family {}", family.name))
        + "\n"
        + &sentences
            .iter()
            .map(|sentence| hang("  ", sentence))
            .collect::<String>()
}

/// The plural of entry is irregular.
fn entries(text: String) -> String {
    match text.strip_suffix(" entrie") {
        Some(one) => format!("{one} entry"),
        None => text,
    }
}

fn policy(tree: &Flexible) -> Vec<String> {
    let policy = tree.policy.as_deref().unwrap_or("policy not known");
    let mut first = format!(
        "{policy}, run limits {}, size ratio {}",
        list(&tree.run_limits),
        tree.size_ratio
    );
    if let Some(waiting) = &tree.waiting_run_limits {
        first += &format!(", {} from the next drains on", list(waiting));
    }
    let mut sentences = vec![first];
    sentences.extend(tree.space_amplification.map(|space| {
        format!(
            "space at most {space:.2} times the data, bound {:.2}",
            tree.max_space_amplification
        )
    }));
    if tree.unreadable_files > 0 {
        sentences.push(format!(
            "{} could not be read and {} left alone",
            plural(tree.unreadable_files as u64, "file"),
            if tree.unreadable_files == 1 {
                "is"
            } else {
                "are"
            }
        ));
    }
    if tree.compact_all {
        sentences.push("a merge of everything into one run was asked for".into());
    }
    sentences
}

/// Limits, comma-separated, as policies spell them.
fn list(limits: &[u16]) -> String {
    limits
        .iter()
        .map(u16::to_string)
        .collect::<Vec<_>>()
        .join(",")
}

/// Why each level has its run limit, after the time at which that was decided.
pub(super) fn limits(limits: &[crate::inspect::LimitReason], style: &Style) -> String {
    let mut text = format!("\n{}\n", style.paint(Colour::Bold, "why these run limits"));
    for reason in limits {
        let at = reason.at_seconds.map(clock).unwrap_or_default();
        let first = format!("  {at:>9}  ");
        let sentence = format!("{}: {}", reason.column_family, reason.sentence());
        text += &hang(&first, &sentence);
    }
    text
}

/// The last decisions.
pub(super) fn decisions(decisions: &[crate::inspect::Decision], style: &Style) -> String {
    let mut text = format!("\n{}\n", style.paint(Colour::Bold, "last decisions"));
    for decision in decisions {
        let first = format!(
            "  #{:<5} {:>9}  ",
            decision.number,
            clock(decision.at_seconds)
        );
        let sentence = format!("{}: {}", decision.column_family, decision.sentence);
        text += &hang(&first, &sentence);
    }
    text
}

/// Time since the autopilot began.
fn clock(seconds: f64) -> String {
    if seconds < 60.0 {
        return format!("{seconds:.1} s");
    }
    let whole = seconds as u64;
    format!("{}:{:02}:{:02}", whole / 3_600, whole / 60 % 60, whole % 60)
}
