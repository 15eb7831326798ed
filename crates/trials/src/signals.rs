//! Signals, as a flag.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGTSTP};
use signal_hook::{flag, low_level};

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

/// Ctrl-Z: trials are process groups of their own, which the terminal does not stop.
#[derive(Debug)]
pub struct Suspension(Arc<AtomicBool>);

impl Suspension {
    /// From here on SIGTSTP does not stop the process but is told.
    ///
    /// # Errors
    /// The system refuses to tell of signals.
    pub fn listen() -> Result<Suspension> {
        let asked = Arc::new(AtomicBool::new(false));
        flag::register(SIGTSTP, Arc::clone(&asked)).map_err(|error| {
            TrialsError::new(format!(
                "cannot listen for signals: {error}; trials could not be stopped with the search"
            ))
        })?;
        Ok(Suspension(asked))
    }

    /// Whether the process was asked to stop.
    pub fn is_asked(&self) -> bool {
        self.0.load(Ordering::SeqCst)
    }

    /// Stops the process; returns when it is continued.
    pub fn stop_here(&self) {
        self.0.store(false, Ordering::SeqCst);
        // A process that cannot be stopped goes on.
        let _ = low_level::emulate_default_handler(SIGTSTP);
    }
}
