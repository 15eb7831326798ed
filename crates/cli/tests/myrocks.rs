//! `lissom attach` beside a real MyRocks, which the tests of the crate lissom-agent know how
//! to install and to start.

#![cfg(unix)]

#[allow(dead_code)] // each test file uses its part
#[path = "../../agent/tests/myrocks/certificates.rs"]
mod certificates;
#[path = "../../agent/tests/myrocks/descendants.rs"]
mod descendants;
#[path = "../../agent/tests/myrocks/load.rs"]
mod load;
#[allow(dead_code)] // each test file uses its part
#[path = "../../agent/tests/myrocks/mariadb.rs"]
mod mariadb;
#[path = "../../agent/tests/myrocks/waiting.rs"]
mod waiting;

use std::fs::{self, File};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};

use tempfile::TempDir;

use descendants::Descendants;
use load::Load;
use mariadb::{MariaDb, PASSWORD, SCHEMA, TRIGGER};
use waiting::wait_for;

/// The program, attached to a server. Its watchdog ends with this value, too.
struct Attached {
    child: Child,
    descendants: Descendants,
    directory: TempDir,
}

impl Attached {
    /// With limits that a small load is far over.
    fn start(server: &MariaDb, user: &str, more: &[&str]) -> Attached {
        let directory = tempfile::tempdir().expect("a directory");
        let said = File::create(directory.path().join("said")).expect("writable");
        let mut command = Command::new(env!("CARGO_BIN_EXE_lissom"));
        let descendants = Descendants::of(&mut command, directory.path());
        let child = command
            .args(["attach", &server.url(user), "--io-limit", "100M"])
            .args(["--io-low-limit", "500k", "--io-high-limit", "800k"])
            .args(["--interval", "500ms", "--lease", "4s"])
            .args(["--max-level0-files", "40", "--state"])
            .arg(directory.path())
            .args(more)
            .env("MYSQL_PWD", PASSWORD)
            .stdin(Stdio::null())
            .stderr(said.try_clone().expect("a second handle"))
            .stdout(said)
            .spawn()
            .expect("the program starts");
        Attached {
            child,
            descendants,
            directory,
        }
    }

    /// What it has printed so far; fails once it has ended.
    fn said(&mut self) -> String {
        let said = fs::read_to_string(self.directory.path().join("said")).expect("a file");
        assert_eq!(self.child.try_wait().expect("a child"), None, "{said}");
        said
    }
}

impl Drop for Attached {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// What is served at the address that the program has named.
fn scrape(said: &str) -> String {
    let (_, rest) = said.split_once("http://").expect("it names an address");
    let (address, _) = rest.split_once("/metrics").expect("and the path");
    let mut stream = TcpStream::connect(address).expect("it listens there");
    stream
        .write_all(b"GET /metrics HTTP/1.1\r\n\r\n")
        .expect("written");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("UTF-8");
    answer
}

#[test]
#[ignore = "installs and starts MariaDB"]
fn a_dry_run_takes_one_privilege_and_changes_nothing() {
    let Some(server) = MariaDb::with_myrocks() else {
        return;
    };
    let original = server.options();
    let mut program = Attached::start(&server, "poor", &["--dry-run"]);
    let load = Load::on(&server);
    wait_for("it says what it would do", || {
        program.said().contains("not sent (dry run)")
    });
    drop(load);
    let id = program.child.id().to_string();
    let asked = Command::new("kill").args(["-TERM", &id]).status();
    assert!(asked.expect("kill starts").success());
    let status = program.child.wait().expect("it ends");
    assert_eq!(status.code(), Some(0));
    assert_eq!(server.options(), original);
}

#[test]
#[ignore = "installs and starts MariaDB"]
fn a_killed_program_is_restored_for_by_its_watchdog() {
    let Some(server) = MariaDb::with_myrocks() else {
        return;
    };
    let original = server.options();
    let more = ["--server-lease", SCHEMA, "--metrics", "127.0.0.1:0"];
    let mut program = Attached::start(&server, "lissom", &more);
    let load = Load::on(&server);
    wait_for("the delay", || {
        program.said();
        server.option(TRIGGER) == "40"
    });
    let metrics = scrape(&program.said());
    let is_up = metrics.lines().any(|it| it == "lissom_attach_up 1");
    assert!(is_up, "{metrics}");
    let running = program.descendants.running();
    assert!(
        running.contains(&program.child.id()) && running.len() > 1,
        "{running:?}"
    );
    program.child.kill().expect("it runs");
    program.child.wait().expect("it ends");
    wait_for("the watchdog restores", || server.options() == original);
    drop(load);
    // It waits for the end of the program's session: the server must last as long.
    wait_for("the watchdog ends", || {
        program.descendants.running().is_empty()
    });
}
