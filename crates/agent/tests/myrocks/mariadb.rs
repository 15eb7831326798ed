//! MariaDB in a temporary directory, on a free port of the loopback.

use std::fs::{self, File};
use std::io::{self, Write};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};

use mysql::prelude::Queryable;
use mysql::{Conn, OptsBuilder};
use tempfile::TempDir;

use crate::certificates::{self, AUTHORITY, CERTIFICATE, ELSEWHERE, KEY};
use crate::wait_for;

pub const PASSWORD: &str = "secret";
/// A schema for tables and events of the tests.
pub const SCHEMA: &str = "lissom_test";
pub const TRIGGER: &str = "LEVEL0_FILE_NUM_COMPACTION_TRIGGER";
const UPTIME: &str =
    "SELECT variable_value FROM information_schema.global_status WHERE variable_name = 'UPTIME'";
pub const SWITCH: &str = "DISABLE_AUTO_COMPACTIONS";

/// Small memtables, so that level 0 fills up, and a rate limiter that can be set.
const MYROCKS: &str = "plugin-load-add=ha_rocksdb.so\n\
     rocksdb_default_cf_options=write_buffer_size=1m;max_bytes_for_level_base=8m\n\
     rocksdb_rate_limiter_bytes_per_sec=200000000\n";

/// Packages of Debian and Ubuntu.
const SERVER: &str = "mariadb-server";
const PLUGIN: &str = "mariadb-plugin-rocksdb";
const OPENSSL: &str = "openssl";

/// One test at a time has servers: the machine is small.
static ONE: Mutex<()> = Mutex::new(());

type Turn = MutexGuard<'static, ()>;

/// A running server; it ends with this value.
pub struct MariaDb {
    process: Child,
    directory: TempDir,
    port: u16,
    /// The test's first server has it.
    _turn: Option<Turn>,
}

impl MariaDb {
    /// Starts one with MyRocks and without TLS; `None`, with a printed reason, where
    /// that cannot be.
    pub fn with_myrocks() -> Option<MariaDb> {
        MariaDb::first(unencrypted)
    }

    /// Starts another such server beside this one.
    pub fn another(&self) -> MariaDb {
        MariaDb::start(unencrypted, None)
    }

    /// Starts one with MyRocks, to which nothing but TLS leads over TCP.
    pub fn with_tls() -> Option<MariaDb> {
        MariaDb::first(|directory| {
            certificates::make(directory);
            let place = directory.display();
            format!(
                "{MYROCKS}ssl-ca={place}/{AUTHORITY}\nssl-cert={place}/{CERTIFICATE}\n\
                 ssl-key={place}/{KEY}\nrequire_secure_transport=ON\n"
            )
        })
    }

    /// Starts one without MyRocks.
    pub fn without_myrocks() -> Option<MariaDb> {
        MariaDb::first(|_| String::new())
    }

    /// A test's first server.
    fn first(more: impl FnOnce(&Path) -> String) -> Option<MariaDb> {
        let turn = ONE.lock().unwrap_or_else(PoisonError::into_inner);
        if let Err(reason) = install() {
            // Written past `println`, whose lines are not shown of tests that pass.
            let line = format!("skipped: a test of MyRocks: {reason}\n");
            assert!(std::env::var_os("LISSOM_NO_SKIP").is_none(), "{line}");
            let _ = io::stderr().write_all(line.as_bytes());
            return None;
        }
        Some(MariaDb::start(more, Some(turn)))
    }

    /// `more` is for the option file, given the server's directory.
    fn start(more: impl FnOnce(&Path) -> String, turn: Option<Turn>) -> MariaDb {
        let directory = tempfile::tempdir().expect("a directory");
        let port = free_port();
        let more = more(directory.path());
        let file = configure(directory.path(), port, &more);
        let log = File::create(directory.path().join("install.log")).expect("writable");
        let installed = Command::new("mariadb-install-db")
            .arg(format!("--defaults-file={}", file.display()))
            .args(["--skip-test-db", "--auth-root-authentication-method=normal"])
            .stdout(log.try_clone().expect("a second handle"))
            .stderr(log)
            .status()
            .expect("mariadb-install-db starts");
        assert!(
            installed.success(),
            "{}",
            read(directory.path(), "install.log")
        );
        let mut server = MariaDb {
            process: run(directory.path()),
            directory,
            port,
            _turn: turn,
        };
        server.await_ready();
        server.create_users();
        server
    }

    fn await_ready(&mut self) {
        wait_for("the server accepts connections", || {
            let ended = self.process.try_wait().expect("a child");
            assert_eq!(ended, None, "{}", read(self.directory.path(), "error.log"));
            self.connect().is_some()
        });
    }

    fn create_users(&self) {
        let mut root = self.root();
        let mut run = |sql: String| assert!(root.run(&sql), "{sql}");
        run(format!("CREATE SCHEMA {SCHEMA}"));
        // The privileges of docs/myrocks.md, and none besides.
        for host in ["localhost", "127.0.0.1"] {
            for (name, privileges) in [("lissom", "PROCESS, SUPER"), ("poor", "PROCESS")] {
                let user = format!("'{name}'@'{host}'");
                run(format!("CREATE USER {user} IDENTIFIED BY '{PASSWORD}'"));
                run(format!("GRANT {privileges} ON *.* TO {user}"));
            }
            run(format!("GRANT EVENT ON {SCHEMA}.* TO 'lissom'@'{host}'"));
        }
    }

    fn connect(&self) -> Option<Session> {
        let socket = self.directory.path().join("s");
        let options = OptsBuilder::new()
            .socket(Some(socket.to_string_lossy().into_owned()))
            .user(Some("root"));
        Conn::new(options).ok().map(Session)
    }

    /// A session that may do everything.
    pub fn root(&self) -> Session {
        self.connect().expect("the server runs")
    }

    /// Where an agent reaches it.
    pub fn url(&self, user: &str) -> String {
        format!("mysql://{user}@127.0.0.1:{}", self.port)
    }

    /// Its port on the loopback.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// A file of the server's directory.
    pub fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    /// Whether its binary log has this text anywhere.
    pub fn has_logged(&self, text: &str) -> bool {
        let log = fs::read(self.path("data/binlog.000001")).expect("a binary log");
        log.windows(text.len()).any(|part| part == text.as_bytes())
    }

    /// An option of the column family `default`.
    pub fn option(&self, name: &str) -> String {
        let sql = format!(
            "SELECT VALUE FROM information_schema.ROCKSDB_CF_OPTIONS \
             WHERE CF_NAME = 'default' AND OPTION_TYPE = '{name}'"
        );
        self.root().text(&sql).expect("it is shown")
    }

    /// All options that the agent changes.
    pub fn options(&self) -> Vec<String> {
        [
            TRIGGER,
            SWITCH,
            "LEVEL0_SLOWDOWN_WRITES_TRIGGER",
            "LEVEL0_STOP_WRITES_TRIGGER",
            "MAX_BYTES_FOR_LEVEL_BASE",
        ]
        .map(|name| self.option(name))
        .to_vec()
    }

    /// Files in level 0 of `default`; none where there is no row.
    pub fn level0_files(&self) -> u64 {
        let files = self.root().text(
            "SELECT VALUE FROM information_schema.ROCKSDB_COMPACTION_STATS \
             WHERE CF_NAME = 'default' AND LEVEL = 'L0' AND TYPE = 'NumFiles'",
        );
        files.map_or(0, |text| text.parse::<f64>().expect("a number") as u64)
    }

    /// Kills the server, and starts it again on the same directory and port.
    pub fn restart(&mut self) {
        // Starts within two seconds are taken for one.
        wait_for("the server has been up for a while", || {
            let uptime = self.root().text(UPTIME);
            uptime.is_some_and(|seconds| seconds.parse::<u64>().is_ok_and(|up| up > 3))
        });
        self.process.kill().expect("it runs");
        self.process.wait().expect("it ends");
        self.process = run(self.directory.path());
        self.await_ready();
    }

    /// Makes certificates for clients in its directory.
    pub fn certify_clients(&self) {
        certificates::make_clients(self.directory.path());
    }

    /// Has it show a certificate that is for another host.
    pub fn show_certificate_of_elsewhere(&mut self) {
        certificates::certify(self.directory.path(), ELSEWHERE);
        self.restart();
    }
}

impl Drop for MariaDb {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn unencrypted(_directory: &Path) -> String {
    format!("{MYROCKS}skip-ssl\n")
}

/// A connection.
pub struct Session(Conn);

impl Session {
    /// Whether a statement is carried out.
    pub fn run(&mut self, sql: &str) -> bool {
        self.0.query_drop(sql).is_ok()
    }

    /// The first cell of the first row; `None` where there is none, or NULL.
    pub fn text(&mut self, sql: &str) -> Option<String> {
        let first: Option<Option<String>> = self.0.query_first(sql).expect("readable");
        first.flatten()
    }
}

fn configure(directory: &Path, port: u16, more: &str) -> PathBuf {
    let place = directory.display();
    // Who started the tests, by name; root must be named to be allowed.
    let user = if is_root() { "user=root\n" } else { "" };
    let text = format!(
        "[mysqld]\n{user}datadir={place}/data\nsocket={place}/s\nport={port}\n\
         bind-address=127.0.0.1\npid-file={place}/pid\nlog-error={place}/error.log\n\
         event_scheduler=ON\nlog-bin=binlog\nserver-id=1\nbinlog-format=ROW\n{more}"
    );
    let file = directory.join("my.cnf");
    fs::write(&file, text).expect("writable");
    fs::create_dir(directory.join("data")).expect("writable");
    file
}

fn run(directory: &Path) -> Child {
    Command::new("mariadbd")
        .arg(format!(
            "--defaults-file={}",
            directory.join("my.cnf").display()
        ))
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("mariadbd starts")
}

fn read(directory: &Path, name: &str) -> String {
    fs::read_to_string(directory.join(name)).unwrap_or_default()
}

fn free_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    listener.local_addr().expect("its address").port()
}

/// Installs the packages where that is permitted.
fn install() -> Result<(), String> {
    if is_there() {
        return Ok(());
    }
    let release = fs::read_to_string("/etc/os-release").unwrap_or_default();
    let debian = release.contains("debian") || release.contains("ubuntu");
    if !(debian && is_root()) {
        return Err(format!(
            "MariaDB with MyRocks, or openssl, is not installed, and only root on Debian or Ubuntu \
             may install it: apt-get install {SERVER} {PLUGIN} {OPENSSL}"
        ));
    }
    let install = [
        "install",
        "-y",
        "--no-install-recommends",
        SERVER,
        PLUGIN,
        OPENSSL,
    ];
    for arguments in [&["update"][..], &install] {
        let output = Command::new("apt-get")
            .args(arguments)
            .env("DEBIAN_FRONTEND", "noninteractive")
            .stdin(Stdio::null())
            .output()
            .map_err(|error| format!("apt-get does not start: {error}"))?;
        if !output.status.success() {
            let why = String::from_utf8_lossy(&output.stderr).into_owned();
            return Err(format!("apt-get {}: {why}", arguments.join(" ")));
        }
    }
    if is_there() {
        Ok(())
    } else {
        Err("the packages are installed and mariadbd or openssl is not found".into())
    }
}

fn is_there() -> bool {
    let plugin = ["/usr/lib/mysql/plugin/ha_rocksdb.so"];
    let starts = |name: &str, argument: &str| Command::new(name).arg(argument).output().is_ok();
    starts("mariadbd", "--version")
        && starts("openssl", "version")
        && plugin.iter().any(|path| Path::new(path).exists())
}

fn is_root() -> bool {
    Command::new("id")
        .arg("-u")
        .output()
        .is_ok_and(|output| output.stdout == b"0\n")
}
