use std::time::Duration;

use super::testing::{FakeClock, millis};
use super::*;
use crate::arms::MockStore;
use crate::generate::{DataShape, Op, Partition};
use crate::store::Store;
use crate::workload::{Rate, Workload, load_workload};

#[test]
fn a_stall_is_charged_to_all_operations_that_were_due() {
    let clock = FakeClock::default();
    let mut pace = Pace::new(Rate::Constant { per_second: 1000.0 }, 0, 1, millis(0));
    let mut latencies = Vec::new();
    for number in 0..20 {
        let from = pace.next(&clock);
        // Each operation takes 0.1 ms, but the sixth stalls for 10 ms.
        clock.pass(if number == 5 {
            millis(10)
        } else {
            Duration::from_micros(100)
        });
        latencies.push(clock.now() - from);
    }
    assert!(
        latencies[..5]
            .iter()
            .all(|l| *l == Duration::from_micros(100))
    );
    assert_eq!(latencies[5], millis(10));
    // The next was due 1 ms after the stall began: it waited 9 ms of it.
    assert_eq!(latencies[6], Duration::from_micros(9100));
    assert_eq!(latencies[7], Duration::from_micros(8200));
    assert!(latencies[6..16].windows(2).all(|pair| pair[1] < pair[0]));
    assert_eq!(
        latencies[19],
        Duration::from_micros(100),
        "the backlog is gone"
    );
}

#[test]
fn a_closed_loop_charges_a_stall_once() {
    let clock = FakeClock::default();
    let mut pace = Pace::new(Rate::Closed, 0, 1, millis(0));
    let mut charge = |time| {
        let from = pace.next(&clock);
        clock.pass(time);
        clock.now() - from
    };
    assert_eq!(charge(millis(50)), millis(50));
    assert_eq!(charge(millis(1)), millis(1));
}

#[test]
fn threads_share_the_due_times() {
    let clock = FakeClock::default();
    let rate = Rate::Constant { per_second: 10.0 };
    let mut first = Pace::new(rate, 0, 2, millis(1000));
    let mut second = Pace::new(rate, 1, 2, millis(1000));
    assert_eq!(
        [first.next(&clock), second.next(&clock)],
        [millis(1000), millis(1100)]
    );
    assert_eq!(
        [first.next(&clock), second.next(&clock)],
        [millis(1200), millis(1300)]
    );
}

fn workload() -> Workload {
    load_workload("mixed-sessions")
        .unwrap()
        .sized(Some(1000), 1.0)
        .unwrap()
}

fn loaded(name: &str, data: &DataShape) -> MockStore {
    let store = MockStore::open(name).unwrap();
    let (mut key, mut value) = (Vec::new(), Vec::new());
    for index in 0..1000 {
        data.key(index, &mut key);
        data.value(index, 0, &mut value);
        store.put(&key, &value).unwrap();
    }
    store
}

fn drive(name: &str, threads: u64) -> crate::error::Result<Vec<SessionOutcome>> {
    let mut workload = workload();
    // Offered rates would make the test wait.
    workload
        .sessions
        .iter_mut()
        .for_each(|session| session.rate = Rate::Closed);
    let data = DataShape::new(&workload);
    let store = loaded(name, &data);
    let clock = SystemClock::start();
    let mut driver = Driver {
        store: &store,
        directory: std::env::temp_dir().join("lissom-bench-has-no-such-directory"),
        workload: &workload,
        partitions: (0..threads)
            .map(|t| Partition::loaded(t, threads, 1000, &data))
            .collect(),
        data,
        seed: 1,
        sample_interval: millis(10),
        clock: &clock,
    };
    let sessions = workload.measured_sessions();
    let mut outcomes = Vec::new();
    for (number, session) in sessions.iter().enumerate() {
        store.session_begins(&session.name)?;
        outcomes.push(driver.run(session, number, &mut |_, _| {})?);
    }
    Ok(outcomes)
}

#[test]
fn a_correct_store_passes_every_session() {
    for threads in [1, 3] {
        let outcomes = drive("good", threads).unwrap();
        let workload = workload();
        for (outcome, session) in outcomes.iter().zip(workload.measured_sessions()) {
            let summary = outcome.latencies.over(|_| true);
            assert_eq!(summary.count, session.length(1000), "{}", session.name);
            let sampled: f64 = outcome
                .samples
                .iter()
                .map(|s| s.operations_per_second * s.seconds)
                .sum();
            assert_eq!(
                sampled.round() as u64,
                summary.count,
                "no operation is missing in the series"
            );
            let reads: u64 = outcome.samples.iter().map(|s| s.point_reads.count).sum();
            assert_eq!(reads, outcome.latencies.over(OpKind::reads_a_point).count);
            let scans: u64 = outcome.samples.iter().map(|s| s.scans.count).sum();
            assert_eq!(
                scans,
                outcome.latencies.over(|kind| kind == OpKind::Scan).count
            );
            let last = outcome.samples.last().unwrap();
            assert!(last.background.flushed_bytes > 0 && last.user_load.is_none());
        }
        assert!(outcomes.last().unwrap().verified > 0);
    }
}

#[test]
fn lost_writes_void_the_run() {
    let error = drive("stale", 1).unwrap_err().to_string();
    assert!(
        error.contains("wrong answer") && error.contains("void"),
        "{error}"
    );
}

#[test]
fn a_scan_that_ends_before_the_data_does_voids_the_run() {
    for threads in [1, 3] {
        let error = drive("tires", threads).unwrap_err().to_string();
        let told = "the scan ended although entries followed";
        assert!(error.contains(told) && error.contains("void"), "{error}");
    }
}

#[test]
fn altered_and_invented_answers_are_noticed() {
    let workload = workload();
    let data = DataShape::new(&workload);
    let store = loaded("good", &data);
    let partition = Partition::loaded(0, 1, 1000, &data);
    let clock = SystemClock::start();
    let mut performer = Performer::new(&store, &data);
    let mut check = |op: Op| {
        performer.prepare(&op);
        performer.perform(&op, &partition, &clock).map(|_| ())
    };
    check(Op::GetPresent {
        index: 5,
        version: 0,
    })
    .unwrap();
    check(Op::GetAbsent { index: 5 }).unwrap();
    check(Op::Scan {
        index: 5,
        version: 0,
        length: 20,
    })
    .unwrap();
    assert!(
        check(Op::GetPresent {
            index: 5,
            version: 1
        })
        .is_err()
    );
    assert!(
        check(Op::Scan {
            index: 5,
            version: 1,
            length: 20
        })
        .is_err()
    );
    assert!(
        check(Op::GetPresent {
            index: 4000,
            version: 0
        })
        .is_err()
    );

    let (mut key, mut value) = (Vec::new(), Vec::new());
    data.absent_key(7, &mut key);
    data.value(7, 0, &mut value);
    store.put(&key, &value).unwrap();
    assert!(check(Op::GetAbsent { index: 7 }).is_err());
    // Bytes behind the header are compared in every sixteenth read.
    data.key(8, &mut key);
    data.value(8, 0, &mut value);
    value[100] ^= 1;
    store.put(&key, &value).unwrap();
    let found = (0..16)
        .filter(|_| {
            check(Op::GetPresent {
                index: 8,
                version: 0,
            })
            .is_err()
        })
        .count();
    assert_eq!(found, 1);
    // How many there are is looked at in each.
    value.truncate(50);
    store.put(&key, &value).unwrap();
    let read = Op::GetPresent {
        index: 8,
        version: 0,
    };
    assert!((0..16).all(|_| check(read).is_err()));
}

#[test]
fn of_a_scan_counts_as_verified_what_the_thread_knows() {
    let data = DataShape::new(&workload());
    let store = loaded("good", &data);
    let clock = SystemClock::start();
    let key = |index: &u64| {
        let mut key = Vec::new();
        data.key(*index, &mut key);
        key
    };
    let scan = Op::Scan {
        index: (0..1000).step_by(4).min_by_key(key).unwrap(),
        version: 0,
        length: 1000,
    };
    let verified = |threads: u64| {
        let partition = Partition::loaded(0, threads, 1000, &data);
        let mut performer = Performer::new(&store, &data);
        performer.prepare(&scan);
        performer.perform(&scan, &partition, &clock).unwrap();
        performer.verified
    };
    assert_eq!(verified(4), 250);
    assert!(verified(1) > 900);
}

#[test]
fn summaries_are_in_microseconds() {
    let mut latencies = Latencies::default();
    for i in 1..=1000 {
        latencies.record(OpKind::Put, Duration::from_micros(i));
    }
    latencies.record(OpKind::Scan, millis(5));
    let writes = latencies.over(OpKind::writes);
    assert_eq!(writes.count, 1000);
    for (value, expected) in [
        (writes.p50, 500.0),
        (writes.p99, 990.0),
        (writes.max, 1000.0),
    ] {
        assert!(
            (value - expected).abs() <= expected * 0.011,
            "{value} {expected}"
        );
    }
    assert_eq!(latencies.by_kind().len(), 2);
    assert_eq!(
        latencies.over(|kind| kind == OpKind::Delete),
        LatencySummary::default()
    );
}

#[test]
fn the_process_knows_its_memory() {
    assert!(ProcessUse::now().resident_bytes > 1 << 20);
}
