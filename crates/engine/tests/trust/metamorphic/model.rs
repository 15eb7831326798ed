//! What every store must answer: the history carried out on maps in memory.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use super::history::{Cf, FAMILIES, Op, Range, Write, key, single_key};

pub type Entry = (Vec<u8>, Vec<u8>);
type Map = BTreeMap<Vec<u8>, Vec<u8>>;

/// The right answer to one operation.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Answer {
    Done,
    Values(Vec<Option<Vec<u8>>>),
    Entries(Vec<Entry>),
    /// Every family that there is, whole.
    Everything(Vec<(Cf, Vec<Entry>)>),
}

/// An operation that applies, with its answer.
pub struct Step {
    /// Its place in the history.
    pub at: usize,
    pub op: Op,
    pub answer: Answer,
}

/// Operands join with a comma, so that their order shows.
pub fn merge(existing: Option<&[u8]>, operand: &[u8]) -> Vec<u8> {
    match existing {
        None => operand.to_vec(),
        Some(existing) => [existing, b",", operand].concat(),
    }
}

#[derive(Default)]
struct Model {
    families: BTreeMap<Cf, Rc<Map>>,
    /// Keys for SingleDelete that are there.
    singles: BTreeSet<(Cf, u32)>,
    snapshots: BTreeMap<u8, BTreeMap<Cf, Rc<Map>>>,
    iterators: BTreeMap<u8, (Cf, Cursor)>,
}

/// A place among entries; past either end it is lost for good.
struct Cursor {
    entries: Vec<Entry>,
    at: Option<usize>,
    backward: bool,
}

/// The steps of a history: operations that do not apply, as a read from a
/// snapshot that was never taken, are left out.
pub fn resolve(history: &[Op]) -> Vec<Step> {
    let mut model = Model::default();
    model.families.insert(0, Rc::default());
    history
        .iter()
        .enumerate()
        .filter_map(|(at, op)| {
            let answer = model.answer(op)?;
            let op = op.clone();
            Some(Step { at, op, answer })
        })
        .collect()
}

impl Model {
    fn answer(&mut self, op: &Op) -> Option<Answer> {
        match op {
            Op::Write(..)
            | Op::Batch(_)
            | Op::Fill { .. }
            | Op::PutOnce(..)
            | Op::SingleDelete(..)
            | Op::Ingest(..) => self.change(op)?,
            Op::Flush(cf) => {
                self.families.get(cf)?;
            }
            Op::Create(cf) => self.create(*cf)?,
            Op::Drop(cf) => self.drop_family(*cf)?,
            Op::Snapshot(slot) => {
                self.snapshots.insert(*slot, self.families.clone());
            }
            Op::Release(slot) => {
                self.snapshots.remove(slot)?;
            }
            Op::OpenIterator(slot, cf, range, view) => {
                let cursor = Cursor::new(self.view(*cf, *view)?, range);
                self.iterators.insert(*slot, (*cf, cursor));
            }
            Op::CloseIterator(slot) => {
                self.iterators.remove(slot)?;
            }
            read => return self.read(read),
        }
        Some(Answer::Done)
    }

    fn read(&mut self, op: &Op) -> Option<Answer> {
        let values = |map: &Map, keys: &[u32]| {
            Answer::Values(keys.iter().map(|at| map.get(&key(*at)).cloned()).collect())
        };
        Some(match op {
            Op::Get(cf, at, view) => values(self.view(*cf, *view)?, &[*at]),
            Op::MultiGet(cf, keys) => values(self.families.get(cf)?, keys),
            Op::GetSingle(cf, at) => {
                let value = self.families.get(cf)?.get(&single_key(*at)).cloned();
                Answer::Values(vec![value])
            }
            Op::Scan(cf, range, limit, view) => {
                let mut cursor = Cursor::new(self.view(*cf, *view)?, range);
                Answer::Entries(cursor.take(*limit))
            }
            Op::Step(slot, there, back) => {
                let (_, cursor) = self.iterators.get_mut(slot)?;
                let mut entries = cursor.take(usize::from(*there));
                cursor.backward = !cursor.backward;
                entries.extend(cursor.take(usize::from(*back)));
                cursor.backward = !cursor.backward;
                Answer::Entries(entries)
            }
            Op::Quiet => self.everything(),
            _ => return None,
        })
    }

    fn everything(&mut self) -> Answer {
        self.snapshots.clear();
        self.iterators.clear();
        let whole = |map: &Map| map.iter().map(|(k, v)| (k.clone(), v.clone())).collect();
        Answer::Everything(
            self.families
                .iter()
                .map(|(cf, map)| (*cf, whole(map)))
                .collect(),
        )
    }

    fn view(&self, cf: Cf, view: Option<u8>) -> Option<&Map> {
        let now = self.families.get(&cf)?;
        match view {
            None => Some(now),
            Some(slot) => self.snapshots.get(&slot)?.get(&cf).map(|map| &**map),
        }
    }

    fn map(&mut self, cf: Cf) -> Option<&mut Map> {
        self.families.get_mut(&cf).map(Rc::make_mut)
    }

    fn change(&mut self, op: &Op) -> Option<()> {
        match op {
            Op::Write(cf, write) => apply(self.map(*cf)?, write),
            Op::Batch(writes) => {
                for (cf, write) in self.of_living_families(writes) {
                    apply(self.map(cf)?, &write);
                }
            }
            Op::Fill {
                cf,
                start,
                step,
                count,
                value,
            } => {
                let map = self.map(*cf)?;
                for at in 0..*count {
                    map.insert(key(start + at * step), value.bytes());
                }
            }
            Op::PutOnce(cf, at, value) => {
                let map = self.map(*cf)?;
                if map.contains_key(&single_key(*at)) {
                    return None;
                }
                map.insert(single_key(*at), value.bytes());
                self.singles.insert((*cf, *at));
            }
            Op::SingleDelete(cf, at) => {
                if !self.singles.remove(&(*cf, *at)) {
                    return None;
                }
                self.map(*cf)?.remove(&single_key(*at));
            }
            Op::Ingest(cf, entries) => {
                let map = self.map(*cf)?;
                for (at, value) in entries {
                    match value {
                        Some(value) => map.insert(key(*at), value.bytes()),
                        None => map.remove(&key(*at)),
                    };
                }
            }
            _ => return None,
        }
        Some(())
    }

    fn of_living_families(&self, writes: &[(Cf, Write)]) -> Vec<(Cf, Write)> {
        living(writes, |cf| self.families.contains_key(&cf))
    }

    fn create(&mut self, cf: Cf) -> Option<()> {
        if cf >= FAMILIES || self.families.contains_key(&cf) {
            return None;
        }
        self.families.insert(cf, Rc::default());
        Some(())
    }

    /// Snapshots no longer see the family, also if it comes back.
    fn drop_family(&mut self, cf: Cf) -> Option<()> {
        self.families.remove(&cf)?;
        self.singles.retain(|(family, _)| *family != cf);
        self.iterators.retain(|_, (family, _)| *family != cf);
        for seen in self.snapshots.values_mut() {
            seen.remove(&cf);
        }
        Some(())
    }
}

/// The writes of a batch whose families there are.
pub fn living(writes: &[(Cf, Write)], lives: impl Fn(Cf) -> bool) -> Vec<(Cf, Write)> {
    let writes = writes.iter();
    writes.filter(|(cf, _)| lives(*cf)).cloned().collect()
}

fn apply(map: &mut Map, write: &Write) {
    match write {
        Write::Put(at, value) => {
            map.insert(key(*at), value.bytes());
        }
        Write::Delete(at) => {
            map.remove(&key(*at));
        }
        Write::Merge(at, operand) => {
            let merged = merge(map.get(&key(*at)).map(Vec::as_slice), &operand.bytes());
            map.insert(key(*at), merged);
        }
        Write::DeleteRange(from, to) => {
            let doomed: Vec<Vec<u8>> = map
                .range(key(*from)..key(*to))
                .map(|(k, _)| k.clone())
                .collect();
            for k in doomed {
                map.remove(&k);
            }
        }
    }
}

impl Cursor {
    fn new(map: &Map, range: &Range) -> Cursor {
        let inside = |k: &Vec<u8>| {
            range.lower.is_none_or(|lower| *k >= key(lower))
                && range.upper.is_none_or(|upper| *k < key(upper))
        };
        let entries: Vec<Entry> = map
            .iter()
            .filter(|(k, _)| inside(k))
            .map(|(k, v)| (k.clone(), v.clone()))
            .collect();
        let from = range.start.map(key);
        let at = match (&from, range.backward) {
            (None, false) => (!entries.is_empty()).then_some(0),
            (None, true) => entries.len().checked_sub(1),
            (Some(from), false) => entries.iter().position(|(k, _)| k >= from),
            (Some(from), true) => entries.iter().rposition(|(k, _)| k <= from),
        };
        Cursor {
            entries,
            at,
            backward: range.backward,
        }
    }

    fn take(&mut self, count: usize) -> Vec<Entry> {
        let mut taken = Vec::new();
        while taken.len() < count
            && let Some(at) = self.at
        {
            taken.push(self.entries[at].clone());
            self.at = if self.backward {
                at.checked_sub(1)
            } else {
                Some(at + 1).filter(|next| *next < self.entries.len())
            };
        }
        taken
    }
}
