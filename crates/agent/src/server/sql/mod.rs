//! The seam over plain SQL.

mod driver;
mod events;
mod failure;
mod read;

use std::thread;
use std::time::{Duration, Instant};

use self::driver::{Failure, Session};
use self::read::Rows;
use super::{Connector, Role, Server};
use crate::connect::Account;
use crate::decide::statement::{self, AGENT_LOCK, WATCHDOG_LOCK};
use crate::decide::{Change, Counters, Families, Instance, Lease, OptionsByFamily, event};
use crate::error::{Error, Result};

/// Where status variables are, in MariaDB and in MySQL. Everybody may read them.
const STATUS_TABLES: [&str; 2] = [
    "information_schema.GLOBAL_STATUS",
    "performance_schema.global_status",
];
/// Between two looks at something that is waited for.
const LOOK: Duration = Duration::from_millis(200);

/// Connects with an account.
#[derive(Clone, Debug)]
pub struct SqlConnector {
    account: Account,
    /// The server ends a session that says nothing for so long, and its locks.
    silence: Duration,
}

impl SqlConnector {
    /// A connector whose sessions end when they say nothing for `silence`.
    pub fn new(account: Account, silence: Duration) -> SqlConnector {
        SqlConnector { account, silence }
    }

    /// Where the user is refused, the password may have been changed, and the option file
    /// with it.
    fn open(&mut self) -> std::result::Result<Session, Failure> {
        let failure = match Session::open(&self.account) {
            Err(failure) if failure::refuses_user(&failure) => failure,
            opened => return opened,
        };
        match self.account.renewed() {
            Ok(renewed) if renewed != self.account => {
                self.account = renewed;
                Session::open(&self.account)
            }
            _ => Err(failure),
        }
    }
}

impl Connector for SqlConnector {
    type Server = SqlServer;

    fn connect(&mut self) -> Result<SqlServer> {
        let place = self.place();
        let session = self
            .open()
            .map_err(|failure| failure::sentence(failure, &place, &self.account.user))?;
        let mut server = SqlServer {
            session,
            place,
            user: self.account.user.clone(),
            instance_query: String::new(),
        };
        let seconds = self.silence.as_secs().max(1);
        server.run(&format!("SET SESSION wait_timeout = {seconds}"))?;
        server.instance_query = server.choose_instance_query()?;
        Ok(server)
    }

    fn place(&self) -> String {
        self.account.address.to_string()
    }
}

/// A connection to MyRocks in MariaDB, Percona Server or MySQL.
pub struct SqlServer {
    session: Session,
    place: String,
    user: String,
    /// Which server it is, and since when it is up.
    instance_query: String,
}

impl SqlServer {
    fn rows(&mut self, sql: &str) -> Result<Rows> {
        let rows = self.session.rows(sql);
        rows.map_err(|failure| self.sentence(failure))
    }

    fn run(&mut self, sql: &str) -> Result<()> {
        let done = self.session.run(sql);
        done.map_err(|failure| self.sentence(failure))
    }

    fn sentence(&self, failure: Failure) -> Error {
        failure::sentence(failure, &self.place, &self.user)
    }

    fn choose_instance_query(&mut self) -> Result<String> {
        let columns = self.choose_identity()?;
        let mut refusal = None;
        for table in STATUS_TABLES {
            let query = read::instance_query(table, &columns);
            match self.session.rows(&query) {
                Ok(rows) if !rows.is_empty() => return Ok(query),
                Ok(_) => {}
                Err(failure @ Failure::Answered { .. }) => refusal = Some(failure),
                Err(failure) => return Err(self.sentence(failure)),
            }
        }
        Err(match refusal {
            Some(failure) => self.sentence(failure),
            None => Error::fix(format!("{} does not report its uptime", self.place)),
        })
    }

    /// Only what cannot change while the server runs, or its own settings would be
    /// taken for another server's. MySQL has `server_uuid`, newer MariaDB
    /// `server_uid`, older MariaDB neither.
    fn choose_identity(&mut self) -> Result<String> {
        let unique = self
            .rows("SHOW GLOBAL VARIABLES WHERE Variable_name IN ('server_uuid', 'server_uid')")?;
        let mut columns = "@@GLOBAL.hostname, @@GLOBAL.port, @@GLOBAL.datadir".to_owned();
        for name in ["server_uuid", "server_uid"] {
            if read::value(&unique, name).is_some() {
                columns += &format!(", @@GLOBAL.{name}");
            }
        }
        Ok(columns)
    }

    fn number(&mut self, sql: &str) -> Result<Option<u64>> {
        let rows = self.rows(sql)?;
        Ok(read::first(&rows).and_then(|text| text.parse().ok()))
    }

    /// Asks now and then, so that the session does not end meanwhile, until the
    /// answer is this number; false when it is not in time.
    fn await_number(&mut self, sql: &str, number: u64, patience: Duration) -> Result<bool> {
        let deadline = Instant::now() + patience;
        while self.number(sql)? != Some(number) {
            if Instant::now() >= deadline {
                return Ok(false);
            }
            thread::sleep(LOOK);
        }
        Ok(true)
    }
}

fn lock(role: Role) -> &'static str {
    match role {
        Role::Agent => AGENT_LOCK,
        Role::Watchdog => WATCHDOG_LOCK,
    }
}

impl Server for SqlServer {
    fn instance(&mut self) -> Result<Instance> {
        let sql = self.instance_query.clone();
        read::instance(&self.rows(&sql)?, &self.place)
    }

    fn counters(&mut self) -> Result<Counters> {
        let rows = self.rows(&read::counters_query())?;
        read::counters(&rows, &self.place)
    }

    fn families(&mut self) -> Result<Families> {
        let options = self.rows(&read::options_query())?;
        let levels = self.rows(read::LEVELS_QUERY)?;
        read::families(&options, &levels, &self.place)
    }

    fn options(&mut self, column_families: &[&str]) -> Result<OptionsByFamily> {
        let shown = self.rows(&read::options_query())?;
        read::options(&shown, column_families, &self.place)
    }

    fn rate_limiter_bytes_per_sec(&mut self) -> Result<u64> {
        let sql = "SELECT @@GLOBAL.rocksdb_rate_limiter_bytes_per_sec";
        self.number(sql)?.ok_or_else(|| {
            Error::fix(format!(
                "{} reports no rocksdb_rate_limiter_bytes_per_sec: is it MyRocks?",
                self.place
            ))
        })
    }

    fn set(&mut self, change: &Change) -> Result<()> {
        self.run(&statement::set(change))
    }

    fn claim(&mut self, role: Role, patience: Duration) -> Result<Option<String>> {
        let (lock, seconds) = (lock(role), patience.as_secs());
        if self.number(&format!("SELECT GET_LOCK('{lock}', {seconds})"))? == Some(1) {
            return Ok(None);
        }
        let holder = self.number(&format!("SELECT IS_USED_LOCK('{lock}')"))?;
        Ok(Some(holder.map_or("a session".into(), |id| {
            format!("connection {id}")
        })))
    }

    fn release(&mut self, role: Role) -> Result<()> {
        // One that was taken twice is to be given up twice.
        let sql = format!("SELECT RELEASE_LOCK('{}')", lock(role));
        while self.number(&sql)? == Some(1) {}
        Ok(())
    }

    fn await_free(&mut self, role: Role, patience: Duration) -> Result<bool> {
        // Not by taking it: some servers let a session hold one lock only.
        let sql = format!("SELECT IS_FREE_LOCK('{}')", lock(role));
        self.await_number(&sql, 1, patience)
    }

    fn await_event(&mut self, own: Option<&Lease>) -> Result<()> {
        self.await_taken_back(own)
    }

    fn await_unseen_event(&mut self) -> Result<()> {
        self.await_look()
    }

    fn prepare_event(&mut self, schema: &str) -> Result<()> {
        self.make_room(schema)
    }

    fn put_event(&mut self, schema: &str, lease: &Lease, lifetime: Duration) -> Result<()> {
        self.put(schema, lease, lifetime)
    }

    fn event_runs(&mut self, schema: &str) -> Result<bool> {
        Ok(self.number(&event::count_running(schema))? != Some(0))
    }

    fn narrow_event(&mut self, schema: &str, lease: &Lease, lifetime: Duration) -> Result<()> {
        self.narrow(schema, lease, lifetime)
    }

    fn drop_event(&mut self, schema: &str) -> Result<()> {
        self.remove(schema)
    }
}
