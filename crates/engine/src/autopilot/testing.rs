//! What tests of several parts need.

use lissom_core::{Key, PhysicalLevel, Plan, PlanKind, Reason, plan::Input};

/// A merge of these files that was asked for by hand.
pub(super) fn merge_of(level: PhysicalLevel, files: Vec<u64>) -> Plan {
    Plan {
        kind: PlanKind::Merge,
        inputs: vec![Input { level, files }],
        output: PhysicalLevel(2),
        output_file_size: 1,
        range: (Key::from("a"), Key::from("b")),
        input_bytes: 1,
        drain: None,
        excess: None,
        awaited: false,
        hurried: false,
        reason: Reason::Manual,
    }
}
