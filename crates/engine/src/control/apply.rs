//! Asking a store that another process runs to take a configuration.

use std::path::Path;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use crate::apply::{Applied, Wanted};
use crate::error::{Error, Result};
use crate::files::application::{self, Request};
use crate::inspect::read::check_directory;

const LOOK_EVERY: Duration = Duration::from_millis(20);

/// Asks the process that has a store of Lissom's open to apply options or settings,
/// and waits for its answer. `text` is an OPTIONS file or a JSON object. A running
/// store takes a request up within a tenth of a second; one that is opened after
/// `patience` has ended changes nothing.
///
/// # Errors
/// When the text has a mistake; when there is no database, or its directory cannot be
/// written; when no answer comes in time; the store's own.
pub fn ask_to_apply(directory: &Path, text: &str, patience: Duration) -> Result<Applied> {
    check_directory(directory)?;
    Wanted::parse(text)?;
    let request = Request {
        id: format!("{}-{}", std::process::id(), now().as_nanos()),
        until: milliseconds(now().saturating_add(patience)),
        text: text.to_owned(),
    };
    leave(directory, &request)?;
    if let Some(answer) = wait(directory, &request.id, patience)? {
        return answer;
    }
    if application::withdraw(directory, Some(&request.id))? {
        return Err(Error::retry(format!(
            "no store of Lissom's that runs in {} took it up: open one, or leave --running out",
            directory.display()
        )));
    }
    // It was taken up just then.
    wait(directory, &request.id, patience)?.unwrap_or_else(|| {
        Err(Error::retry(format!(
            "the store in {} took it up and has not answered: look at its options with `lissom \
             apply --dry-run` once it is closed",
            directory.display()
        )))
    })
}

/// In the place of a request that nobody waits for any more.
fn leave(directory: &Path, request: &Request) -> Result<()> {
    if application::leave(directory, request)? {
        return Ok(());
    }
    let other = application::waiting(directory);
    if other.as_ref().is_none_or(is_over) {
        application::withdraw(directory, other.as_ref().map(|other| &*other.id))?;
        if application::leave(directory, request)? {
            return Ok(());
        }
    }
    Err(Error::retry(format!(
        "somebody else asks the store in {} just now: try again",
        directory.display()
    )))
}

fn wait(directory: &Path, id: &str, patience: Duration) -> Result<Option<Result<Applied>>> {
    // `None` is never: no instant is that late.
    let deadline = Instant::now().checked_add(patience);
    loop {
        if let Some(answer) = application::take_answer(directory, id)? {
            return Ok(Some(answer.result.map_err(Error::fix)));
        }
        if deadline.is_some_and(|deadline| Instant::now() >= deadline) {
            return Ok(None);
        }
        std::thread::sleep(LOOK_EVERY);
    }
}

/// Whether nobody waits for an answer any more.
pub(crate) fn is_over(request: &Request) -> bool {
    milliseconds(now()) > request.until
}

fn now() -> Duration {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default()
}

fn milliseconds(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}
