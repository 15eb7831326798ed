//! A task in a child process that is killed at random instants. The child is this very
//! test program, told by the environment what to do; its test `kill::child` does it.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use super::instants::Instants;

const TASK: &str = "LISSOM_TEST_TASK";
const WHERE: &str = "LISSOM_TEST_DIRECTORY";

/// What a child has to do, and in which directory; none in an ordinary run of the tests.
pub fn task() -> Option<(String, PathBuf)> {
    let task = std::env::var(TASK).ok()?;
    Some((task, std::env::var_os(WHERE)?.into()))
}

/// Starts a task.
pub fn start(task: &str, path: &Path) -> Child {
    Command::new(std::env::current_exe().expect("this program"))
        .args(["--exact", "kill::child", "--nocapture"])
        .env(TASK, task)
        .env(WHERE, path)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("the child starts")
}

/// Starts the task again and again until it comes to its end, and kills it the first
/// `kills` times. After each start `check` is told how many were killed before. Returns
/// how many were killed.
pub fn kill_until_done(
    task: &str,
    path: &Path,
    instants: &mut Instants,
    kills: u32,
    check: impl Fn(u32),
) -> u32 {
    let mut killed = 0;
    loop {
        let mut child = start(task, path);
        if killed < kills {
            std::thread::sleep(instants.next());
            child.kill().expect("a child can be killed");
        }
        let status = child.wait().expect("a child ends");
        check(killed);
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
