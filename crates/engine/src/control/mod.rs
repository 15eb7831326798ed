//! What a person asks of a database from outside: to hold its limits, to
//! compact.

mod ask;
mod compact;
mod pin;

pub use ask::ask_to_compact;
pub use compact::Compactor;
pub use pin::{pin, unpin};
