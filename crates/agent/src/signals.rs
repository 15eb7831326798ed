//! Signals, as flags.

use std::io;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::flag;

use crate::error::{Error, Result};

const ENDING: [i32; 3] = [SIGINT, SIGTERM, SIGHUP];

/// A flag that is set once the process is asked to end.
pub(crate) fn asked_to_end() -> Result<Arc<AtomicBool>> {
    let asked = Arc::new(AtomicBool::new(false));
    for signal in ENDING {
        flag::register(signal, Arc::clone(&asked)).map_err(|error| cannot(&error))?;
    }
    Ok(asked)
}

/// Goes on whatever the process is asked.
pub(crate) fn ignore() -> Result<()> {
    asked_to_end().map(|_| ())
}

fn cannot(error: &io::Error) -> Error {
    Error::fix(format!(
        "cannot listen for signals: {error}; the settings could not be restored at the end"
    ))
}
