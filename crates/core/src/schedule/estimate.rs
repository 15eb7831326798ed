//! How long catching up would take.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::{Client, Conditions, Debt, Load, MergeSpeed, Work};

/// What merges cost and how fast they go: what is kept of an [`Estimate`].
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Merges {
    work: Work,
    speed: MergeSpeed,
}

impl Merges {
    fn is_sound(&self) -> bool {
        self.work.is_sound() && self.speed.is_sound()
    }
}

/// What users take of the device, what merges cost and how fast they go, as it was seen
/// last.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Estimate {
    client: Client,
    merges: Merges,
}

impl Estimate {
    /// What was kept of one, or as if nothing was seen where that is absent; nobody is there.
    pub fn kept(merges: Option<Merges>) -> Estimate {
        let merges = merges.filter(Merges::is_sound);
        Estimate {
            merges: merges.unwrap_or_default(),
            ..Estimate::default()
        }
    }

    /// What is to be kept over a restart.
    pub fn merges(&self) -> Merges {
        self.merges
    }

    /// Takes up an interval in which compactions and flushes together were held to `limit`
    /// bytes a second. How fast merges go is not learned from one in which that held them
    /// back.
    pub fn learn(&mut self, load: &Load, conditions: &Conditions, limit: Option<u64>) {
        self.client.learn(load, conditions);
        self.merges.work.learn(load);
        let wanted = self.merges.speed.of(conditions.workers);
        let held_back = limit
            .zip(wanted)
            .is_some_and(|(limit, wanted)| (limit as f64) < wanted);
        if !held_back {
            self.merges.speed.learn(load);
        }
    }

    /// How long it would take to catch up now, beside the users. `None` when they leave
    /// nothing of the device. Merging a byte of L0 moves `work` bytes in all, and what is owed
    /// [below L0](Debt::below_level0) comes on top:
    ///
    /// (level0_bytes * work + below_level0) / min(device - client, speed * workers),
    ///
    /// and no less than L0 takes of it with the workers that [bring it
    /// down](MergeSpeed::of_level0). Until the speed of merges is known, the device is all
    /// that counts.
    pub fn catch_up(&self, debt: &Debt, conditions: &Conditions) -> Option<Duration> {
        let left = conditions.device_bytes_per_second - self.client.bytes_per_second();
        let Merges { work, speed } = self.merges;
        let level0 = debt.level0_bytes as f64 * work.per_byte();
        let all = level0 + debt.below_level0();
        if left <= 0.0 {
            return (all <= 0.0).then_some(Duration::ZERO);
        }
        let at = |bytes: f64, speed: Option<f64>| bytes / speed.map_or(left, |it| it.min(left));
        let workers = conditions.workers;
        let seconds = at(all, speed.of(workers));
        let of_level0 = at(level0, speed.of_level0(workers));
        Duration::try_from_secs_f64(seconds.max(of_level0)).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DEBT: Debt = Debt {
        level0_files: 3,
        level0_bytes: 100,
        level0_delayed_bytes: 0,
        level0_at_own_bound: false,
        level0_share: None,
        level0_merging_bytes: 0,
        level0_held_up: false,
        deep_bytes: 50,
        waiting_bytes: 0,
        below_per_byte: 0.0,
        crowding: 0.0,
    };

    fn conditions(device: f64, workers: usize) -> Conditions {
        Conditions {
            device_bytes_per_second: device,
            workers,
            ..Conditions::default()
        }
    }

    /// Ten seconds in which users logged so many bytes, and one worker was busy and moved so
    /// many.
    fn ten_seconds(logged: u64, moved: u64) -> Load {
        Load {
            interval: Duration::from_secs(10),
            logged_bytes: logged,
            compacted_bytes: moved,
            compacted_micros: if moved > 0 { 10_000_000 } else { 0 },
            ..Load::default()
        }
    }

    fn seconds(estimate: &Estimate, device: f64, workers: usize) -> Option<f64> {
        let time = estimate.catch_up(&DEBT, &conditions(device, workers));
        time.map(|time| time.as_secs_f64())
    }

    #[test]
    fn catching_up_takes_what_is_left_of_the_device() {
        let mut estimate = Estimate::default();
        estimate.learn(&ten_seconds(500, 0), &conditions(100.0, 2), None);
        assert_eq!(seconds(&estimate, 100.0, 2), Some(10.0));
        assert_eq!(seconds(&estimate, 50.0, 2), None);
        assert_eq!(
            estimate.catch_up(&Debt::default(), &conditions(50.0, 2)),
            Some(Duration::ZERO)
        );
    }

    #[test]
    fn catching_up_takes_no_less_than_merges_do() {
        let mut estimate = Estimate::default();
        estimate.learn(&ten_seconds(0, 1_000), &conditions(1e6, 2), Some(1));
        // A hundred bytes a second and worker; 400 of L0, and 100 below it.
        assert_eq!(seconds(&estimate, 1e6, 2), Some(2.5));
        assert_eq!(seconds(&estimate, 100.0, 2), Some(5.0), "the device");
        assert_eq!(seconds(&estimate, 1e6, 8), Some(2.0), "two empty L0");
        let slow = ten_seconds(0, 10);
        estimate.learn(&slow, &conditions(1e6, 2), Some(199));
        assert_eq!(seconds(&estimate, 1e6, 2), Some(2.5), "it was held back");
        estimate.learn(&slow, &conditions(1e6, 2), Some(200));
        assert!(seconds(&estimate, 1e6, 2) > Some(4.0));
    }

    #[test]
    fn what_was_seen_of_merges_is_kept_whichever_the_schedule() {
        let mut estimate = Estimate::default();
        estimate.learn(&ten_seconds(500, 1_000), &conditions(1e6, 2), None);
        let text = serde_json::to_string(&estimate.merges()).expect("it is kept");
        let merges: Merges = serde_json::from_str(&text).expect("its own");
        let kept = Estimate::kept(Some(merges));
        assert_eq!(seconds(&kept, 1e6, 2), Some(2.5));
        let broken = text.replace("1000", "-1000");
        let broken: Merges = serde_json::from_str(&broken).expect("numbers");
        for nothing in [None, Some(broken)] {
            assert_eq!(Estimate::kept(nothing), Estimate::default());
        }
    }
}
