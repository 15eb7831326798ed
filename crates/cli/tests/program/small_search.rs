//! A small search: a space of two numbers, a program that is measured, a command line.

use std::fs;
use std::path::PathBuf;
use std::process::Child;

use super::support;

/// The more both are, the better.
pub const SPACE: &str = "name = \"sum\"
about = \"Two numbers.\"

[[parameter]]
name = \"px\"
kind = \"integer\"
range = [0, 9]
default = 2
change = \"reopen\"
source = \"a test\"

[[parameter]]
name = \"py\"
kind = \"integer\"
range = [0, 9]
default = 2
change = \"reopen\"
source = \"a test\"

[[feature]]
name = \"total\"
expression = \"px + py\"
source = \"a test\"
";

/// A throughput of 100 + 10 (px + py), for ever.
pub const PROGRAM: &str = "px=$(sed -n 's/^--px=//p' \"$1\")
py=$(sed -n 's/^--py=//p' \"$1\")
echo '{\"ready\": true}'
while :; do echo \"{\\\"throughput\\\": $((100 + 10 * (px + py)))}\"; sleep 0.01; done
";

/// A directory with the space, the program, and whatever a search leaves.
pub struct Bench {
    directory: tempfile::TempDir,
}

impl Bench {
    pub fn new(program: &str) -> Bench {
        let directory = tempfile::tempdir().expect("a directory");
        fs::write(directory.path().join("space.toml"), SPACE).expect("writable");
        fs::write(directory.path().join("program.sh"), program).expect("writable");
        Bench { directory }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    /// The command line of a search that takes some ten seconds.
    pub fn arguments(&self) -> Vec<String> {
        let path = |name: &str| self.path(name).display().to_string();
        let command = format!("sh {} {{options}}", path("program.sh"));
        let (space, out) = (path("space.toml"), path("OPTIONS"));
        let words = [
            "search",
            "--command",
            &command,
            "--space",
            &space,
            "--format",
            "flags",
            "--evaluation",
            "500ms",
            "--budget",
            "60s",
            "--as-published",
            "--memory",
            "32MiB",
            "--out",
            &out,
        ];
        words.map(str::to_owned).to_vec()
    }

    pub fn with<'a>(arguments: &'a [String], more: &[&'a str]) -> Vec<&'a str> {
        let arguments = arguments.iter().map(String::as_str);
        arguments.chain(more.iter().copied()).collect()
    }

    pub fn log(&self) -> String {
        fs::read_to_string(self.path("search.jsonl")).unwrap_or_default()
    }
}

/// Waits until something holds of a program that runs.
#[track_caller]
pub fn wait_until(child: &mut Child, holds: impl Fn() -> bool) {
    support::wait_until(|| {
        let does = holds();
        let ended = child.try_wait().expect("it can be asked");
        assert!(does || ended.is_none(), "it ended too early: {ended:?}");
        does
    });
}
