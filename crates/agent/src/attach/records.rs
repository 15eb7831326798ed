//! What the agent writes down: the state file, the journal, the metrics, and
//! lines for whoever watches.

use std::fmt;
use std::time::Duration;

use crate::decide::{Decision, Entry, Event, Lease, Observation, Outcome, Pilot};
use crate::error::{Error, ErrorKind, Result};
use crate::files::{Journal, Ledger, Places};
use crate::metrics::{Board, FamilyReadings, Readings};

/// Everything that an agent writes down.
pub struct Records {
    pub(super) ledger: Ledger,
    journal: Journal,
    readings: Readings,
    board: Board,
    watch: Box<dyn FnMut(&Entry)>,
}

impl fmt::Debug for Records {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Records")
            .field("ledger", &self.ledger)
            .field("journal", &self.journal)
            .finish_non_exhaustive()
    }
}

impl Records {
    /// Opens the files. `watch` sees every line of the journal.
    ///
    /// # Errors
    /// When a file cannot be used; see the state file's own sentence.
    pub fn open(
        places: &Places,
        max_journal_bytes: u64,
        board: Board,
        watch: impl FnMut(&Entry) + 'static,
    ) -> Result<Records> {
        Ok(Records {
            ledger: Ledger::open(places.state.clone())?,
            journal: Journal::open(places.journal.clone(), max_journal_bytes)?,
            readings: Readings::default(),
            board,
            watch: Box::new(watch),
        })
    }

    pub(super) fn write(&mut self, at: Duration, event: Event) {
        let entry = self.journal.write(at, event);
        (self.watch)(&entry);
    }

    pub(super) fn note(&mut self, at: Duration, text: impl Into<String>) {
        let text = text.into();
        self.write(at, Event::Note { text });
    }

    /// A decision and what came of it.
    pub(super) fn decided(
        &mut self,
        at: Duration,
        pilot: &Pilot,
        decision: &Decision,
        outcome: Outcome,
    ) {
        match outcome {
            Outcome::Applied => self.readings.applied += 1,
            Outcome::DryRun => {}
            Outcome::Vanished => self.readings.not_applied += 1,
            Outcome::NotApplied { .. } | Outcome::Refused { .. } | Outcome::Unknown { .. } => {
                self.readings.not_applied += 1;
                self.readings.outstanding += 1;
            }
        }
        self.write(
            at,
            Event::Decision {
                decision: Box::new(decision.clone()),
                phase: pilot.phase(),
                client_bytes_per_sec: pilot.client_bytes_per_sec(),
                outcome,
            },
        );
    }

    /// So many changes that an earlier agent made were not taken back.
    pub(super) fn refused(&mut self, changes: u64) {
        self.readings.not_applied += changes;
        self.readings.outstanding += changes;
    }

    /// Why an interval was not completed.
    pub(super) fn failed(&mut self, at: Duration, error: &Error) {
        self.readings.lost += 1;
        let why = error.to_string();
        let event = match error.kind() {
            ErrorKind::Lost => Event::Lost { why },
            ErrorKind::Refused | ErrorKind::Fix => Event::Failed { why },
        };
        self.write(at, event);
    }

    /// The server was restarted, or another one took its place.
    pub(super) fn restarted(&mut self) {
        self.readings.restarts += 1;
    }

    /// An interval was not completed.
    pub(super) fn show_down(&mut self) {
        self.readings.up = false;
        self.publish();
    }

    /// An interval was completed, whether or not the server took all that it was told. The
    /// pilot does not see what an earlier agent left.
    pub(super) fn show(&mut self, seen: &Observation, pilot: &Pilot, left: Option<&Lease>) {
        let families = seen.families.iter().map(|(name, family)| {
            let leased = left.and_then(|left| left.families.get(name));
            let readings = FamilyReadings {
                stage: match leased {
                    Some(leased) => leased.stage_of(&family.options),
                    None => pilot.verified_stage(name),
                },
                level0_files: family.level0_files,
                level0_bytes: family.level0_bytes,
            };
            (name.clone(), readings)
        });
        let stalled = seen.counters.as_ref().map(|it| it.stall_micros);
        self.readings = Readings {
            up: true,
            intervals: self.readings.intervals + 1,
            high_load: pilot.phase() == crate::decide::Phase::High,
            client_bytes_per_sec: pilot.client_bytes_per_sec(),
            rate_limiter_bytes_per_sec: seen.rate_limiter_bytes_per_sec,
            stall_micros: stalled.unwrap_or(self.readings.stall_micros),
            journal_dropped: self.journal.dropped(),
            families: families.collect(),
            ..self.readings.clone()
        };
        self.publish();
    }

    /// What is outstanding is counted anew in each interval.
    fn publish(&mut self) {
        self.board.show(&self.readings);
        self.readings.outstanding = 0;
    }
}
