//! What a person asks of a database from outside: to hold its limits, to
//! compact.

mod compact;
mod pin;

pub use compact::Compactor;
pub use pin::{pin, unpin};
