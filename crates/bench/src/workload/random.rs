//! A workload drawn from a seed, so that nothing can be tuned to the shipped ones.

use super::rate::Rate;
use super::schema::{Fill, FillOrder, KeyOrder, Keys, Mix, Session, Size, Workload};
use crate::generate::Rng;

/// Draws a workload of six to ten sessions; the same seed gives the same workload.
pub fn random_workload(seed: u64) -> Workload {
    let mut rng = Rng::new(&[seed, 0x72616e64]);
    let count = 6 + rng.below(5);
    Workload {
        name: format!("random-{seed}"),
        about: format!("Sessions drawn from seed {seed}."),
        entries: 2_000_000,
        key_size: 24,
        value_size: Size::Fixed([200, 500, 1000][rng.below(3) as usize]),
        compressible_share: 0.5,
        key_order: KeyOrder::Hashed,
        fill: Fill {
            order: FillOrder::Random,
            updates_per_entry: 0.0,
            random_phase: 0.1,
            share: 1.0,
        },
        sessions: (0..count).map(|i| random_session(i, &mut rng)).collect(),
    }
}

fn random_session(number: u64, rng: &mut Rng) -> Session {
    let mix = random_mix(rng);
    let quiet = rng.below(8) == 0;
    let scan_length = Size::Fixed([10, 50, 100][rng.below(3) as usize]);
    // Scans and reads cost more than writes: fewer of them take the same time.
    let read_share = 1.0 - (mix.put + mix.update + mix.delete) / mix.weights().iter().sum::<f64>();
    let per_entry = if quiet { 0.01 } else { 0.5 - 0.4 * read_share };
    Session {
        name: format!("drawn-{}", number + 1),
        operations_per_entry: Some((per_entry * 1000.0).round() / 1000.0),
        operations: None,
        seconds: None,
        rate: if quiet {
            Rate::Constant { per_second: 1000.0 }
        } else {
            Rate::Closed
        },
        keys: random_keys(rng),
        scan_length,
        mix,
    }
}

/// Two or three kinds of operations with weights in tens; deletes stay rarer than puts.
fn random_mix(rng: &mut Rng) -> Mix {
    let mut weight = || (1 + rng.below(9)) as f64 * 10.0;
    let (major, minor, third) = (weight(), weight(), weight());
    match rng.below(6) {
        0 => Mix {
            update: major,
            get_present: minor,
            ..Mix::default()
        },
        1 => Mix {
            update: major,
            scan: minor,
            ..Mix::default()
        },
        2 => Mix {
            get_absent: major,
            update: minor,
            get_present: third,
            ..Mix::default()
        },
        3 => Mix {
            put: major,
            get_present: minor,
            scan: third,
            ..Mix::default()
        },
        4 => Mix {
            put: major,
            delete: major.min(minor) / 2.0,
            get_present: third,
            ..Mix::default()
        },
        _ => Mix {
            scan: major,
            get_absent: minor,
            put: third,
            ..Mix::default()
        },
    }
}

fn random_keys(rng: &mut Rng) -> Keys {
    match rng.below(4) {
        0 | 1 => Keys::Uniform,
        2 => Keys::Zipf {
            theta: [0.7, 0.99][rng.below(2) as usize],
        },
        _ => Keys::HotSet {
            fraction: 0.1,
            share: 0.8,
        },
    }
}
