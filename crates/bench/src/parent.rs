//! A child hears that its parent is gone: that holds the child's standard input open.

use std::io::{Read, copy, sink};
use std::thread::Builder;

use crate::error::{BenchError, Result};

/// Acts at the end of `input`, on a thread of its own; an error is an end, too.
///
/// # Errors
/// Where no thread can be started.
pub fn at_end(
    mut input: impl Read + Send + 'static,
    act: impl FnOnce() + Send + 'static,
) -> Result<()> {
    let watch = move || {
        let _ = copy(&mut input, &mut sink());
        act();
    };
    let thread = Builder::new().name("parent".to_owned());
    thread.spawn(watch).map(|_| ()).map_err(|error| {
        BenchError::new(format!(
            "cannot start a thread: {error}; free memory, or raise the limit on threads"
        ))
    })
}
