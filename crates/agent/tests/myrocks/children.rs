//! The agent and its watchdog as processes of this very program, so that they
//! can be killed.

use std::ffi::OsString;
use std::fs::{self, File, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use lissom_agent::attach::RestoreReport;
use lissom_agent::connect::Account;
use lissom_agent::watchdog::{Launch, watch};
use lissom_agent::{Attachment, Places, Settings};
use tempfile::TempDir;

use crate::descendants::Descendants;
use crate::mariadb::PASSWORD;
use crate::wait_for;

const TASK: &str = "LISSOM_MYROCKS_TASK";
const URL: &str = "LISSOM_MYROCKS_URL";
const DIRECTORY: &str = "LISSOM_MYROCKS_DIRECTORY";
const TEST: &str = "LISSOM_MYROCKS_TEST";
const EVENT: &str = "LISSOM_MYROCKS_EVENT";
const OPTION_FILE: &str = "LISSOM_MYROCKS_OPTION_FILE";
/// Its name in an agent's directory.
const OPTIONS: &str = "my.cnf";
const ACTUATOR: &str = "LISSOM_MYROCKS_ACTUATOR";
const ANY_LOAD: &str = "LISSOM_MYROCKS_ANY_LOAD";

/// The bound on files in level 0 under which these agents stand.
pub const MAX_LEVEL0_FILES: u64 = 40;

/// An agent in a process of its own. It ends with this value, and its watchdogs with it.
pub struct AgentProcess {
    pub child: Child,
    descendants: Descendants,
    directory: TempDir,
}

/// How an agent is started.
pub struct Start<'a> {
    /// The test that runs [`run_if_child`] first.
    pub test: &'a str,
    pub url: String,
    pub password: &'a str,
    /// The schema in which the server is to hold an event; none when empty.
    pub event: &'a str,
    /// The text of its option file.
    pub option_file: String,
    /// How it delays, by name; it chooses by itself when empty.
    pub actuator: &'a str,
    /// Whether it takes whatever clients write for a high load, however slow the machine is.
    pub any_load_is_high: bool,
}

impl<'a> Start<'a> {
    pub fn new(test: &'a str, url: String) -> Start<'a> {
        Start {
            test,
            url,
            password: PASSWORD,
            event: "",
            option_file: String::new(),
            actuator: "",
            any_load_is_high: false,
        }
    }

    /// The same over TLS, with the server's name checked and one authority trusted.
    pub fn trusting(mut self, authority: &Path) -> Start<'a> {
        self.option_file = format!(
            "[client]\nssl-mode=VERIFY_IDENTITY\nssl-ca={}\n",
            authority.display()
        );
        self
    }

    /// The same, showing a certificate.
    pub fn showing(mut self, certificate: &Path, key: &Path) -> Start<'a> {
        self.option_file += &format!(
            "ssl-cert={}\nssl-key={}\n",
            certificate.display(),
            key.display()
        );
        self
    }

    pub fn agent(self) -> AgentProcess {
        let directory = tempfile::tempdir().expect("a directory");
        self.agent_in(directory)
    }

    fn agent_in(self, directory: TempDir) -> AgentProcess {
        let said = File::create(directory.path().join("said")).expect("writable");
        let option_file = directory.path().join(OPTIONS);
        write_for_owner(&option_file, &self.option_file);
        let mut command = this_program(self.test);
        let descendants = Descendants::of(&mut command, directory.path());
        let child = command
            .env(TASK, "agent")
            .env(TEST, self.test)
            .env(URL, self.url)
            .env(DIRECTORY, directory.path())
            .env(EVENT, self.event)
            .env(OPTION_FILE, option_file)
            .env(ACTUATOR, self.actuator)
            .env(ANY_LOAD, self.any_load_is_high.to_string())
            .env("MYSQL_PWD", self.password)
            .stdin(Stdio::null())
            .stderr(said.try_clone().expect("a second handle"))
            .stdout(said)
            .spawn()
            .expect("this program starts");
        AgentProcess {
            child,
            descendants,
            directory,
        }
    }
}

impl AgentProcess {
    /// What it has printed so far.
    pub fn said(&self) -> String {
        fs::read_to_string(self.directory.path().join("said")).expect("a file")
    }

    /// Gives its option file another text.
    pub fn write_option_file(&self, text: &str) {
        write_for_owner(&self.directory.path().join(OPTIONS), text);
    }

    pub fn is_alive(&mut self) -> bool {
        self.child.try_wait().expect("a child").is_none()
    }

    /// Asks it to end, and waits: whether it ended well.
    pub fn terminate(&mut self) -> bool {
        signal("-TERM", self.child.id());
        self.child.wait().expect("it ends").success()
    }

    /// Kills it without a word. Its watchdog is among those that are looked for at the end.
    pub fn kill(&mut self) {
        let running = self.descendants.running();
        assert!(running.contains(&self.child.id()), "{running:?}");
        assert!(running.contains(&self.watchdog()), "{running:?}");
        self.end();
    }

    fn end(&mut self) {
        self.child.kill().expect("it runs");
        self.child.wait().expect("it ends");
    }

    /// Waits for its watchdog to end by itself, once the agent has. It restores first, and
    /// then waits for the end of the agent's session: the server must last as long.
    pub fn await_watchdog(&self) {
        wait_for("the watchdog ends", || {
            self.descendants.running().is_empty()
        });
    }

    /// Kills it together with its watchdog, neither of which notices.
    pub fn kill_both(&mut self) {
        signal("-STOP", self.child.id());
        signal("-KILL", self.watchdog());
        self.end();
    }

    /// Restores by its files what is at another address.
    pub fn restore(&self, url: &str) -> lissom_agent::Result<RestoreReport> {
        let account = Account::resolve(url, None, Some(PASSWORD.into()))?;
        let attachment = Attachment {
            places: Places::new(self.directory.path().to_owned(), &account.address),
            account,
            settings: settings(String::new(), "", false),
            // It starts no watchdog.
            launch: launch(""),
            metrics: None,
        };
        attachment.restore()
    }

    /// The process of the watchdog that it started last.
    pub fn watchdog(&self) -> u32 {
        let text = fs::read_to_string(self.directory.path().join("watchdog"));
        text.expect("it has started").parse().expect("a number")
    }

    /// The journal's text.
    pub fn journal(&self) -> String {
        let entries = fs::read_dir(self.directory.path()).expect("readable");
        entries
            .map(|entry| entry.expect("an entry").path())
            .filter(|path| path.extension().is_some_and(|it| it == "journal"))
            .map(|path| fs::read_to_string(path).expect("readable"))
            .collect()
    }

    /// Starts another agent with the same files.
    pub fn again(mut self, start: Start<'_>) -> AgentProcess {
        assert!(!self.is_alive());
        drop(self.descendants);
        start.agent_in(self.directory)
    }
}

/// A file with a password is for its owner only.
fn write_for_owner(path: &Path, text: &str) {
    fs::write(path, text).expect("writable");
    fs::set_permissions(path, Permissions::from_mode(0o600)).expect("its owner");
}

/// Sends a signal to a process that a test has started.
pub fn signal(which: &str, process: u32) {
    let status = Command::new("kill")
        .args([which, &process.to_string()])
        .status()
        .expect("kill starts");
    assert!(status.success());
}

/// Whether a process has not ended yet.
pub fn is_running(process: u32) -> bool {
    let Ok(stat) = fs::read_to_string(format!("/proc/{process}/stat")) else {
        return false;
    };
    // Its state follows upon its name, which is in parentheses; nobody may have asked for
    // the end of one that has ended.
    let state = stat.rsplit_once(") ").map(|(_, rest)| rest.to_owned());
    !state.is_some_and(|rest| rest.starts_with('Z'))
}

fn this_program(test: &str) -> Command {
    let program = std::env::current_exe().expect("this program has a path");
    let mut command = Command::new(program);
    command.args(arguments(test));
    command
}

/// With one thread, the name of the test would stand before its first line.
fn arguments(test: &str) -> [&str; 5] {
    [
        "--exact",
        test,
        "--nocapture",
        "--include-ignored",
        "--test-threads=2",
    ]
}

/// In a child: does its task, and never returns.
pub fn run_if_child() {
    let Ok(task) = std::env::var(TASK) else {
        return;
    };
    let variable = |name: &str| std::env::var(name).expect("the parent sets it");
    let directory = PathBuf::from(variable(DIRECTORY));
    let done = match task.as_str() {
        "agent" => {
            let any_load_is_high = variable(ANY_LOAD) == "true";
            let settings = settings(variable(EVENT), &variable(ACTUATOR), any_load_is_high);
            let account = account(&variable(URL), &variable(OPTION_FILE));
            account.and_then(|it| live(it, directory, &variable(TEST), settings))
        }
        _ => {
            let process = std::process::id().to_string();
            fs::write(directory.join("watchdog"), process).expect("writable");
            watch(std::io::stdin(), std::io::stdout())
        }
    };
    if let Err(error) = done {
        println!("error: {error}");
        std::process::exit(1);
    }
    std::process::exit(0);
}

fn account(url: &str, option_file: &str) -> lissom_agent::Result<Account> {
    let password = std::env::var("MYSQL_PWD").ok();
    Account::resolve(url, Some(Path::new(option_file)), password)
}

fn live(
    account: Account,
    directory: PathBuf,
    test: &str,
    settings: Settings,
) -> lissom_agent::Result<()> {
    let attachment = Attachment {
        places: Places::new(directory, &account.address),
        account,
        settings,
        launch: launch(test),
        metrics: None,
    };
    attachment.run(|entry| println!("{entry}"))
}

fn launch(test: &str) -> Launch {
    Launch {
        program: std::env::current_exe().expect("this program has a path"),
        arguments: arguments(test).map(OsString::from).to_vec(),
        environment: vec![(TASK.into(), "watchdog".into())],
    }
}

/// Limits that a small load is far over, and none is far under, unless any load is to be high.
fn settings(event: String, actuator: &str, any_load_is_high: bool) -> Settings {
    let mut settings = Settings::new(100_000_000);
    let (low, high) = if any_load_is_high {
        (1, 2)
    } else {
        (500_000, 800_000)
    };
    settings.io_low_limit_bytes_per_sec = low;
    settings.io_high_limit_bytes_per_sec = high;
    settings.interval = Duration::from_millis(500);
    settings.lease = Duration::from_secs(4);
    settings.max_level0_files = MAX_LEVEL0_FILES;
    settings.actuator = match actuator {
        "" => None,
        name => Some(name.parse().expect("an actuator")),
    };
    settings.rate_limiter = true;
    settings.server_lease = Some(event).filter(|schema| !schema.is_empty());
    settings
}

/// Whether any file under a directory holds these words.
pub fn any_file_holds(agent: &AgentProcess, words: &str) -> bool {
    fn search(directory: &Path, words: &[u8]) -> bool {
        fs::read_dir(directory).expect("readable").any(|entry| {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                return search(&path, words);
            }
            let bytes = fs::read(&path).unwrap_or_default();
            bytes.windows(words.len()).any(|it| it == words)
        })
    }
    search(agent.directory.path(), words.as_bytes())
}
