//! `lissom attach`

use std::io;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};
use lissom_agent::attach::RestoreReport;
use lissom_agent::connect::Account;
use lissom_agent::decide::{Actuator, Entry};
use lissom_agent::watchdog::{Launch, watch};
use lissom_agent::{Attachment, Places, Settings, default_directory, load_model};

use crate::arguments::{amount, column_family, duration, find, flag, get, json, option};
use crate::failure::{Failure, Outcome};
use crate::output;

/// The watchdog's own command, which `attach` starts by itself.
pub const WATCHDOG: &str = "attach-watchdog";

/// What a restoration would ignore: it restores all that is recorded, once.
const NOT_FOR_RESTORE: [&str; 15] = [
    "io-limit",
    "io-low-limit",
    "io-high-limit",
    "softness",
    "interval",
    "load-model",
    "compression-ratio",
    "rate-limiter",
    "max-level0-files",
    "max-delayed-bytes",
    "actuator",
    "column-family",
    "lease",
    "metrics",
    "dry-run",
];

pub fn command() -> Command {
    Command::new("attach")
        .about("Looks after a running MyRocks server: level 0 waits while load is high")
        .long_about(
            "Looks after a running MyRocks server: level 0 waits while load is high, and is \
             compacted while it is low.\n\n\
             Runs until it is interrupted. However it ends, by a signal, a crash or a lost \
             connection, the server gets its original settings back: a watchdog process sees to \
             that. Prints each decision with its reason; a journal and the original settings lie \
             in the directory of --state. docs/myrocks.md has the privileges it needs.",
        )
        .arg(
            Arg::new("url")
                .value_name("URL")
                .required(true)
                .help("mysql://USER@HOST:PORT, without a password"),
        )
        .arg(
            option(
                "defaults-file",
                "FILE",
                "Option file with user, password and TLS under [client]; the password may also be \
                 in MYSQL_PWD",
            )
            .value_parser(value_parser!(PathBuf)),
        )
        .args(load())
        .args(debt())
        .args(safety())
        .arg(flag(
            "dry-run",
            "Says what it would do, and changes nothing",
        ))
        .arg(
            flag(
                "restore",
                "Only restores what an agent that is gone has left, whatever address that agent \
                 was given, and ends",
            )
            .conflicts_with_all(NOT_FOR_RESTORE),
        )
        .arg(json())
}

/// The watchdog's command line.
pub fn watchdog_command() -> Command {
    Command::new(WATCHDOG)
        .hide(true)
        .about("Restores the settings when `attach` is gone; `attach` starts it by itself")
}

fn load() -> [Arg; 8] {
    let bytes = |name, help| option(name, "BYTES", help).value_parser(amount);
    [
        bytes(
            "io-limit",
            "Bytes per second that the server's device carries, as 350M; measure it",
        )
        .required_unless_present("restore"),
        bytes(
            "io-low-limit",
            "Under so many bytes per second the load is low [default: 180/350 of --io-limit]",
        ),
        bytes(
            "io-high-limit",
            "Over so many bytes per second the load is high [default: 300/350 of --io-limit]",
        ),
        option(
            "softness",
            "N",
            "Intervals in a row under the low limit after which the load is low [default: 3]",
        )
        .value_parser(value_parser!(u32)),
        option(
            "interval",
            "TIME",
            "Time between two readings [default: 1s]",
        )
        .value_parser(duration),
        option(
            "load-model",
            "NAME",
            "cache-additions (DLC's: blocks added to the block cache, and the log), operations \
             (SILK's) or weighted [default: cache-additions]",
        )
        .value_parser(load_model),
        option(
            "compression-ratio",
            "RATIO",
            "Bytes in a file for each byte that it holds, at most 1 [default: 1]",
        )
        .value_parser(value_parser!(f64)),
        flag(
            "rate-limiter",
            "Sets rocksdb_rate_limiter_bytes_per_sec to what clients leave of the device",
        ),
    ]
}

fn debt() -> [Arg; 4] {
    [
        option(
            "max-level0-files",
            "N",
            "Files in level 0 at which it is compacted whatever the load is [default: 20]",
        )
        .value_parser(value_parser!(u64)),
        option(
            "max-delayed-bytes",
            "BYTES",
            "Bytes in level 0 at which it is compacted whatever the load is [default: 2GiB]",
        )
        .value_parser(amount),
        option(
            "actuator",
            "NAME",
            "level0-trigger (RocksDB itself holds both bounds, on bytes at the column family's \
             own max_bytes_for_level_base where that is larger) or disable-auto-compactions \
             (RocksDB holds none) [default: the first; where levels are dynamic the second, which \
             then takes --server-lease]",
        )
        .value_parser(|name: &str| name.parse::<Actuator>()),
        column_family("Looks after this column family only; repeat it [default: all]")
            .action(ArgAction::Append),
    ]
}

fn safety() -> [Arg; 4] {
    [
        option(
            "lease",
            "TIME",
            "Silence of the agent after which the watchdog restores, at most 1m, or 1h with \
             --actuator level0-trigger [default: 10s]",
        )
        .value_parser(duration),
        option(
            "server-lease",
            "SCHEMA",
            "Also keeps an event there that restores from within the server",
        ),
        option(
            "state",
            "DIR",
            "Directory for the original settings and the journal [default: \
             $XDG_STATE_HOME/lissom or ~/.local/state/lissom]",
        )
        .value_parser(value_parser!(PathBuf)),
        option(
            "metrics",
            "ADDRESS",
            "Serves Prometheus metrics there, on the loopback only, as 127.0.0.1:9421",
        )
        .value_parser(value_parser!(SocketAddr)),
    ]
}

pub fn run(given: &ArgMatches) -> Outcome {
    let attachment = attachment(given)?;
    let as_json = given.get_flag("json");
    if given.get_flag("restore") {
        attachment
            .account
            .remarks()
            .iter()
            .for_each(|it| output::remark(it));
        let directory = attachment.places.state.parent().unwrap_or(Path::new("."));
        let report = attachment.restore()?;
        if as_json {
            output::print_json(&report)?;
        } else {
            output::print(&describe(&report, directory))?;
        }
        return Ok(report.check()?);
    }
    let mut heard = true;
    attachment.run(move |entry| heard = heard && show(entry, as_json))?;
    Ok(())
}

/// Runs the watchdog between two pipes.
pub fn run_watchdog() -> Outcome {
    Ok(watch(io::stdin(), io::stdout())?)
}

/// Prints a line of the journal. Nobody reading is no reason to end: the server
/// is looked after all the same.
fn show(entry: &Entry, as_json: bool) -> bool {
    let line = if as_json {
        serde_json::to_string(entry).unwrap_or_default()
    } else {
        entry.to_string()
    };
    output::print_if_read(&(line + "\n")).unwrap_or(false)
}

fn attachment(given: &ArgMatches) -> Result<Attachment, Failure> {
    // What is wrong here was given on the command line.
    let wrong = |error: lissom_agent::Error| Failure::WrongUse(error.to_string());
    let file: Option<PathBuf> = find(given, "defaults-file");
    let password = std::env::var("MYSQL_PWD").ok();
    let url: String = get(given, "url");
    let account = Account::resolve(&url, file.as_deref(), password).map_err(wrong)?;
    let settings = settings(given);
    settings.check().map_err(wrong)?;
    let directory = match find::<PathBuf>(given, "state") {
        Some(directory) => directory,
        None => {
            default_directory(|name| std::env::var_os(name).map(PathBuf::from)).map_err(wrong)?
        }
    };
    let program = std::env::current_exe().map_err(|error| {
        Failure::Failed(format!(
            "cannot find this program to start the watchdog: {error}; start it by its full path"
        ))
    })?;
    Ok(Attachment {
        places: Places::new(directory, &account.address),
        account,
        settings,
        launch: Launch {
            program,
            arguments: vec![WATCHDOG.into()],
            environment: Vec::new(),
        },
        metrics: find(given, "metrics"),
    })
}

fn settings(given: &ArgMatches) -> Settings {
    // Without a limit it only restores, which needs none.
    let limit = find(given, "io-limit").unwrap_or(350_000_000);
    let mut settings = Settings::new(limit);
    replace(
        &mut settings.io_low_limit_bytes_per_sec,
        given,
        "io-low-limit",
    );
    replace(
        &mut settings.io_high_limit_bytes_per_sec,
        given,
        "io-high-limit",
    );
    replace(&mut settings.softness, given, "softness");
    replace(&mut settings.interval, given, "interval");
    replace(&mut settings.load_model, given, "load-model");
    replace(&mut settings.compression_ratio, given, "compression-ratio");
    replace(&mut settings.max_level0_files, given, "max-level0-files");
    replace(&mut settings.max_delayed_bytes, given, "max-delayed-bytes");
    replace(&mut settings.lease, given, "lease");
    settings.actuator = find(given, "actuator");
    settings.server_lease = find(given, "server-lease");
    settings.rate_limiter = given.get_flag("rate-limiter");
    settings.dry_run = given.get_flag("dry-run");
    settings.column_families = given
        .get_many::<String>("column-family")
        .unwrap_or_default()
        .cloned()
        .collect();
    settings
}

/// Takes up an argument, if it was given.
fn replace<T: Clone + Send + Sync + 'static>(setting: &mut T, given: &ArgMatches, name: &str) {
    if let Some(value) = find(given, name) {
        *setting = value;
    }
}

/// What came of a restoration by the files of a directory.
fn describe(report: &RestoreReport, directory: &Path) -> String {
    let mut text = match (report.recorded, report.changes.is_empty()) {
        // What failed is said where it fails.
        (_, true) if !report.failures.is_empty() => String::new(),
        (false, _) if report.restarted => "the server was restarted since an agent changed its \
             settings: it has its configured ones\n"
            .to_owned(),
        (false, _) => format!(
            "nothing is recorded for this server in {}: there is nothing to restore; if an agent \
             ran as another user, give its --state\n",
            directory.display()
        ),
        (true, true) => "the server has its original settings already\n".to_owned(),
        (true, false) => format!("restored: {}\n", report.changes.join(", ")),
    };
    for sentence in report.kept.iter().chain(&report.event) {
        text += &format!("{sentence}\n");
    }
    for identity in &report.elsewhere {
        text += &format!(
            "server {identity} is still to be restored: run this with its own address, or restart \
             it\n"
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use clap::error::ErrorKind;

    use super::*;

    #[test]
    fn a_restoration_that_failed_is_not_said_to_be_needless() {
        let describe = |report: &RestoreReport| describe(report, Path::new("/s"));
        let mut report = RestoreReport {
            recorded: true,
            failures: vec!["the rate limiter is refused".into()],
            ..RestoreReport::default()
        };
        assert_eq!(describe(&report), "");
        report.changes = vec!["default: level0_stop_writes_trigger=36".into()];
        assert!(describe(&report).starts_with("restored: default: "));
        report.failures.clear();
        report.changes.clear();
        assert!(describe(&report).contains("original settings already"));
    }

    #[test]
    fn where_nothing_is_recorded_the_directory_is_named() {
        let said = describe(&RestoreReport::default(), Path::new("/s"));
        assert!(said.contains("recorded for this server in /s:"), "{said}");
        assert!(said.contains("give its --state"), "{said}");
    }

    #[test]
    fn what_a_restoration_would_ignore_is_refused() {
        let restore = |more: &[&str]| {
            let fixed = ["attach", "mysql://u@h", "--restore"];
            command().try_get_matches_from([&fixed[..], more].concat())
        };
        for (name, value) in [
            ("column-family", Some("cf_hot")),
            ("io-limit", Some("100M")),
            ("rate-limiter", None),
            ("metrics", Some("127.0.0.1:9421")),
        ] {
            let name = format!("--{name}");
            let more: Vec<&str> = std::iter::once(name.as_str()).chain(value).collect();
            let error = restore(&more).expect_err("ignored");
            assert_eq!(error.kind(), ErrorKind::ArgumentConflict, "{name}");
        }
        let used = ["--server-lease", "ops", "--state", "/s", "--json"];
        restore(&used).expect("none of these is ignored");
    }

    #[test]
    fn all_that_a_restoration_does_not_use_is_known() {
        let command = command();
        let mut ignored: Vec<&str> = command
            .get_arguments()
            .map(|it| it.get_id().as_str())
            .collect();
        let used = [
            "url",
            "defaults-file",
            "server-lease",
            "state",
            "restore",
            "json",
        ];
        ignored.retain(|it| !used.contains(it));
        ignored.sort_unstable();
        let mut known = NOT_FOR_RESTORE;
        known.sort_unstable();
        assert_eq!(ignored, known);
    }
}
