//! The option file that MySQL's own clients read: groups, `name=value`, quotes.

use std::fs;
use std::path::{Path, PathBuf};

use super::secret::Password;
use super::tls::{Tls, Verify};
use crate::error::{Error, Result};

/// Groups that concern this client.
const GROUPS: [&str; 4] = ["client", "client-server", "client-mariadb", "lissom"];

/// What is taken from the file; all else in it is for other clients.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct OptionFile {
    pub(super) user: Option<String>,
    pub(super) password: Option<Password>,
    pub(super) socket: Option<PathBuf>,
    pub(super) host: Option<String>,
    pub(super) port: Option<String>,
    pub(super) tls: Option<Tls>,
}

/// The options about TLS, before they are put together.
#[derive(Default)]
struct Raw {
    file: OptionFile,
    mode: Option<String>,
    on: bool,
    verify: Option<bool>,
    authority: Option<PathBuf>,
    certificate: Option<PathBuf>,
    key: Option<PathBuf>,
    /// The lines of `ssl-mode`, and of the later of `ssl-cert` and `ssl-key`.
    mode_at: usize,
    pair_at: usize,
}

impl OptionFile {
    /// With a look at the files that TLS needs.
    pub(super) fn read_checked(path: &Path) -> Result<OptionFile> {
        let file = OptionFile::read(path)?;
        match &file.tls {
            Some(tls) => tls.check().map(|()| file),
            None => Ok(file),
        }
    }

    fn read(path: &Path) -> Result<OptionFile> {
        let text = fs::read_to_string(path).map_err(|error| Error::io("read", path, &error))?;
        let file = parse(&text)
            .map_err(|(line, why)| Error::fix(format!("{}:{line}: {why}", path.display())))?;
        if file.password.is_some() && is_open(path)? {
            return Err(Error::fix(format!(
                "{} holds a password and every user of this machine may read it: chmod 600 {0}",
                path.display()
            )));
        }
        Ok(file)
    }
}

#[cfg(unix)]
fn is_open(path: &Path) -> Result<bool> {
    use std::os::unix::fs::PermissionsExt;
    let metadata = fs::metadata(path).map_err(|error| Error::io("look at", path, &error))?;
    Ok(metadata.permissions().mode() & 0o004 != 0)
}

#[cfg(not(unix))]
fn is_open(_path: &Path) -> Result<bool> {
    Ok(false)
}

/// The error has the number of its line.
fn parse(text: &str) -> std::result::Result<OptionFile, (usize, String)> {
    let mut raw = Raw::default();
    let mut ours = false;
    for (at, line) in text.lines().enumerate() {
        let wrong = |why: String| (at + 1, why);
        let line = line.trim();
        if line.is_empty() || line.starts_with(['#', ';']) {
            continue;
        }
        if line.starts_with('!') {
            return Err(wrong(
                "!include is not followed: give the file that it names".into(),
            ));
        }
        if let Some(rest) = line.strip_prefix('[') {
            let group = rest.split(']').next().unwrap_or("").trim();
            ours = GROUPS.contains(&group);
        } else if ours {
            let (name, value) = split(line).map_err(wrong)?;
            raw.take(&name, value, at + 1).map_err(wrong)?;
        }
    }
    raw.put_together()
}

/// Name, with dashes, and value of a line.
fn split(line: &str) -> std::result::Result<(String, Option<String>), String> {
    let (name, value) = match line.split_once('=') {
        Some((name, value)) => (name, Some(unquote(value.trim())?)),
        None => (line.split('#').next().unwrap_or(""), None),
    };
    Ok((name.trim().to_ascii_lowercase().replace('_', "-"), value))
}

/// A value without its quotes, comment and escapes.
fn unquote(text: &str) -> std::result::Result<String, String> {
    let (quote, inner) = match text.chars().next() {
        Some(quote @ ('"' | '\'')) => (Some(quote), &text[1..]),
        _ => (None, text.split('#').next().unwrap_or("").trim_end()),
    };
    let mut value = String::new();
    let mut rest = inner.chars();
    while let Some(it) = rest.next() {
        match it {
            '\\' => match rest.next() {
                Some(escaped) => unescape(escaped, &mut value),
                None => value.push(it),
            },
            _ if Some(it) == quote => return Ok(value),
            _ => value.push(it),
        }
    }
    match quote {
        Some(_) => Err("the quote around this value does not end".into()),
        None => Ok(value),
    }
}

/// MySQL's escapes; an unknown one stays as it is written.
fn unescape(it: char, value: &mut String) {
    match it {
        'b' => value.push('\u{8}'),
        't' => value.push('\t'),
        'n' => value.push('\n'),
        'r' => value.push('\r'),
        's' => value.push(' '),
        '\\' | '"' | '\'' => value.push(it),
        _ => value.extend(['\\', it]),
    }
}

impl Raw {
    fn take(
        &mut self,
        name: &str,
        value: Option<String>,
        line: usize,
    ) -> std::result::Result<(), String> {
        let text = value.clone().unwrap_or_default();
        let path = || Some(PathBuf::from(&text)).filter(|_| !text.is_empty());
        match name {
            "user" => self.file.user = Some(text).filter(|it| !it.is_empty()),
            "password" => self.file.password = value.map(Password::new),
            "socket" => self.file.socket = path(),
            "host" => self.file.host = Some(text).filter(|it| !it.is_empty()),
            "port" => self.file.port = Some(text).filter(|it| !it.is_empty()),
            "ssl-mode" => (self.mode, self.mode_at) = (Some(text.to_ascii_uppercase()), line),
            "ssl" => self.on = switch(name, value.as_deref())?,
            "ssl-verify-server-cert" => self.verify = Some(switch(name, value.as_deref())?),
            "ssl-ca" => self.authority = path(),
            "ssl-cert" => (self.certificate, self.pair_at) = (path(), line),
            "ssl-key" => (self.key, self.pair_at) = (path(), line),
            "ssl-capath" if !text.is_empty() => {
                return Err(
                    "ssl-capath is not followed: put its certificates into one file, and name that \
                     with ssl-ca"
                        .into(),
                );
            }
            _ => {}
        }
        Ok(())
    }

    /// Where no mode is given. Whoever names a certificate means it to be used, and who asks for
    /// the server's to be verified wants one; that it is not verified is no wish for it.
    fn asks_for_tls(&self) -> bool {
        self.on
            || self.verify == Some(true)
            || self.authority.is_some()
            || self.certificate.is_some()
    }

    /// The error has the number of its line.
    fn put_together(self) -> std::result::Result<OptionFile, (usize, String)> {
        let verify = match (self.mode.as_deref(), self.verify) {
            (Some("DISABLED"), _) => None,
            (Some("REQUIRED"), _) => Some(Verify::Nothing),
            (Some("VERIFY_IDENTITY"), _) => Some(Verify::Identity),
            (Some(mode), _) => return Err((self.mode_at, wrong_mode(mode).into())),
            (None, _) if !self.asks_for_tls() => None,
            (None, Some(false)) => Some(Verify::Nothing),
            (None, _) => Some(Verify::Identity),
        };
        if self.certificate.is_some() != self.key.is_some() {
            let why = "ssl-cert and ssl-key belong together: give both or none";
            return Err((self.pair_at, why.into()));
        }
        Ok(OptionFile {
            tls: verify.map(|verify| Tls {
                authority: self.authority,
                certificate: self.certificate,
                key: self.key,
                verify,
            }),
            ..self.file
        })
    }
}

fn wrong_mode(mode: &str) -> &'static str {
    match mode {
        "VERIFY_CA" => {
            "ssl-mode=VERIFY_CA would accept any certificate that a public authority has signed, \
             for whatever host, since those are trusted beside ssl-ca: choose VERIFY_IDENTITY"
        }
        "PREFERRED" => {
            "ssl-mode=PREFERRED would fall back to no encryption without a word: choose DISABLED, \
             REQUIRED or VERIFY_IDENTITY"
        }
        _ => "ssl-mode must be DISABLED, REQUIRED or VERIFY_IDENTITY",
    }
}

/// `ssl`, `ssl=1`, `ssl=off`
fn switch(name: &str, value: Option<&str>) -> std::result::Result<bool, String> {
    match value.map(str::to_ascii_lowercase).as_deref() {
        None | Some("" | "1" | "on" | "true") => Ok(true),
        Some("0" | "off" | "false") => Ok(false),
        Some(_) => Err(format!("{name} must be on or off")),
    }
}

#[cfg(test)]
#[path = "option_file_tests.rs"]
mod tests;
