//! How a connection is encrypted.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

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
    /// Who signed it (`ssl-mode=VERIFY_CA`).
    Authority,
    /// That, and that it is the host's (`ssl-mode=VERIFY_IDENTITY`).
    Identity,
}
