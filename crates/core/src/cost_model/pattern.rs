//! What missions ask for, told so that they can be compared.

use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize};

use crate::observation::OperationMix;

/// Where scans stand among the shares.
const SCANS: usize = 2;

/// What operations are, on average: how often each kind comes, and how far scans go.
///
/// A [`Workload`](super::Workload) is what the cost model is asked, in which a delete is a
/// write and all scans are alike. This tells them apart.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct AccessPattern {
    /// Gets of absent keys, gets of present keys, scans, writes, deletes.
    #[serde(deserialize_with = "four_or_five")]
    shares: [f64; 5],
    /// Entries that scans return, for each operation of any kind; 0 where nobody counted
    /// them.
    #[serde(default)]
    scanned: f64,
}

impl AccessPattern {
    /// The largest difference of a share within one workload.
    pub const ALIKE: f64 = 0.1;

    /// Where scans are no rarer than [`AccessPattern::ALIKE`], those that return so many
    /// times as many entries are another workload.
    pub const LONGER: f64 = 3.0;

    /// Reads, or writes, that are so many times as rare are another workload, unless both are rarer
    /// than [`AccessPattern::HARDLY`]: who only writes asks for other limits than who reads a tenth
    /// of the time.
    pub const RARER: f64 = 3.0;

    /// A smaller share of reads, or of writes, is as good as none.
    pub const HARDLY: f64 = 0.01;

    /// From shares of gets of absent keys, gets of present keys, scans, writes and deletes,
    /// and the entries that scans return for each operation.
    pub fn new(shares: [f64; 5], scanned: f64) -> AccessPattern {
        AccessPattern { shares, scanned }
    }

    /// What a mission consisted of; `None` without operations.
    pub fn of_mission(operations: &OperationMix) -> Option<AccessPattern> {
        let counts = operations.counts().map(|count| count as f64);
        let all: f64 = counts.iter().sum();
        (all > 0.0).then(|| AccessPattern {
            shares: counts.map(|count| count / all),
            scanned: operations.scan_entries as f64 / all,
        })
    }

    /// The shares of gets of absent keys, gets of present keys, scans, writes and deletes.
    pub fn shares(&self) -> [f64; 5] {
        self.shares
    }

    /// The largest difference of a share.
    pub fn distance_from(&self, other: &AccessPattern) -> f64 {
        let shares = self.shares.iter().zip(&other.shares);
        shares.map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
    }

    /// How many times as many entries the longer scans of the two return; 1 where scans are
    /// rare in one of them, or were not counted.
    pub fn longer(&self, other: &AccessPattern) -> f64 {
        match (self.entries_of_a_scan(), other.entries_of_a_scan()) {
            (Some(one), Some(two)) => one.max(two) / one.min(two),
            _ => 1.0,
        }
    }

    /// Whether both are the same workload.
    pub fn is_like(&self, other: &AccessPattern) -> bool {
        self.distance_from(other) <= Self::ALIKE
            && self.longer(other) < Self::LONGER
            && self.rarer(other).0 < Self::RARER
    }

    /// How many times as large the larger share of reads is, or of writes, whichever differ more; and
    /// the smaller one of these. Shares count as [`AccessPattern::HARDLY`] at least.
    pub fn rarer(&self, other: &AccessPattern) -> (f64, f64) {
        let [one, two] = [self, other].map(|it| {
            let [absent, found, scans, writes, deletes] = it.shares;
            [absent + found + scans, writes + deletes]
        });
        let times = [0, 1].map(|kind| {
            let [one, two] = [one[kind], two[kind]].map(|share: f64| share.max(Self::HARDLY));
            (one.max(two) / one.min(two), one.min(two))
        });
        if times[0].0 >= times[1].0 {
            times[0]
        } else {
            times[1]
        }
    }

    /// A scan of less is hardly cheaper than one of a single entry.
    fn entries_of_a_scan(&self) -> Option<f64> {
        let scans = self.scans();
        let counted = scans >= Self::ALIKE && self.scanned > 0.0;
        counted.then(|| (self.scanned / scans).max(1.0))
    }

    /// The share of scans.
    pub(crate) fn scans(&self) -> f64 {
        self.shares[SCANS]
    }

    /// The mean of both, in which the other one has this weight.
    pub(crate) fn towards(&self, other: &AccessPattern, weight: f64) -> AccessPattern {
        let mix = |one: f64, other: f64| one + weight * (other - one);
        AccessPattern {
            shares: std::array::from_fn(|at| mix(self.shares[at], other.shares[at])),
            scanned: mix(self.scanned, other.scanned),
        }
    }

    /// Whether all numbers can be, as those of a state file may not.
    pub(crate) fn is_sound(&self) -> bool {
        let shares = self.shares.iter().all(|share| (0.0..=1.0).contains(share));
        shares && self.scanned.is_finite() && self.scanned >= 0.0
    }
}

/// Four are those of older programs, which told of no deletes.
fn four_or_five<'de, D: Deserializer<'de>>(deserializer: D) -> Result<[f64; 5], D::Error> {
    let told = Vec::<f64>::deserialize(deserializer)?;
    match told[..] {
        [absent, found, scans, writes] => Ok([absent, found, scans, writes, 0.0]),
        [absent, found, scans, writes, deletes] => Ok([absent, found, scans, writes, deletes]),
        _ => Err(D::Error::custom(format!(
            "a workload of {} shares: it has five, or four without deletes",
            told.len()
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// So many operations of a hundred, the others are gets; a scan returns so many entries.
    fn pattern(scans: u64, entries: u64, deletes: u64) -> AccessPattern {
        let mission = OperationMix {
            gets_found: 100 - scans - deletes,
            scans,
            scan_entries: scans * entries,
            deletes,
            ..OperationMix::default()
        };
        AccessPattern::of_mission(&mission).expect("operations")
    }

    #[test]
    fn a_mission_by_hand() {
        let mix = OperationMix {
            gets_found: 30,
            gets_absent: 10,
            scans: 20,
            scan_entries: 500,
            writes: 35,
            deletes: 5,
        };
        let pattern = AccessPattern::of_mission(&mix).expect("operations");
        assert_eq!(pattern.shares(), [0.1, 0.3, 0.2, 0.35, 0.05]);
        assert_eq!(pattern.scanned, 5.0);
        assert_eq!(AccessPattern::of_mission(&OperationMix::default()), None);
    }

    #[test]
    fn deletes_are_no_writes() {
        let (writes, deletes) = ([0.0, 0.5, 0.0, 0.5, 0.0], [0.0, 0.5, 0.0, 0.25, 0.25]);
        let [writes, deletes] = [writes, deletes].map(|shares| AccessPattern::new(shares, 0.0));
        assert_eq!(writes.distance_from(&deletes), 0.25);
        assert!(!writes.is_like(&deletes) && writes.is_like(&writes));
    }

    #[test]
    fn scans_of_three_times_as_many_entries_are_another_workload() {
        assert!(pattern(50, 10, 0).is_like(&pattern(50, 29, 0)));
        assert!(!pattern(50, 10, 0).is_like(&pattern(50, 31, 0)));
        assert!(!pattern(50, 31, 0).is_like(&pattern(50, 10, 0)));
        assert!(pattern(5, 10, 0).is_like(&pattern(5, 1_000, 0)), "rare");
        assert!(
            pattern(50, 10, 0).is_like(&pattern(50, 0, 0)),
            "not counted"
        );
    }

    #[test]
    fn four_shares_are_those_of_a_workload_without_deletes() {
        let read = |text: &str| serde_json::from_str::<AccessPattern>(text);
        let old = read(r#"{"shares":[0.25,0.25,0,0.5]}"#).expect("an older state");
        assert_eq!(old, AccessPattern::new([0.25, 0.25, 0.0, 0.5, 0.0], 0.0));
        let now = pattern(50, 10, 20);
        let text = serde_json::to_string(&now).expect("data");
        assert_eq!(read(&text).expect("its own"), now);
        let why = read(r#"{"shares":[1.0]}"#).expect_err("one share");
        assert!(why.to_string().contains("a workload of 1 shares"), "{why}");
        assert!(!AccessPattern::new([2.0, 0.0, 0.0, 0.0, 0.0], 0.0).is_sound());
        assert!(!AccessPattern::new([0.0; 5], f64::INFINITY).is_sound());
    }

    #[test]
    fn who_reads_a_tenth_of_the_time_is_not_who_only_writes() {
        let reading = |reads: u64| {
            let mission = OperationMix {
                gets_found: reads,
                writes: 1_000 - reads,
                ..OperationMix::default()
            };
            AccessPattern::of_mission(&mission).expect("operations")
        };
        let (times, least) = reading(100).rarer(&reading(20));
        assert!((times - 5.0).abs() < 1e-9 && (least - 0.02).abs() < 1e-9);
        let hardly_any = reading(0).rarer(&reading(5)).0;
        assert!(hardly_any < 1.01, "as good as none: {hardly_any}");
        let alike = |one: u64, other: u64| reading(one).is_like(&reading(other));
        assert!(alike(0, 25) && alike(100, 40) && alike(450, 540));
        assert!(!alike(0, 40) && !alike(100, 30) && !alike(990, 950));
    }
}
