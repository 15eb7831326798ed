//! One way to carry out an operation, on stock RocksDB and on Lissom.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use lissom::{Db, RocksDb};
use rust_rocksdb::properties::{NUM_RUNNING_COMPACTIONS, NUM_RUNNING_FLUSHES};
use rust_rocksdb::{
    BoundColumnFamily, ColumnFamilyDescriptor, DBRawIteratorWithThreadMode, Direction,
    IteratorMode, MergeOperands, Options, ReadOptions, SnapshotWithThreadMode, SstFileWriter,
    WriteBatch,
};

use super::history::{Cf, FAMILIES, Op, Range, Value, Write, family_name, key, single_key};
use super::model::{self, Answer, Entry, living};

type Answered = Result<Answer, String>;

pub enum Store {
    Stock(RocksDb),
    Lissom(Box<Db>),
}

/// Snapshots and iterators live here until the next quiet moment.
pub struct Session<'a> {
    store: &'a Store,
    scratch: &'a Path,
    files: u64,
    snapshots: BTreeMap<u8, SnapshotWithThreadMode<'a, RocksDb>>,
    iterators: BTreeMap<u8, (Cf, bool, DBRawIteratorWithThreadMode<'a, RocksDb>)>,
}

/// The merge operator of both.
pub fn with_merge(options: &mut Options) {
    options.set_merge_operator_associative(
        c"trust.join",
        |_: &[u8], existing: Option<&[u8]>, operands: &MergeOperands| {
            let joined = operands
                .into_iter()
                .fold(existing.map(<[u8]>::to_vec), |so_far, operand| {
                    Some(model::merge(so_far.as_deref(), operand))
                });
            joined.or_else(|| Some(Vec::new()))
        },
    );
}

impl Store {
    /// RocksDB as it comes, with small buffers so that it compacts too.
    pub fn stock(path: &Path) -> Result<Store, String> {
        let mut options = stock_options();
        options.create_if_missing(true);
        let names = RocksDb::list_cf(&options, path).unwrap_or_else(|_| vec!["default".into()]);
        let families = names
            .into_iter()
            .map(|name| ColumnFamilyDescriptor::new(name, stock_options()));
        RocksDb::open_cf_descriptors(&options, path, families)
            .map(Store::Stock)
            .map_err(|error| format!("stock RocksDB does not open: {error}"))
    }

    pub fn rocks(&self) -> &RocksDb {
        match self {
            Store::Stock(db) => db,
            Store::Lissom(db) => db,
        }
    }

    pub fn handle(&self, cf: Cf) -> Result<Arc<BoundColumnFamily<'_>>, String> {
        let name = family_name(cf);
        self.rocks()
            .cf_handle(&name)
            .ok_or_else(|| format!("the column family {name} is gone"))
    }

    fn create(&self, cf: Cf) -> Result<(), String> {
        match self {
            Store::Stock(db) => db
                .create_cf(family_name(cf), &stock_options())
                .map_err(text),
            Store::Lissom(db) => db.create_cf(&family_name(cf)).map_err(text),
        }
    }

    fn drop_family(&self, cf: Cf) -> Result<(), String> {
        match self {
            Store::Stock(db) => {
                let held = db.cf_handle(&family_name(cf));
                db.drop_cf(&family_name(cf)).map_err(text)?;
                // Its jobs look at the options of a family that was dropped meanwhile.
                wait_for_jobs(db);
                drop(held);
                Ok(())
            }
            Store::Lissom(db) => db.drop_cf(&family_name(cf)).map_err(text),
        }
    }

    fn lives(&self, cf: Cf) -> bool {
        self.rocks().cf_handle(&family_name(cf)).is_some()
    }
}

fn wait_for_jobs(db: &RocksDb) {
    let running = |property| db.property_int_value(property).ok().flatten().unwrap_or(0);
    while running(NUM_RUNNING_COMPACTIONS) + running(NUM_RUNNING_FLUSHES) > 0 {
        std::thread::sleep(Duration::from_millis(2));
    }
}

fn stock_options() -> Options {
    let mut options = Options::default();
    options.set_write_buffer_size(64 << 10);
    options.set_target_file_size_base(64 << 10);
    options.set_max_bytes_for_level_base(256 << 10);
    with_merge(&mut options);
    options
}

/// Lissom's own method for the family, which for the default one is `Db`'s.
macro_rules! call {
    ($db:expr, $cf:expr, $method:ident ( $($argument:expr),* )) => {
        if $cf == 0 {
            $db.$method($($argument),*).map_err(text)
        } else {
            let name = family_name($cf);
            let family = $db.family(&name).ok_or_else(|| format!("no family {name}"))?;
            family.$method($($argument),*).map_err(text)
        }
    };
}

impl Store {
    fn put(&self, cf: Cf, k: &[u8], value: &[u8]) -> Result<(), String> {
        match self {
            Store::Stock(db) => db.put_cf(&self.handle(cf)?, k, value).map_err(text),
            Store::Lissom(db) => call!(db, cf, put(k, value)),
        }
    }

    fn write(&self, cf: Cf, write: &Write) -> Result<(), String> {
        match (self, write) {
            (_, Write::Put(at, value)) => self.put(cf, &key(*at), &value.bytes()),
            (Store::Stock(db), Write::Delete(at)) => {
                db.delete_cf(&self.handle(cf)?, key(*at)).map_err(text)
            }
            (Store::Lissom(db), Write::Delete(at)) => call!(db, cf, delete(key(*at))),
            (Store::Stock(db), Write::Merge(at, value)) => db
                .merge_cf(&self.handle(cf)?, key(*at), value.bytes())
                .map_err(text),
            (Store::Lissom(db), Write::Merge(at, value)) => {
                call!(db, cf, merge(key(*at), value.bytes()))
            }
            (Store::Stock(db), Write::DeleteRange(from, to)) => db
                .delete_range_cf(&self.handle(cf)?, key(*from), key(*to))
                .map_err(text),
            (Store::Lissom(db), Write::DeleteRange(from, to)) => {
                call!(db, cf, delete_range(key(*from), key(*to)))
            }
        }
    }

    fn batch(&self, writes: &[(Cf, Write)]) -> Result<(), String> {
        let mut batch = WriteBatch::default();
        for (cf, write) in living(writes, |cf| self.lives(cf)) {
            let handle = self.handle(cf)?;
            match write {
                Write::Put(at, value) => batch.put_cf(&handle, key(at), value.bytes()),
                Write::Delete(at) => batch.delete_cf(&handle, key(at)),
                Write::Merge(at, value) => batch.merge_cf(&handle, key(at), value.bytes()),
                Write::DeleteRange(from, to) => {
                    batch.delete_range_cf(&handle, key(from), key(to));
                }
            }
        }
        match self {
            Store::Stock(db) => db.write(&batch).map_err(text),
            Store::Lissom(db) => db.write(&batch).map_err(text),
        }
    }

    fn single_delete(&self, cf: Cf, at: u32) -> Result<(), String> {
        match self {
            Store::Stock(db) => db
                .single_delete_cf(&self.handle(cf)?, single_key(at))
                .map_err(text),
            Store::Lissom(db) => call!(db, cf, single_delete(single_key(at))),
        }
    }

    fn get(&self, cf: Cf, k: &[u8], options: &ReadOptions) -> Result<Option<Vec<u8>>, String> {
        match self {
            Store::Stock(db) => db.get_cf_opt(&self.handle(cf)?, k, options).map_err(text),
            Store::Lissom(db) => call!(db, cf, get_opt(k, options)),
        }
    }

    fn multi_get(&self, cf: Cf, keys: &[u32]) -> Answered {
        let keys: Vec<Vec<u8>> = keys.iter().map(|at| key(*at)).collect();
        let values: Result<Vec<_>, String> = match self {
            Store::Lissom(db) if cf == 0 => {
                let values = db.multi_get(&keys);
                values
                    .into_iter()
                    .map(|value| value.map_err(text))
                    .collect()
            }
            _ => {
                let handle = self.handle(cf)?;
                let values = self.rocks().multi_get_cf(keys.iter().map(|k| (&handle, k)));
                values
                    .into_iter()
                    .map(|value| value.map_err(text))
                    .collect()
            }
        };
        values.map(Answer::Values)
    }

    fn scan(&self, cf: Cf, range: &Range, limit: usize, options: ReadOptions) -> Answered {
        let from = range.start.map(key);
        let mode = match (&from, range.backward) {
            (None, false) => IteratorMode::Start,
            (None, true) => IteratorMode::End,
            (Some(from), false) => IteratorMode::From(from, Direction::Forward),
            (Some(from), true) => IteratorMode::From(from, Direction::Reverse),
        };
        let pair = |(k, v): (Box<[u8]>, Box<[u8]>)| (k.into_vec(), v.into_vec());
        let entries: Result<Vec<Entry>, String> = match self {
            Store::Lissom(db) if cf == 0 => db
                .iterator_opt(mode, options)
                .take(limit)
                .map(|item| item.map(pair).map_err(text))
                .collect(),
            _ => self
                .rocks()
                .iterator_cf_opt(&self.handle(cf)?, options, mode)
                .take(limit)
                .map(|item| item.map(pair).map_err(text))
                .collect(),
        };
        entries.map(Answer::Entries)
    }

    /// All families, whole; Lissom's by its own scan.
    pub fn everything(&self) -> Answered {
        let mut all = Vec::new();
        for cf in (0..FAMILIES).filter(|cf| self.lives(*cf)) {
            let mut entries = Vec::new();
            match self {
                Store::Stock(_) => {
                    let whole = Range {
                        lower: None,
                        upper: None,
                        start: None,
                        backward: false,
                    };
                    if let Answer::Entries(found) =
                        self.scan(cf, &whole, usize::MAX, ReadOptions::default())?
                    {
                        entries = found;
                    }
                }
                Store::Lissom(db) => {
                    let visit = |k: &[u8], v: &[u8]| entries.push((k.to_vec(), v.to_vec()));
                    call!(db, cf, scan("", usize::MAX, visit))?;
                }
            }
            all.push((cf, entries));
        }
        Ok(Answer::Everything(all))
    }
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

fn text(error: impl std::fmt::Display) -> String {
    error.to_string()
}
