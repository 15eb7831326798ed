//! What operations were like of late.

use super::super::times::{entries_of_timed, waited};
use super::NEWEST;
use crate::observation::Mission;

/// The time of writes that were held back counts as stall, their own work too: at least
/// this share of a wait is no stall.
const NO_STALL: f64 = 0.2;

/// Operations under way at once are believed up to so many times those of late: few are timed,
/// and one that met a pause of the machine stands for a hundred that did not. One client there
/// may always be.
const MOST: f64 = 4.0;

/// A merge that is chosen is charged as if somebody were there for this share of the time at
/// least: it wears the device, and delays whoever comes. By what is felt alone it would cost
/// next to nothing where hardly anybody is, and only the inflow would bound what is written.
const LEAST_BUSY: f64 = 0.25;

/// An operation of late, on average.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(in crate::tuner::learned) struct Seen {
    /// In a mission.
    pub operations: f64,
    pub gets: f64,
    /// Those of them that found their key: the others read no block but by mistake.
    pub found: f64,
    pub scans: f64,
    /// Entries that these returned; 0 where nobody counted them.
    pub scanned: f64,
    pub writes: f64,
    pub written: f64,
    pub compaction: f64,
    pub compacted: f64,
    pub clients: f64,
    /// Share of their time, stalls left out, that users read.
    pub reading: f64,
    /// Stalls left out.
    pub took: f64,
}

impl Seen {
    /// `None` of a mission that does not tell what its operations took.
    pub fn of(mission: &Mission) -> Option<Seen> {
        let kinds = mission.kinds();
        let [gets, scans, writes] = kinds.map(|(count, _)| count);
        let [of_gets, of_scans, of_writes] = kinds.map(|(count, it)| count * it.mean.as_secs_f64());
        let timed = of_gets + of_scans + of_writes;
        let operations = gets + scans + writes;
        let waited = waited(mission)?;
        let each = |amount: f64| amount / operations;
        let duration = mission.duration.as_secs_f64().max(1e-6);
        // Those that go with the time that scans are told to take; none where it is not told. An
        // iterator may go on in a mission in which none was placed, too.
        let entries = scans * entries_of_timed(mission);
        Some(Seen {
            operations,
            gets: each(gets),
            found: each(mission.operations.gets_found as f64),
            scans: each(scans),
            scanned: each(entries),
            writes: each(writes),
            written: each(mission.user_write_bytes as f64),
            compaction: each(mission.compaction_seconds()),
            compacted: each(mission.compaction_write_bytes as f64),
            clients: (waited / duration).clamp(0.01, 1024.0),
            reading: if timed > 0.0 {
                (of_gets + of_scans) / timed
            } else {
                0.0
            },
            took: each((waited - mission.stall.as_secs_f64()).max(NO_STALL * waited)),
        })
    }

    /// Entries that a scan returned; 0 where nobody scanned or counted them.
    pub fn entries_of_scan(&self) -> f64 {
        if self.scans > 0.0 {
            self.scanned / self.scans
        } else {
            0.0
        }
    }

    /// Share of the time in which anybody is there: merges are felt by nobody else.
    pub fn busy(&self) -> f64 {
        self.clients.min(1.0)
    }

    /// The same to charge a merge by.
    pub fn charged(self) -> Seen {
        Seen {
            clients: self.clients.max(LEAST_BUSY),
            ..self
        }
    }

    /// The same, with no more clients than there may be after those of late. More that stay
    /// are believed within some missions all the same.
    pub fn near(self, late: &Seen) -> Seen {
        Seen {
            clients: self.clients.min((MOST * late.clients).max(1.0)),
            ..self
        }
    }

    /// The mean, moved towards a newer mission.
    pub fn towards(self, newer: Seen) -> Seen {
        let mix = |old: f64, new: f64| old + NEWEST * (new - old);
        Seen {
            operations: mix(self.operations, newer.operations),
            gets: mix(self.gets, newer.gets),
            found: mix(self.found, newer.found),
            scans: mix(self.scans, newer.scans),
            scanned: mix(self.scanned, newer.scanned),
            writes: mix(self.writes, newer.writes),
            written: mix(self.written, newer.written),
            compaction: mix(self.compaction, newer.compaction),
            compacted: mix(self.compacted, newer.compacted),
            clients: mix(self.clients, newer.clients),
            reading: mix(self.reading, newer.reading),
            took: mix(self.took, newer.took),
        }
    }
}
