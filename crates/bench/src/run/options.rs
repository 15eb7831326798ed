//! The OPTIONS of stock arms, beside results that are published.

use std::fs;
use std::path::Path;

use super::results::Results;
use crate::error::{Place, Result};

/// Sections that say how an arm was set.
const SECTIONS: [&str; 4] = [
    "[Version]",
    "[DBOptions]",
    "[CFOptions \"default\"]",
    "[TableOptions/BlockBasedTable \"default\"]",
];

impl Results {
    /// Writes the OPTIONS of each stock arm that has run, as `out` holds them, into a
    /// directory beside `file` that ends with `.options` in its stead.
    ///
    /// # Errors
    /// When a file cannot be read or written.
    pub fn publish_options(&self, out: &Path, file: &Path) -> Result<()> {
        let directory = file.with_extension("options");
        for arm in self.parameters.arms.iter().filter(|arm| arm.is_stock()) {
            let name = arm.file_name();
            let from = out.join("settings").join(&name).join("OPTIONS");
            if !from.exists() {
                continue;
            }
            let text = fs::read_to_string(&from).place(from.display())?;
            fs::create_dir_all(&directory).place(directory.display())?;
            let to = directory.join(name);
            fs::write(&to, told(&text)).place(to.display())?;
        }
        Ok(())
    }
}

/// An OPTIONS file without the paths of the machine.
fn told(text: &str) -> String {
    let mut wanted = false;
    let mut told = String::new();
    for line in text.lines() {
        if line.starts_with('[') {
            wanted = SECTIONS.contains(&line.trim_end());
        }
        if wanted && !holds_a_path(line) {
            told += line;
            told.push('\n');
        }
    }
    told
}

fn holds_a_path(line: &str) -> bool {
    line.split_once('=')
        .is_some_and(|(name, value)| name.ends_with("_dir") || value.contains('/'))
}

#[cfg(test)]
mod tests {
    use super::told;

    #[test]
    fn no_path_of_the_machine_is_published() {
        let text = "# a comment\n[Version]\n  rocksdb_version=11.12.0\n\n\
                    [DBOptions]\n  wal_dir=logs\n  max_background_jobs=4\n  db_log_dir=/data/logs\n\
                    [CFOptions \"default\"]\n  ttl=1\n  temperatures={path=/a;}\n\
                    [TableOptions/BlockBasedTable \"default\"]\n  block_size=4096\n\
                    [CFOptions \"other\"]\n  ttl=2\n";
        let expected = "[Version]\n  rocksdb_version=11.12.0\n\n\
                        [DBOptions]\n  max_background_jobs=4\n\
                        [CFOptions \"default\"]\n  ttl=1\n\
                        [TableOptions/BlockBasedTable \"default\"]\n  block_size=4096\n";
        assert_eq!(told(text), expected);
    }
}
