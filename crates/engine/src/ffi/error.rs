//! The plug-in's errors.

use std::ffi::{CStr, c_char};
use std::fmt;

use super::raw;

/// What RocksDB or the plug-in answered, as one sentence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Error {
    message: String,
}

impl Error {
    pub(super) fn new(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
        }
    }

    /// Takes over the message that a plug-in call returned; null is success.
    ///
    /// # Safety
    ///
    /// `message` is null or the unmodified return value of one plug-in call,
    /// and is used nowhere else.
    pub(super) unsafe fn check(message: *mut c_char) -> Result<(), Self> {
        if message.is_null() {
            return Ok(());
        }
        // SAFETY: a plug-in error is a string that ends in NUL and that nobody
        // else frees or reads; it is copied before it is released.
        let text = unsafe {
            let text = CStr::from_ptr(message).to_string_lossy().into_owned();
            raw::lissom_free(message.cast());
            text
        };
        Err(Self::new(text))
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Error {}
