//! Running time: what is left of time without the stretches in which the process was
//! stopped, cut into windows.

use std::time::Duration;

/// How often the time is looked at.
pub(super) const TICK: Duration = Duration::from_millis(20);

/// A look that comes later than this after the one before, the process may have been
/// stopped.
const SUSPICIOUS: Duration = Duration::from_millis(100);

/// Finds the stretches in which the process was stopped, in looks at the clock.
#[derive(Debug)]
pub(super) struct Stops {
    last: Duration,
}

impl Stops {
    /// The first look.
    pub(super) fn new(now: Duration) -> Self {
        Self { last: now }
    }

    /// Whether this look is late enough to ask again for a signal that is on its way.
    pub(super) fn is_suspicious(&self, now: Duration) -> bool {
        now.saturating_sub(self.last) > SUSPICIOUS
    }

    /// The time since the look before in which the process was stopped; `resumed` says
    /// whether it was continued since. A process that was merely late, as on a busy
    /// machine, ran.
    pub(super) fn look(&mut self, now: Duration, resumed: bool) -> Duration {
        let gap = now.saturating_sub(self.last);
        self.last = now;
        if resumed {
            gap.saturating_sub(TICK)
        } else {
            Duration::ZERO
        }
    }
}

/// Cuts running time into windows of one length, as near as looks allow.
#[derive(Debug)]
pub(super) struct Windows {
    length: Duration,
    begun: Duration,
    /// When the present window ends.
    due: Duration,
}

impl Windows {
    /// Windows of `length`, above zero, from `now` on.
    pub(super) fn new(length: Duration, now: Duration) -> Self {
        Self {
            length,
            begun: now,
            due: now + length,
        }
    }

    /// The length of the window that ends at this look, if one does. Ends stay at whole
    /// lengths from the start, so that late looks do not add up.
    pub(super) fn cut(&mut self, now: Duration) -> Option<Duration> {
        if now < self.due {
            return None;
        }
        let took = now - self.begun;
        self.begun = now;
        while self.due <= now {
            self.due += self.length;
        }
        Some(took)
    }
}
