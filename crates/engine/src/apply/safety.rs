//! What a directory's own options would make of it when it is opened here.

use std::path::Path;

use super::directory::Directory;
use super::text::{OptionsText, Section};
use crate::error::{Error, Result};

/// Refuses to look into a directory that [`refusal`] speaks of.
///
/// # Errors
/// Its reason.
pub(super) fn check(options: &OptionsText, path: &Path) -> Result<()> {
    match refusal(options) {
        None => Ok(()),
        Some(why) => Err(refused(path, &why)),
    }
}

/// Refuses to open a directory for writing, which records its options anew.
///
/// # Errors
/// The reason of [`refusal`] or [`unread`].
pub(super) fn check_all(directory: &Directory, path: &Path) -> Result<()> {
    check(&directory.options, path)?;
    match unread(&directory.mistakes) {
        None => Ok(()),
        Some(why) => Err(refused(path, &why)),
    }
}

fn refused(path: &Path, why: &str) -> Error {
    Error::fix(format!("{} cannot be opened here: {why}", path.display()))
}

/// Why options that were recorded would be lost: the end of a sentence.
pub(super) fn unread(mistakes: &[String]) -> Option<String> {
    let (first, others) = mistakes.split_first()?;
    let others = match others.len() {
        0 => String::new(),
        1 => " (and 1 line more)".to_owned(),
        more => format!(" (and {more} lines more)"),
    };
    Some(format!(
        "its OPTIONS file says what RocksDB 11.12 cannot read, and this would be replaced by \
         defaults: {first}{others}; open it once with a program that uses RocksDB 11.12"
    ))
}

/// Why a directory is not opened for writing here, by what it records: the end of a
/// sentence.
pub(super) fn refusal(options: &OptionsText) -> Option<String> {
    if options.get(&Section::Database, "best_efforts_recovery") == Some("true") {
        return Some(
            "best_efforts_recovery is on, which gives up data whose files are missing: open it \
             without it first"
                .into(),
        );
    }
    // Also one that names the database's own directory: in the directory that is left
    // after a rebuild it names the copy's.
    let wal_dir = options
        .get(&Section::Database, "wal_dir")
        .filter(|directory| !directory.is_empty())?;
    Some(format!(
        "its options say that its log lies in {wal_dir}, where another directory with these \
         options would find it too: open it once without wal_dir, after a flush"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_would_lose_something_is_refused() {
        let why = |line: &str| {
            let (options, _) = OptionsText::recorded(&format!("[DBOptions]\n{line}\n"));
            refusal(&options)
        };
        for (line, words) in [
            ("wal_dir=/no/such", "/no/such"),
            ("best_efforts_recovery=true", "files are missing"),
        ] {
            let said = why(line).expect(line);
            assert!(said.contains(words), "{said}");
        }
        assert_eq!(unread(&[]), None);
        let mistakes = ["line 7: no such option".to_owned(), "line 9".to_owned()];
        let said = unread(&mistakes).expect("a mistake");
        assert!(
            said.contains("line 7: no such option (and 1 line"),
            "{said}"
        );
        assert_eq!(why("wal_dir="), None);
        assert_eq!(why("best_efforts_recovery=false"), None);
    }
}
