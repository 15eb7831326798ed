//! The published features by hand.

use crate::space::{BuiltIn, Configuration, Constants, Setting, Space};

fn dremel(entries: f64) -> Space {
    let file = BuiltIn::Dremel.file().expect("reads");
    let constants = Constants::new().with("entries", entries);
    file.with(&constants).expect("is legal")
}

fn with(space: &Space, settings: &[(&str, i64)]) -> Configuration {
    let mut configuration = space.default_configuration();
    for (name, value) in settings {
        configuration.set(*name, Setting::Integer(*value));
    }
    configuration
}

fn features(space: &Space, configuration: &Configuration) -> Vec<f64> {
    space.feature_values(configuration).expect("finite")
}

fn near(found: f64, wanted: f64) {
    assert!((found / wanted - 1.0).abs() < 1e-9, "{found} for {wanted}");
}

const MIB: f64 = 1_048_576.0;

#[test]
fn the_defaults_by_hand() {
    // C=4 T=10 R=1 F=64 MiB L=10 Q=6 W=64 MiB M=2 B=4096 H=1 U=1.
    let space = dremel(1e7);
    let found = features(&space, &space.default_configuration());
    let levels = (1e7 * 1040.0 / (4.0 * 64.0 * MIB) * 0.9_f64).log10();
    assert!((1.0..2.0).contains(&levels), "{levels}");
    // R = 1: the limit of (R - R^(1-n)) / (R - 1) is n.
    near(found[0], 1.0 / 10.0 * 11.0 / (64.0 * MIB) * levels);
    near(found[1], 1.0 / (512.0 * MIB) + 1.0 / (384.0 * MIB));
    near(found[2], (4.0 + levels) / 4096.0);
    near(found[3], (1024.0 - 384.0) * MIB);
}

#[test]
fn file_sizes_that_grow_make_fewer_compactions() {
    // R=2 and n=3: 1 + 1/2 + 1/4, with T=5, C=2, F=32 MiB, 5^3 = N(K+V)/(CF)*4/5.
    let entries = 125.0 * 5.0 / 4.0 * 2.0 * 32.0 * MIB / 1040.0;
    let space = dremel(entries);
    let configuration = with(
        &space,
        &[
            ("target_file_size_multiplier", 2),
            ("max_bytes_for_level_multiplier", 5),
            ("level0_file_num_compaction_trigger", 2),
            ("target_file_size_base", 32 << 20),
            ("max_background_compactions", 4),
        ],
    );
    let found = features(&space, &configuration);
    near(found[0], 4.0 / 10.0 * 6.0 / (32.0 * MIB) * 1.75);
    near(found[2], (2.0 + 3.0) / 4096.0);
}

#[test]
fn the_levels_stay_between_one_and_their_number() {
    let few = dremel(1000.0);
    let found = features(&few, &few.default_configuration());
    near(found[2], (4.0 + 1.0) / 4096.0);
    let many = dremel(1e18);
    let found = features(&many, &many.default_configuration());
    near(found[2], (4.0 + 10.0) / 4096.0);
}
