//! All that is asked of the driver, the crate `mysql`: connect, query, run.

use std::path::PathBuf;
use std::time::Duration;

use mysql::prelude::Queryable;
use mysql::{ClientIdentity, Conn, DriverError, OptsBuilder, Row, SslOpts, Value};

use super::read::Rows;
use crate::connect::{Account, Tls, Verify};

/// For a connection to be there, and for an answer to come. A server that is
/// silent for longer counts as lost, so that the watchdog is not kept waiting.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
const ANSWER_TIMEOUT: Duration = Duration::from_secs(15);

/// A connection.
pub(super) struct Session(Conn);

/// Why something failed.
#[derive(Debug)]
pub(super) enum Failure {
    /// The server said so. Codes are those of its manual.
    Answered { code: u16, message: String },
    /// The server offers no TLS.
    NoTls,
    /// The connection is of no more use.
    Other(String),
}

impl Session {
    pub(super) fn open(account: &Account) -> Result<Session, Failure> {
        let conn = Conn::new(options(account)).map_err(failure)?;
        Ok(Session(conn))
    }

    /// All rows that a statement gives, as text.
    pub(super) fn rows(&mut self, sql: &str) -> Result<Rows, Failure> {
        let rows: Vec<Row> = self.0.query(sql).map_err(failure)?;
        Ok(rows.iter().map(cells).collect())
    }

    /// Carries out a statement that gives none.
    pub(super) fn run(&mut self, sql: &str) -> Result<(), Failure> {
        self.0.query_drop(sql).map_err(failure)
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

fn failure(error: mysql::Error) -> Failure {
    match error {
        mysql::Error::MySqlError(error) => Failure::Answered {
            code: error.code,
            message: error.message,
        },
        mysql::Error::DriverError(DriverError::TlsNotSupported) => Failure::NoTls,
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
        .with_danger_skip_domain_validation(tls.verify != Verify::Identity)
        .with_danger_accept_invalid_certs(tls.verify == Verify::Nothing)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn null_is_none_and_all_else_is_text() {
        assert_eq!(text(&Value::NULL), None);
        assert_eq!(text(&Value::Bytes(b"4".to_vec())), Some("4".into()));
        assert_eq!(text(&Value::Int(-1)), Some("-1".into()));
        assert_eq!(text(&Value::Double(0.5)), Some("0.5".into()));
    }

    #[test]
    fn an_error_of_the_server_keeps_its_code() {
        let lost = failure(mysql::Error::IoError(std::io::Error::other("gone away")));
        assert!(matches!(lost, Failure::Other(why) if why.contains("gone away")));
        let no_tls = failure(mysql::Error::DriverError(DriverError::TlsNotSupported));
        assert!(matches!(no_tls, Failure::NoTls));
        let said = failure(mysql::Error::MySqlError(mysql::MySqlError {
            state: "HY000".into(),
            message: "no".into(),
            code: 1_231,
        }));
        assert!(matches!(said, Failure::Answered { code: 1_231, .. }));
    }
}
