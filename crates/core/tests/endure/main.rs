//! Tunings against brute force: what the search finds is never missed by a grid,
//! and never worse than anything on it.

mod grid;
mod limits;
mod spaces;
mod uncertainty;

use lissom_core::cost_model::{CostModel, System, Workload};
use lissom_core::filters::FilterAllocation;
use lissom_core::robust::Neighbourhood;

/// Numbers in [0, 1) from a seed (splitmix64).
fn uniform(mut seed: u64) -> impl FnMut() -> f64 {
    move || {
        seed = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = seed;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((bits ^ (bits >> 31)) >> 11) as f64 / (1u64 << 53) as f64
    }
}

fn published() -> CostModel {
    CostModel::new(System::published(), FilterAllocation::Monkey).expect("a legal system")
}

/// A system of random sizes: 10^4 to 10^9 entries, 1 to 20 bits of memory each.
fn random_model(random: &mut impl FnMut() -> f64) -> CostModel {
    let entries = 10f64.powf(4.0 + 5.0 * random());
    let memory = entries * (1.0 + 19.0 * random());
    let system = System {
        entries: entries as u64,
        entry_bits: (8.0 * 2f64.powf(4.0 + 8.0 * random())) as u64,
        memory_bits: memory as u64,
        min_buffer_bits: (memory * (0.01 + 0.2 * random())) as u64,
        page_entries: 1.0 + 100.0 * random().powi(3),
        range_selectivity: 10.0 * random() / entries,
        write_asymmetry: 3.0 * random(),
    };
    let filters = if random() < 0.5 {
        FilterAllocation::Monkey
    } else {
        FilterAllocation::Uniform
    };
    CostModel::new(system, filters).expect("a legal system")
}

fn random_near(random: &mut impl FnMut() -> f64) -> Neighbourhood {
    let expected = Workload::from_counts([(); 4].map(|()| random().powi(3))).expect("not all 0");
    let rho = if random() < 0.2 { 0.0 } else { 4.0 * random() };
    Neighbourhood::new(expected, rho).expect("at least 0")
}
