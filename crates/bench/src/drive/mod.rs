//! Drives sessions against a store: closed and open loop, latencies, series, checks.

mod clock;
mod latency;
mod pace;
mod perform;
mod process;
mod sampler;
mod series;
mod session;
#[cfg(test)]
pub(crate) mod testing;
#[cfg(test)]
mod tests;
mod verify;

pub use clock::{Clock, SystemClock};
pub use latency::{Latencies, LatencySummary, OpKind};
pub use pace::Pace;
pub use perform::Performer;
pub use process::{ProcessUse, table_file_bytes};
pub use series::Sample;
pub(crate) use session::join;
pub use session::{Driver, SessionOutcome};
pub use verify::verify_all;
