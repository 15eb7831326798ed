//! Random settings, policies and limits.

use std::time::Duration;

use lissom::core::filters::FilterAllocation;
use lissom::core::observation::Mission;
use lissom::core::shape::{RunLimit, RunLimits};
use lissom::core::tuner::{Change, Policy, Question, Trial, TrialId, Tuner};
use lissom::core::{Layout, LogicalLevel, Transition};
use lissom::{Compression, Settings};

use crate::random::Random;

fn random_limits(random: &mut Random) -> RunLimits {
    let most = u64::from(Layout::V1.max_run_limit());
    let mut limits = RunLimits::uniform(RunLimit::clamped(random.within(1, most) as u16));
    for level in 1..=random.below(5) {
        let limit = RunLimit::clamped(random.within(1, most) as u16);
        limits.set(LogicalLevel(level as u16), limit);
    }
    limits
}

pub fn random_policy(random: &mut Random) -> Policy {
    match random.below(6) {
        0 => Policy::LazyLeveling,
        1 => Policy::Thresholds {
            low: 0.3,
            high: 0.5,
        },
        _ => Policy::Fixed(random_limits(random)),
    }
}

pub fn random_settings(random: &mut Random) -> Settings {
    let trigger = random.within(1, 4) as u32;
    Settings {
        policy: random_policy(random),
        transition: random.pick(&[
            Transition::Flexible,
            Transition::Lazy,
            Transition::Greedy,
            Transition::FileGranular,
        ]),
        size_ratio: random.pick(&[2, 3, 4, 10]),
        level_compaction_dynamic_level_bytes: random.pick(&[false, true]),
        write_buffer_size: 64 << 10,
        max_write_buffer_number: random.within(2, 4) as u32,
        memory_budget_bytes: 16 << 20,
        level0_file_num_compaction_trigger: trigger,
        level0_slowdown_writes_trigger: random.pick(&[6, 12, 20]),
        target_file_size_base: random.pick(&[4 << 10, 16 << 10, 64 << 10]),
        filters: random.pick(&[FilterAllocation::Uniform, FilterAllocation::Monkey]),
        bloom_bits_per_key: random.pick(&[0.0, 3.0, 10.0]),
        compression: random.pick(&[
            vec![Compression::None],
            vec![Compression::None, Compression::Lz4],
        ]),
        workers: random.within(1, 3) as usize,
        idle_cpu_priority: random.within(0, 3) > 0,
        idle_io_priority: random.within(0, 3) > 0,
        max_subcompactions: random.within(1, 2) as u32,
        max_space_amplification: random.pick(&[1.1, 2.0, 100.0]),
        tombstone_share: random.pick(&[0.05, 0.5, 1.0]),
        mission_operations: random.pick(&[50, 500, 5_000]),
        mission_time: Duration::from_millis(10),
        max_journal_bytes: random.pick(&[64 << 10, 1 << 20]),
        ..Settings::default()
    }
}

/// A tuner that answers anything that limits may be, at every question.
pub struct Whims {
    random: Random,
    asked: u64,
}

impl Whims {
    pub fn new(random: Random) -> Whims {
        Whims { random, asked: 0 }
    }
}

impl Tuner for Whims {
    fn name(&self) -> String {
        "whims".into()
    }

    fn ask(&mut self, seen: &Question<'_>) -> Trial {
        self.asked += 1;
        let limits = random_limits(&mut self.random);
        let changes = seen.changes(&limits, |_| "a whim".into());
        let mut whim = || Change {
            level: LogicalLevel(self.random.within(1, 4) as u16),
            why: "a whim".into(),
        };
        let [consolidate, push_down, abandon] = [(); 3].map(|()| vec![whim()]);
        Trial {
            id: TrialId(self.asked),
            limits,
            changes,
            consolidate,
            push_down,
            abandon,
            waits: Vec::new(),
        }
    }

    fn tell(&mut self, _: TrialId, _: &Mission) {}
}
