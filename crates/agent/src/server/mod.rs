//! The seam to a MyRocks server: everything that the agent reads and sets.

mod sql;

use std::time::Duration;

use crate::decide::{
    Change, Counters, Families, Instance, Lease, Observation, OptionsByFamily, Outcome, Standing,
};
use crate::error::{Error, Result};

pub use sql::{SqlConnector, SqlServer};

/// Whose session it is. Each role has a lock in the server that ends with the
/// session that holds it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Role {
    /// The one that decides.
    Agent,
    /// The one that restores when the agent does not.
    Watchdog,
}

/// A connection to a server. After an error of kind
/// [`Lost`](crate::ErrorKind::Lost) it is of no more use.
pub trait Server {
    /// Which server it is, and since when it is up.
    ///
    /// # Errors
    /// As all methods here: `Lost` when the connection is gone, `Refused` when
    /// the server says no, `Fix` when it cannot be what the agent needs.
    fn instance(&mut self) -> Result<Instance>;

    /// Status counters.
    ///
    /// # Errors
    /// See [`Server::instance`].
    fn counters(&mut self) -> Result<Counters>;

    /// Column families with their options and their level 0.
    ///
    /// # Errors
    /// See [`Server::instance`].
    fn families(&mut self) -> Result<Families>;

    /// The options of these column families, as far as they are there. Nothing else is read,
    /// so that nothing else is in the way of a restoration.
    ///
    /// # Errors
    /// See [`Server::instance`].
    fn options(&mut self, column_families: &[&str]) -> Result<OptionsByFamily>;

    /// `rocksdb_rate_limiter_bytes_per_sec`
    ///
    /// # Errors
    /// See [`Server::instance`].
    fn rate_limiter_bytes_per_sec(&mut self) -> Result<u64>;

    /// Sets options. That it succeeds means little: read back.
    ///
    /// # Errors
    /// See [`Server::instance`].
    fn set(&mut self, change: &Change) -> Result<()>;

    /// Takes a role's lock, which this session may hold already. Returns who holds
    /// it, when that is another one for longer than `patience`.
    ///
    /// # Errors
    /// See [`Server::instance`].
    fn claim(&mut self, role: Role, patience: Duration) -> Result<Option<String>>;

    /// Gives up a role's lock, if this session holds it.
    ///
    /// # Errors
    /// See [`Server::instance`].
    fn release(&mut self, role: Role) -> Result<()>;

    /// Waits until no session holds a role's lock; false when it is held for
    /// longer than `patience`.
    ///
    /// # Errors
    /// See [`Server::instance`].
    fn await_free(&mut self, role: Role, patience: Duration) -> Result<bool>;

    /// Lets the event of an agent that is gone do its work, if there is one with anything
    /// to take back that the caller's `own` lease would not: it does nothing while an agent
    /// holds its lock.
    ///
    /// # Errors
    /// See [`Server::instance`]; `Fix` when it does not.
    fn await_event(&mut self, own: Option<&Lease>) -> Result<()>;

    /// Leaves the agent's lock free for as long as an event may need that this user has no
    /// privilege to see, unless another session takes it.
    ///
    /// # Errors
    /// See [`Server::instance`].
    fn await_unseen_event(&mut self) -> Result<()>;

    /// Makes sure that an event would run and may be put into a schema, and removes one
    /// that an earlier agent has left there.
    ///
    /// # Errors
    /// See [`Server::instance`]; `Fix` when events do not run there, the privilege is
    /// missing, or the schema is.
    fn prepare_event(&mut self, schema: &str) -> Result<()>;

    /// Puts the event that restores from within the server into a schema, in the place of
    /// one that is there.
    ///
    /// # Errors
    /// See [`Server::instance`]; `Fix` when events do not run there.
    fn put_event(&mut self, schema: &str, lease: &Lease, lifetime: Duration) -> Result<()>;

    /// Whether the event that was put there still is, and would run.
    ///
    /// # Errors
    /// See [`Server::instance`].
    fn event_runs(&mut self, schema: &str) -> Result<bool>;

    /// Has the event that is in a schema restore this lease only; puts none where there is none.
    ///
    /// # Errors
    /// See [`Server::instance`].
    fn narrow_event(&mut self, schema: &str, lease: &Lease, lifetime: Duration) -> Result<()>;

    /// Removes that event.
    ///
    /// # Errors
    /// See [`Server::instance`].
    fn drop_event(&mut self, schema: &str) -> Result<()>;
}

/// Makes connections.
pub trait Connector {
    /// What it connects to.
    type Server: Server;

    /// A new connection.
    ///
    /// # Errors
    /// As in [`Server::instance`].
    fn connect(&mut self) -> Result<Self::Server>;

    /// The server, as it is reached; for sentences.
    fn place(&self) -> String;
}

/// Reads everything that a decision may see. Without counters the load is not known, and
/// the bounds on level 0 hold all the same. What else is read may take its time: only that of
/// the counters says what they count.
///
/// # Errors
/// See [`Server::instance`].
pub fn observe<S: Server>(server: &mut S, now: impl Fn() -> Duration) -> Result<Observation> {
    let instance = server.instance()?;
    let asked_at = now();
    let counters = unless_lost(server.counters())?;
    let at = now();
    Ok(Observation {
        at,
        waited: at.saturating_sub(asked_at),
        instance,
        counters,
        rate_limiter_bytes_per_sec: server.rate_limiter_bytes_per_sec()?,
        families: server.families()?,
    })
}

fn unless_lost<T>(answer: Result<T>) -> Result<Result<T>> {
    match answer {
        Err(error) if error.kind() == crate::ErrorKind::Lost => Err(error),
        answer => Ok(answer),
    }
}

/// What came of a restoration.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Restoration {
    /// What was set: nothing where the server was restarted since, and has its configured
    /// settings.
    pub changes: Vec<Change>,
    /// What was changed and cannot be restored, since its column families are gone.
    pub left: Option<Lease>,
}

/// Takes back what an agent left, of that which is there, and reads back that it is so.
///
/// # Errors
/// `Refused` when another server answers, or the server does not take it; see
/// [`Server::instance`].
pub fn restore<S: Server>(server: &mut S, lease: &Lease) -> Result<Restoration> {
    if check_identity(server, lease)? == Standing::Ended {
        return Ok(Restoration::default());
    }
    let due = left_to_restore(server, lease)?;
    if due.changes.is_empty() {
        return Ok(due);
    }
    let refusal = set_all(server, &due.changes)?;
    let after = left_to_restore(server, lease)?;
    if after.changes.is_empty() {
        let changes = due.changes;
        return Ok(Restoration { changes, ..after });
    }
    Err(refusal.unwrap_or_else(|| not_taken(server, &due.changes)))
}

/// Returns the last refusal: one change keeps no other from being made.
fn set_all<S: Server>(server: &mut S, changes: &[Change]) -> Result<Option<Error>> {
    let mut refusal = None;
    for change in changes {
        if let Err(error) = server.set(change) {
            if error.kind() == crate::ErrorKind::Lost {
                return Err(error);
            }
            refusal = Some(error);
        }
    }
    Ok(refusal)
}

/// Whether a lease is this server's, in force or ended by its restart.
///
/// # Errors
/// `Refused` when it is another one's; see [`Server::instance`].
pub(crate) fn check_identity<S: Server>(server: &mut S, lease: &Lease) -> Result<Standing> {
    let instance = server.instance()?;
    match lease.standing(&instance) {
        Standing::Foreign => Err(Error::refused(format!(
            "server {}, up for {} s, answers instead of {}, whose settings are to be restored: \
             use an address that leads to that server",
            instance.identity,
            instance.uptime.cast_signed(),
            lease.identity
        ))),
        standing => Ok(standing),
    }
}

/// The sentence for an address at which another agent is attached.
pub(crate) fn occupied(place: &str, holder: &str) -> Error {
    Error::lost(format!(
        "{holder} at {place} holds the agent's lock: another agent is attached there, or an \
         earlier one's session has not ended yet; stop it, or wait a moment"
    ))
}

/// What is to be set, and what cannot be.
fn left_to_restore<S: Server>(server: &mut S, lease: &Lease) -> Result<Restoration> {
    let names: Vec<&str> = lease.families.keys().map(String::as_str).collect();
    let options = server.options(&names)?;
    let rate_limiter = match lease.rate_limiter {
        Some(_) => server.rate_limiter_bytes_per_sec()?,
        None => 0,
    };
    Ok(Restoration {
        changes: lease.restoration(&options, rate_limiter),
        left: lease.absent_from(&options),
    })
}

/// The sentence for a server that said OK and did not do it.
fn not_taken<S: Server>(server: &mut S, changes: &[Change]) -> Error {
    match read_back(server, changes.iter()) {
        Err(error) => error,
        Ok((options, rate_limiter)) => {
            let outcomes: Vec<String> = changes
                .iter()
                .map(|change| change.verify(&options, rate_limiter))
                .filter(|outcome| *outcome != Outcome::Applied)
                .map(|outcome| outcome.to_string())
                .collect();
            Error::refused(format!(
                "{}: see the server's error log",
                outcomes.join("; ")
            ))
        }
    }
}

/// What [`Change::verify`] compares with.
///
/// # Errors
/// See [`Server::instance`].
pub(crate) fn read_back<'a, S: Server>(
    server: &mut S,
    changes: impl Iterator<Item = &'a Change>,
) -> Result<(OptionsByFamily, u64)> {
    let names: Vec<&str> = changes.filter_map(Change::column_family).collect();
    let options = server.options(&names)?;
    Ok((options, server.rate_limiter_bytes_per_sec()?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ErrorKind;
    use crate::decide::{Stage, manage};
    use crate::testing::{MockConnector, World, usual_family, usual_lease, usual_settings};

    fn delayed() -> (MockConnector, Lease) {
        let connector = MockConnector::new(World::usual());
        let leased = manage("default", &usual_family(), &usual_settings()).expect("managed");
        connector
            .world()
            .families
            .get_mut("default")
            .expect("it is there")
            .options = leased.options(Stage::Delayed);
        (connector, usual_lease("here"))
    }

    #[test]
    fn the_time_is_that_of_the_counters_however_slow_all_else_is() {
        let mut connector = MockConnector::new(World::usual());
        let mut server = connector.connect().expect("reachable");
        // Four questions, of which the second is for the counters.
        connector.world().slowness = Duration::from_secs(3);
        let seen = observe(&mut server, || connector.world().now).expect("read");
        assert_eq!(seen.at, Duration::from_secs(6));
        assert_eq!(seen.waited, Duration::from_secs(3));
        assert_eq!(connector.world().now, Duration::from_secs(12));
    }

    #[test]
    fn what_an_agent_left_is_taken_back_once() {
        let (mut connector, lease) = delayed();
        let mut server = connector.connect().expect("reachable");
        let restored = restore(&mut server, &lease).expect("taken");
        assert_eq!((restored.changes.len(), restored.left), (1, None));
        assert_eq!(connector.world().families["default"], usual_family());
        assert_eq!(restore(&mut server, &lease), Ok(Restoration::default()));
    }

    #[test]
    fn what_is_gone_is_left_and_keeps_nothing_from_being_restored() {
        let (mut connector, mut lease) = delayed();
        let leased = lease.families["default"];
        lease.families.insert("cf_hot".into(), leased);
        let mut server = connector.connect().expect("reachable");
        let restored = restore(&mut server, &lease).expect("taken");
        assert_eq!(restored.changes.len(), 1);
        let left = restored.left.expect("cf_hot is gone");
        assert!(left.families.keys().eq(["cf_hot"]), "{left:?}");
        assert!(!connector.world().families.contains_key("cf_hot"));
    }

    #[test]
    fn a_family_that_cannot_be_read_keeps_no_other_from_being_restored() {
        let (mut connector, lease) = delayed();
        {
            let mut world = connector.world();
            world.families.insert("cf_odd".into(), usual_family());
            world.unreadable = Some("cf_odd".into());
        }
        let mut server = connector.connect().expect("reachable");
        server.families().expect_err("one cannot be read");
        let restored = restore(&mut server, &lease).expect("taken");
        assert_eq!(restored.changes.len(), 1);
        assert_eq!(connector.world().families["default"], usual_family());
    }

    #[test]
    fn a_server_that_says_ok_and_does_nothing_is_found_out() {
        let (mut connector, lease) = delayed();
        connector.world().lies = 10;
        let mut server = connector.connect().expect("reachable");
        let error = restore(&mut server, &lease).expect_err("it lied");
        assert_eq!(error.kind(), ErrorKind::Refused);
        let sentence = error.to_string();
        assert!(sentence.contains("said OK, but"), "{sentence}");
        assert!(sentence.contains("error log"), "{sentence}");
    }

    #[test]
    fn a_server_that_was_restarted_has_its_configured_settings() {
        let (mut connector, lease) = delayed();
        connector.world().started_at += 500;
        let mut server = connector.connect().expect("reachable");
        assert_eq!(restore(&mut server, &lease), Ok(Restoration::default()));
        assert!(connector.world().sent.is_empty());
    }

    #[test]
    fn a_server_of_the_same_name_is_not_touched() {
        let (mut connector, lease) = delayed();
        connector.world().started_at -= 500;
        let mut server = connector.connect().expect("reachable");
        let error = restore(&mut server, &lease).expect_err("another one");
        assert!(error.to_string().contains("answers instead of"), "{error}");
        assert!(connector.world().sent.is_empty());
    }

    #[test]
    fn another_server_is_not_touched() {
        let (mut connector, mut lease) = delayed();
        lease.identity = "there".into();
        let mut server = connector.connect().expect("reachable");
        let error = restore(&mut server, &lease).expect_err("another one");
        assert!(error.to_string().contains("instead of there"), "{error}");
        assert!(connector.world().sent.is_empty());
    }
}
