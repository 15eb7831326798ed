//! The load models against what the kernel counted.

use super::interval_tests::{run_of, second};
use super::*;
use crate::drive::{ProcessUse, Sample};
use crate::store::{Background, UserLoad};

/// Users who move 3 MB a second, beside 5 MB a second of flushes and compactions.
fn counted(at: u32, gets: u64) -> Sample {
    let seconds = u64::from(at);
    Sample {
        process: ProcessUse {
            device_read_bytes: 4_000_000 * seconds,
            device_written_bytes: 4_000_000 * seconds,
            ..ProcessUse::default()
        },
        background: Background {
            flushed_bytes: 1_000_000 * seconds,
            compaction_read_bytes: 2_000_000 * seconds,
            compaction_written_bytes: 2_000_000 * seconds,
            ..Background::default()
        },
        user_load: Some(UserLoad {
            seconds: f64::from(at),
            gets: gets * seconds,
            cached_bytes: 4_000_000 * seconds,
            logged_bytes: 1_000_000 * seconds,
            compressed_share: 0.5,
            entry_bytes: 1_000.0,
            ..UserLoad::default()
        }),
        ..second(0, at, 10.0, 1.0)
    }
}

#[test]
fn load_models_are_held_against_the_kernel() {
    let run = run_of((1..=32).map(|at| counted(at, 1_500)).collect());
    let errors = judge_load_models(&run, 0, 4).unwrap();
    assert_eq!(errors.processors, None, "nobody looked at them");
    let seen = errors.bytes.unwrap();
    assert_eq!(seen.kernel, 3e6);
    let of = |name: &str| {
        let at = MODELS.iter().position(|(known, _)| *known == name);
        seen.models[at.unwrap()]
    };
    assert_eq!(of("cache-additions"), ModelError::default());
    assert_eq!((of("operations").bias, of("operations").error), (-0.5, 0.5));
    assert_eq!((of("weighted").bias, of("weighted").error), (7.0, 7.0));
    let scaled = ["operations", "weighted"].map(|name| of(name).scaled_error);
    assert!(scaled.iter().all(|error| *error < 1e-9), "{scaled:?}");
}

/// After the eleventh second gets come at twice the rate, of which the device notices nothing.
#[test]
fn a_constant_factor_mends_no_model_that_does_not_follow_the_load() {
    let mut samples: Vec<Sample> = (1..=32).map(|at| counted(at, 1_500)).collect();
    for sample in &mut samples[11..] {
        let load = sample.user_load.as_mut().unwrap();
        load.gets += 1_500 * (load.seconds as u64 - 11);
    }
    let seen = judge_load_models(&run_of(samples), 0, 4).unwrap();
    let weighted = seen.bytes.unwrap().models[2];
    // Windows of 24, 48 and 48 MB/s against 3: a sixteenth is the best factor.
    assert!((weighted.bias - 37.0 / 3.0).abs() < 1e-9, "{weighted:?}");
    let over = weighted.scaled_error - 0.5 / 3.0;
    assert!(over.abs() < 1e-9, "{weighted:?}");
}

/// Users keep one of four processors busy beside half of one in the background, and the model
/// says 1.2 of them; after the eleventh second there are twice as many users, and it says so.
#[test]
fn the_model_that_looks_at_the_processors_is_held_against_their_time() {
    let taken = |at: u32| u64::from(at) + u64::from(at.saturating_sub(11));
    let mut samples: Vec<Sample> = (1..=32).map(|at| counted(at, 1)).collect();
    for (sample, at) in samples.iter_mut().zip(1..) {
        let background = 500_000 * u64::from(at);
        sample.process.background_cpu_micros = background;
        sample.process.cpu_micros = background + 1_000_000 * taken(at);
        let load = sample.user_load.as_mut().unwrap();
        load.user_cpu = Some(0.3 * taken(at) as f64 / load.seconds);
    }
    let near = |one: f64, other: f64| (one - other).abs() < 1e-9;
    let judged = |samples: &[Sample]| judge_load_models(&run_of(samples.to_vec()), 0, 4).unwrap();
    let seen = judged(&samples).processors.unwrap();
    // Ten seconds of one processor, then twenty of two.
    assert!(near(seen.kernel, 50.0 / 120.0), "{seen:?}");
    assert!(near(seen.model.bias, 0.2) && near(seen.model.error, 0.2));
    assert!(near(seen.model.scaled_error, 0.0), "{seen:?}");
    for sample in &mut samples {
        sample.process.device_read_bytes = 0;
        sample.process.device_written_bytes = 0;
    }
    let cached = judged(&samples);
    assert_eq!(cached.bytes, None, "all came from the kernel's cache");
    assert_eq!(cached.processors, Some(seen));
}

#[test]
fn without_counts_no_model_is_judged() {
    let mut run = run_of((1..=32).map(|at| counted(at, 1)).collect());
    assert!(judge_load_models(&run, 0, 4).is_some());
    for sample in &mut run.samples {
        sample.process = ProcessUse::default();
    }
    assert_eq!(judge_load_models(&run, 0, 4), None);
    let short = run_of((1..=9).map(|at| counted(at, 1)).collect());
    assert_eq!(judge_load_models(&short, 0, 4), None);
    let stock = run_of((1..=32).map(|at| second(0, at, 1.0, 1.0)).collect());
    assert_eq!(judge_load_models(&stock, 0, 4), None);
}
