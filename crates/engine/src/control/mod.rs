//! What a person asks of a database from outside: to hold its limits, to
//! compact, to take a configuration, to measure a device.

pub(crate) mod apply;
mod ask;
mod compact;
mod device;
mod pin;

pub use apply::ask_to_apply;
pub use ask::ask_to_compact;
pub use compact::Compactor;
pub use device::{device_bytes_per_second, measure_device};
pub use pin::{pin, unpin};
