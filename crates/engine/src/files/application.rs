//! A configuration that someone outside wants of a running store: a file with the
//! text, and a file with what came of it. The store takes the first away before it
//! does anything; whoever asked takes the second.

use std::fs::{self, File};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::apply::Applied;
use crate::error::{Error, Result};

const REQUEST: &str = "LISSOM-APPLY";
const ANSWER: &str = "LISSOM-APPLIED";

/// What is wanted.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub(crate) struct Request {
    /// Tells requests apart.
    pub(crate) id: String,
    /// Milliseconds since 1970 from which on nobody waits for an answer: a store that
    /// is opened later must not take it up.
    pub(crate) until: u64,
    /// An OPTIONS file or a JSON object.
    pub(crate) text: String,
}

/// What came of it.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub(crate) struct Answer {
    /// The request's.
    pub(crate) id: String,
    pub(crate) result: std::result::Result<Applied, String>,
}

/// Leaves a request. False when another one waits already.
pub(crate) fn leave(directory: &Path, request: &Request) -> Result<bool> {
    let path = directory.join(REQUEST);
    let draft = directory.join(format!("{REQUEST}.{}.tmp", request.id));
    if let Err(error) = write(&draft, request) {
        let _ = fs::remove_file(&draft);
        return Err(error);
    }
    // Unlike a rename, a link replaces nothing.
    let linked = fs::hard_link(&draft, &path);
    let removed = fs::remove_file(&draft);
    match linked {
        Ok(()) => removed
            .map(|()| true)
            .map_err(|error| Error::io("remove", &draft, &error)),
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(false),
        Err(error) => Err(Error::io("write", &path, &error)),
    }
}

/// Takes a request up; nothing mostly. One that cannot be read is removed.
pub(crate) fn take(directory: &Path) -> Result<Option<Request>> {
    let path = directory.join(REQUEST);
    if !path.exists() {
        return Ok(None);
    }
    let taken = path.with_extension("taken");
    match fs::rename(&path, &taken) {
        // Whoever asked took it back.
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(Error::io("rename", &path, &error)),
        Ok(()) => {}
    }
    let text = fs::read_to_string(&taken);
    fs::remove_file(&taken).map_err(|error| Error::io("remove", &taken, &error))?;
    let text = text.map_err(|error| Error::io("read", &taken, &error))?;
    serde_json::from_str(&text).map(Some).map_err(|error| {
        Error::fix(format!(
            "{} was no request ({error}); it was removed: ask again with `lissom apply --running`",
            path.display()
        ))
    })
}

/// Takes a request back; without `id` what is none. False when it was taken up, or
/// another one waits, which stays.
pub(crate) fn withdraw(directory: &Path, id: Option<&str>) -> Result<bool> {
    let is_meant = |request: Option<Request>| request.map(|it| it.id).as_deref() == id;
    if !is_meant(waiting(directory)) {
        return Ok(false);
    }
    let path = directory.join(REQUEST);
    let back = directory.join(format!("{REQUEST}.{}.back", std::process::id()));
    match fs::rename(&path, &back) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(false),
        Err(error) => return Err(Error::io("rename", &path, &error)),
        Ok(()) => {}
    }
    // Since the first look it may have been taken up, and another one left.
    let is_withdrawn = is_meant(read(&back));
    if !is_withdrawn {
        // Where a third one waits already, its owner is told that nobody took it up.
        let _ = fs::hard_link(&back, &path);
    }
    fs::remove_file(&back).map_err(|error| Error::io("remove", &back, &error))?;
    Ok(is_withdrawn)
}

/// The request that waits, if there is one that can be read.
pub(crate) fn waiting(directory: &Path) -> Option<Request> {
    read(&directory.join(REQUEST))
}

fn read(path: &Path) -> Option<Request> {
    let text = fs::read_to_string(path).ok()?;
    serde_json::from_str(&text).ok()
}

/// Leaves an answer, in the place of an older one.
pub(crate) fn answer(directory: &Path, answer: &Answer) -> Result<()> {
    let path = directory.join(ANSWER);
    let draft = path.with_extension("tmp");
    write(&draft, answer)?;
    fs::rename(&draft, &path).map_err(|error| Error::io("write", &path, &error))
}

/// Takes the answer to a request.
pub(crate) fn take_answer(directory: &Path, id: &str) -> Result<Option<Answer>> {
    let path = directory.join(ANSWER);
    let text = match fs::read_to_string(&path) {
        Ok(text) => text,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(Error::io("read", &path, &error)),
    };
    let answer: Option<Answer> = serde_json::from_str(&text).ok();
    let Some(answer) = answer.filter(|answer| answer.id == id) else {
        return Ok(None);
    };
    fs::remove_file(&path).map_err(|error| Error::io("remove", &path, &error))?;
    Ok(Some(answer))
}

/// Every file of these that lies in a directory.
pub(crate) fn left_over(directory: &Path) -> Vec<PathBuf> {
    super::beginning_with(directory, &[REQUEST, ANSWER])
}

fn write(path: &Path, value: &impl Serialize) -> Result<()> {
    let text = serde_json::to_vec(value)
        .map_err(|error| Error::bug(format!("{} is no JSON: {error}", path.display())))?;
    File::create(path)
        .and_then(|mut file| file.write_all(&text))
        .and_then(|()| super::let_all_read(path))
        .map_err(|error| Error::io("write", path, &error))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(id: &str) -> Request {
        Request {
            id: id.into(),
            until: 1,
            text: "{}".into(),
        }
    }

    #[test]
    fn a_request_is_taken_once_and_replaces_none() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path();
        assert_eq!(take(path).expect("none"), None);
        assert!(leave(path, &request("a")).expect("left"));
        assert!(!leave(path, &request("b")).expect("one waits"));
        assert_eq!(waiting(path), Some(request("a")));
        assert_eq!(take(path).expect("taken"), Some(request("a")));
        assert_eq!(take(path).expect("gone"), None);
        assert!(!withdraw(path, Some("a")).expect("gone"));
        assert!(leave(path, &request("c")).expect("left"));
        assert!(!withdraw(path, Some("a")).expect("another's"));
        assert!(!withdraw(path, None).expect("a request"));
        assert_eq!(waiting(path), Some(request("c")));
        assert!(withdraw(path, Some("c")).expect("taken back"));
        fs::write(path.join(REQUEST), "ttl=1").expect("written");
        assert!(!withdraw(path, Some("c")).expect("none"));
        assert!(withdraw(path, None).expect("what is no request"));
        assert!(left_over(path).is_empty(), "{:?}", left_over(path));
    }

    #[test]
    fn an_answer_is_for_who_asked() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path();
        let no = Answer {
            id: "a".into(),
            result: Err("no".into()),
        };
        answer(path, &no).expect("left");
        assert_eq!(take_answer(path, "b").expect("another's"), None);
        assert_eq!(take_answer(path, "a").expect("taken"), Some(no));
        assert_eq!(take_answer(path, "a").expect("gone"), None);
    }

    #[test]
    fn what_is_no_request_is_removed_with_a_sentence() {
        let directory = tempfile::tempdir().expect("a directory");
        fs::write(directory.path().join(REQUEST), "ttl=1").expect("written");
        let error = take(directory.path()).expect_err("no request");
        assert!(error.to_string().contains("was no request"), "{error}");
        assert_eq!(take(directory.path()).expect("gone"), None);
    }
}
