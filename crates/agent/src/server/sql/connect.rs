//! An account as the driver takes it.

use std::path::PathBuf;
use std::time::Duration;

use mysql::{ClientIdentity, OptsBuilder, SslOpts};

use crate::connect::{Account, Tls, Verify};

/// For a connection to be there, and for an answer to come. A server that is
/// silent for longer counts as lost, so that the watchdog is not kept waiting.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
const ANSWER_TIMEOUT: Duration = Duration::from_secs(15);

pub(super) fn options(account: &Account) -> OptsBuilder {
    let socket = account.address.socket.as_ref();
    OptsBuilder::new()
        .ip_or_hostname(Some(account.address.bracketed_host()))
        .tcp_port(account.address.port)
        .socket(socket.map(|path| path.to_string_lossy().into_owned()))
        .prefer_socket(false)
        .user(Some(account.user.clone()))
        .pass(account.password.as_ref().map(|it| it.secret().to_owned()))
        .tcp_connect_timeout(Some(CONNECT_TIMEOUT))
        .read_timeout(Some(ANSWER_TIMEOUT))
        .write_timeout(Some(ANSWER_TIMEOUT))
        .ssl_opts(account.tls.as_ref().map(tls))
}

fn tls(tls: &Tls) -> SslOpts {
    let identity = match (&tls.certificate, &tls.key) {
        (Some(certificate), Some(key)) => {
            Some(ClientIdentity::new(certificate.clone(), key.clone()))
        }
        _ => None,
    };
    SslOpts::default()
        .with_root_cert_path::<PathBuf>(tls.authority.clone())
        .with_client_identity(identity)
        .with_danger_skip_domain_validation(tls.verify != Verify::Identity)
        .with_danger_accept_invalid_certs(tls.verify == Verify::Nothing)
}
