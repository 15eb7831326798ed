//! What users take of the device, smoothed.

use super::{Conditions, Load, LoadModel};

/// Weight of what was seen before after a second: an estimate is of the present users, and
/// yet of more than one interval of 10 ms.
const KEPT: f64 = 0.5;

/// A mean of what users take of the device, by [`LoadModel::CacheAdditions`]; half of it is
/// of the last second. It goes by time, not by intervals: however often it is told of a
/// steady load, it comes to the same.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Client {
    mean: Option<f64>,
}

impl Client {
    /// Takes up an interval. One without length, or with numbers that cannot be, is left
    /// out.
    pub fn learn(&mut self, load: &Load, conditions: &Conditions) {
        let client = LoadModel::CacheAdditions.client(load, conditions);
        if load.interval.is_zero() || !client.is_finite() {
            return;
        }
        let kept = KEPT.powf(load.interval.as_secs_f64());
        let mean = self.mean.unwrap_or(client);
        self.mean = Some(mean * kept + client * (1.0 - kept));
    }

    /// Bytes a second; 0 before the first interval.
    pub fn bytes_per_second(&self) -> f64 {
        self.mean.unwrap_or(0.0)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    /// What so many bytes in each of `count` intervals make of what was seen before.
    fn after(before: Client, count: u32, milliseconds: u64, bytes: u64) -> f64 {
        let mut client = before;
        for _ in 0..count {
            let load = Load {
                interval: Duration::from_millis(milliseconds),
                logged_bytes: bytes,
                ..Load::default()
            };
            client.learn(&load, &Conditions::default());
        }
        client.bytes_per_second()
    }

    #[test]
    fn a_hundred_intervals_of_10_ms_count_as_one_of_a_second() {
        let mut before = Client::default();
        let first = Load {
            interval: Duration::from_secs(1),
            logged_bytes: 9_000_000,
            ..Load::default()
        };
        before.learn(&first, &Conditions::default());
        let (coarse, fine) = (
            after(before, 1, 1_000, 1_000_000),
            after(before, 100, 10, 10_000),
        );
        assert_eq!(coarse, 5e6);
        assert!((fine - coarse).abs() < 1.0, "{fine} {coarse}");
    }

    #[test]
    fn an_interval_without_length_tells_nothing() {
        assert_eq!(after(Client::default(), 3, 0, 1_000), 0.0);
        assert_eq!(after(Client::default(), 1, 1_000, 1_000), 1_000.0);
    }
}
