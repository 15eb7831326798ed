//! One operation against a store, its answer verified.

use super::clock::Clock;
use super::latency::OpKind;
use crate::error::{BenchError, Result};
use crate::generate::{DataShape, Op, Partition};
use crate::store::Store;

/// Every so many reads the whole value is compared, otherwise its header and length.
const FULL_COMPARISON_EVERY: u64 = 16;

/// So many entries behind a scan that ended early hold one of each thread's, but for a chance of
/// one in a hundred million with four threads.
const LOOKED_AT_BEHIND: u64 = 64;

/// Does operations, and checks what comes back.
pub struct Performer<'a> {
    store: &'a dyn Store,
    data: &'a DataShape,
    key: Vec<u8>,
    value: Vec<u8>,
    answer: Vec<u8>,
    reads: u64,
    /// Bytes of keys and values that were written.
    pub user_bytes: u64,
    /// Answers that were compared with the expected ones.
    pub verified: u64,
}

impl<'a> Performer<'a> {
    /// A performer on `store`.
    pub fn new(store: &'a dyn Store, data: &'a DataShape) -> Self {
        Self {
            store,
            data,
            key: Vec::new(),
            value: Vec::new(),
            answer: Vec::new(),
            reads: 0,
            user_bytes: 0,
            verified: 0,
        }
    }

    /// Makes key and value of `op` ready, so that this is not in its latency.
    pub fn prepare(&mut self, op: &Op) {
        match *op {
            Op::GetAbsent { index } => self.data.absent_key(index, &mut self.key),
            Op::GetPresent { index, .. } | Op::Delete { index } | Op::Scan { index, .. } => {
                self.data.key(index, &mut self.key);
            }
            Op::Put { index } => self.prepare_write(index, 0),
            Op::Update { index, version } | Op::ReadModifyWrite { index, version, .. } => {
                self.prepare_write(index, version);
            }
        }
    }

    fn prepare_write(&mut self, index: u64, version: u8) {
        self.data.key(index, &mut self.key);
        self.data.value(index, version, &mut self.value);
    }

    /// Does the prepared operation and returns when it ended. `partition` is as the
    /// stream left it after drawing `op`.
    pub fn perform(
        &mut self,
        op: &Op,
        partition: &Partition,
        clock: &dyn Clock,
    ) -> Result<std::time::Duration> {
        match *op {
            Op::Put { .. } | Op::Update { .. } => {
                self.write()?;
                Ok(clock.now())
            }
            Op::Delete { .. } => {
                self.store.delete(&self.key)?;
                self.user_bytes += self.key.len() as u64;
                Ok(clock.now())
            }
            Op::GetAbsent { index } => {
                let found = self.store.get(&self.key, &mut self.answer)?;
                let ended = clock.now();
                if found {
                    return Err(wrong(
                        OpKind::GetAbsent,
                        index,
                        "a key was found that was never written",
                    ));
                }
                self.verified += 1;
                Ok(ended)
            }
            Op::GetPresent { index, version } => {
                let found = self.store.get(&self.key, &mut self.answer)?;
                let ended = clock.now();
                self.check_read(op.kind(), found, index, version)?;
                Ok(ended)
            }
            Op::ReadModifyWrite { index, before, .. } => {
                let found = self.store.get(&self.key, &mut self.answer)?;
                self.write()?;
                let ended = clock.now();
                self.check_read(op.kind(), found, index, before)?;
                Ok(ended)
            }
            Op::Scan {
                index,
                version,
                length,
            } => {
                let scan = Scanned::run(self.store, &self.key, length, partition, self.data)?;
                let ended = clock.now();
                scan.verdict(index, version, length)?;
                if scan.entries < length {
                    scan.nothing_follows(self.store, index, partition)?;
                }
                self.verified += scan.verified;
                Ok(ended)
            }
        }
    }

    fn write(&mut self) -> Result<()> {
        self.store.put(&self.key, &self.value)?;
        self.user_bytes += (self.key.len() + self.value.len()) as u64;
        Ok(())
    }

    fn check_read(&mut self, kind: OpKind, found: bool, index: u64, version: u8) -> Result<()> {
        if !found {
            return Err(wrong(kind, index, "an existing key was not found"));
        }
        if DataShape::claim(&self.answer) != Some((index, version)) {
            return Err(wrong(kind, index, "the value is not the last one written"));
        }
        if self.answer.len() != self.data.value_size(index, version) {
            return Err(wrong(kind, index, "the value has another length"));
        }
        self.reads += 1;
        self.verified += 1;
        if self.reads.is_multiple_of(FULL_COMPARISON_EVERY) {
            let mut expected = Vec::new();
            self.data.value(index, version, &mut expected);
            if expected != self.answer {
                return Err(wrong(kind, index, "the value's bytes were altered"));
            }
        }
        Ok(())
    }
}

/// What a scan saw. The checks are kept light, for they run inside its latency: order,
/// the first entry, and the version of each key that this thread owns.
#[derive(Default)]
struct Scanned {
    entries: u64,
    /// Entries whose keys this thread owns.
    verified: u64,
    first: Option<(u64, u8)>,
    unordered: bool,
    stale: Option<u64>,
    last_key: Vec<u8>,
}

impl Scanned {
    fn run(
        store: &dyn Store,
        start: &[u8],
        length: u64,
        partition: &Partition,
        data: &DataShape,
    ) -> Result<Self> {
        let mut seen = Self::default();
        store.scan(start, length, &mut |key, value| {
            seen.visit(key, value, partition, data)
        })?;
        Ok(seen)
    }

    fn visit(&mut self, key: &[u8], value: &[u8], partition: &Partition, data: &DataShape) {
        self.unordered |= self.entries > 0 && key <= self.last_key.as_slice();
        self.last_key.clear();
        self.last_key.extend_from_slice(key);
        self.entries += 1;
        let Some((index, version)) = DataShape::claim(value) else {
            self.stale = Some(u64::MAX);
            return;
        };
        self.first.get_or_insert((index, version));
        let known = partition.version_of_index(index);
        self.verified += u64::from(known.is_some());
        if known.is_some_and(|known| known != Some(version))
            || value.len() != data.value_size(index, version)
        {
            self.stale = Some(index);
        }
    }

    /// That a scan of fewer entries than were asked for came to the end of the data: behind its
    /// last key lies none that this thread owns. Others' may have come meanwhile.
    fn nothing_follows(&self, store: &dyn Store, index: u64, partition: &Partition) -> Result<()> {
        let mut behind = self.last_key.clone();
        behind.push(0);
        let mut missing = false;
        store.scan(&behind, LOOKED_AT_BEHIND, &mut |_, value| {
            let known = DataShape::claim(value).and_then(|it| partition.version_of_index(it.0));
            missing |= known.flatten().is_some();
        })?;
        if missing {
            let what = "the scan ended although entries followed";
            return Err(wrong(OpKind::Scan, index, what));
        }
        Ok(())
    }

    fn verdict(&self, index: u64, version: u8, length: u64) -> Result<()> {
        let kind = OpKind::Scan;
        if self.first != Some((index, version)) {
            return Err(wrong(
                kind,
                index,
                "the scan did not start with this key's last value",
            ));
        }
        if self.unordered || self.entries > length {
            return Err(wrong(
                kind,
                index,
                "the entries were out of order or too many",
            ));
        }
        match self.stale {
            Some(other) => Err(wrong(
                kind,
                other,
                "the scan returned a value that is not the last one written",
            )),
            None => Ok(()),
        }
    }
}

fn wrong(kind: OpKind, index: u64, what: &str) -> BenchError {
    void(format!(
        "wrong answer to {} at key number {index}: {what}",
        kind.name()
    ))
}

/// What is wrong, and what follows from it.
pub(super) fn void(what: String) -> BenchError {
    BenchError::new(format!(
        "{what}; the run is void, and the store has a defect"
    ))
}
