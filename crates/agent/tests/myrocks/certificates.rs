//! Certificates for a server with TLS, made by the program `openssl`.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

/// The authority that has signed what the server shows.
pub const AUTHORITY: &str = "authority.pem";
/// One that has signed nothing.
pub const FOREIGN_AUTHORITY: &str = "foreign.pem";
/// What the server shows, and its key.
pub const CERTIFICATE: &str = "server.pem";
pub const KEY: &str = "server-key.pem";

/// For whom the server's certificate is: a section of [`SETTINGS`].
pub const HERE: &str = "here";
pub const ELSEWHERE: &str = "elsewhere";

const SETTINGS_FILE: &str = "tls.cnf";
/// A server's certificate must be no authority's, and name its host as X.509 v3 does.
const SETTINGS: &str = "\
[req]
distinguished_name = name
prompt = no
[name]
CN = lissom test
[authority]
basicConstraints = critical,CA:TRUE
keyUsage = critical,keyCertSign
[here]
basicConstraints = critical,CA:FALSE
subjectAltName = IP:127.0.0.1
[elsewhere]
basicConstraints = critical,CA:FALSE
subjectAltName = DNS:elsewhere.example
";

/// Makes two authorities, and a key and certificate for a server at 127.0.0.1.
pub fn make(directory: &Path) {
    fs::write(directory.join(SETTINGS_FILE), SETTINGS).expect("writable");
    make_authority(directory, "authority-key.pem", AUTHORITY);
    make_authority(directory, "foreign-key.pem", FOREIGN_AUTHORITY);
    let request = ["-out", "request.pem", "-subj", "/CN=lissom test server"];
    openssl(directory, &[&new_key(KEY)[..], &request].concat());
    certify(directory, HERE);
}

/// Signs the server's key for a host.
pub fn certify(directory: &Path, host: &str) {
    openssl(
        directory,
        &[
            "x509",
            "-req",
            "-in",
            "request.pem",
            "-CA",
            AUTHORITY,
            "-CAkey",
            "authority-key.pem",
            "-set_serial",
            "2",
            "-days",
            "2",
            "-extfile",
            SETTINGS_FILE,
            "-extensions",
            host,
            "-out",
            CERTIFICATE,
        ],
    );
}

fn make_authority(directory: &Path, key: &str, certificate: &str) {
    let name = format!("/CN=lissom test {certificate}");
    let signed = ["-x509", "-extensions", "authority", "-days", "2"];
    let named = ["-out", certificate, "-subj", &name];
    openssl(directory, &[&new_key(key)[..], &signed, &named].concat());
}

fn new_key(key: &str) -> [&str; 8] {
    [
        "req",
        "-config",
        SETTINGS_FILE,
        "-newkey",
        "rsa:2048",
        "-nodes",
        "-keyout",
        key,
    ]
}

fn openssl(directory: &Path, arguments: &[&str]) {
    let output = Command::new("openssl")
        .args(arguments)
        .current_dir(directory)
        .stdin(Stdio::null())
        .output()
        .expect("openssl starts");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{arguments:?}: {said}");
}
