//! When each operation of an open loop is due, in seconds from the session's start.

use crate::workload::Rate;

/// Times at which operations are due, without end. Operation k + 1 is due one over
/// the rate at the time of operation k after it.
#[derive(Debug, Clone)]
pub struct DueTimes {
    rate: Rate,
    next: f64,
}

impl DueTimes {
    /// Due times under `rate`; a closed loop's are all 0.
    pub fn new(rate: Rate) -> Self {
        Self { rate, next: 0.0 }
    }
}

impl Iterator for DueTimes {
    type Item = f64;

    fn next(&mut self) -> Option<f64> {
        let due = self.next;
        self.next += self.rate.at(due).map_or(0.0, |rate| 1.0 / rate);
        Some(due)
    }
}

/// Operations due before `seconds` have passed.
pub fn due_count(rate: Rate, seconds: f64) -> u64 {
    if rate == Rate::Closed {
        return 0;
    }
    // Sums of steps are rounded; a billionth of a second decides nothing.
    DueTimes::new(rate)
        .take_while(|due| *due + 1e-9 < seconds)
        .count() as u64
}
