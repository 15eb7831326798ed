//! The state machine, as a table.

use super::{Growth, Situation, Stage};
use crate::decide::{Actuator, Phase, Reason, Unmanaged, manage};
use crate::testing::{usual_family, usual_settings};

use Phase::{High, Low};
use Stage::{Delayed, Draining, Original};

/// The next stage; the trigger is 4 files, the bound 20 files and 1 GB.
fn next(stage: Stage, phase: Phase, level0_files: u64, level0_bytes: u64) -> (Stage, Reason) {
    let mut settings = usual_settings();
    settings.max_delayed_bytes = 1_000_000_000;
    let mut family = usual_family();
    let leased = manage("default", &family, &settings).expect("managed");
    (family.level0_files, family.level0_bytes) = (level0_files, level0_bytes);
    Situation {
        settings: &settings,
        stage,
        family: &family,
        growth: Growth::default(),
        leased: &leased,
        phase,
        client_bytes_per_sec: Some(1.0),
        forbidden: None,
        hands_off: None,
        given_up: None,
    }
    .next()
}

#[test]
fn the_table() {
    for (stage, phase, files, to) in [
        (Original, Low, 0, Original),
        (Original, Low, 19, Original),
        (Original, High, 0, Delayed),
        (Original, High, 19, Delayed),
        (Delayed, High, 19, Delayed),
        (Delayed, Low, 5, Draining),
        (Delayed, Low, 4, Original),
        (Draining, Low, 5, Draining),
        (Draining, High, 5, Draining),
        (Draining, Low, 4, Original),
        (Draining, High, 4, Delayed),
    ] {
        let (next, why) = next(stage, phase, files, 10);
        assert_eq!(next, to, "{stage:?}, {phase:?}, {files} files: {why}");
    }
}

#[test]
fn at_the_bound_compaction_resumes_whatever_the_load_is() {
    for phase in [Low, High] {
        for (files, bytes, words) in [
            (20, 10, "level 0 holds 20 files, max_level0_files is 20"),
            (1_000, 10, "level 0 holds 1000 files"),
            (6, 1_000_000_000, "max_delayed_bytes is 1000000000"),
        ] {
            for (stage, to) in [
                (Original, Original),
                (Delayed, Draining),
                (Draining, Draining),
            ] {
                let (next, why) = next(stage, phase, files, bytes);
                assert_eq!(next, to, "{stage:?}, {phase:?}, {files} files");
                assert!(why.to_string().contains(words), "{why}");
            }
        }
    }
}

/// RocksDB holds the bound by itself only where the trigger is the actuator.
#[test]
fn where_rocksdb_holds_no_bound_the_next_interval_counts() {
    for (actuator, to) in [
        (Actuator::Level0Trigger, Delayed),
        (Actuator::DisableAutoCompactions, Draining),
    ] {
        let mut settings = usual_settings();
        settings.actuator = Some(actuator);
        let mut family = usual_family();
        let leased = manage("default", &family, &settings).expect("managed");
        family.level0_files = 18;
        let (next, why) = Situation {
            settings: &settings,
            stage: Delayed,
            family: &family,
            growth: Growth { files: 2, bytes: 9 },
            leased: &leased,
            phase: High,
            client_bytes_per_sec: None,
            forbidden: None,
            hands_off: None,
            given_up: None,
        }
        .next();
        assert_eq!(next, to, "{actuator:?}: {why}");
        let gains = why.to_string().contains("gains 2 in an interval");
        assert_eq!(gains, to == Draining, "{why}");
    }
}

#[test]
fn three_things_forbid_any_delay() {
    let settings = usual_settings();
    let family = usual_family();
    let leased = manage("default", &family, &settings).expect("managed");
    let free = Situation {
        settings: &settings,
        stage: Delayed,
        family: &family,
        growth: Growth::default(),
        leased: &leased,
        phase: High,
        client_bytes_per_sec: None,
        forbidden: None,
        hands_off: None,
        given_up: None,
    };
    assert_eq!(free.next().0, Delayed);
    for (situation, words) in [
        (
            Situation {
                forbidden: Some("the watchdog ended"),
                ..free
            },
            "the watchdog ended",
        ),
        (
            Situation {
                hands_off: Some(&Unmanaged::AutoCompactionsOff),
                ..free
            },
            "left alone",
        ),
        (
            Situation {
                given_up: Some(3),
                ..free
            },
            "3 times",
        ),
    ] {
        let (stage, why) = situation.next();
        assert_eq!(stage, Original);
        assert!(why.to_string().contains(words), "{why}");
    }
}
