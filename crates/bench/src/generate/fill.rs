//! The load, and the updates that bring the tree to a phase.

use super::rng::Rng;
use crate::workload::{Fill, FillOrder};

/// The key numbers 0..entries in loading order.
pub fn load_order(fill: &Fill, entries: u64, seed: u64) -> impl Iterator<Item = u64> + use<> {
    let mut rng = Rng::new(&[seed, 0x6c6f_6164]);
    let (step, start) = match fill.order {
        FillOrder::Numbered => (1, 0),
        FillOrder::Random => (coprime_step(&mut rng, entries), rng.below(entries)),
    };
    (0..entries).map(move |i| {
        ((u128::from(i) * u128::from(step) + u128::from(start)) % u128::from(entries)) as u64
    })
}

/// A step that visits every residue modulo `entries` once.
fn coprime_step(rng: &mut Rng, entries: u64) -> u64 {
    loop {
        let step = entries / 3 + rng.below(entries / 3 + 1) + 1;
        if greatest_common_divisor(step, entries) == 1 {
            return step;
        }
    }
}

fn greatest_common_divisor(mut a: u64, mut b: u64) -> u64 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

/// Updates after the load in round `round`: the fixed part, and the round's own share
/// of the random part. The same for every arm.
pub fn phase_updates(fill: &Fill, entries: u64, seed: u64, round: u32) -> u64 {
    let share = Rng::new(&[seed, 0x7068_6173, u64::from(round)]).unit();
    ((fill.updates_per_entry + share * fill.random_phase) * entries as f64) as u64
}
