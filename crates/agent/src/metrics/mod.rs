//! What the agent does, for Prometheus: text, and who serves it.

mod http;
mod text;

use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};

use crate::error::{Error, Result};

pub use text::{FamilyReadings, Readings};

/// The text that is served, replaced after each interval.
#[derive(Clone, Debug, Default)]
pub struct Board(Arc<Mutex<String>>);

impl Board {
    /// Shows new readings.
    pub fn show(&self, readings: &Readings) {
        let text = readings.to_string();
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = text;
    }

    pub(crate) fn text(&self) -> String {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    /// Serves `http://ADDRESS/metrics` from a thread, until the process ends.
    /// Returns where, since port 0 is any free one.
    ///
    /// # Errors
    /// When the address is not of the loopback, or is taken.
    pub fn serve(&self, address: SocketAddr) -> Result<SocketAddr> {
        if !address.ip().is_loopback() {
            return Err(Error::fix(format!(
                "metrics are served on the loopback only, and {address} is not on it: choose \
                 127.0.0.1:PORT, and a proxy that knows who may read them"
            )));
        }
        http::serve(address, self.clone()).map_err(|error| {
            Error::fix(format!(
                "cannot serve metrics on {address}: {error}; choose another port"
            ))
        })
    }
}
