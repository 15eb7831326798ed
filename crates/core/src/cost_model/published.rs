//! The workloads and tunings that Endure was published with.

use super::{RunPolicy, Tuning, Workload};

/// One of the 15 expected workloads of Endure's uncertainty benchmark.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct ExpectedWorkload {
    /// `w0` ... `w14`.
    pub name: &'static str,
    /// `uniform`, `unimodal`, `bimodal` or `trimodal`: how many kinds dominate.
    pub category: &'static str,
    /// Its shares.
    pub workload: Workload,
}

/// Table 2 of Endure, in percent.
const PERCENT: [[u8; 4]; 15] = [
    [25, 25, 25, 25],
    [97, 1, 1, 1],
    [1, 97, 1, 1],
    [1, 1, 97, 1],
    [1, 1, 1, 97],
    [49, 49, 1, 1],
    [49, 1, 49, 1],
    [49, 1, 1, 49],
    [1, 49, 49, 1],
    [1, 49, 1, 49],
    [1, 1, 49, 49],
    [33, 33, 33, 1],
    [33, 33, 1, 33],
    [33, 1, 33, 33],
    [1, 33, 33, 33],
];

const NAMES: [&str; 15] = [
    "w0", "w1", "w2", "w3", "w4", "w5", "w6", "w7", "w8", "w9", "w10", "w11", "w12", "w13", "w14",
];

/// The 15 expected workloads (Endure, table 2).
pub fn expected_workloads() -> [ExpectedWorkload; 15] {
    std::array::from_fn(|at| ExpectedWorkload {
        name: NAMES[at],
        category: match at {
            0 => "uniform",
            1..=4 => "unimodal",
            5..=10 => "bimodal",
            _ => "trimodal",
        },
        workload: Workload::computed(PERCENT[at].map(f64::from)),
    })
}

/// What the authors tuned an expected workload to, and what they measured.
#[derive(Clone, PartialEq, Debug)]
pub struct PublishedTunings {
    /// The expected workload's name.
    pub name: &'static str,
    /// Their nominal tuning.
    pub nominal: Tuning,
    /// Their robust tuning, with filters of at least 1 bit per entry. The text
    /// does not say for which divergence.
    pub robust: Tuning,
    /// Throughput gained by the robust tuning over the whole sequence of
    /// sessions, measured on RocksDB (delta).
    pub measured_gain: f64,
}

type Row = (f64, f64, char, f64, f64, f64);

/// Table 3 of Endure: T, m_filt/N and policy of the nominal tuning; T and
/// m_filt/N of the robust one, which is leveling throughout; measured gain.
const TABLE_3: [Row; 15] = [
    (5.2, 3.5, 'L', 5.1, 3.1, 0.0),
    (5.7, 9.4, 'L', 5.0, 4.2, 0.0),
    (5.8, 5.3, 'L', 5.0, 1.0, 0.1),
    (100.0, 0.0, 'L', 5.4, 1.0, 0.4),
    (17.0, 3.2, 'T', 4.6, 1.0, 1.5),
    (5.5, 8.8, 'L', 5.1, 3.9, 0.1),
    (63.0, 4.8, 'L', 8.2, 1.0, 0.8),
    (8.4, 8.2, 'T', 3.4, 1.0, 0.5),
    (62.0, 0.0, 'L', 8.0, 1.0, 0.6),
    (8.3, 6.9, 'T', 3.3, 1.0, 0.8),
    (5.0, 0.0, 'L', 5.0, 1.0, 0.0),
    (47.0, 4.7, 'L', 11.0, 1.9, 1.4),
    (6.2, 8.1, 'T', 2.8, 3.1, 0.2),
    (5.1, 3.5, 'L', 5.0, 1.0, -0.1),
    (5.1, 0.0, 'L', 5.0, 1.0, -0.1),
];

/// The authors' tunings of the 15 expected workloads, to the digits printed
/// (Endure, table 3).
pub fn published_tunings() -> [PublishedTunings; 15] {
    let tuning = |size_ratio, filter_bits_per_entry, policy| Tuning {
        size_ratio,
        filter_bits_per_entry,
        policy,
    };
    std::array::from_fn(|at| {
        let (ratio, bits, policy, robust_ratio, robust_bits, measured_gain) = TABLE_3[at];
        let policy = match policy {
            'T' => RunPolicy::Tiering,
            _ => RunPolicy::Leveling,
        };
        PublishedTunings {
            name: NAMES[at],
            nominal: tuning(ratio, bits, policy),
            robust: tuning(robust_ratio, robust_bits, RunPolicy::Leveling),
            measured_gain,
        }
    })
}
