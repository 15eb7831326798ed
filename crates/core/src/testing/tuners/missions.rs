//! Missions that every tuner must take.

use std::time::Duration;

use crate::observation::{Latency, LevelMission, Mission, OperationMix};

/// A microsecond each.
fn latency(count: u64) -> Latency {
    Latency {
        count,
        mean: Duration::from_micros(u64::from(count > 0)),
        ..Latency::default()
    }
}

/// Longer than anything takes.
fn slow(count: u64) -> Latency {
    Latency {
        mean: Duration::MAX,
        ..latency(count)
    }
}

/// Missions that a tuner must take: empty, all reads, all writes, scans and deletes, absurd,
/// and such as a clock makes that jumps.
pub(super) fn missions() -> Vec<Mission> {
    let with = |gets_found, writes| Mission {
        operations: OperationMix {
            gets_found,
            writes,
            ..OperationMix::default()
        },
        user_write_bytes: writes.saturating_mul(1000),
        get: latency(gets_found),
        put: latency(writes),
        duration: Duration::from_secs(1),
        ..Mission::default()
    };
    let mut missions = vec![
        Mission::default(),
        with(50_000, 0),
        with(0, 50_000),
        with(25_000, 25_000),
        with(u64::MAX / 4, u64::MAX / 4),
        Mission {
            duration: Duration::ZERO,
            ..with(25_000, 25_000)
        },
        Mission {
            duration: Duration::MAX,
            stall: Duration::MAX,
            tuner_time: Duration::MAX,
            ..with(25_000, 25_000)
        },
        Mission {
            duration: Duration::from_nanos(1),
            stall: Duration::from_secs(1 << 40),
            get: slow(25_000),
            put: slow(25_000),
            ..with(25_000, 25_000)
        },
        scanning(20_000, 100),
        scanning(20_000, 0),
        scanning(0, 100),
        scanning(u64::MAX / 8, u64::MAX),
    ];
    for (at, mission) in missions.iter_mut().enumerate() {
        mission.number = at as u64 + 1;
    }
    missions
}

/// Scans of so many entries in all, absent keys and deletes, with filters and compactions at
/// work; what is counted of them is as large as the scans are many, but for what was merged for
/// the reads' sake: as many bytes as entries.
fn scanning(scans: u64, entries: u64) -> Mission {
    let level = LevelMission {
        compaction_read_bytes: scans,
        compaction_write_bytes: scans,
        for_reads_write_bytes: entries,
        compaction_time: Duration::from_micros(scans),
        filter_useful: scans,
        filter_positive: scans,
        filter_true_positive: scans,
        ..LevelMission::default()
    };
    Mission {
        operations: OperationMix {
            scans,
            scan_entries: entries,
            gets_absent: scans,
            deletes: scans,
            ..OperationMix::default()
        },
        user_write_bytes: scans,
        compaction_write_bytes: scans,
        levels: vec![level; 2],
        get: latency(scans),
        seek: latency(scans),
        put: latency(scans),
        duration: Duration::from_secs(1),
        ..Mission::default()
    }
}
