//! What is offered as a session goes on.

use crate::scenario::Rate;

/// A turn lasts as long at least, seconds.
const LEAST: f64 = 1e-3;

/// Fewer operations are none.
const NONE: f64 = 1e-6;

/// The state of a [`Rate`] within a session.
pub(crate) struct Pace {
    rate: Option<Rate>,
    high: bool,
    /// Seconds until the rate changes.
    left: f64,
    /// Operations that were due and are not done.
    owed: f64,
}

impl Pace {
    /// A session begins; without a rate it is a closed loop.
    pub(crate) fn new(rate: Option<Rate>) -> Pace {
        let mut pace = Pace {
            rate,
            high: false,
            left: f64::INFINITY,
            owed: 0.0,
        };
        pace.turn();
        pace
    }

    fn turn(&mut self) {
        self.high = !self.high;
        if let Some(Rate::Periodic {
            high_seconds,
            low_seconds,
            ..
        }) = self.rate
        {
            let seconds = if self.high { high_seconds } else { low_seconds };
            self.left = seconds.max(LEAST);
        }
    }

    /// Operations a second that fall due now; infinite in a closed loop.
    pub(crate) fn offered(&self) -> f64 {
        match self.rate {
            None => f64::INFINITY,
            Some(Rate::Constant(rate)) => rate,
            Some(Rate::Periodic { high, .. }) if self.high => high,
            Some(Rate::Periodic { low, .. }) => low,
        }
    }

    /// Operations a second that users ask for: while some are overdue, all they can get.
    pub(crate) fn asked(&self) -> f64 {
        if self.owed > 0.0 {
            f64::INFINITY
        } else {
            self.offered()
        }
    }

    /// Seconds until users ask for another rate, when so many operations a second are
    /// done.
    pub(crate) fn left(&self, done: f64) -> f64 {
        let gained = done - self.offered();
        if self.owed > 0.0 && gained > 0.0 {
            self.left.min(self.owed / gained)
        } else {
            self.left
        }
    }

    /// Time passes in which so many operations a second are done.
    pub(crate) fn pass(&mut self, seconds: f64, done: f64) {
        if !matches!(self.rate, Some(Rate::Periodic { .. })) {
            return;
        }
        self.owed += (self.offered() - done) * seconds;
        if self.owed < NONE {
            self.owed = 0.0;
        }
        self.left -= seconds;
        if self.left <= NONE * LEAST {
            self.turn();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_overdue_is_asked_for_until_it_is_done() {
        let mut pace = Pace::new(Some(Rate::Periodic {
            high: 100.0,
            low: 10.0,
            high_seconds: 2.0,
            low_seconds: 3.0,
        }));
        assert_eq!((pace.offered(), pace.left(100.0)), (100.0, 2.0));
        pace.pass(2.0, 60.0);
        assert_eq!((pace.offered(), pace.asked()), (10.0, f64::INFINITY));
        assert_eq!(pace.left(60.0), 80.0 / 50.0);
        pace.pass(1.6, 60.0);
        assert_eq!(pace.asked(), 10.0);
        assert!((pace.left(10.0) - 1.4).abs() < 1e-9);
        pace.pass(pace.left(10.0), 10.0);
        assert_eq!(pace.asked(), 100.0);
    }

    #[test]
    fn other_rates_never_change() {
        for (rate, asked) in [(None, f64::INFINITY), (Some(Rate::Constant(5.0)), 5.0)] {
            let mut pace = Pace::new(rate);
            pace.pass(10.0, 1.0);
            assert_eq!((pace.asked(), pace.left(1.0)), (asked, f64::INFINITY));
        }
    }
}
