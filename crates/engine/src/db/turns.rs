//! One at a time makes or drops the column family of a name. Whoever waits for
//! compactions of one to end holds up nobody else.

use std::collections::BTreeSet;

use parking_lot::{Condvar, Mutex};

/// The names for which somebody is at it.
#[derive(Default)]
pub(super) struct Turns {
    taken: Mutex<BTreeSet<String>>,
    given_back: Condvar,
}

/// It is ours until this is dropped.
#[must_use = "the turn ends when this is dropped"]
pub(super) struct Turn<'a> {
    turns: &'a Turns,
    name: &'a str,
}

impl Turns {
    /// Waits until nobody else makes or drops this column family.
    pub(super) fn take<'a>(&'a self, name: &'a str) -> Turn<'a> {
        let mut taken = self.taken.lock();
        while !taken.insert(name.to_owned()) {
            self.given_back.wait(&mut taken);
        }
        Turn { turns: self, name }
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        self.turns.taken.lock().remove(self.name);
        self.turns.given_back.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

    use super::*;

    #[test]
    fn one_at_a_time_has_a_name_and_others_wait_for_no_other() {
        let turns = Turns::default();
        let inside = AtomicU32::new(0);
        let _other = turns.take("other");
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..1_000 {
                        let _turn = turns.take("one");
                        assert_eq!(inside.fetch_add(1, Relaxed), 0);
                        inside.fetch_sub(1, Relaxed);
                    }
                });
            }
        });
        let _free = turns.take("one");
    }
}
