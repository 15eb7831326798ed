//! Adopting and detaching in a child process that is killed at random instants.
//!
//! The child is this very test program, told by the environment what to do.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use lissom::adopt::Detacher;

use super::instants::Instants;
use super::plain::{Contents, Style, contents, make};
use super::round_trip::{adopter, our_levels};

const TASK: &str = "LISSOM_TEST_TASK";
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
            std::thread::sleep(instants.next());
            child.kill().expect("a child can be killed");
        }
        let status = child.wait().expect("a child ends");
        assert_eq!(
            &contents(path, our_levels()),
            before,
            "{task}, kill {killed}"
        );
        if killed < kills {
            instants.came_in_time(!status.success());
        }
        if status.success() {
            return killed;
        }
        assert!(status.code().is_none(), "{task} failed by itself: {status}");
        killed += 1;
    }
}

fn round(style: Style, keys: u64, instants: &mut Instants, kills: u32) -> u32 {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path();
    make(path, style, keys);
    let before = contents(path, 7);
    let mut killed = kill_until_done("adopt", path, instants, kills, &before);
    assert!(path.join("LISSOM").exists());
    killed += kill_until_done("detach", path, instants, kills, &before);
    assert!(!path.join("LISSOM").exists());
    assert_eq!(contents(path, 7), before);
    killed
}

#[test]
fn a_few_kills_lose_nothing() {
    let mut instants = Instants::new(1);
    let killed: u32 = (0..3)
        .map(|_| round(Style::Static, 12_000, &mut instants, 4))
        .sum();
    assert!(killed > 0, "no child was killed in time");
}

#[test]
#[ignore = "about two minutes"]
fn many_kills_lose_nothing() {
    const ENOUGH: u32 = 150;
    let styles = [Style::Dynamic, Style::Static, Style::Universal];
    let mut killed = 0;
    let mut instants = Instants::new(2);
    for style in styles.into_iter().cycle().take(120) {
        killed += round(style, 40_000, &mut instants, 12);
        if killed >= ENOUGH {
            return;
        }
    }
    panic!("only {killed} children were killed in time");
}
