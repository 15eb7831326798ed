//! What a batch consists of.
//!
//! RocksDB's C interface ends its walk through a batch at the first delete of a range or of a
//! single write. So the bytes of the batch are read, whose format RocksDB keeps (`write_batch.cc`):
//! twelve bytes, then entries, each of a type, the number of its column family where that is not
//! the default one, and one or two strings after their lengths.

/// Sequence number and count.
const HEADER: usize = 12;

/// Deletes in the bytes of a batch, of keys and of ranges. What is no entry of RocksDB 11.12 ends
/// the count.
pub(super) fn deletes(batch: &[u8]) -> u64 {
    let mut rest = batch.get(HEADER..).unwrap_or_default();
    let mut deletes = 0;
    while let Some((is_delete, after)) = entry(rest) {
        deletes += u64::from(is_delete);
        rest = after;
    }
    deletes
}

/// Whether the first entry is a delete, and what comes after it. The numbers are those of
/// `ValueType` in `dbformat.h`.
fn entry(bytes: &[u8]) -> Option<(bool, &[u8])> {
    let (kind, rest) = bytes.split_first()?;
    let (is_delete, has_family, strings) = match kind {
        // Delete, SingleDelete.
        0x00 | 0x07 => (true, false, 1),
        0x04 | 0x08 => (true, true, 1),
        // DeleteRange.
        0x0f => (true, false, 2),
        0x0e => (true, true, 2),
        // Put, Merge, blob index, PutEntity, TimedPut.
        0x01 | 0x02 | 0x11 | 0x16 | 0x18 => (false, false, 2),
        0x05 | 0x06 | 0x10 | 0x17 | 0x19 => (false, true, 2),
        // PutLogData, Noop.
        0x03 => (false, false, 1),
        0x0d => (false, false, 0),
        _ => return None,
    };
    let mut rest = match has_family {
        true => number(rest)?.1,
        false => rest,
    };
    for _ in 0..strings {
        let (length, after) = number(rest)?;
        rest = after.get(length as usize..)?;
    }
    Some((is_delete, rest))
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
    fn deletes_of_all_kinds_count() {
        assert_eq!(deletes(batch().data()), 4);
        assert_eq!(deletes(WriteBatch::default().data()), 0);
    }

    #[test]
    fn bytes_that_are_no_batch_count_as_far_as_they_are() {
        let batch = batch();
        let mut before = 0;
        for end in 0..=batch.data().len() {
            let found = deletes(&batch.data()[..end]);
            assert!((before..=before + 1).contains(&found), "{end}: {found}");
            before = found;
        }
        for kind in 0..=u8::MAX {
            let odd = [&[0; HEADER][..], &[kind, 0xff, 0xff, 0xff, 0xff, 0xff]].concat();
            assert_eq!(deletes(&odd), 0, "{kind}");
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
