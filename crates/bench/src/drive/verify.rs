//! Everything that a store holds, compared with what was written.

use super::perform::void;
use crate::error::Result;
use crate::generate::{DataShape, Partition};
use crate::store::Store;

/// How many scans begin in the midst of the data, and how many entries each sees at most.
const SEEKS: u64 = 128;
const SEEK_ENTRIES: u64 = 64;
/// So many gets ask for keys that exist, and so many for keys that do not.
const GETS: u64 = 8192;

/// Reads all of `store` in one scan, compares every byte, and returns how many entries there
/// are; then scans from some keys on, which must see what that one saw there, and gets keys,
/// existing and deleted. Sessions ask for some keys, and of a scan's entries each thread knows its
/// own alone: one that was lost, or that came back, may show nowhere else. A get ends at the first
/// level that has the key, where a scan goes by what was written last, so that either may be
/// right where the other is not.
pub fn verify_all(store: &dyn Store, partitions: &[Partition], data: &DataShape) -> Result<u64> {
    let expected: u64 = partitions.iter().map(Partition::live).sum();
    let mut audit = Audit {
        partitions,
        data,
        entries: 0,
        apart: (expected / SEEKS).max(1),
        stretches: Vec::new(),
        wrong: None,
        last_key: Vec::new(),
        key: Vec::new(),
        value: Vec::new(),
    };
    // One more than there may be, so that too many show.
    store.scan(&[], expected + 1, &mut |key, value| audit.visit(key, value))?;
    if let Some(key) = audit.wrong {
        return Err(void(format!(
            "wrong entry in the scan of everything at the end: at key {} stands what was deleted, \
             or is not the last value written",
            String::from_utf8_lossy(&key)
        )));
    }
    if audit.entries != expected {
        return Err(void(format!(
            "entries are missing in the scan of everything at the end: it found {}, and {expected} \
             exist",
            audit.entries
        )));
    }
    let stretches = audit.stretches;
    stretches
        .iter()
        .try_for_each(|it| verify_stretch(store, it, data))?;
    for partition in partitions {
        verify_gets(store, partition, data, GETS / partitions.len() as u64)?;
    }
    Ok(expected)
}

/// Whether gets find so many of a thread's keys that exist, spread over all of them, in their last
/// version, and none of as many that do not.
fn verify_gets(store: &dyn Store, keys: &Partition, data: &DataShape, gets: u64) -> Result<()> {
    let (mut key, mut answer) = (Vec::new(), Vec::new());
    for exists in [true, false] {
        let is_one = |own: &u64| keys.version(*own).is_some() == exists;
        let of = if exists {
            keys.live()
        } else {
            keys.made() - keys.live()
        };
        let apart = (of / gets.max(1)).max(1) as usize;
        for own in (0..keys.made()).filter(is_one).step_by(apart) {
            let index = keys.index(own);
            data.key(index, &mut key);
            let found = store.get(&key, &mut answer)?;
            let claim = found.then(|| DataShape::claim(&answer));
            if claim != keys.version(own).map(|version| Some((index, version))) {
                return Err(void(format!(
                    "a get at the end finds what was deleted, or not the last value written, at \
                     key {}",
                    String::from_utf8_lossy(&key)
                )));
            }
        }
    }
    Ok(())
}

/// Key number and version, as a value claims them.
type Claim = (u64, u8);

/// Whether a scan from the first of these entries on sees them, and none between.
fn verify_stretch(store: &dyn Store, stretch: &[Claim], data: &DataShape) -> Result<()> {
    let Some((first, _)) = stretch.first() else {
        return Ok(());
    };
    let mut key = Vec::new();
    data.key(*first, &mut key);
    let mut seen = Vec::new();
    store.scan(&key, stretch.len() as u64, &mut |_, value| {
        seen.push(DataShape::claim(value));
    })?;
    if seen.iter().copied().eq(stretch.iter().copied().map(Some)) {
        return Ok(());
    }
    Err(void(format!(
        "a scan from key {} on does not see what the scan of everything at the end saw there",
        String::from_utf8_lossy(&key)
    )))
}

/// Sees all entries in the order of their keys. Where each of them exists and none comes twice,
/// as many as exist are all of them.
struct Audit<'a> {
    partitions: &'a [Partition],
    data: &'a DataShape,
    entries: u64,
    /// Entries from where one stretch begins to where the next does.
    apart: u64,
    /// Entries that follow each other.
    stretches: Vec<Vec<Claim>>,
    /// Key of the first wrong entry.
    wrong: Option<Vec<u8>>,
    last_key: Vec<u8>,
    key: Vec<u8>,
    value: Vec<u8>,
}

impl Audit<'_> {
    fn visit(&mut self, key: &[u8], value: &[u8]) {
        if self.wrong.is_none() && !self.is_right(key, value) {
            self.wrong = Some(key.to_vec());
        }
        self.keep(value);
        self.entries += 1;
        self.last_key.clear();
        self.last_key.extend_from_slice(key);
    }

    /// Keeps the entry if it lies in a stretch.
    fn keep(&mut self, value: &[u8]) {
        let into = self.entries % self.apart;
        if into == 0 {
            self.stretches.push(Vec::new());
        }
        if into < SEEK_ENTRIES
            && let Some(stretch) = self.stretches.last_mut()
            && let Some(claim) = DataShape::claim(value)
        {
            stretch.push(claim);
        }
    }

    fn is_right(&mut self, key: &[u8], value: &[u8]) -> bool {
        let Some((index, version)) = DataShape::claim(value) else {
            return false;
        };
        let owner = &self.partitions[(index % self.partitions.len() as u64) as usize];
        self.data.key(index, &mut self.key);
        self.data.value(index, version, &mut self.value);
        let follows = self.entries == 0 || key > self.last_key.as_slice();
        let is_last = owner.version_of_index(index).flatten() == Some(version);
        follows && is_last && key == self.key.as_slice() && value == self.value.as_slice()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arms::MockStore;
    use crate::workload::load_workload;

    const ENTRIES: u64 = 100;

    /// What is found once `change` was made to 100 entries of two threads.
    fn found(change: &dyn Fn(&MockStore, &mut [Partition], &DataShape)) -> Result<u64> {
        let data = DataShape::new(&load_workload("update-only").unwrap());
        let store = MockStore::open("good").unwrap();
        fill(&store, ENTRIES, &data);
        let mut partitions = [0, 1].map(|thread| Partition::loaded(thread, 2, ENTRIES, &data));
        change(&store, &mut partitions, &data);
        verify_all(&store, &partitions, &data)
    }

    /// So many entries, in version 0.
    fn fill(store: &MockStore, entries: u64, data: &DataShape) {
        for index in 0..entries {
            store.put(&key(index, data), &value(index, data)).unwrap();
        }
    }

    fn key(index: u64, data: &DataShape) -> Vec<u8> {
        let mut key = Vec::new();
        data.key(index, &mut key);
        key
    }

    fn value(index: u64, data: &DataShape) -> Vec<u8> {
        let mut value = Vec::new();
        data.value(index, 0, &mut value);
        value
    }

    #[test]
    fn what_was_lost_or_came_back_or_was_altered_is_found() {
        assert_eq!(found(&|_, _, _| ()).unwrap(), ENTRIES);
        let refused = |change: &dyn Fn(&MockStore, &mut [Partition], &DataShape), word: &str| {
            let error = found(change).unwrap_err().to_string();
            assert!(error.contains(word) && error.contains("void"), "{error}");
        };
        refused(
            &|store, _, data| store.delete(&key(7, data)).unwrap(),
            "it found 99, and 100 exist",
        );
        // A delete, an update and a put that the store knows nothing of.
        refused(&|_, all, data| all[1].delete(3, data), "wrong entry");
        refused(
            &|_, all, data| {
                all[0].update(9, data);
            },
            "wrong entry",
        );
        refused(
            &|_, all, data| {
                all[0].add(data);
            },
            "it found 100, and 101 exist",
        );
    }

    #[test]
    fn a_scan_from_a_key_on_that_skips_an_entry_is_found() {
        let data = DataShape::new(&load_workload("update-only").unwrap());
        let store = MockStore::open("skips").unwrap();
        fill(&store, 1_000, &data);
        let partitions = [Partition::loaded(0, 1, 1_000, &data)];
        let error = verify_all(&store, &partitions, &data)
            .unwrap_err()
            .to_string();
        assert!(
            error.starts_with("a scan from key ") && error.contains("void"),
            "{error}"
        );
        let mut put: Vec<_> = (0..1_000).map(|index| (key(index, &data), index)).collect();
        put.sort();
        let stretch: Vec<Claim> = put[500..509].iter().map(|(_, index)| (*index, 0)).collect();
        assert!(
            verify_stretch(&store, &stretch[..2], &data).is_ok(),
            "it skips the third"
        );
        assert!(verify_stretch(&store, &stretch, &data).is_err());
        assert!(verify_stretch(&store, &[stretch[0], stretch[2]], &data).is_err());
        let stale = (stretch[0].0, 1);
        assert!(verify_stretch(&store, &[stale], &data).is_err());
    }

    #[test]
    fn a_get_that_finds_what_no_scan_does_is_found() {
        let data = DataShape::new(&load_workload("update-only").unwrap());
        let audited = |name: &str| {
            let store = MockStore::open(name).unwrap();
            fill(&store, ENTRIES, &data);
            let mut keys = Partition::loaded(0, 1, ENTRIES, &data);
            keys.delete(77, &data);
            store.delete(&key(77, &data)).unwrap();
            verify_all(&store, &[keys], &data)
        };
        assert_eq!(audited("good").unwrap(), ENTRIES - 1);
        let error = audited("revives").unwrap_err().to_string();
        assert!(error.starts_with("a get at the end finds"), "{error}");
        assert!(error.contains("void"), "{error}");
    }

    #[test]
    fn a_get_that_misses_or_is_behind_is_found() {
        let data = DataShape::new(&load_workload("update-only").unwrap());
        let store = MockStore::open("good").unwrap();
        let mut keys = Partition::loaded(0, 1, ENTRIES, &data);
        let all = |store: &MockStore, keys: &Partition| verify_gets(store, keys, &data, GETS);
        assert!(all(&store, &keys).is_err(), "there is none");
        fill(&store, ENTRIES, &data);
        all(&store, &keys).unwrap();
        keys.update(5, &data);
        assert!(all(&store, &keys).is_err(), "one is stale");
    }

    #[test]
    fn every_byte_is_compared_and_every_key() {
        let put = |at: u64, of: u64, change: fn(&mut Vec<u8>)| {
            let error = found(&|store, _, data| {
                let mut value = value(of, data);
                change(&mut value);
                store.put(&key(at, data), &value).unwrap();
            });
            assert!(error.unwrap_err().to_string().contains("wrong entry"));
        };
        put(5, 5, |value| *value.last_mut().unwrap() ^= 1);
        put(5, 5, |value| value.truncate(20));
        put(5, 5, |value| value.clear());
        put(5, 6, |_| ());
    }
}
