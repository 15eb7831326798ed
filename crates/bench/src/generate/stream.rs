//! The operations of one thread in one session. They depend on seed, session, thread
//! and number of threads only, so every arm gets the same ones, byte for byte.

use super::choose::Chooser;
use super::data::DataShape;
use super::partition::Partition;
use super::rng::Rng;
use super::sizes;
use crate::drive::OpKind;
use crate::workload::{Session, Size};

/// One operation, with what a correct store answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Op {
    /// Read of an existing key.
    GetPresent {
        /// Key number.
        index: u64,
        /// Version that must be read.
        version: u8,
    },
    /// Read of the key that never exists behind key `index`.
    GetAbsent {
        /// Key number of the neighbour.
        index: u64,
    },
    /// Write of a new key, in version 0.
    Put {
        /// Key number.
        index: u64,
    },
    /// Write of an existing key.
    Update {
        /// Key number.
        index: u64,
        /// Version to write.
        version: u8,
    },
    /// Delete of an existing key.
    Delete {
        /// Key number.
        index: u64,
    },
    /// Range read from an existing key on.
    Scan {
        /// Key number of the first key.
        index: u64,
        /// Version of the first key.
        version: u8,
        /// Entries to read.
        length: u64,
    },
    /// Read of an existing key, then its write.
    ReadModifyWrite {
        /// Key number.
        index: u64,
        /// Version that must be read.
        before: u8,
        /// Version to write.
        version: u8,
    },
}

impl Op {
    /// The kind, for statistics.
    pub fn kind(&self) -> OpKind {
        match self {
            Self::GetPresent { .. } => OpKind::GetPresent,
            Self::GetAbsent { .. } => OpKind::GetAbsent,
            Self::Put { .. } => OpKind::Put,
            Self::Update { .. } => OpKind::Update,
            Self::Delete { .. } => OpKind::Delete,
            Self::Scan { .. } => OpKind::Scan,
            Self::ReadModifyWrite { .. } => OpKind::ReadModifyWrite,
        }
    }
}

/// Draws the operations of one thread.
#[derive(Debug)]
pub struct OpStream {
    rng: Rng,
    chooser: Chooser,
    /// Cumulated shares in the order of [`OpKind::ALL`].
    shares: [f64; OpKind::ALL.len()],
    scan_length: Size,
}

impl OpStream {
    /// The stream of `thread` in session number `number`.
    pub fn new(session: &Session, number: usize, thread: u64, seed: u64) -> Self {
        let weights = session.mix.weights();
        let total: f64 = weights.iter().sum();
        let mut sum = 0.0;
        let shares = weights.map(|weight| {
            sum += weight / total;
            sum
        });
        Self {
            rng: Rng::new(&[seed, number as u64, thread]),
            chooser: Chooser::new(session.keys),
            shares,
            scan_length: session.scan_length,
        }
    }

    /// The next operation; `partition` then is as if it had been done. `None` only if
    /// the thread has no existing key left to work on.
    pub fn next(&mut self, partition: &mut Partition, data: &DataShape) -> Option<Op> {
        let ticket = self.rng.unit();
        let kind = self.shares.iter().position(|share| ticket < *share);
        // Rounding may leave the last share a little under 1.
        let kind = OpKind::ALL[kind.unwrap_or_else(|| self.last_kind())];
        if kind == OpKind::Put {
            let own = partition.add(data);
            return Some(Op::Put {
                index: partition.index(own),
            });
        }
        let drawn = self.chooser.draw(&mut self.rng, partition.made().max(1));
        if kind == OpKind::GetAbsent {
            return Some(Op::GetAbsent {
                index: partition.index(drawn),
            });
        }
        if partition.awaits(drawn)
            && let Some(op) = on_awaited_key(kind, drawn, partition, data)
        {
            return Some(op);
        }
        self.on_existing_key(kind, partition.live_from(drawn)?, partition, data)
    }

    fn last_kind(&self) -> usize {
        let last = self.shares[OpKind::ALL.len() - 1];
        self.shares
            .iter()
            .position(|share| *share >= last)
            .unwrap_or(0)
    }

    fn on_existing_key(
        &mut self,
        kind: OpKind,
        own: u64,
        partition: &mut Partition,
        data: &DataShape,
    ) -> Option<Op> {
        let index = partition.index(own);
        let before = partition.version(own)?;
        Some(match kind {
            OpKind::Update => Op::Update {
                index,
                version: partition.update(own, data),
            },
            OpKind::Delete => {
                partition.delete(own, data);
                Op::Delete { index }
            }
            OpKind::Scan => {
                let length = sizes::draw(self.scan_length, &mut self.rng);
                Op::Scan {
                    index,
                    version: before,
                    length,
                }
            }
            OpKind::ReadModifyWrite => Op::ReadModifyWrite {
                index,
                before,
                version: partition.update(own, data),
            },
            OpKind::GetPresent | OpKind::GetAbsent | OpKind::Put => Op::GetPresent {
                index,
                version: before,
            },
        })
    }
}

/// What becomes of an operation on a key that is still to come: a write makes it, and a
/// read finds nothing, for which the key behind it stands, which never exists. `None` of
/// an operation that needs an existing key.
fn on_awaited_key(
    kind: OpKind,
    own: u64,
    partition: &mut Partition,
    data: &DataShape,
) -> Option<Op> {
    let index = partition.index(own);
    match kind {
        OpKind::Update | OpKind::ReadModifyWrite => {
            partition.create(own, data);
            Some(Op::Put { index })
        }
        OpKind::GetPresent => Some(Op::GetAbsent { index }),
        OpKind::GetAbsent | OpKind::Put | OpKind::Delete | OpKind::Scan => None,
    }
}
