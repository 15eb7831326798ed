//! How a connection is encrypted.

use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};

/// TLS, and whom to believe.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Tls {
    /// Certificates that are trusted besides the public ones (`ssl-ca`).
    pub authority: Option<PathBuf>,
    /// The client's certificate (`ssl-cert`).
    pub certificate: Option<PathBuf>,
    /// Its key (`ssl-key`).
    pub key: Option<PathBuf>,
    /// What of the server's certificate is checked.
    pub verify: Verify,
}

/// What of a server's certificate is checked.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verify {
    /// Nothing: encrypted, but to anybody (`ssl-mode=REQUIRED`).
    Nothing,
    /// Who signed it, and that it is the host's (`ssl-mode=VERIFY_IDENTITY`).
    Identity,
}

impl Tls {
    /// Whether its files can be read.
    ///
    /// # Errors
    /// `Fix`, with the first file that cannot, and the option that names it.
    pub(super) fn check(&self) -> Result<()> {
        [
            ("ssl-ca", &self.authority),
            ("ssl-cert", &self.certificate),
            ("ssl-key", &self.key),
        ]
        .into_iter()
        .filter_map(|(option, path)| Some((option, path.as_ref()?)))
        .try_for_each(|(option, path)| check_readable(option, path))
    }
}

fn check_readable(option: &str, path: &Path) -> Result<()> {
    fs::read(path).map(drop).map_err(|error| {
        Error::fix(format!(
            "cannot read {}, which {option} names: {error}; check the path and its permissions",
            path.display()
        ))
    })
}
