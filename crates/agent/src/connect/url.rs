//! `mysql://USER@HOST:PORT`

use crate::error::{Error, Result};

const DEFAULT_PORT: u16 = 3306;

/// What a URL says.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Url {
    pub(super) user: Option<String>,
    pub(super) host: String,
    pub(super) port: u16,
}

impl Url {
    /// No sentence repeats the URL: it may hold a password.
    pub(super) fn parse(text: &str) -> Result<Url> {
        let rest = text.strip_prefix("mysql://").ok_or_else(|| {
            Error::fix("the address must begin with mysql://, as in mysql://USER@HOST:PORT")
        })?;
        let (user, place) = match rest.rsplit_once('@') {
            Some((user, place)) => (Some(parse_user(user)?), place),
            None => (None, rest),
        };
        let place = place.strip_suffix('/').unwrap_or(place);
        let (host, port) = split_port(place)?;
        check_host(host)?;
        Ok(Url {
            user,
            host: host.to_owned(),
            port,
        })
    }
}

fn parse_user(user: &str) -> Result<String> {
    if user.contains(':') {
        return Err(Error::fix(
            "a password on the command line is seen by every user of this machine: leave it out \
             of the URL, and give it with --defaults-file or in MYSQL_PWD",
        ));
    }
    if user.is_empty() || user.contains(['%', '/', '?', '#']) {
        return Err(Error::fix(
            "the user in the URL is empty or has one of % / ? #: write it as user=... under \
             [client] in the option file",
        ));
    }
    Ok(user.to_owned())
}

/// Host and port of `HOST`, `HOST:PORT`, `[IPV6]` or `[IPV6]:PORT`.
fn split_port(place: &str) -> Result<(&str, u16)> {
    let (host, port) = match place.strip_prefix('[') {
        Some(rest) => {
            let (host, rest) = rest.split_once(']').ok_or_else(|| {
                Error::fix("an IPv6 address in the URL must end with ], as in mysql://u@[::1]")
            })?;
            (host, rest.strip_prefix(':').or(non_empty(rest)))
        }
        None => match place.split_once(':') {
            Some((host, port)) => (host, Some(port)),
            None => (place, None),
        },
    };
    let port = match port {
        None => DEFAULT_PORT,
        Some(text) => text
            .parse::<u16>()
            .ok()
            .filter(|port| *port > 0)
            .ok_or_else(|| {
                Error::fix(
                    "what follows the host in the URL must be :PORT, a number from 1 to 65535, and \
                 nothing else: no database, no parameters",
                )
            })?,
    };
    Ok((host, port))
}

fn non_empty(text: &str) -> Option<&str> {
    (!text.is_empty()).then_some(text)
}

fn check_host(host: &str) -> Result<()> {
    let legal = |byte: u8| byte.is_ascii_alphanumeric() || b".-_:".contains(&byte);
    if host.is_empty() {
        return Err(Error::fix(
            "the URL names no host: write mysql://USER@HOST:PORT",
        ));
    }
    if !host.bytes().all(legal) {
        return Err(Error::fix(
            "the host in the URL has a character that no host name has; after HOST:PORT nothing \
             may follow: no database, no parameters",
        ));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::Url;

    #[test]
    fn what_a_url_may_be() {
        for (text, user, host, port) in [
            ("mysql://db1", None, "db1", 3306),
            (
                "mysql://u@db1.example.org:3307/",
                Some("u"),
                "db1.example.org",
                3307,
            ),
            ("mysql://u@x@127.0.0.1", Some("u@x"), "127.0.0.1", 3306),
            ("mysql://[::1]", None, "::1", 3306),
            ("mysql://u@[fe80::1]:33", Some("u"), "fe80::1", 33),
        ] {
            let url = Url::parse(text).expect(text);
            assert_eq!(url.user.as_deref(), user, "{text}");
            assert_eq!((url.host.as_str(), url.port), (host, port), "{text}");
        }
    }

    #[test]
    fn what_it_may_not_be_and_no_sentence_tells_a_password() {
        for (text, words) in [
            ("postgres://u@h", "must begin with mysql://"),
            ("u:hunter2@db1", "must begin with mysql://"),
            ("mysql://u:hunter2@db1", "a password on the command line"),
            ("mysql://u:hunter2:x@db1", "a password on the command line"),
            ("mysql://", "names no host"),
            ("mysql://u@:33", "names no host"),
            ("mysql://@h", "is empty"),
            ("mysql://u@h:0", "1 to 65535"),
            ("mysql://u@h:66000", "1 to 65535"),
            ("mysql://u@h:", "1 to 65535"),
            ("mysql://u@h:3306/db", "no database"),
            ("mysql://u@h/db", "no database"),
            ("mysql://u@h?ssl=1", "no parameters"),
            ("mysql://u@[::1", "must end with ]"),
            ("mysql://u@[::1]x", "1 to 65535"),
        ] {
            let sentence = Url::parse(text).expect_err(text).to_string();
            assert!(sentence.contains(words), "{text}: {sentence}");
            assert!(!sentence.contains("hunter2"), "{sentence}");
        }
    }
}
