//! All that is asked of the driver, the crate `mysql`: connect, query, run.

use std::error::Error;
use std::io;
use std::path::PathBuf;
use std::time::Duration;

use mysql::error::tls::TlsError;
use mysql::prelude::Queryable;
use mysql::{ClientIdentity, Conn, DriverError, OptsBuilder, Row, SslOpts, Value};

use super::read::Rows;
use crate::connect::{Account, Tls, Verify};

/// For a connection to be there, and for an answer to come. A server that is
/// silent for longer counts as lost, so that the watchdog is not kept waiting.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
const ANSWER_TIMEOUT: Duration = Duration::from_secs(15);

/// A connection.
pub(super) struct Session<C = Conn> {
    conn: C,
    /// Why it is of no more use. The driver would go on and take an answer that comes late for
    /// the next one's.
    lost: Option<String>,
}

/// Why something failed.
#[derive(Debug)]
pub(super) enum Failure {
    /// The server said so. Codes are those of its manual.
    Answered { code: u16, message: String },
    /// The server offers no TLS.
    NoTls,
    /// The files that TLS needs are not what they should be.
    Tls(String),
    /// The server's certificate is not accepted.
    Certificate(String),
    /// Both ends speak TLS and do not come together.
    Handshake(String),
    /// The connection is of no more use.
    Other(String),
}

impl Session {
    pub(super) fn open(account: &Account) -> Result<Session, Failure> {
        let conn = Conn::new(options(account)).map_err(no_connection)?;
        Ok(Session { conn, lost: None })
    }

    /// All rows that a statement gives, as text.
    pub(super) fn rows(&mut self, sql: &str) -> Result<Rows, Failure> {
        let rows: Vec<Row> = self.ask(|conn| conn.query(sql))?;
        Ok(rows.iter().map(cells).collect())
    }

    /// Carries out a statement that gives none.
    pub(super) fn run(&mut self, sql: &str) -> Result<(), Failure> {
        self.ask(|conn| conn.query_drop(sql))
    }
}

impl<C> Session<C> {
    fn ask<T>(&mut self, work: impl FnOnce(&mut C) -> mysql::Result<T>) -> Result<T, Failure> {
        if let Some(why) = &self.lost {
            return Err(Failure::Other(why.clone()));
        }
        work(&mut self.conn).map_err(|error| {
            if !matches!(error, mysql::Error::MySqlError(_)) {
                self.lost = Some(error.to_string());
            }
            failure(error)
        })
    }
}

/// All cells of a row; `None` is NULL.
fn cells(row: &Row) -> Vec<Option<String>> {
    (0..row.len())
        .map(|column| row.as_ref(column).and_then(text))
        .collect()
}

/// Statements that are not prepared are answered with text. Dates are not asked for.
fn text(value: &Value) -> Option<String> {
    match value {
        Value::Bytes(bytes) => Some(String::from_utf8_lossy(bytes).into_owned()),
        Value::Int(number) => Some(number.to_string()),
        Value::UInt(number) => Some(number.to_string()),
        Value::Float(number) => Some(number.to_string()),
        Value::Double(number) => Some(number.to_string()),
        _ => None,
    }
}

/// Why there is no connection. Once there is one, an error of TLS is a lost connection
/// like any other.
fn no_connection(error: mysql::Error) -> Failure {
    handshake(&error).unwrap_or_else(|| failure(error))
}

/// What a TLS handshake ended with, if that is what ended. The driver shakes hands when
/// it first writes, so that it comes as an error of writing or reading.
fn handshake(error: &mysql::Error) -> Option<Failure> {
    let error = match error {
        mysql::Error::CodecError(error) => error.source()?.downcast_ref::<io::Error>()?,
        mysql::Error::IoError(error) => error,
        _ => return None,
    };
    let why = tls_error(TlsError::Tls, error.get_ref()?)?.to_string();
    Some(match why.strip_prefix("invalid peer certificate: ") {
        Some(why) => Failure::Certificate(why.to_owned()),
        None => Failure::Handshake(why),
    })
}

/// The error as what the driver makes a [`TlsError`] of: it gives that type no name.
fn tls_error<'a, E: Error + 'static>(
    _wrap: fn(E) -> TlsError,
    error: &'a (dyn Error + Send + Sync + 'static),
) -> Option<&'a E> {
    error.downcast_ref()
}

fn failure(error: mysql::Error) -> Failure {
    match error {
        mysql::Error::MySqlError(error) => Failure::Answered {
            code: error.code,
            message: error.message,
        },
        mysql::Error::DriverError(DriverError::TlsNotSupported) => Failure::NoTls,
        mysql::Error::TlsError(error) => Failure::Tls(error.to_string()),
        other => Failure::Other(other.to_string()),
    }
}

fn options(account: &Account) -> OptsBuilder {
    let socket = account.address.socket.as_ref();
    OptsBuilder::new()
        .ip_or_hostname(Some(account.address.bracketed_host()))
        .tcp_port(account.address.port)
        .socket(socket.map(|path| path.to_string_lossy().into_owned()))
        .prefer_socket(false)
        .user(Some(account.user.clone()))
        .pass(account.password.as_ref().map(|it| it.secret().to_owned()))
        .tcp_connect_timeout(Some(CONNECT_TIMEOUT))
        .read_timeout(Some(ANSWER_TIMEOUT))
        .write_timeout(Some(ANSWER_TIMEOUT))
        .ssl_opts(account.tls.as_ref().map(tls))
}

fn tls(tls: &Tls) -> SslOpts {
    let identity = match (&tls.certificate, &tls.key) {
        (Some(certificate), Some(key)) => {
            Some(ClientIdentity::new(certificate.clone(), key.clone()))
        }
        _ => None,
    };
    SslOpts::default()
        .with_root_cert_path::<PathBuf>(tls.authority.clone())
        .with_client_identity(identity)
        .with_danger_skip_domain_validation(tls.verify == Verify::Nothing)
        .with_danger_accept_invalid_certs(tls.verify == Verify::Nothing)
}

#[cfg(test)]
#[path = "driver_tests.rs"]
mod tests;
