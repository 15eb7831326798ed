//! A history's operations, with the snapshots and iterators that are open between them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use lissom::RocksDb;
use rust_rocksdb::{
    DBRawIteratorWithThreadMode, Options, ReadOptions, SnapshotWithThreadMode, SstFileWriter,
};

use super::history::{Cf, Op, Range, Value, key, single_key};
use super::model::Answer;
use super::store::{Answered, Store, text};

/// Snapshots and iterators live here until the next quiet moment.
pub struct Session<'a> {
    store: &'a Store,
    scratch: &'a Path,
    files: u64,
    snapshots: BTreeMap<u8, SnapshotWithThreadMode<'a, RocksDb>>,
    iterators: BTreeMap<u8, (Cf, bool, DBRawIteratorWithThreadMode<'a, RocksDb>)>,
}

impl<'a> Session<'a> {
    /// `scratch` is a directory for files to ingest.
    pub fn new(store: &'a Store, scratch: &'a Path) -> Session<'a> {
        Session {
            store,
            scratch,
            files: 0,
            snapshots: BTreeMap::new(),
            iterators: BTreeMap::new(),
        }
    }

    pub fn perform(&mut self, op: &Op) -> Answered {
        let store = self.store;
        match op {
            Op::Write(cf, write) => store.write(*cf, write)?,
            Op::Batch(writes) => store.batch(writes)?,
            Op::Fill {
                cf,
                start,
                step,
                count,
                value,
            } => {
                let value = value.bytes();
                for at in 0..*count {
                    store.put(*cf, &key(start + at * step), &value)?;
                }
            }
            Op::PutOnce(cf, at, value) => store.put(*cf, &single_key(*at), &value.bytes())?,
            Op::SingleDelete(cf, at) => store.single_delete(*cf, *at)?,
            Op::Ingest(cf, entries) => self.ingest(*cf, entries)?,
            Op::Flush(cf) => store.rocks().flush_cf(&store.handle(*cf)?).map_err(text)?,
            Op::Create(cf) => store.create(*cf)?,
            Op::Drop(cf) => {
                self.iterators.retain(|_, (family, _, _)| family != cf);
                store.drop_family(*cf)?;
            }
            Op::Snapshot(slot) => {
                self.snapshots.insert(*slot, store.rocks().snapshot());
            }
            Op::Release(slot) => {
                self.snapshots.remove(slot);
            }
            Op::OpenIterator(slot, cf, range, view) => self.open(*slot, *cf, range, *view)?,
            Op::CloseIterator(slot) => {
                self.iterators.remove(slot);
            }
            read => return self.read(read),
        }
        Ok(Answer::Done)
    }

    fn read(&mut self, op: &Op) -> Answered {
        let store = self.store;
        let default = ReadOptions::default();
        match op {
            Op::Get(cf, at, view) => {
                let value = store.get(*cf, &key(*at), &self.options(*view))?;
                Ok(Answer::Values(vec![value]))
            }
            Op::GetSingle(cf, at) => {
                let value = store.get(*cf, &single_key(*at), &default)?;
                Ok(Answer::Values(vec![value]))
            }
            Op::MultiGet(cf, keys) => store.multi_get(*cf, keys),
            Op::Scan(cf, range, limit, view) => {
                store.scan(*cf, range, *limit, self.bounded(range, *view))
            }
            Op::Step(slot, there, back) => self.step(*slot, *there, *back),
            other => Err(format!("{other:?} is no operation of a session")),
        }
    }

    fn options(&self, view: Option<u8>) -> ReadOptions {
        let mut options = ReadOptions::default();
        if let Some(snapshot) = view.and_then(|slot| self.snapshots.get(&slot)) {
            options.set_snapshot(snapshot);
        }
        options
    }

    fn bounded(&self, range: &Range, view: Option<u8>) -> ReadOptions {
        let mut options = self.options(view);
        if let Some(lower) = range.lower {
            options.set_iterate_lower_bound(key(lower));
        }
        if let Some(upper) = range.upper {
            options.set_iterate_upper_bound(key(upper));
        }
        options
    }

    fn open(&mut self, slot: u8, cf: Cf, range: &Range, view: Option<u8>) -> Result<(), String> {
        let handle = self.store.handle(cf)?;
        let options = self.bounded(range, view);
        let mut iterator = self.store.rocks().raw_iterator_cf_opt(&handle, options);
        match (range.start.map(key), range.backward) {
            (None, false) => iterator.seek_to_first(),
            (None, true) => iterator.seek_to_last(),
            (Some(from), false) => iterator.seek(from),
            (Some(from), true) => iterator.seek_for_prev(from),
        }
        self.iterators.insert(slot, (cf, range.backward, iterator));
        Ok(())
    }

    fn step(&mut self, slot: u8, there: u8, back: u8) -> Answered {
        let (_, backward, iterator) = self
            .iterators
            .get_mut(&slot)
            .ok_or_else(|| format!("iterator {slot} is gone"))?;
        let mut entries = Vec::new();
        for (count, backward) in [(there, *backward), (back, !*backward)] {
            for _ in 0..count {
                let Some((k, v)) = iterator.item() else { break };
                entries.push((k.to_vec(), v.to_vec()));
                if backward {
                    iterator.prev();
                } else {
                    iterator.next();
                }
            }
        }
        iterator.status().map_err(text)?;
        Ok(Answer::Entries(entries))
    }

    fn ingest(&mut self, cf: Cf, entries: &[(u32, Option<Value>)]) -> Result<(), String> {
        let path: PathBuf = self.scratch.join(format!("ingest-{}.sst", self.files));
        self.files += 1;
        let options = Options::default();
        let mut writer = SstFileWriter::create(&options);
        writer.open(&path).map_err(text)?;
        for (at, value) in entries {
            match value {
                Some(value) => writer.put(key(*at), value.bytes()),
                None => writer.delete(key(*at)),
            }
            .map_err(text)?;
        }
        writer.finish().map_err(text)?;
        let handle = self.store.handle(cf)?;
        let done = match self.store {
            Store::Stock(db) => db
                .ingest_external_file_cf(&handle, vec![&path])
                .map_err(text),
            Store::Lissom(db) => db
                .ingest_external_file_cf(&handle, vec![&path])
                .map_err(text),
        };
        // RocksDB links or copies it.
        std::fs::remove_file(&path).map_err(text)?;
        done
    }
}
