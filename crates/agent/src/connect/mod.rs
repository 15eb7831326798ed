//! Where the server is, and who asks.
//!
//! The URL names host, port and user; the option file has user, password and
//! TLS; `MYSQL_PWD` has the password. A password in a URL is refused: other
//! users of the machine see it in the list of processes.

mod option_file;
mod secret;
mod source;
mod tls;
mod url;

use std::fmt;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use self::option_file::OptionFile;
use self::url::Url;
use crate::error::{Error, Result};

pub use secret::Password;
pub use source::Source;
pub use tls::{Tls, Verify};

/// Everything that a connection needs.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Account {
    /// Where.
    pub address: Address,
    /// Who.
    pub user: String,
    /// The password, if there is one.
    pub password: Option<Password>,
    /// How the connection is encrypted, if it is.
    pub tls: Option<Tls>,
    /// The option file that this is from, if there is one.
    pub source: Option<Source>,
}

/// Where a server listens.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Address {
    /// A name, an IPv4 address, or an IPv6 address without brackets.
    pub host: String,
    /// The port.
    pub port: u16,
    /// A Unix socket, which is used instead for the host `localhost`.
    pub socket: Option<PathBuf>,
}

impl Address {
    /// The host as a URL writes it.
    pub fn bracketed_host(&self) -> String {
        if self.host.contains(':') {
            format!("[{}]", self.host)
        } else {
            self.host.clone()
        }
    }

    /// Whether what is said there stays on this machine.
    pub fn is_local(&self) -> bool {
        self.socket.is_some()
            || self.host == "localhost"
            || self
                .host
                .parse::<std::net::IpAddr>()
                .is_ok_and(|address| address.is_loopback())
    }

    /// A name for files about this address, which no other address has.
    pub fn file_name(&self) -> String {
        let legal = |it: char| it.is_ascii_alphanumeric() || ".-_".contains(it);
        let name = match &self.socket {
            Some(socket) => socket.display().to_string(),
            None => format!("{}-{}", self.host, self.port),
        };
        name.replace(|it: char| !legal(it), "+")
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.socket {
            Some(socket) => write!(f, "{}", socket.display()),
            None => write!(f, "{}:{}", self.bracketed_host(), self.port),
        }
    }
}

impl Account {
    /// From a URL `mysql://USER@HOST:PORT`, an option file, and the value of
    /// `MYSQL_PWD`. The URL's user comes before the file's, the file's password
    /// before the environment's. The files that TLS needs are read once.
    ///
    /// # Errors
    /// `Fix`, with what is wrong and where, never with the password.
    pub fn resolve(
        url: &str,
        option_file: Option<&Path>,
        environment_password: Option<String>,
    ) -> Result<Account> {
        let url = Url::parse(url)?;
        let file = match option_file {
            Some(path) => OptionFile::read_checked(path)?,
            None => OptionFile::default(),
        };
        let address = Address {
            socket: file.socket.clone().filter(|_| url.host == "localhost"),
            host: url.host,
            port: url.port,
        };
        let names_user = url.user.is_none();
        let source = option_file.map(|path| Source::new(path, &file, &address, names_user));
        let user = url.user.or(file.user).ok_or_else(|| {
            Error::fix(
                "no user is given: write mysql://USER@HOST:PORT, or user=... under [client] in \
                 the option file",
            )
        })?;
        Ok(Account {
            address,
            user,
            password: file.password.or(environment_password.map(Password::new)),
            tls: file.tls,
            source,
        })
    }

    /// What a person should know about this connection.
    pub fn remarks(&self) -> Vec<String> {
        let ignored = self.source.as_ref().and_then(|it| it.remark(&self.address));
        let open = (self.tls.is_none() && !self.address.is_local()).then(|| {
            format!(
                "the connection to {} is not encrypted: set ssl-mode=VERIFY_IDENTITY and ssl-ca \
                 in the option file",
                self.address
            )
        });
        ignored.into_iter().chain(open).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ErrorKind;

    fn with_file(text: &str, url: &str) -> Result<Account> {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("my.cnf");
        std::fs::write(&path, text).expect("written");
        private(&path);
        Account::resolve(url, Some(&path), Some("from outside".into()))
    }

    pub(super) fn private(path: &Path) {
        use std::os::unix::fs::PermissionsExt;
        let permissions = std::fs::Permissions::from_mode(0o600);
        std::fs::set_permissions(path, permissions).expect("its owner");
    }

    #[test]
    fn the_url_comes_before_the_file_and_the_file_before_the_environment() {
        let account = with_file(
            "[client]\nuser=filed\npassword=secret\nsocket=/run/s\n",
            "mysql://given@db1:3307",
        )
        .expect("complete");
        assert_eq!(account.user, "given");
        assert_eq!(account.address.to_string(), "db1:3307");
        assert_eq!(account.password, Some(Password::new("secret".into())));
        let account = with_file("[client]\nuser=filed\n", "mysql://[::1]").expect("complete");
        assert_eq!(account.user, "filed");
        assert_eq!(account.address.to_string(), "[::1]:3306");
        assert_eq!(account.address.file_name(), "++1-3306");
        assert!(account.address.is_local() && account.remarks().is_empty());
        let environment = Some(Password::new("from outside".into()));
        assert_eq!(account.password, environment);
    }

    #[test]
    fn the_socket_is_for_localhost() {
        let file = "[client]\nuser=u\nsocket=/run/s\n";
        let here = with_file(file, "mysql://localhost").expect("complete");
        assert_eq!(here.address.to_string(), "/run/s");
        assert_eq!(here.address.file_name(), "+run+s");
        let there = with_file(file, "mysql://127.0.0.1").expect("complete");
        assert_eq!(there.address.socket, None);
    }

    #[test]
    fn no_user_and_no_encryption_are_said() {
        let error = Account::resolve("mysql://db1", None, None).expect_err("nobody");
        assert!(error.to_string().contains("no user is given"), "{error}");
        let account = Account::resolve("mysql://u@db1", None, None).expect("complete");
        let remarks = account.remarks();
        assert!(remarks[0].contains("not encrypted"), "{remarks:?}");
    }

    #[test]
    fn a_file_that_tls_needs_and_cannot_be_read_is_named() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("there.pem");
        std::fs::write(&path, "").expect("written");
        let there = path.display();
        for (option, rest) in [
            ("ssl-ca", String::new()),
            ("ssl-cert", format!("ssl-key={there}")),
            ("ssl-key", format!("ssl-cert={there}")),
        ] {
            let text = format!("[client]\n{option}=/no/such.pem\n{rest}\n");
            let error = with_file(&text, "mysql://u@db1").expect_err(option);
            assert_eq!(error.kind(), ErrorKind::Fix, "{option}");
            let words = format!("cannot read /no/such.pem, which {option} names");
            assert!(error.to_string().contains(&words), "{error}");
        }
        let text = format!("[client]\nssl-ca={there}\n");
        with_file(&text, "mysql://u@db1").expect("readable");
    }

    #[test]
    fn no_text_of_an_account_holds_its_password() {
        let account = with_file("[client]\npassword=hidden\n", "mysql://u@db1").expect("complete");
        assert!(!format!("{account:?}").contains("hidden"));
    }
}
