//! One rate limiter under two hands: the user's bound and the schedule's order.

use parking_lot::Mutex;

use crate::error::Result;
use crate::ffi::rate_limit::RateLimiter;
use crate::settings::check_rate_limit;

/// The lower of two rates holds.
pub(crate) struct RateLimit {
    pub(crate) limiter: RateLimiter,
    rates: Mutex<Rates>,
}

/// Bytes a second.
struct Rates {
    bound: u64,
    ordered: u64,
}

impl RateLimit {
    /// A limiter with the user's bound; without one, unlimited until something is
    /// ordered.
    pub(crate) fn new(bound: Option<u64>) -> Result<RateLimit> {
        let bound = bound.unwrap_or(RateLimiter::UNLIMITED);
        Ok(RateLimit {
            limiter: RateLimiter::new(bound)?,
            rates: Mutex::new(Rates {
                bound,
                ordered: RateLimiter::UNLIMITED,
            }),
        })
    }

    /// Sets the user's bound.
    ///
    /// # Errors
    /// A rate outside the range of the setting `rate_limit_bytes_per_second`.
    pub(crate) fn bound(&self, bytes_per_second: u64) -> Result<()> {
        check_rate_limit(bytes_per_second)?;
        self.change(|rates| rates.bound = bytes_per_second)
    }

    /// The user's bound; `None` without one.
    pub(crate) fn bounded_to(&self) -> Option<u64> {
        let bound = self.rates.lock().bound;
        Some(bound).filter(|rate| *rate < RateLimiter::UNLIMITED)
    }

    /// Sets the schedule's rate; none is any.
    pub(crate) fn order(&self, bytes_per_second: Option<u64>) -> Result<()> {
        let rate = bytes_per_second.unwrap_or(RateLimiter::UNLIMITED).max(1);
        self.change(|rates| rates.ordered = rate)
    }

    /// The schedule's rate; `None` where that is any.
    pub(crate) fn ordered(&self) -> Option<u64> {
        let ordered = self.rates.lock().ordered;
        Some(ordered).filter(|rate| *rate < RateLimiter::UNLIMITED)
    }

    /// What RocksDB is held to now; `None` when that is nothing.
    pub(crate) fn bytes_per_second(&self) -> Option<u64> {
        Some(self.limiter.bytes_per_second()).filter(|rate| *rate < RateLimiter::UNLIMITED)
    }

    fn change(&self, change: impl FnOnce(&mut Rates)) -> Result<()> {
        let mut rates = self.rates.lock();
        change(&mut rates);
        let rate = rates.bound.min(rates.ordered);
        if self.limiter.bytes_per_second() != rate {
            self.limiter.set_bytes_per_second(rate)?;
        }
        Ok(())
    }
}
