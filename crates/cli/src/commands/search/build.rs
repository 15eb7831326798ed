//! Which build of a program is measured: figures of another one may be others.

use std::path::PathBuf;

use lissom_bench::sha256_of_file;

/// A fact that differs for programs of different contents; `None` of one that is not found
/// or cannot be read, of which its trials will say so.
pub fn of(program: &str) -> Option<String> {
    let hash = sha256_of_file(&found(program)?).ok()?;
    Some(format!("build {hash}"))
}

/// Where a program of this name lies, as a shell finds it.
fn found(program: &str) -> Option<PathBuf> {
    if program.contains('/') {
        return Some(PathBuf::from(program));
    }
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path)
        .map(|directory| directory.join(program))
        .find(|file| file.is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn builds_differ_by_what_is_in_them() {
        let place = tempfile::tempdir().expect("a directory");
        let build = |name: &str, contents: &str| {
            let file = place.path().join(name);
            std::fs::write(&file, contents).expect("written");
            of(file.to_str().expect("UTF-8"))
        };
        let first = build("a", "one");
        assert!(
            first
                .as_ref()
                .is_some_and(|it| it.starts_with("build 7692c3ad"))
        );
        assert_eq!(build("b", "one"), first, "wherever it lies");
        assert_ne!(build("a", "two"), first);
    }

    #[test]
    fn programs_are_found_as_a_shell_does() {
        assert!(of("sh").is_some());
        assert_eq!(of("no such program"), None);
        assert_eq!(of("/no/such/program"), None);
    }
}
