//! attach, where there is no server.

use std::net::TcpListener;

use super::support::{done, ends, json};

/// A port of the loopback on which nobody listens.
fn dead_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    listener.local_addr().expect("its address").port()
}

#[test]
fn no_server_is_one_sentence() {
    let directory = tempfile::tempdir().expect("a directory");
    let state = directory.path().to_str().expect("UTF-8");
    let url = format!("mysql://lissom@127.0.0.1:{}", dead_port());
    let arguments = ["attach", &url, "--io-limit", "100M", "--state", state];
    let sentence = ends(&arguments, 1);
    assert!(sentence.contains("cannot reach 127.0.0.1"), "{sentence}");
    assert!(sentence.contains("whether the server runs"), "{sentence}");
    let sentence = ends(
        &[
            "attach",
            "mysql://lissom@no-such-host.invalid",
            "--io-limit",
            "100M",
            "--state",
            state,
        ],
        1,
    );
    assert!(sentence.contains("no-such-host.invalid:3306"), "{sentence}");
}

#[test]
fn with_nothing_recorded_there_is_nothing_to_restore() {
    let directory = tempfile::tempdir().expect("a directory");
    let state = directory.path().to_str().expect("UTF-8");
    let url = format!("mysql://lissom@127.0.0.1:{}", dead_port());
    let said = done(&["attach", &url, "--restore", "--state", state]);
    assert!(said.contains("nothing to restore"), "{said}");
    assert!(
        said.contains(state),
        "the directory that was searched: {said}"
    );
    assert!(!said.contains("event"), "nobody asked for it: {said}");
    let report = json(&["attach", &url, "--restore", "--json", "--state", state]);
    assert_eq!(report["recorded"], false);
    assert_eq!(report["failures"].as_array().map(Vec::len), Some(0));
    let lease = ["--server-lease", "ops"];
    let restore = ["attach", &url, "--restore", "--state", state];
    let said = done(&[&restore[..], &lease].concat());
    assert!(said.contains("in the schema ops, if there is"), "{said}");
}

#[test]
fn what_is_recorded_at_another_address_is_reason_to_ask_the_server() {
    let directory = tempfile::tempdir().expect("a directory");
    let state = directory.path().to_str().expect("UTF-8");
    let lease = "{\"identity\":\"db1/3306/data\",\"started_at\":5,\"families\":{},\
                 \"rate_limiter\":null}";
    let text = format!("{{\"lissom_attach\":1,\"leases\":[{lease}]}}");
    let other = directory.path().join("attach-db1-3306.state");
    std::fs::write(&other, text).expect("writable");
    let url = format!("mysql://lissom@127.0.0.1:{}", dead_port());
    let sentence = ends(&["attach", &url, "--restore", "--state", state], 1);
    assert!(sentence.contains("cannot reach 127.0.0.1"), "{sentence}");
    assert!(other.exists(), "it is still to be restored");
}

#[test]
fn the_watchdog_is_nothing_to_start_by_hand() {
    let sentence = ends(&["attach-watchdog"], 1);
    assert!(
        sentence.contains("started by `lissom attach`"),
        "{sentence}"
    );
}
