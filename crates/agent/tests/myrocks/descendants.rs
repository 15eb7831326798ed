//! Processes that a test has started, and those that these have started in turn.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

/// A variable that every process hands on to those that it starts.
const MARK: &str = "LISSOM_MYROCKS_MARK";
/// How often, and with what pause, they are looked for at the end.
const LOOKS: u32 = 100;
const PAUSE: Duration = Duration::from_millis(20);

/// All processes that have one mark. They end with this value: a watchdog would look for its
/// server for a day.
pub struct Descendants {
    mark: String,
}

impl Descendants {
    /// Those of a command that is not started yet. The directory is of no other one.
    pub fn of(command: &mut Command, directory: &Path) -> Descendants {
        command.env(MARK, directory);
        Descendants {
            mark: format!("{MARK}={}", directory.display()),
        }
    }

    /// Those that have not ended.
    pub fn running(&self) -> Vec<u32> {
        let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
        entries
            .filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok())
            .filter(|process| self.is_marked(*process))
            .collect()
    }

    /// A process that has ended has no environment.
    fn is_marked(&self, process: u32) -> bool {
        let environment = fs::read(format!("/proc/{process}/environ")).unwrap_or_default();
        let mut variables = environment.split(|byte| *byte == 0);
        variables.any(|variable| variable == self.mark.as_bytes())
    }
}

impl Drop for Descendants {
    fn drop(&mut self) {
        // Again, since an agent may just have started a watchdog.
        for _ in 0..LOOKS {
            let running = self.running();
            if running.is_empty() {
                return;
            }
            for process in running {
                let _ = Command::new("kill")
                    .args(["-KILL", &process.to_string()])
                    .stderr(Stdio::null())
                    .status();
            }
            thread::sleep(PAUSE);
        }
    }
}
