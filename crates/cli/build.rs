//! Tells the program what it is built from: `LISSOM_COMMIT`, empty without git or outside
//! of a checkout, as in a source archive; `LISSOM_DIRTY`, whether sources differ from it;
//! `LISSOM_SOURCES`, empty unless they do, which sources those are.
//!
//! It runs again where the commit or a source changes. Only this crate is compiled anew
//! then, beside those whose sources changed: no other sees the variables.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

/// Where a checkout keeps the commit that it is at.
const HEADS: [&str; 3] = ["HEAD", "packed-refs", "refs/heads"];
/// What a crate is built from.
const PARTS: [&str; 4] = ["Cargo.toml", "build.rs", "plugin", "src"];
/// What all are built from.
const SHARED: [&str; 3] = ["../../Cargo.toml", "../../Cargo.lock", "../../workloads"];

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let commit = commit().unwrap_or_default();
    let sources = sources();
    let dirty = !commit.is_empty() && watch_and_compare(&sources);
    let own = if dirty {
        fingerprint(&sources)
    } else {
        String::new()
    };
    println!("cargo::rustc-env=LISSOM_COMMIT={commit}");
    println!("cargo::rustc-env=LISSOM_DIRTY={dirty}");
    println!("cargo::rustc-env=LISSOM_SOURCES={own}");
}

/// The commit of the checkout that this file belongs to. A source archive may have been
/// unpacked inside of another project's checkout: that one is not ours.
fn commit() -> Option<String> {
    git(["ls-files", "--error-unmatch", "build.rs", "Cargo.toml"])?;
    let place = git(["rev-parse", "--show-prefix"])?;
    (place == "crates/cli/")
        .then(|| git(["rev-parse", "HEAD"]))
        .flatten()
}

/// Asks to run again when the commit or a source changes; whether a source differs from
/// the commit, or that cannot be told.
fn watch_and_compare(sources: &[PathBuf]) -> bool {
    let heads = HEADS.map(|name| git(["rev-parse", "--git-path", name]));
    let heads = heads.into_iter().flatten().map(PathBuf::from);
    for path in heads.chain(sources.iter().cloned()) {
        // What is not there would count as changed at every build.
        if path.exists() {
            println!("cargo::rerun-if-changed={}", path.display());
        }
    }
    // Without a lock: a status that refreshes the index would be a change itself.
    let status = ["--no-optional-locks", "status", "--porcelain", "-uno", "--"];
    let arguments = status.iter().map(Path::new);
    let told = git(arguments.chain(sources.iter().map(PathBuf::as_path)));
    told.is_none_or(|changes| !changes.is_empty())
}

fn sources() -> Vec<PathBuf> {
    let crates = fs::read_dir("..").into_iter().flatten().flatten();
    let parts = crates.flat_map(|folder| PARTS.map(|part| folder.path().join(part)));
    parts
        .chain(SHARED.map(PathBuf::from))
        .filter(|path| path.exists())
        .collect()
}

/// Sixteen digits that are others where a file at or under one of these paths has another
/// name or content; files that git does not know count too, for they are compiled as well.
pub fn fingerprint(paths: &[PathBuf]) -> String {
    let mut hasher = DefaultHasher::new();
    for file in files(paths) {
        // Both with their lengths, so that none runs into the next.
        file.as_os_str().hash(&mut hasher);
        fs::read(&file).ok().hash(&mut hasher);
    }
    format!("{:016x}", hasher.finish())
}

/// All files at and under these paths, in order.
fn files(paths: &[PathBuf]) -> Vec<PathBuf> {
    let mut left = paths.to_vec();
    let mut found = Vec::new();
    while let Some(path) = left.pop() {
        match fs::read_dir(&path) {
            Ok(entries) => left.extend(entries.flatten().map(|entry| entry.path())),
            Err(_) => found.push(path),
        }
    }
    found.sort();
    found
}

/// What git answers, here; `None` where it cannot.
fn git<A: AsRef<std::ffi::OsStr>>(arguments: impl IntoIterator<Item = A>) -> Option<String> {
    let here = env::var_os("CARGO_MANIFEST_DIR")?;
    let mut command = Command::new("git");
    let output = command.current_dir(here).args(arguments).output().ok()?;
    let answer = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| answer.trim().to_owned())
}
