//! Plans: what the planner proposes, with a reason.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::key::Key;
use crate::layout::{Layout, LogicalLevel, PhysicalLevel};
use crate::state::DrainId;

/// Whether data is rewritten.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PlanKind {
    /// Inputs are merged into new files.
    Merge,
    /// Files change their level; no byte is rewritten.
    Move,
}

/// The files that a plan takes from one physical level.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Input {
    /// Where they lie.
    pub level: PhysicalLevel,
    /// Their numbers, in key order (L0: newest first).
    pub files: Vec<u64>,
}

/// Why a piece has more input bytes than it should.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Excess {
    /// The runs share no cut points: they were written under other limits,
    /// before there were guard keys, or by another program.
    NoCommonCuts,
    /// Neighbouring files share a boundary key, as range tombstones make them.
    SharedBoundaries,
    /// L0 is merged together with the run that it overlaps, or with runs that were set apart from
    /// it.
    Level0,
}

/// A proposed compaction: exactly the files that RocksDB would take.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Plan {
    /// Merge or move.
    pub kind: PlanKind,
    /// Inputs, shallowest level first, files of the output level included.
    pub inputs: Vec<Input>,
    /// Where the outputs go.
    pub output: PhysicalLevel,
    /// Size at which outputs are cut, bytes.
    pub output_file_size: u64,
    /// Smallest and largest key of the inputs.
    pub range: (Key, Key),
    /// Total size of the inputs.
    pub input_bytes: u64,
    /// The drain that this is a piece of.
    pub drain: Option<DrainId>,
    /// Set when `input_bytes` is over the bound for a piece.
    pub excess: Option<Excess>,
    /// A merge for the reads' sake cannot begin before this one is over.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub awaited: bool,
    /// The drain is in a hurry: what it takes down holds far more than it should, or the bound on
    /// space is near.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub hurried: bool,
    /// Why.
    pub reason: Reason,
}

impl Plan {
    /// All input files.
    pub fn files(&self) -> impl Iterator<Item = u64> + '_ {
        self.inputs
            .iter()
            .flat_map(|input| input.files.iter().copied())
    }

    /// Whether it may give way to whoever wants the device. The bound on space is no matter of
    /// load.
    pub fn may_give_way_at_device(&self) -> bool {
        !matches!(self.reason, Reason::SpaceBound { .. })
    }

    /// Whether reads wait for it: it is for their sake, and has been found worth all that they
    /// feel of it, or is what such a merge waits for. Where it crawls behind those who read, it
    /// [does not give way](crate::schedule::PriorityOrders::awaited).
    pub fn is_awaited_by_reads(&self) -> bool {
        self.awaited || matches!(self.reason, Reason::Consolidate { .. })
    }

    /// Whether L0 waits for it, or may: it takes L0 or a run of level 1, or its drain is in a hurry.
    /// Whatever goes on below, L0 is merged into level 1 and finds a slot there, unless that
    /// [holds it up](crate::planner::room_waits).
    pub fn makes_room_for_level0(&self) -> bool {
        let (below, _) = Layout::V1.span(LogicalLevel(2));
        self.hurried || self.top() < below
    }

    /// The shallowest physical level that the plan reads.
    pub fn top(&self) -> PhysicalLevel {
        self.inputs.first().map_or(self.output, |input| input.level)
    }
}

/// Why something is merged or moved. The journal, the command line and the
/// reports print this value.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "why")]
pub enum Reason {
    /// L0 has reached its trigger.
    Level0Trigger {
        /// Files in L0.
        files: usize,
        /// The trigger.
        trigger: u32,
    },
    /// A schedule had L0 merged into runs of their own, which are too many.
    SetApart {
        /// How many go back.
        runs: usize,
    },
    /// RocksDB's own compaction left files on the landing level.
    Landing {
        /// Bytes there.
        bytes: u64,
    },
    /// A level has reached its capacity.
    LevelFull {
        /// Which.
        level: LogicalLevel,
        /// Its bytes.
        bytes: u64,
        /// Its capacity.
        capacity: u64,
    },
    /// The tree holds more bytes over its oldest run than the bound allows.
    SpaceBound {
        /// Bytes in the tree over bytes in the oldest run.
        estimate: f64,
        /// The bound.
        bound: f64,
    },
    /// A file holds many tombstones.
    Tombstones {
        /// Which.
        file: u64,
        /// Their share among its entries.
        share: f64,
    },
    /// Slots run out above while others are free below.
    Reseat {
        /// In which level.
        level: LogicalLevel,
    },
    /// A run alone fills its level and fits one below as it is.
    Sink {
        /// From which level.
        level: LogicalLevel,
        /// Its bytes.
        bytes: u64,
    },
    /// What drains left beside files that cannot be read takes slot after slot.
    Leftovers {
        /// In which level.
        level: LogicalLevel,
    },
    /// The run limit changed under the greedy transition.
    Transition {
        /// In which level.
        level: LogicalLevel,
    },
    /// Reads have already paid as much as the merge costs.
    Consolidate {
        /// In which level.
        level: LogicalLevel,
    },
    /// Somebody asked for it.
    Manual,
}

impl Reason {
    /// Whether runs of a level only go to deeper slots of it.
    pub(crate) fn is_reseat(&self) -> bool {
        matches!(self, Reason::Reseat { .. })
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Reason::Level0Trigger { files, trigger } => {
                write!(f, "L0 holds {files} files, its trigger is {trigger}")
            }
            Reason::SetApart { runs } => {
                write!(
                    f,
                    "{runs} runs were set apart from L0 while the load was high"
                )
            }
            Reason::Landing { bytes } => write!(
                f,
                "RocksDB compacted L0 itself and left {} below it",
                Size(*bytes)
            ),
            Reason::LevelFull {
                level,
                bytes,
                capacity,
            } => write!(
                f,
                "{level} holds {} of its {}",
                Size(*bytes),
                Size(*capacity)
            ),
            Reason::SpaceBound { estimate, bound } => write!(
                f,
                "the tree is {estimate:.2} times its oldest run, the bound is {bound:.2}"
            ),
            Reason::Tombstones { file, share } => write!(
                f,
                "{:.0} % of the entries of file {file} are tombstones",
                share * 100.0
            ),
            Reason::Reseat { level } => write!(f, "{level} has free slots below its runs"),
            Reason::Sink { level, bytes } => {
                write!(f, "a run of {} alone fills {level}", Size(*bytes))
            }
            Reason::Leftovers { level } => write!(
                f,
                "drains of {level} left runs beside files that cannot be read"
            ),
            Reason::Transition { level } => {
                write!(f, "the run limit of {level} changed, greedily")
            }
            Reason::Consolidate { level } => {
                write!(f, "the runs of {level} are merged for the reads' sake")
            }
            Reason::Manual => f.write_str("asked for by hand"),
        }
    }
}

/// Bytes in the largest decimal unit that leaves at least one of them.
struct Size(u64);

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bytes = self.0 as f64;
        match self.0 {
            0..1_000 => write!(f, "{} B", self.0),
            1_000..1_000_000 => write!(f, "{:.1} kB", bytes / 1e3),
            1_000_000..1_000_000_000 => write!(f, "{:.1} MB", bytes / 1e6),
            _ => write!(f, "{:.1} GB", bytes / 1e9),
        }
    }
}
