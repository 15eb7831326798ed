//! Signals, as a flag.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::flag;

use crate::error::{Result, TrialsError};

const ENDING: [i32; 3] = [SIGINT, SIGTERM, SIGHUP];

/// A flag that is set once the process is asked to end by SIGINT, SIGTERM or
/// SIGHUP. Asked twice, the process ends at once with 1.
///
/// # Errors
/// The system refuses to tell of signals.
pub fn asked_to_end() -> Result<Arc<AtomicBool>> {
    let asked = Arc::new(AtomicBool::new(false));
    for signal in ENDING {
        // In this order: the first signal finds the flag down and only raises it.
        flag::register_conditional_shutdown(signal, 1, Arc::clone(&asked))
            .and_then(|_| flag::register(signal, Arc::clone(&asked)))
            .map_err(|error| {
                TrialsError::new(format!(
                    "cannot listen for signals: {error}; trials could not be ended with the search"
                ))
            })?;
    }
    Ok(asked)
}
