//! Whoever restores the settings when the agent does not.
//!
//! The watchdog is a process of its own, with its own connection and in its own
//! process group, so that neither a signal to the agent nor the agent's death
//! reaches it. It is handed the [`Lease`] before anything is delayed, and hears
//! from the agent after each completed interval. It restores the settings when
//! the pipe closes (the agent is gone, however it went), or when it has heard
//! nothing for the length of the lease (the agent hangs, or has lost the server,
//! to which the watchdog may still be connected). If the server is away then, it
//! tries again until the server is back.
//!
//! [`Guard`] is the agent's side of it; [`Keeper`] is what it decides; `child`
//! is the process.

mod child;
mod keeper;
mod parent;
mod protocol;

use crate::decide::Lease;
use crate::error::Result;

pub use child::watch;
pub use keeper::{Due, Keeper};
pub use parent::{Launch, Watchdog};

/// Somebody who outlives the agent and restores what a lease says.
pub trait Guard {
    /// Hands over a lease, in the place of an earlier one for the same server;
    /// when this returns it is held.
    ///
    /// # Errors
    /// When nobody holds it.
    fn hold(&mut self, lease: &Lease) -> Result<()>;

    /// Whether the lease is still held.
    ///
    /// # Errors
    /// When nobody holds it any more.
    fn check(&mut self) -> Result<()>;

    /// Says that the agent is in control.
    fn renew(&mut self);

    /// The settings are restored: nobody need hold the lease any more.
    fn release(&mut self);

    /// Leaves the lease to the guard, which restores; another guard is needed
    /// for another server.
    fn abandon(&mut self);
}
