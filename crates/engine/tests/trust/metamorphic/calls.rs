//! One way to carry out an operation, on stock RocksDB and on Lissom.

use rust_rocksdb::{Direction, IteratorMode, ReadOptions, WriteBatch};

use super::history::{Cf, FAMILIES, Range, Write, family_name, key, single_key};
use super::model::{Answer, Entry, living};
use super::store::{Answered, Store, text};

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
    pub fn put(&self, cf: Cf, k: &[u8], value: &[u8]) -> Result<(), String> {
        match self {
            Store::Stock(db) => db.put_cf(&self.handle(cf)?, k, value).map_err(text),
            Store::Lissom(db) => call!(db, cf, put(k, value)),
        }
    }

    pub fn write(&self, cf: Cf, write: &Write) -> Result<(), String> {
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

    pub fn batch(&self, writes: &[(Cf, Write)]) -> Result<(), String> {
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

    pub fn single_delete(&self, cf: Cf, at: u32) -> Result<(), String> {
        match self {
            Store::Stock(db) => db
                .single_delete_cf(&self.handle(cf)?, single_key(at))
                .map_err(text),
            Store::Lissom(db) => call!(db, cf, single_delete(single_key(at))),
        }
    }

    pub fn get(&self, cf: Cf, k: &[u8], options: &ReadOptions) -> Result<Option<Vec<u8>>, String> {
        match self {
            Store::Stock(db) => db.get_cf_opt(&self.handle(cf)?, k, options).map_err(text),
            Store::Lissom(db) => call!(db, cf, get_opt(k, options)),
        }
    }

    pub fn multi_get(&self, cf: Cf, keys: &[u32]) -> Answered {
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

    pub fn scan(&self, cf: Cf, range: &Range, limit: usize, options: ReadOptions) -> Answered {
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
