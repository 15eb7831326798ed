//! Taking over a plain RocksDB directory, and giving it back as one.
//!
//! Both say beforehand what they will rewrite, work in bounded pieces, and may
//! be killed at any instant: the next call goes on from the manifest.

mod detach;
pub(crate) mod drive;
mod forecast;
mod refusal;
pub(crate) mod space;
mod take_over;
mod work;

pub use detach::Detacher;
pub use forecast::Forecast;
pub use take_over::Adopter;
pub use work::{FamilyWork, Progress, Watch, Work};

pub(crate) use forecast::foresee;
