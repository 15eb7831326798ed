//! The seam over plain SQL.

mod connect;
mod failure;
mod read;

use std::time::Duration;

use mysql::prelude::Queryable;
use mysql::{Conn, Row, Value};

use self::read::Rows;
use super::{Connector, Role, Server};
use crate::connect::Account;
use crate::decide::statement::{self, AGENT_LOCK, WATCHDOG_LOCK};
use crate::decide::{Change, Counters, Families, Instance, Lease};
use crate::error::{Error, Result};

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
}

impl Connector for SqlConnector {
    type Server = SqlServer;

    fn connect(&mut self) -> Result<SqlServer> {
        let place = self.place();
        let conn = Conn::new(connect::options(&self.account))
            .map_err(|error| failure::sentence(&error, &place, &self.account.user))?;
        let mut server = SqlServer {
            conn,
            place,
            user: self.account.user.clone(),
            identity_columns: String::new(),
        };
        let seconds = self.silence.as_secs().max(1);
        server.run(&format!("SET SESSION wait_timeout = {seconds}"))?;
        server.identity_columns = server.choose_identity()?;
        Ok(server)
    }

    fn place(&self) -> String {
        self.account.address.to_string()
    }
}

/// A connection to MyRocks in MariaDB, Percona Server or MySQL.
pub struct SqlServer {
    conn: Conn,
    place: String,
    user: String,
    /// Expressions that together name the server.
    identity_columns: String,
}

impl SqlServer {
    fn rows(&mut self, sql: &str) -> Result<Rows> {
        let rows: Vec<Row> = self
            .conn
            .query(sql)
            .map_err(|error| failure::sentence(&error, &self.place, &self.user))?;
        Ok(rows.iter().map(cells).collect())
    }

    fn run(&mut self, sql: &str) -> Result<()> {
        self.conn
            .query_drop(sql)
            .map_err(|error| failure::sentence(&error, &self.place, &self.user))
    }

    /// MySQL has `server_uuid`, newer MariaDB `server_uid`, older MariaDB
    /// neither.
    fn choose_identity(&mut self) -> Result<String> {
        let unique = self
            .rows("SHOW GLOBAL VARIABLES WHERE Variable_name IN ('server_uuid', 'server_uid')")?;
        let mut columns = "@@GLOBAL.hostname, @@GLOBAL.port, @@GLOBAL.server_id".to_owned();
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
}

/// All cells of a row as text; `None` is NULL.
fn cells(row: &Row) -> Vec<Option<String>> {
    (0..row.len())
        .map(|column| match row.as_ref(column)? {
            Value::Bytes(bytes) => Some(String::from_utf8_lossy(bytes).into_owned()),
            Value::Int(number) => Some(number.to_string()),
            Value::UInt(number) => Some(number.to_string()),
            Value::Float(number) => Some(number.to_string()),
            Value::Double(number) => Some(number.to_string()),
            _ => None,
        })
        .collect()
}

fn lock(role: Role) -> &'static str {
    match role {
        Role::Agent => AGENT_LOCK,
        Role::Watchdog => WATCHDOG_LOCK,
    }
}

impl Server for SqlServer {
    fn instance(&mut self) -> Result<Instance> {
        let sql = format!("SELECT UNIX_TIMESTAMP(), {}", self.identity_columns);
        let clock = self.rows(&sql)?;
        let uptime = self.rows("SHOW GLOBAL STATUS LIKE 'Uptime'")?;
        read::instance(&clock, &uptime, &self.place)
    }

    fn counters(&mut self) -> Result<Counters> {
        let rows = self.rows(&read::counters_query())?;
        read::counters(&rows, &self.place)
    }

    fn families(&mut self) -> Result<Families> {
        let options = self.rows(&read::options_query())?;
        let level0 = self.rows(read::LEVEL0_QUERY)?;
        read::families(&options, &level0, &self.place)
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

    fn claim(&mut self, role: Role, patience: Duration) -> Result<()> {
        let (lock, seconds) = (lock(role), patience.as_secs());
        if self.number(&format!("SELECT GET_LOCK('{lock}', {seconds})"))? == Some(1) {
            return Ok(());
        }
        let holder = self.number(&format!("SELECT IS_USED_LOCK('{lock}')"))?;
        let holder = holder.map_or("another".into(), |id| format!("connection {id}"));
        Err(Error::lost(format!(
            "{holder} at {} holds the lock {lock}: another agent is attached there, or an earlier \
             one's session has not ended yet; stop it, or wait a moment",
            self.place
        )))
    }

    fn await_free(&mut self, role: Role, patience: Duration) -> Result<bool> {
        let (lock, seconds) = (lock(role), patience.as_secs());
        let free = self.number(&format!("SELECT GET_LOCK('{lock}', {seconds})"))? == Some(1);
        if free {
            self.number(&format!("SELECT RELEASE_LOCK('{lock}')"))?;
        }
        Ok(free)
    }

    fn put_event(&mut self, schema: &str, lease: &Lease, lifetime: Duration) -> Result<()> {
        let scheduler = self.rows("SHOW GLOBAL VARIABLES LIKE 'event_scheduler'")?;
        let state = read::value(&scheduler, "event_scheduler").unwrap_or("absent");
        if !state.eq_ignore_ascii_case("on") {
            return Err(Error::fix(format!(
                "event_scheduler is {state} at {}: no event runs there; set it to ON, or attach \
                 without --server-lease",
                self.place
            )));
        }
        // MySQL has no OR REPLACE for events.
        self.run(&statement::drop_event(schema))?;
        self.run(&statement::create_event(schema, lease, lifetime.as_secs()))
    }

    fn drop_event(&mut self, schema: &str) -> Result<()> {
        self.run(&statement::drop_event(schema))
    }
}
