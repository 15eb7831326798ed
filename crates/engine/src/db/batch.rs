//! What a batch consists of.
//!
//! RocksDB's C interface ends its walk through a batch at the first delete of a range or of a
//! single write. So the bytes of the batch are read, whose format RocksDB keeps (`write_batch.cc`):
//! twelve bytes, then entries, each of a type, the number of its column family where that is not
//! the default one, and one or two strings after their lengths.

use std::ops::AddAssign;

/// Sequence number and count.
const HEADER: usize = 12;
/// Where the count lies, four bytes, the lowest first.
const COUNT: std::ops::Range<usize> = 8..HEADER;

/// What was written to one column family.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub(super) struct Tally {
    pub(super) writes: u64,
    /// Of keys and of ranges.
    pub(super) deletes: u64,
    /// Of keys and values.
    pub(super) bytes: u64,
}

impl Tally {
    pub(super) fn operations(&self) -> u64 {
        self.writes + self.deletes
    }
}

impl AddAssign for Tally {
    fn add_assign(&mut self, more: Tally) {
        self.writes += more.writes;
        self.deletes += more.deletes;
        self.bytes += more.bytes;
    }
}

/// What a batch writes, by the number of the column family; that of the default one is 0.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub(super) struct Tallies {
    pub(super) default: Tally,
    pub(super) others: Vec<(u32, Tally)>,
}

impl Tallies {
    /// Those of the bytes of a batch. What is behind an entry that RocksDB 11.12 does not have is
    /// the default column family's.
    pub(super) fn of(batch: &[u8]) -> Tallies {
        let mut rest = batch.get(HEADER..).unwrap_or_default();
        let mut tallies = Tallies::default();
        while let Some(entry) = entry(rest) {
            tallies.add(entry.family, entry.tally);
            rest = entry.rest;
        }
        let unseen = count(batch).saturating_sub(tallies.operations());
        tallies.default.writes += unseen;
        tallies.default.bytes += rest.len() as u64;
        tallies
    }

    /// Of all column families.
    pub(super) fn operations(&self) -> u64 {
        let others = self.others.iter().map(|(_, own)| own.operations());
        self.default.operations() + others.sum::<u64>()
    }

    fn add(&mut self, family: u32, more: Tally) {
        if family == 0 {
            self.default += more;
            return;
        }
        match self.others.iter_mut().find(|(of, _)| *of == family) {
            Some((_, own)) => *own += more,
            None => self.others.push((family, more)),
        }
    }
}

/// How many operations a batch says that it has.
fn count(batch: &[u8]) -> u64 {
    let bytes = batch.get(COUNT).and_then(|it| it.try_into().ok());
    bytes.map_or(0, |bytes| u64::from(u32::from_le_bytes(bytes)))
}

struct Entry<'a> {
    family: u32,
    tally: Tally,
    /// What comes after it.
    rest: &'a [u8],
}

/// The first entry. The numbers are those of `ValueType` in `dbformat.h`.
fn entry(bytes: &[u8]) -> Option<Entry<'_>> {
    let (kind, rest) = bytes.split_first()?;
    let (writes, deletes, has_family, strings) = match kind {
        // Delete, SingleDelete.
        0x00 | 0x07 => (0, 1, false, 1),
        0x04 | 0x08 => (0, 1, true, 1),
        // DeleteRange.
        0x0f => (0, 1, false, 2),
        0x0e => (0, 1, true, 2),
        // Put, Merge, blob index, PutEntity, TimedPut.
        0x01 | 0x02 | 0x11 | 0x16 | 0x18 => (1, 0, false, 2),
        0x05 | 0x06 | 0x10 | 0x17 | 0x19 => (1, 0, true, 2),
        // PutLogData, Noop: no operations.
        0x03 => (0, 0, false, 1),
        0x0d => (0, 0, false, 0),
        _ => return None,
    };
    let (family, mut rest) = match has_family {
        true => number(rest)?,
        false => (0, rest),
    };
    let mut bytes = 0;
    for _ in 0..strings {
        let (length, after) = number(rest)?;
        rest = after.get(length as usize..)?;
        bytes += u64::from(length);
    }
    // A note in the log comes into no tree.
    let bytes = if writes + deletes > 0 { bytes } else { 0 };
    let tally = Tally {
        writes,
        deletes,
        bytes,
    };
    Some(Entry {
        family,
        tally,
        rest,
    })
}

/// A `varint32`: seven bits a byte, the lowest first.
fn number(bytes: &[u8]) -> Option<(u32, &[u8])> {
    let last = bytes.iter().take(5).position(|byte| byte & 0x80 == 0)?;
    let (own, rest) = bytes.split_at(last + 1);
    let digits = own.iter().rev();
    let number = digits.fold(0u64, |sum, byte| (sum << 7) | u64::from(byte & 0x7f));
    Some((u32::try_from(number).ok()?, rest))
}

#[cfg(test)]
mod tests {
    use super::*;
    use rust_rocksdb::WriteBatch;

    fn batch() -> WriteBatch {
        let mut batch = WriteBatch::default();
        batch.put(b"key", vec![7; 300]);
        batch.delete_range(b"a", b"b");
        batch.merge(b"key", b"operand");
        batch.delete(vec![8; 20_000]);
        batch.put_log_data(b"a note");
        batch.single_delete(b"");
        batch.put(b"", b"");
        batch.delete(b"last");
        batch
    }

    #[test]
    fn operations_of_all_kinds_count() {
        let default = Tally {
            writes: 3,
            deletes: 4,
            bytes: 303 + 2 + 10 + 20_000 + 4,
        };
        let others = Vec::new();
        assert_eq!(Tallies::of(batch().data()), Tallies { default, others });
        assert_eq!(
            Tallies::of(WriteBatch::default().data()),
            Tallies::default()
        );
    }

    /// Bytes of a batch: put, delete and range to the families 300 and 7, by turns.
    fn several() -> Vec<u8> {
        let mut bytes = vec![0; HEADER];
        bytes[COUNT.start] = 4;
        bytes.extend(b"\x05\xac\x02\x03key\x05value");
        bytes.extend(b"\x04\x07\x01a");
        bytes.extend(b"\x01\x01k\x00");
        bytes.extend(b"\x0e\xac\x02\x01a\x02bc");
        bytes
    }

    #[test]
    fn each_column_family_has_its_own() {
        let found = Tallies::of(&several());
        let own = |writes, deletes, bytes| Tally {
            writes,
            deletes,
            bytes,
        };
        assert_eq!(found.default, own(1, 0, 1));
        assert_eq!(found.others, [(300, own(1, 1, 11)), (7, own(0, 1, 1))]);
        assert_eq!(found.operations(), 4);
    }

    #[test]
    fn what_is_behind_an_unknown_entry_is_the_default_ones() {
        let mut bytes = several();
        let known = bytes.len();
        bytes.extend(b"\x7fwho knows");
        bytes[COUNT.start] = 6;
        let found = Tallies::of(&bytes);
        assert_eq!((found.default.writes, found.default.bytes), (3, 11));
        assert_eq!(found.others, Tallies::of(&bytes[..known]).others);
    }

    #[test]
    fn bytes_that_are_no_batch_count_as_far_as_they_are() {
        let batch = batch();
        let mut before = 0;
        for end in 0..=batch.data().len() {
            let found = Tallies::of(&batch.data()[..end]).default.deletes;
            assert!((before..=before + 1).contains(&found), "{end}: {found}");
            before = found;
        }
        for kind in 0..=u8::MAX {
            let odd = [&[0; HEADER][..], &[kind, 0xff, 0xff, 0xff, 0xff, 0xff]].concat();
            assert_eq!(Tallies::of(&odd).operations(), 0, "{kind}");
        }
    }

    #[test]
    fn numbers_are_read_as_rocksdb_writes_them() {
        assert_eq!(number(&[0x05, 9]), Some((5, &[9][..])));
        assert_eq!(number(&[0xac, 0x02]), Some((300, &[][..])));
        assert_eq!(
            number(&[0xff, 0xff, 0xff, 0xff, 0x0f]),
            Some((u32::MAX, &[][..]))
        );
        assert_eq!(number(&[0xff, 0xff, 0xff, 0xff, 0x7f]), None, "no u32");
        assert_eq!((number(&[]), number(&[0x80])), (None, None));
    }
}
