//! Certificates for a server with TLS and its clients, made by the program `openssl`.

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
/// What a client may show, of the authority and of the other one, and its key.
pub const CLIENT: &str = "client.pem";
pub const FOREIGN_CLIENT: &str = "foreign-client.pem";
pub const CLIENT_KEY: &str = "client-key.pem";

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
[client]
basicConstraints = critical,CA:FALSE
extendedKeyUsage = clientAuth
";

/// Makes two authorities, and a key and certificate for a server at 127.0.0.1.
pub fn make(directory: &Path) {
    fs::write(directory.join(SETTINGS_FILE), SETTINGS).expect("writable");
    make_authority(directory, &OURS);
    make_authority(directory, &FOREIGN);
    ask(directory, KEY, "server-request.pem");
    certify(directory, HERE);
}

/// Signs the server's key for a host.
pub fn certify(directory: &Path, host: &str) {
    sign(directory, "server-request.pem", CERTIFICATE, host, &OURS);
}

/// Makes a client's key with two certificates: one of the authority, one of the other.
pub fn make_clients(directory: &Path) {
    ask(directory, CLIENT_KEY, "client-request.pem");
    for (certificate, signer) in [(CLIENT, &OURS), (FOREIGN_CLIENT, &FOREIGN)] {
        sign(
            directory,
            "client-request.pem",
            certificate,
            "client",
            signer,
        );
    }
}

/// An authority's files.
struct Authority {
    certificate: &'static str,
    key: &'static str,
}

const OURS: Authority = Authority {
    certificate: AUTHORITY,
    key: "authority-key.pem",
};
const FOREIGN: Authority = Authority {
    certificate: FOREIGN_AUTHORITY,
    key: "foreign-key.pem",
};

fn make_authority(directory: &Path, authority: &Authority) {
    let name = format!("/CN=lissom test {}", authority.certificate);
    let signed = ["-x509", "-extensions", "authority", "-days", "2"];
    let named = ["-out", authority.certificate, "-subj", &name];
    openssl(
        directory,
        &[&new_key(authority.key)[..], &signed, &named].concat(),
    );
}

/// Makes a key, and asks for a certificate for it.
fn ask(directory: &Path, key: &str, request: &str) {
    let named = ["-out", request, "-subj", "/CN=lissom test"];
    openssl(directory, &[&new_key(key)[..], &named].concat());
}

/// Grants a certificate that has the extensions of a section of [`SETTINGS`].
fn sign(directory: &Path, request: &str, certificate: &str, section: &str, signer: &Authority) {
    let asked = ["x509", "-req", "-in", request, "-out", certificate];
    let signed = ["-CA", signer.certificate, "-CAkey", signer.key];
    let limited = ["-set_serial", "2", "-days", "2"];
    let extended = ["-extfile", SETTINGS_FILE, "-extensions", section];
    openssl(
        directory,
        &[&asked[..], &signed, &limited, &extended].concat(),
    );
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
