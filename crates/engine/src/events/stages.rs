//! What RocksDB tells of the merge that a thread carries out, told on to whoever has it done.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

/// Who is told, on the thread that merges.
pub(crate) trait Merging {
    /// Entries are merged from now on: the lock of the database is not held, nor, but where an
    /// SstFileManager has come to its bound on space, taken before [`Merging::ends`].
    fn begins(&self);

    /// The new files are written, and are about to be installed.
    fn ends(&self);
}

thread_local! {
    static TOLD: RefCell<Option<Rc<dyn Merging>>> = const { RefCell::new(None) };
    static BEGUN: Cell<bool> = const { Cell::new(false) };
}

/// Merges on this thread, and tells of it. A merge that fails or is given up may have no end.
pub(crate) fn telling<T>(told: Rc<dyn Merging>, merge: impl FnOnce() -> T) -> T {
    struct Forget;
    impl Drop for Forget {
        fn drop(&mut self) {
            TOLD.take();
        }
    }
    TOLD.replace(Some(told));
    let _forget = Forget;
    merge()
}

/// Compacts on this thread, and says whether RocksDB began to merge, which it does not where
/// it moves files or refuses.
pub(crate) fn watching<T>(compact: impl FnOnce() -> T) -> (T, bool) {
    BEGUN.set(false);
    let compacted = compact();
    (compacted, BEGUN.get())
}

/// RocksDB begins to merge on this thread, for itself or for a caller.
pub(crate) fn begins() {
    BEGUN.set(true);
    if let Some(told) = told() {
        told.begins();
    }
}

/// RocksDB has merged on this thread.
pub(crate) fn ends() {
    if let Some(told) = told() {
        told.ends();
    }
}

fn told() -> Option<Rc<dyn Merging>> {
    TOLD.with_borrow(Clone::clone)
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::panic::{AssertUnwindSafe, catch_unwind};

    use super::*;

    #[derive(Default)]
    struct Counts(Cell<(u32, u32)>);

    impl Merging for Counts {
        fn begins(&self) {
            let (begun, ended) = self.0.get();
            self.0.set((begun + 1, ended));
        }

        fn ends(&self) {
            let (begun, ended) = self.0.get();
            self.0.set((begun, ended + 1));
        }
    }

    #[test]
    fn who_merges_is_told_and_nobody_else() {
        let counts = Rc::new(Counts::default());
        begins();
        ends();
        let merged = telling(counts.clone(), || {
            begins();
            std::thread::spawn(|| (begins(), ends()))
                .join()
                .expect("no panic");
            7
        });
        begins();
        ends();
        assert_eq!((merged, counts.0.get()), (7, (1, 0)));
        let panics = || telling(counts.clone(), || panic!("on purpose"));
        assert!(catch_unwind(AssertUnwindSafe(panics)).is_err());
        begins();
        assert_eq!(counts.0.get(), (1, 0));
    }

    #[test]
    fn a_merge_is_told_from_a_move() {
        assert!(watching(begins).1);
        assert_eq!(watching(|| 7), (7, false));
    }
}
