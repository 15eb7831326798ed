//! What went wrong, as one sentence each.

use super::driver::Failure;
use crate::error::Error;

/// ER_ACCESS_DENIED_ERROR, ER_ACCESS_DENIED_NO_PASSWORD_ERROR
const REFUSED_USER: [u16; 2] = [1045, 1698];

/// What a failure means to the agent.
pub(super) fn sentence(failure: Failure, place: &str, user: &str) -> Error {
    match failure {
        Failure::Answered { code, message } => answered(code, &message, place, user),
        Failure::NoTls => Error::fix(format!(
            "{place} offers no TLS, and the option file asks for it: configure the server's \
             certificate, or set ssl-mode=DISABLED"
        )),
        Failure::Tls(why) => Error::fix(format!(
            "TLS cannot be used with {place}: {why}; check the files of ssl-ca, ssl-cert and \
             ssl-key"
        )),
        Failure::Certificate(why) => Error::fix(format!(
            "{place}'s certificate is not accepted: {why}; check ssl-ca and the host's name"
        )),
        Failure::Handshake(why) => Error::lost(format!(
            "{place} and the agent do not agree on TLS: {why}; check ssl-cert and ssl-key, and \
             which versions of TLS the server speaks"
        )),
        Failure::Other(why) => Error::lost(format!(
            "cannot reach {place}: {why}; check host, port and whether the server runs"
        )),
    }
}

/// Whether the server does not know the user by that password.
pub(super) fn refuses_user(failure: &Failure) -> bool {
    let Failure::Answered { code, .. } = failure else {
        return false;
    };
    REFUSED_USER.contains(code)
}

/// What the server itself said. Codes are those of its manual.
fn answered(code: u16, message: &str, place: &str, user: &str) -> Error {
    match code {
        _ if REFUSED_USER.contains(&code) => Error::fix(format!(
            "{place} refuses user {user} ({message}): check user, password, which comes from \
             --defaults-file or MYSQL_PWD, and whether the server asks for TLS"
        )),
        // ER_SECURE_TRANSPORT_REQUIRED; MariaDB 10.11 answers with 1045 instead.
        3159 => Error::fix(format!(
            "{place} asks for TLS ({message}): set ssl-mode=VERIFY_IDENTITY and ssl-ca in the \
             option file"
        )),
        // ER_HOST_NOT_PRIVILEGED, ER_HOST_IS_BLOCKED
        1130 | 1129 => Error::fix(format!(
            "{place} accepts no connections from this host ({message}): allow it there"
        )),
        // ER_SPECIFIC_ACCESS_DENIED_ERROR, ER_TABLEACCESS_DENIED_ERROR,
        // ER_DBACCESS_DENIED_ERROR, ER_EVENT_* come as 1044
        1227 | 1142 | 1044 => Error::fix(format!(
            "user {user} lacks a privilege at {place} ({message}): GRANT PROCESS, SUPER ON *.* TO \
             that user, and EVENT on the schema of --server-lease, for which MariaDB 11 asks for \
             BINLOG ADMIN ON *.*, too"
        )),
        // ER_UNKNOWN_TABLE, ER_NO_SUCH_TABLE, ER_UNKNOWN_SYSTEM_VARIABLE
        1109 | 1146 | 1193 => Error::fix(format!(
            "{place} is not a MyRocks server ({message}): install and load the RocksDB plug-in, or \
             attach to another server"
        )),
        // ER_BAD_DB_ERROR
        1049 => Error::fix(format!(
            "{place}: {message}; create the schema of --server-lease first"
        )),
        // Shutting down, too many connections, killed or idle sessions, lost in
        // the middle of a query.
        1040
        | 1053
        | 1077..=1081
        | 1152
        | 1158..=1161
        | 1317
        | 1927
        | 2006
        | 2013
        | 3169
        | 4031 => Error::lost(format!("{place} ended the session: {message}")),
        _ => Error::refused(format!("{place} answers with error {code}: {message}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ErrorKind;

    #[test]
    fn each_refusal_says_what_to_do() {
        for (code, kind, words) in [
            (1045, ErrorKind::Fix, "MYSQL_PWD"),
            (
                1130,
                ErrorKind::Fix,
                "accepts no connections from this host",
            ),
            (1227, ErrorKind::Fix, "GRANT PROCESS, SUPER"),
            (1109, ErrorKind::Fix, "not a MyRocks server"),
            (1193, ErrorKind::Fix, "not a MyRocks server"),
            (1044, ErrorKind::Fix, "EVENT on the schema"),
            (1049, ErrorKind::Fix, "create the schema"),
            (3159, ErrorKind::Fix, "asks for TLS"),
            (1053, ErrorKind::Lost, "ended the session"),
            (1231, ErrorKind::Refused, "error 1231: the reason"),
        ] {
            let error = answered(code, "the reason", "db1:3306", "lissom");
            assert_eq!(error.kind(), kind, "{code}");
            let sentence = error.to_string();
            assert!(sentence.contains(words), "{sentence}");
            assert!(sentence.contains("db1:3306"), "{sentence}");
        }
    }

    #[test]
    fn only_a_refused_user_is_asked_for_again() {
        let answered = |code| Failure::Answered {
            code,
            message: String::new(),
        };
        assert!(refuses_user(&answered(1045)) && refuses_user(&answered(1698)));
        assert!(!refuses_user(&answered(1227)) && !refuses_user(&Failure::NoTls));
    }

    #[test]
    fn tls_that_fails_is_not_said_to_be_a_server_that_is_away() {
        type Wrap = fn(String) -> Failure;
        let failures: [(Wrap, ErrorKind, &str); 3] = [
            (Failure::Tls, ErrorKind::Fix, "check the files of ssl-ca"),
            (
                Failure::Certificate,
                ErrorKind::Fix,
                "db1:3306's certificate is not accepted: the reason; check ssl-ca",
            ),
            (Failure::Handshake, ErrorKind::Lost, "do not agree on TLS"),
        ];
        for (wrap, kind, words) in failures {
            let error = sentence(wrap("the reason".into()), "db1:3306", "lissom");
            assert_eq!(error.kind(), kind, "{words}");
            let sentence = error.to_string();
            assert!(sentence.contains(words), "{sentence}");
            assert!(!sentence.contains("server runs"), "{sentence}");
        }
    }

    #[test]
    fn everything_else_is_a_lost_server() {
        let gone = Failure::Other("gone away".into());
        let error = sentence(gone, "db1:3306", "lissom");
        assert_eq!(error.kind(), ErrorKind::Lost);
        assert!(error.to_string().contains("cannot reach db1:3306"));
        let error = sentence(Failure::NoTls, "db1:3306", "lissom");
        assert_eq!(error.kind(), ErrorKind::Fix);
    }
}
