//! What is asked of the tree.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::ModelError;
use crate::observation::OperationMix;

/// The four kinds of operation that have a cost of their own.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum OperationKind {
    /// A get that finds no key (z0).
    GetAbsent,
    /// A get that finds its key (z1).
    GetFound,
    /// A range scan (q).
    Scan,
    /// A put, merge or delete (w).
    Write,
}

impl OperationKind {
    /// All kinds, in the order of the published vectors.
    pub const ALL: [OperationKind; 4] = [
        OperationKind::GetAbsent,
        OperationKind::GetFound,
        OperationKind::Scan,
        OperationKind::Write,
    ];

    /// The published symbol, as `--workload` spells it.
    pub fn symbol(self) -> &'static str {
        ["z0", "z1", "q", "w"][self as usize]
    }
}

/// What it is called in sentences, in the plural.
impl fmt::Display for OperationKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            OperationKind::GetAbsent => "gets of absent keys",
            OperationKind::GetFound => "gets of present keys",
            OperationKind::Scan => "scans",
            OperationKind::Write => "writes",
        })
    }
}

/// The share of each kind of operation; they are at least 0 and sum to 1.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[serde(try_from = "[f64; 4]", into = "[f64; 4]")]
pub struct Workload([f64; 4]);

impl Workload {
    /// From shares (z0, z1, q, w) that sum to 1, or in percent to 100.
    ///
    /// # Errors
    /// A share that is negative or no number, or another sum (beyond one part
    /// in a million).
    pub fn new(shares: [f64; 4]) -> Result<Workload, ModelError> {
        let sum = sum_of(&shares)?;
        if ![1.0, 100.0]
            .iter()
            .any(|whole| (sum / whole - 1.0).abs() <= 1e-6)
        {
            return Err(ModelError::new(format!(
                "the shares of a workload sum to {sum}: make them sum to 1, or in percent to 100"
            )));
        }
        Ok(Workload(shares.map(|share| share / sum)))
    }

    /// From counts of operations (z0, z1, q, w).
    ///
    /// # Errors
    /// A count that is negative or no number, or no operation at all.
    pub fn from_counts(counts: [f64; 4]) -> Result<Workload, ModelError> {
        let sum = sum_of(&counts)?;
        if sum <= 0.0 {
            return Err(ModelError::new(
                "a workload without operations has no shares: count at least one",
            ));
        }
        Ok(Workload(counts.map(|count| count / sum)))
    }

    /// What a mission consisted of; `None` without operations.
    pub fn of_mission(operations: &OperationMix) -> Option<Workload> {
        let counts = [
            operations.gets_absent,
            operations.gets_found,
            operations.scans,
            operations.writes + operations.deletes,
        ];
        Workload::from_counts(counts.map(|count| count as f64)).ok()
    }

    /// Shares that were computed, each at least 0.
    pub(crate) fn computed(shares: [f64; 4]) -> Workload {
        let sum: f64 = shares.iter().sum();
        Workload(shares.map(|share| share / sum))
    }

    /// The share of one kind, 0 to 1.
    pub fn share(&self, kind: OperationKind) -> f64 {
        self.0[kind as usize]
    }

    /// The shares in the order of [`OperationKind::ALL`].
    pub fn shares(&self) -> [f64; 4] {
        self.0
    }

    /// How far this workload, observed, is from an expected one: the
    /// Kullback-Leibler divergence sum w_k * ln(w_k / e_k), in nats (Endure,
    /// definition 1). 0 when they are alike, infinite when something happens
    /// that was not expected at all.
    pub fn divergence_from(&self, expected: &Workload) -> f64 {
        let terms = self.0.iter().zip(&expected.0).map(|(seen, expected)| {
            if *seen == 0.0 {
                0.0
            } else {
                seen * (seen / expected).ln()
            }
        });
        terms.sum::<f64>().max(0.0)
    }
}

/// The sum of numbers that must be at least 0.
fn sum_of(parts: &[f64; 4]) -> Result<f64, ModelError> {
    for (kind, part) in OperationKind::ALL.iter().zip(parts) {
        if !(part.is_finite() && *part >= 0.0) {
            return Err(ModelError::new(format!(
                "the share of {kind} ({}) is {part}: give a number of at least 0",
                kind.symbol()
            )));
        }
    }
    Ok(parts.iter().sum())
}

impl TryFrom<[f64; 4]> for Workload {
    type Error = ModelError;

    fn try_from(shares: [f64; 4]) -> Result<Workload, ModelError> {
        Workload::new(shares)
    }
}

impl From<Workload> for [f64; 4] {
    fn from(workload: Workload) -> [f64; 4] {
        workload.0
    }
}

/// `z0=25,z1=25,q=25,w=25`; a kind that is left out has a share of 0.
impl FromStr for Workload {
    type Err = ModelError;

    fn from_str(text: &str) -> Result<Workload, ModelError> {
        let mut shares = [None; 4];
        for part in text.split(',') {
            let (kind, share) = parse_share(part)?;
            if shares[kind as usize].replace(share).is_some() {
                return Err(ModelError::new(format!(
                    "the workload {text:?} gives {} twice: give each kind once",
                    kind.symbol()
                )));
            }
        }
        Workload::new(shares.map(|share| share.unwrap_or(0.0)))
    }
}

fn parse_share(part: &str) -> Result<(OperationKind, f64), ModelError> {
    let wrong = || {
        ModelError::new(format!(
            "{part:?} is no share of a workload: write z0, z1, q or w, an equals sign and a number"
        ))
    };
    let (symbol, share) = part.trim().split_once('=').ok_or_else(wrong)?;
    let kind = OperationKind::ALL
        .into_iter()
        .find(|kind| kind.symbol() == symbol.trim())
        .ok_or_else(wrong)?;
    let share = share.trim().parse().map_err(|_| wrong())?;
    Ok((kind, share))
}

impl fmt::Display for Workload {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, kind) in OperationKind::ALL.into_iter().enumerate() {
            let comma = if at == 0 { "" } else { ", " };
            write!(f, "{comma}{} {}", kind.symbol(), Percent(self.share(kind)))?;
        }
        Ok(())
    }
}

/// A share in percent, with a digit when it is small.
pub(crate) struct Percent(pub f64);

impl fmt::Display for Percent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let percent = self.0 * 100.0;
        if percent != 0.0 && percent.abs() < 9.95 && percent.fract().abs() > 1e-9 {
            write!(f, "{percent:.1} %")
        } else {
            write!(f, "{percent:.0} %")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_may_be_parts_of_one_or_percent() {
        let of_one = Workload::new([0.33, 0.33, 0.33, 0.01]).expect("sums to 1");
        let percent: Workload = "z0=33, z1=33,q=33,w=1".parse().expect("sums to 100");
        for kind in OperationKind::ALL {
            assert!((of_one.share(kind) - percent.share(kind)).abs() < 1e-12);
        }
        let writes: Workload = "w=1".parse().expect("the others are 0");
        assert_eq!(writes.shares(), [0.0, 0.0, 0.0, 1.0]);
        assert_eq!(percent.to_string(), "z0 33 %, z1 33 %, q 33 %, w 1 %");
        let small: Workload = "z0=99.6,w=0.4".parse().expect("sums to 100");
        assert_eq!(small.to_string(), "z0 100 %, z1 0 %, q 0 %, w 0.4 %");
    }

    #[test]
    fn wrong_workloads_say_what_to_give() {
        for (text, says) in [
            ("z0=0.5,w=0.4", "make them sum to 1, or in percent to 100"),
            ("z0=1.5,w=-0.5", "the share of writes (w) is -0.5"),
            ("z0=nan,w=1", "the share of gets of absent keys (z0) is NaN"),
            ("z0=inf", "give a number of at least 0"),
            ("z9=1", "write z0, z1, q or w"),
            ("", "write z0, z1, q or w"),
            ("z0", "an equals sign and a number"),
            ("z0=0.5,z0=0.5", "give each kind once"),
        ] {
            let error = text.parse::<Workload>().expect_err(text).to_string();
            assert!(error.contains(says), "{text}: {error}");
        }
        assert!(Workload::from_counts([0.0; 4]).is_err());
        assert!(serde_json::from_str::<Workload>("[0.5,0.4,0,0]").is_err());
    }

    #[test]
    fn divergence_by_hand() {
        // 0.5 ln(0.5/0.25) + 0.5 ln(0.5/0.25) = ln 2
        let even = Workload::new([0.25; 4]).expect("even");
        let halves = Workload::new([0.5, 0.5, 0.0, 0.0]).expect("halves");
        assert!((halves.divergence_from(&even) - 2f64.ln()).abs() < 1e-15);
        assert_eq!(even.divergence_from(&halves), f64::INFINITY);
        assert_eq!(even.divergence_from(&even), 0.0);
    }

    #[test]
    fn a_mission_is_a_workload() {
        let mix = OperationMix {
            gets_found: 30,
            gets_absent: 10,
            scans: 20,
            scan_entries: 500,
            writes: 35,
            deletes: 5,
        };
        let workload = Workload::of_mission(&mix).expect("operations");
        assert_eq!(workload.shares(), [0.1, 0.3, 0.2, 0.4]);
        assert_eq!(Workload::of_mission(&OperationMix::default()), None);
    }
}
