//! Errors as the driver gives them, and a server that only pretends to speak TLS.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener};
use std::path::Path;

use super::*;
use crate::connect::Address;

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

/// An answer that has not come in time would be taken for the next one's.
#[test]
fn after_a_failure_that_the_server_did_not_tell_nothing_is_asked() {
    let mut session = Session {
        conn: (),
        lost: None,
    };
    let told = mysql::MySqlError {
        state: "HY000".into(),
        message: "no".into(),
        code: 1_231,
    };
    let answered = session.ask::<()>(|()| Err(mysql::Error::MySqlError(told)));
    assert!(matches!(answered, Err(Failure::Answered { .. })));
    assert!(matches!(session.ask(|()| Ok(1)), Ok(1)));
    let late = || mysql::Error::IoError(std::io::Error::other("too late"));
    assert!(session.ask::<()>(|()| Err(late())).is_err());
    let after = session.ask(|()| Ok(1));
    assert!(matches!(after, Err(Failure::Other(why)) if why.contains("too late")));
}

/// A handshake of MySQL's that offers TLS.
fn greeting() -> Vec<u8> {
    // CLIENT_PROTOCOL_41, CLIENT_SSL, CLIENT_SECURE_CONNECTION; CLIENT_PLUGIN_AUTH.
    let capabilities: [u8; 4] = [0x00, 0x8a, 0x08, 0x00];
    let mut payload: Vec<u8> = vec![10];
    payload.extend(b"8.0.36\0");
    payload.extend([1, 0, 0, 0]);
    payload.extend(b"scramble\0");
    payload.extend(&capabilities[..2]);
    // A collation, and a status.
    payload.extend([45, 2, 0]);
    payload.extend(&capabilities[2..]);
    // The scramble's length, and what is reserved.
    payload.push(21);
    payload.extend([0; 10]);
    payload.extend(b"its-last-12-\0");
    payload.extend(b"mysql_native_password\0");
    let length = u8::try_from(payload.len()).expect("a short packet");
    [vec![length, 0, 0, 0], payload].concat()
}

/// The port of a server that offers TLS, and then speaks something else.
fn pretender() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let port = listener.local_addr().expect("its address").port();
    std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().expect("a client");
        stream.write_all(&greeting()).expect("written");
        let mut request = [0; 36];
        stream
            .read_exact(&mut request)
            .expect("a request to speak TLS");
        // The client may be gone by now.
        let _ = stream.write_all(b"anything but TLS");
        let _ = stream.shutdown(Shutdown::Write);
        let _ = stream.read_to_end(&mut Vec::new());
    });
    port
}

/// What comes of TLS with the pretender.
fn refusal(authority: Option<&Path>) -> Failure {
    let account = Account {
        address: Address {
            host: "127.0.0.1".into(),
            port: pretender(),
            socket: None,
        },
        user: "lissom".into(),
        password: None,
        tls: Some(Tls {
            authority: authority.map(Path::to_path_buf),
            certificate: None,
            key: None,
            verify: Verify::Identity,
        }),
        source: None,
    };
    match Session::open(&account) {
        Ok(_) => panic!("nobody speaks TLS there"),
        Err(failure) => failure,
    }
}

#[test]
fn a_handshake_that_fails_is_told_from_a_server_that_is_away() {
    let failure = refusal(None);
    let is_told = matches!(&failure, Failure::Handshake(why) if why.contains("corrupt message"));
    assert!(is_told, "{failure:?}");
}

#[test]
fn an_authority_that_is_no_certificate_is_told_from_the_servers() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("ca.pem");
    std::fs::write(&path, "no certificate").expect("written");
    let failure = refusal(Some(&path));
    // The words by which a refused certificate is known, too.
    let is_told = matches!(
        &failure,
        Failure::Tls(why) if why.starts_with("invalid peer certificate: ")
    );
    assert!(is_told, "{failure:?}");
}
