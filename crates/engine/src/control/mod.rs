//! What a person asks of a database from outside: to hold its limits, to
//! compact, to take a configuration.

pub(crate) mod apply;
mod ask;
mod compact;
mod pin;

pub use apply::ask_to_apply;
pub use ask::ask_to_compact;
pub use compact::Compactor;
pub use pin::{pin, unpin};
