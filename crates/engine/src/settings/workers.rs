//! Workers, and the background jobs of RocksDB's among which their compactions count.

use super::Settings;

impl Settings {
    /// The `max_background_jobs` that RocksDB is given: room for all workers'
    /// compactions, which count among its own, for one more, so that its
    /// emergency brake on L0 is never out of turn, and for flushes.
    pub fn max_background_jobs(&self) -> usize {
        (self.workers + 2..)
            .find(|jobs| workers_under(*jobs) >= self.workers)
            .expect("some number of jobs is large enough")
    }
}

/// Workers that may run under a number of background jobs: RocksDB keeps a
/// quarter of the jobs, at least one, for flushes, and one compaction is left to
/// it.
pub(crate) fn workers_under(max_background_jobs: usize) -> usize {
    let flushes = (max_background_jobs / 4).max(1);
    max_background_jobs.saturating_sub(flushes + 1).max(1)
}

/// No store may have more.
pub(super) const MOST: usize = 64;

/// As many as [`Settings::workers`] is by default.
pub(super) fn by_processors() -> usize {
    of_processors(std::thread::available_parallelism().map_or(2, usize::from))
}

fn of_processors(processors: usize) -> usize {
    (processors / 4).clamp(2, MOST)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_default_is_legal_on_every_machine() {
        for (processors, workers) in [(1, 2), (8, 2), (128, 32), (260, 64), (1_024, 64)] {
            assert_eq!(of_processors(processors), workers);
            let settings = Settings {
                workers,
                ..Settings::default()
            };
            settings.check().expect("legal");
        }
    }
}
