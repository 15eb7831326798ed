//! The event in the server: put there, waited for, removed.

use std::thread;
use std::time::{Duration, Instant};

use super::{LOOK, SqlServer, read};
use crate::decide::Lease;
use crate::decide::event::{self, EVENT_INTERVAL, Traces};
use crate::error::{Error, Result};
use crate::server::{Role, Server};

/// For an event to act.
const PATIENCE: Duration = Duration::from_secs(2 * EVENT_INTERVAL + 1);
/// For one look of it.
const ONE_LOOK: Duration = Duration::from_secs(EVENT_INTERVAL + 1);

impl SqlServer {
    /// Waits until nothing is in force any more that an event would take back and `own` would
    /// not, as long as one may come.
    pub(super) fn await_taken_back(&mut self, own: Option<&Lease>) -> Result<()> {
        let traces = self.traces()?.besides(own);
        if traces.is_empty() {
            return Ok(());
        }
        let deadline = Instant::now() + PATIENCE;
        loop {
            let families = self.families()?;
            let left = traces.in_force(&families, self.rate_limiter_bytes_per_sec()?);
            let Some(first) = left.first() else {
                return Ok(());
            };
            let refusal = self.why_no_event_acts()?;
            let late = (Instant::now() >= deadline)
                .then(|| format!("in {} s it has not", PATIENCE.as_secs()));
            if let Some(why) = refusal.or(late) {
                return Err(self.not_taken_back(first, left.len(), &why));
            }
            thread::sleep(LOOK);
        }
    }

    /// Waits as long as an event may take to look at the lock, or until somebody takes that. It
    /// asks meanwhile, so that the session does not end.
    pub(super) fn await_look(&mut self) -> Result<()> {
        let deadline = Instant::now() + ONE_LOOK;
        while Instant::now() < deadline && self.await_free(Role::Agent, Duration::ZERO)? {
            thread::sleep(LOOK);
        }
        Ok(())
    }

    fn traces(&mut self) -> Result<Traces> {
        let rows = self.rows(event::BODIES)?;
        let bodies = rows.iter().filter_map(|row| row.first()?.as_deref());
        Ok(Traces::of(bodies))
    }

    fn why_no_event_acts(&mut self) -> Result<Option<String>> {
        let state = self.scheduler()?;
        if !state.eq_ignore_ascii_case("on") {
            return Ok(Some(format!("event_scheduler is {state}")));
        }
        let enabled = self.number(event::COUNT_ENABLED)?;
        Ok((enabled == Some(0)).then(|| "it is disabled or gone".to_owned()))
    }

    fn not_taken_back(&self, first: &str, count: usize, why: &str) -> Error {
        let more = match count {
            1 => String::new(),
            _ => format!(" and {} settings more", count - 1),
        };
        Error::fix(format!(
            "{} has {first}{more} as an earlier agent set it, and the event {} that should take \
             that back does not ({why}): set event_scheduler to ON and wait a moment, run `lissom \
             attach --restore` where that agent ran, or restart the server",
            self.place,
            event::EVENT
        ))
    }

    /// Whether an event would run and may be put into a schema; one that is there is removed.
    pub(super) fn make_room(&mut self, schema: &str) -> Result<()> {
        self.check_scheduler()?;
        // It takes the privilege that creating one takes. Of a schema that is missing it
        // says nothing, and without the privilege no schema is seen.
        self.remove(schema)?;
        if self.number(&event::count_schemas(schema))? == Some(0) {
            return Err(Error::fix(format!(
                "{} has no schema {schema}: create the schema of --server-lease first",
                self.place
            )));
        }
        Ok(())
    }

    /// One that is there is altered, so that at no moment there is none.
    pub(super) fn put(&mut self, schema: &str, lease: &Lease, lifetime: Duration) -> Result<()> {
        self.check_scheduler()?;
        let seconds = lifetime.as_secs();
        let statement = if self.has_event(schema)? {
            event::alter(schema, lease, seconds)
        } else {
            event::create(schema, lease, seconds)
        };
        self.change(&statement)
    }

    /// Whether or not events run now: one that is there may act later.
    pub(super) fn narrow(&mut self, schema: &str, lease: &Lease, lifetime: Duration) -> Result<()> {
        let is_seen = self.has_event(schema)?;
        self.change(&event::narrow(schema, lease, lifetime.as_secs(), is_seen))
    }

    /// Removes the event.
    pub(super) fn remove(&mut self, schema: &str) -> Result<()> {
        self.change(&event::remove(schema))
    }

    /// Not by way of the binary log: the event is of this server alone, and a replica may have its
    /// own, which would be disabled, or make the same statement fail there and end replication.
    fn change(&mut self, statement: &str) -> Result<()> {
        self.run("SET SESSION sql_log_bin = 0")?;
        self.run(statement)
    }

    fn has_event(&mut self, schema: &str) -> Result<bool> {
        Ok(self.number(&event::count(schema))? != Some(0))
    }

    fn check_scheduler(&mut self) -> Result<()> {
        let state = self.scheduler()?;
        if state.eq_ignore_ascii_case("on") {
            return Ok(());
        }
        Err(Error::fix(format!(
            "event_scheduler is {state} at {}: no event runs there; set it to ON, or attach \
             without --server-lease",
            self.place
        )))
    }

    fn scheduler(&mut self) -> Result<String> {
        let rows = self.rows("SHOW GLOBAL VARIABLES LIKE 'event_scheduler'")?;
        let state = read::value(&rows, "event_scheduler").unwrap_or("absent");
        Ok(state.to_owned())
    }
}
