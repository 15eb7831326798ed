//! What one writer's batches leave behind: a function of their number alone, so
//! that a store can be checked after any of them.

use std::collections::BTreeMap;

use rust_rocksdb::WriteBatch;

use crate::random::Random;

/// Keys of one writer.
const KEYS: u64 = 1_500;

pub fn counter_key(writer: u64) -> Vec<u8> {
    format!("w{writer}-count").into_bytes()
}

pub fn prefix(writer: u64) -> Vec<u8> {
    format!("w{writer}-k").into_bytes()
}

fn key(writer: u64, number: u64) -> Vec<u8> {
    format!("w{writer}-k{number:05}").into_bytes()
}

enum Change {
    Put(Vec<u8>, Vec<u8>),
    Delete(Vec<u8>),
    DeleteRange(Vec<u8>, Vec<u8>),
}

/// Batch `number` of a writer. A value begins with the batch that wrote it.
fn changes(seed: u64, writer: u64, number: u64) -> Vec<Change> {
    let mut random = Random::new(seed ^ (writer << 48) ^ number);
    let mut changes = Vec::new();
    for _ in 0..random.within(1, 60) {
        let at = random.below(KEYS);
        changes.push(match random.below(40) {
            0..34 => {
                let mut value = format!("{number:012}:").into_bytes();
                value.resize(random.within(20, 500) as usize, b'a' + (at % 26) as u8);
                Change::Put(key(writer, at), value)
            }
            34..39 => Change::Delete(key(writer, at)),
            _ => {
                let end = at + random.within(1, 40);
                Change::DeleteRange(key(writer, at), key(writer, end))
            }
        });
    }
    changes
}

/// A batch as the child writes it: the changes, and their number as a counter.
pub fn batch(
    seed: u64,
    writer: u64,
    number: u64,
    default: &impl rust_rocksdb::AsColumnFamilyRef,
) -> WriteBatch {
    let mut batch = WriteBatch::default();
    for change in changes(seed, writer, number) {
        match change {
            Change::Put(k, v) => batch.put(k, v),
            Change::Delete(k) => batch.delete(k),
            Change::DeleteRange(from, to) => batch.delete_range_cf(default, from, to),
        }
    }
    batch.put(counter_key(writer), format!("{number:012}"));
    batch
}

/// One writer's keys after some number of batches.
pub struct Ledger {
    seed: u64,
    writer: u64,
    /// Batches that are in it.
    pub count: u64,
    pub entries: BTreeMap<Vec<u8>, Vec<u8>>,
}

impl Ledger {
    pub fn new(seed: u64, writer: u64) -> Ledger {
        Ledger {
            seed,
            writer,
            count: 0,
            entries: BTreeMap::new(),
        }
    }

    pub fn advance_to(&mut self, count: u64) {
        while self.count < count {
            self.count += 1;
            for change in changes(self.seed, self.writer, self.count) {
                self.apply(change);
            }
        }
    }

    fn apply(&mut self, change: Change) {
        match change {
            Change::Put(k, v) => {
                self.entries.insert(k, v);
            }
            Change::Delete(k) => {
                self.entries.remove(&k);
            }
            Change::DeleteRange(from, to) => {
                let range = self.entries.range(from..to);
                let doomed: Vec<Vec<u8>> = range.map(|(k, _)| k.clone()).collect();
                for k in doomed {
                    self.entries.remove(&k);
                }
            }
        }
    }
}
