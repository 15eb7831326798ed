//! Adopting and detaching in a child process that is killed at random instants.
//!
//! The child is this very test program, told by the environment what to do.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use lissom::adopt::Detacher;

use super::plain::{Contents, Style, contents, make};
use super::round_trip::{adopter, our_levels};

const TASK: &str = "LISSOM_TEST_TASK";
/// Most tasks here take longer than this.
const LATEST_MICROS: u64 = 120_000;
const WHERE: &str = "LISSOM_TEST_DIRECTORY";

/// What the child does; does nothing in an ordinary run of the tests.
#[test]
fn child() {
    let (Ok(task), Some(path)) = (std::env::var(TASK), std::env::var_os(WHERE)) else {
        return;
    };
    let path = PathBuf::from(path);
    match task.as_str() {
        "adopt" => adopter(&path).adopt(&mut |_| ()).map(drop),
        _ => Detacher::new(&path).detach(&mut |_| ()).map(drop),
    }
    .expect("the task is possible");
}

fn start(task: &str, path: &Path) -> std::process::Child {
    Command::new(std::env::current_exe().expect("this program"))
        .args(["--exact", "kill::child", "--nocapture"])
        .env(TASK, task)
        .env(WHERE, path)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("the child starts")
}

/// A small generator: the instants must differ, not be good randomness.
struct Instants(u64);

impl Instants {
    fn next(&mut self, below_micros: u64) -> Duration {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        Duration::from_micros((self.0 >> 33) % below_micros)
    }
}

/// Starts the task again and again and kills it, until it comes to its end.
/// Returns how often it was killed. All keys are compared after each kill.
fn kill_until_done(
    task: &str,
    path: &Path,
    instants: &mut Instants,
    kills: u32,
    before: &Contents,
) -> u32 {
    let mut killed = 0;
    loop {
        let mut child = start(task, path);
        if killed < kills {
            std::thread::sleep(instants.next(LATEST_MICROS));
            child.kill().expect("a child can be killed");
        }
        let status = child.wait().expect("a child ends");
        assert_eq!(
            &contents(path, our_levels()),
            before,
            "{task}, kill {killed}"
        );
        if status.success() {
            return killed;
        }
        assert!(status.code().is_none(), "{task} failed by itself: {status}");
        killed += 1;
    }
}

fn round(style: Style, keys: u64, seed: u64, kills: u32) -> u32 {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path();
    make(path, style, keys);
    let before = contents(path, 7);
    let mut instants = Instants(seed);
    let mut killed = kill_until_done("adopt", path, &mut instants, kills, &before);
    assert!(path.join("LISSOM").exists());
    killed += kill_until_done("detach", path, &mut instants, kills, &before);
    assert!(!path.join("LISSOM").exists());
    assert_eq!(contents(path, 7), before);
    killed
}

#[test]
fn a_few_kills_lose_nothing() {
    let killed = round(Style::Static, 12_000, 1, 4);
    assert!(killed > 0, "no child was killed in time");
}

#[test]
#[ignore = "about two minutes"]
fn many_kills_lose_nothing() {
    const ENOUGH: u32 = 150;
    let styles = [Style::Dynamic, Style::Static, Style::Universal];
    let mut killed = 0;
    for (seed, style) in (2..60).zip(styles.into_iter().cycle()) {
        killed += round(style, 40_000, seed, 12);
        if killed >= ENOUGH {
            println!("{killed} kills in {} rounds", seed - 1);
            return;
        }
    }
    panic!("only {killed} children were killed in time");
}
