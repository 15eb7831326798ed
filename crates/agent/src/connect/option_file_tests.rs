//! Files as MySQL's manual shows them.

use super::*;

fn file(text: &str) -> OptionFile {
    parse(text).unwrap_or_else(|(line, why)| panic!("{line}: {why}"))
}

#[test]
fn our_groups_are_read_and_others_are_not() {
    let file = file(
        "# a comment\n[mysqld]\nuser=mysql\npassword=server\n\
         [client]\nuser = lissom\npassword = \"p#w\" # not this\nport=3306\n\
         [mysqldump]\nuser=dump\n[client-mariadb]\nsocket=/run/s.sock\n",
    );
    assert_eq!(file.user.as_deref(), Some("lissom"));
    assert_eq!(file.password, Some(Password::new("p#w".into())));
    assert_eq!(file.socket, Some(PathBuf::from("/run/s.sock")));
    assert_eq!(file.tls, None);
}

#[test]
fn values_are_unquoted_as_mysql_does() {
    for (written, value) in [
        ("plain", "plain"),
        ("cut # here", "cut"),
        ("'single # quoted'", "single # quoted"),
        ("\"a\\\"b\" # not this", "a\"b"),
        ("a\\sb\\\\c\\td", "a b\\c\td"),
        ("C:\\x", "C:\\x"),
        ("end\\", "end\\"),
    ] {
        let file = file(&format!("[client]\npassword={written}\n"));
        assert_eq!(
            file.password,
            Some(Password::new(value.into())),
            "{written}"
        );
    }
}

#[test]
fn tls_is_put_together() {
    for (text, verify) in [
        ("ssl", Some(Verify::Identity)),
        ("ssl=0", None),
        ("ssl_ca=/ca.pem", Some(Verify::Identity)),
        (
            "ssl-ca=/ca.pem\nssl-verify-server-cert=off",
            Some(Verify::Nothing),
        ),
        ("ssl-cert=/c\nssl-key=/k", Some(Verify::Identity)),
        ("ssl-mode=verify_identity", Some(Verify::Identity)),
        ("ssl-mode=REQUIRED", Some(Verify::Nothing)),
        ("ssl-mode=DISABLED\nssl-ca=/ca.pem", None),
        ("ssl-verify-server-cert=off", None),
        ("ssl=0\nssl-verify-server-cert=off", None),
        ("ssl\nssl-verify-server-cert=off", Some(Verify::Nothing)),
        ("ssl-verify-server-cert", Some(Verify::Identity)),
    ] {
        let tls = file(&format!("[client]\n{text}\n")).tls;
        assert_eq!(tls.map(|it| it.verify), verify, "{text}");
    }
    let tls = file("[client]\nssl-cert=/c\nssl-key=/k\nssl-ca=/a\n").tls;
    let tls = tls.expect("asked for");
    assert_eq!(tls.key, Some(PathBuf::from("/k")));
}

#[test]
fn mistakes_have_their_line() {
    for (text, line, words) in [
        ("[client]\n!include /x", 2, "!include is not followed"),
        ("[client]\nuser='open", 2, "does not end"),
        ("[client]\nuser=u\nssl=maybe", 3, "on or off"),
        ("[client]\nssl-mode=PREFERRED", 2, "without a word"),
        ("[client]\nssl-mode=VERIFY_CA", 2, "choose VERIFY_IDENTITY"),
        ("[client]\nssl-mode=SOME", 2, "must be DISABLED"),
        ("[client]\nssl_capath=/d\nuser=u", 2, "is not followed: put"),
        ("[client]\nssl-cert=/c", 2, "belong together"),
        ("[client]\nssl-mode=SOME\nuser=u\n", 2, "must be DISABLED"),
        ("[client]\nssl-cert=/c\nuser=u\n", 2, "belong together"),
        ("[client]\nuser=u\nssl-key=/k\n\n", 3, "belong together"),
    ] {
        let (at, why) = parse(text).expect_err(text);
        assert_eq!(at, line, "{text}");
        assert!(why.contains(words), "{why}");
    }
}

#[test]
fn an_open_file_with_a_password_is_refused() {
    use std::os::unix::fs::PermissionsExt;
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("my.cnf");
    fs::write(&path, "[client]\npassword=hidden\n").expect("written");
    for (mode, refused) in [(0o644, true), (0o600, false), (0o640, false)] {
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).expect("its owner");
        let read = OptionFile::read(&path);
        assert_eq!(read.is_err(), refused, "{mode:o}");
        if let Err(error) = read {
            let sentence = error.to_string();
            assert!(sentence.contains("chmod 600"), "{sentence}");
            assert!(!sentence.contains("hidden"), "{sentence}");
        }
    }
    let missing = OptionFile::read(&directory.path().join("none")).expect_err("no file");
    assert!(missing.to_string().contains("cannot read"), "{missing}");
}
