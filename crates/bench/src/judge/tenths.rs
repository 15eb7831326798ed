//! A long run by tenths: is its memory flat?

use super::parts::LONG_SECONDS;
use crate::drive::Sample;
use crate::run::ArmRun;

/// Parts of equal length.
pub const TENTHS: usize = 10;

/// What there was at the end of one of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tenth {
    /// Resident bytes without the harness's own.
    pub memory_bytes: u64,
    /// Table files of the tree.
    pub files: u32,
}

impl Tenth {
    fn of(run: &ArmRun, sample: &Sample) -> Self {
        let resident = sample.process.resident_bytes;
        Self {
            memory_bytes: resident.saturating_sub(run.totals.baseline_resident_bytes),
            files: sample.levels.iter().map(|it| it.files).sum(),
        }
    }
}

/// The tenths of a run over all its sessions, in order, each by the sample in which it ended.
/// `None` where samples last less than ten minutes together.
pub fn judge_tenths(run: &ArmRun) -> Option<[Tenth; TENTHS]> {
    let mut passed = 0.0;
    let mut ends = Vec::with_capacity(run.samples.len());
    for sample in &run.samples {
        passed += sample.seconds;
        ends.push((passed, sample));
    }
    let &(seconds, last) = ends.last()?;
    if seconds < LONG_SECONDS {
        return None;
    }
    Some(std::array::from_fn(|tenth| {
        let border = seconds * (tenth + 1) as f64 / TENTHS as f64;
        // Sums and shares are not exact to the last digit.
        let reached = ends.iter().find(|(end, _)| *end >= border - 1e-6);
        Tenth::of(run, reached.map_or(last, |(_, sample)| *sample))
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::drive::ProcessUse;
    use crate::store::LevelShape;

    const MEBI: u64 = 1 << 20;

    /// The end of so many seconds, with 10 MiB of the harness and 100 of the store's, and 20
    /// files below L0. `number` more of each tells it from others.
    fn sample(session: usize, seconds: f64, number: u32) -> Sample {
        let level = |level, files| LevelShape {
            level,
            files,
            ..LevelShape::default()
        };
        Sample {
            seconds,
            session,
            process: ProcessUse {
                resident_bytes: (110 + u64::from(number)) * MEBI,
                ..ProcessUse::default()
            },
            levels: vec![level(0, number), level(1, 20)],
            ..Sample::default()
        }
    }

    /// Four samples of 100 s in one session, four of 50 s in the next.
    fn ten_minutes() -> ArmRun {
        let mut run = crate::judge::tests::run("fixed-1", 0, [1.0; 3]);
        run.totals.baseline_resident_bytes = 10 * MEBI;
        let first = (0..4).map(|number| sample(0, 100.0, number));
        let second = (4..8).map(|number| sample(1, 50.0, number));
        run.samples = first.chain(second).collect();
        run
    }

    #[test]
    fn tenths_are_of_the_time_of_all_sessions() {
        // Samples end after 100, 200, 300, 400, 450, 500, 550 and 600 s, tenths after each 60.
        let reached = [0_u32, 1, 1, 2, 2, 3, 4, 5, 6, 7];
        let expected = reached.map(|number| Tenth {
            memory_bytes: (100 + u64::from(number)) * MEBI,
            files: 20 + number,
        });
        assert_eq!(judge_tenths(&ten_minutes()), Some(expected));
    }

    #[test]
    fn a_shorter_run_has_none() {
        let mut run = ten_minutes();
        run.samples[7].seconds -= 1.0;
        assert_eq!(judge_tenths(&run), None);
        run.samples.clear();
        assert_eq!(judge_tenths(&run), None, "published without samples");
    }
}
