use std::time::{Duration, Instant};

use lissom::ffi::commit_gate::CommitGate;

use crate::store::{Store, options};

const LONG: Duration = Duration::from_secs(600);

/// Two files in level 0 that hold the same keys, so that they are not just moved.
fn store(gate: &CommitGate) -> Store {
    let mut options = options();
    gate.install(&mut options).expect("the layout fits");
    let store = Store::open(&options);
    store.flush(0..500);
    store.flush(0..500);
    store
}

fn compact_range(store: &Store) {
    store.db.compact_range(None::<&[u8]>, None::<&[u8]>);
}

#[test]
fn a_compaction_commits_once_the_gate_is_open() {
    let gate = CommitGate::new(LONG).expect("a gate");
    let store = store(&gate);
    let before: Vec<u64> = store.files().iter().map(|file| file.number).collect();
    std::thread::scope(|scope| {
        let closed = gate.close("default").expect("closed");
        let nested = gate.close("default").expect("closed");
        let compaction = scope.spawn(|| compact_range(&store));
        let begun = Instant::now();
        while !store.files().iter().any(|file| file.being_compacted) {
            assert!(begun.elapsed() < LONG, "no compaction began");
            std::thread::sleep(Duration::from_millis(1));
        }
        // Time to merge a hundred kilobytes, many times over.
        std::thread::sleep(Duration::from_millis(300));
        let files: Vec<u64> = store.files().iter().map(|file| file.number).collect();
        assert_eq!(files, before);
        drop(closed);
        assert!(!compaction.is_finished());
        drop(nested);
        compaction.join().expect("no panic");
    });
    assert_eq!(store.files_at(0), []);
    // Another family's gate is another one.
    store.flush(0..500);
    let _other = gate.close("other").expect("closed");
    compact_range(&store);
    assert_eq!(store.files_at(0), []);
    store.assert_reads(0..500);
}

/// It may be what stopped writers wait for, and whoever closed the gate waits for them.
#[test]
fn a_compaction_is_not_held_for_ever() {
    let gate = CommitGate::new(Duration::from_millis(10)).expect("a gate");
    let store = store(&gate);
    let _closed = gate.close("default").expect("closed");
    compact_range(&store);
    assert_eq!(store.files_at(0), []);
    store.assert_reads(0..500);
}
