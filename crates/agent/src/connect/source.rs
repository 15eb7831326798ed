//! The option file that an account is from: it may be read again.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::option_file::OptionFile;
use super::{Account, Address};
use crate::error::Result;

/// An option file, and what was made of it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Source {
    path: PathBuf,
    /// Whether the user is from there, and not from the URL.
    names_user: bool,
    /// Options of the file in whose place the URL stands, with their values.
    ignored: Vec<String>,
}

impl Source {
    pub(super) fn new(
        path: &Path,
        file: &OptionFile,
        address: &Address,
        names_user: bool,
    ) -> Source {
        let host = file.host.iter().filter(|host| **host != address.host);
        let port = file
            .port
            .iter()
            .filter(|port| port.parse::<u16>() != Ok(address.port));
        let host = host.map(|it| format!("host={it}"));
        Source {
            // The watchdog may stand elsewhere.
            path: std::path::absolute(path).unwrap_or_else(|_| path.to_owned()),
            names_user,
            ignored: host.chain(port.map(|it| format!("port={it}"))).collect(),
        }
    }

    pub(super) fn remark(&self, address: &Address) -> Option<String> {
        (!self.ignored.is_empty()).then(|| {
            format!(
                "{} gives {}, but the URL's address counts: {address}",
                self.path.display(),
                self.ignored.join(" and ")
            )
        })
    }
}

impl Account {
    /// The same account as its option file describes it by now, since a password may have
    /// been changed. One that came through a pipe cannot be asked again.
    ///
    /// # Errors
    /// `Fix`, as [`Account::resolve`].
    pub fn renewed(&self) -> Result<Account> {
        let Some(source) = self.source.as_ref().filter(|it| it.path.is_file()) else {
            return Ok(self.clone());
        };
        let file = OptionFile::read_checked(&source.path)?;
        let user = file.user.filter(|_| source.names_user);
        Ok(Account {
            address: self.address.clone(),
            user: user.unwrap_or_else(|| self.user.clone()),
            password: file.password.or_else(|| self.password.clone()),
            tls: file.tls,
            source: self.source.clone(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::Password;
    use super::super::tests::private;
    use super::*;

    #[test]
    fn a_changed_password_is_found_in_the_file() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("my.cnf");
        let write = |text: &str| {
            std::fs::write(&path, text).expect("written");
            private(&path);
        };
        write("[client]\nuser=filed\npassword=old\n");
        let filed = Account::resolve("mysql://db1", Some(&path), None).expect("complete");
        let given = Account::resolve("mysql://given@db1", Some(&path), None).expect("complete");
        assert_eq!(filed.renewed(), Ok(filed.clone()));
        write("[client]\nuser=other\npassword=new\n");
        let renewed = filed.renewed().expect("readable");
        assert_eq!(renewed.user, "other");
        assert_eq!(renewed.password, Some(Password::new("new".into())));
        assert_eq!(given.renewed().expect("readable").user, "given");
        write("[client]\nuser=other\n");
        let kept = given.renewed().expect("readable");
        assert_eq!(kept.password, Some(Password::new("old".into())));
        write("[client]\npassword='open\n");
        let error = filed.renewed().expect_err("no end of the quote");
        assert!(error.to_string().contains("does not end"), "{error}");
        std::fs::remove_file(&path).expect("it is there");
        assert_eq!(filed.renewed(), Ok(filed.clone()));
    }

    #[test]
    fn an_address_in_the_file_is_remarked_upon_where_it_is_another() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("my.cnf");
        for (text, url, words) in [
            ("host=db1\nport=3306", "mysql://u@db1", None),
            (
                "port=3307",
                "mysql://u@127.0.0.1",
                Some("gives port=3307, but"),
            ),
            (
                "host=db2\nport=9",
                "mysql://u@127.0.0.1",
                Some("gives host=db2 and port=9, but"),
            ),
            (
                "port=none",
                "mysql://u@127.0.0.1",
                Some("gives port=none, but"),
            ),
        ] {
            std::fs::write(&path, format!("[client]\n{text}\nssl\n")).expect("written");
            let account = Account::resolve(url, Some(&path), None).expect("complete");
            let remarks = account.remarks();
            match words {
                None => assert!(remarks.is_empty(), "{remarks:?}"),
                Some(words) => {
                    assert!(remarks[0].contains(words), "{remarks:?}");
                    assert!(
                        remarks[0].ends_with("counts: 127.0.0.1:3306"),
                        "{remarks:?}"
                    );
                }
            }
        }
    }
}
