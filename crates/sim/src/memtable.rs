//! Writes that no file holds yet.

use crate::content::Density;

pub(crate) struct Memtable {
    pub(crate) bytes: f64,
    /// By class: new keys, draws among existing keys, and deletes among those.
    pub(crate) fresh: Vec<f64>,
    pub(crate) draws: Vec<f64>,
    pub(crate) deletes: Vec<f64>,
    /// Keys that existed when it was begun.
    keys: Vec<f64>,
}

impl Memtable {
    pub(crate) fn new(keys: &[f64]) -> Memtable {
        let classes = keys.len();
        Memtable {
            keys: keys.to_vec(),
            bytes: 0.0,
            fresh: vec![0.0; classes],
            draws: vec![0.0; classes],
            deletes: vec![0.0; classes],
        }
    }

    /// What its flush writes.
    pub(crate) fn content(&self) -> Vec<Density> {
        let classes = 0..self.fresh.len();
        classes
            .map(|class| {
                let draws = self.draws[class];
                let deletes = if draws > 0.0 {
                    self.deletes[class] / draws
                } else {
                    0.0
                };
                let drawn = Density::drawn(draws, self.keys[class], deletes);
                Density {
                    fresh: self.fresh[class],
                    ..drawn
                }
            })
            .collect()
    }
}
