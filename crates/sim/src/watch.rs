//! What a session is judged by beside its time.

use crate::outcome::Offered;

/// A second of which less is left is over.
const NOTHING: f64 = 1e-9;

/// Time in which nothing changed.
pub(crate) struct Passed {
    pub(crate) seconds: f64,
    /// Operations a second that were done.
    pub(crate) done: f64,
    /// Operations a second that fell due; infinite in a closed loop.
    pub(crate) offered: f64,
    /// Bytes a second that flushes and compactions read and wrote.
    pub(crate) background: f64,
    /// Whether writers were held back.
    pub(crate) held_back: bool,
}

/// Sums of the second that runs.
#[derive(Clone, Copy, Default)]
struct Second {
    passed: f64,
    done: f64,
    offered: f64,
    background: f64,
}

/// Watches one session.
#[derive(Clone, Default)]
pub(crate) struct Watch {
    /// Seconds for which writers have been held back without a break.
    held_back: f64,
    longest_held_back: f64,
    level0_files: usize,
    level0_bytes: f64,
    busiest: f64,
    second: Second,
    offered: Option<Offered>,
}

impl Watch {
    /// A session begins, with an offered rate or without.
    pub(crate) fn new(is_open: bool) -> Watch {
        Watch {
            offered: is_open.then(Offered::default),
            ..Watch::default()
        }
    }

    /// L0 has changed.
    pub(crate) fn level0(&mut self, files: usize, bytes: f64) {
        self.level0_files = self.level0_files.max(files);
        self.level0_bytes = self.level0_bytes.max(bytes);
    }

    /// Time passes.
    pub(crate) fn pass(&mut self, step: &Passed) {
        self.held_back = if step.held_back {
            self.held_back + step.seconds
        } else {
            0.0
        };
        self.longest_held_back = self.longest_held_back.max(self.held_back);
        let mut left = step.seconds;
        while left > 0.0 {
            let part = left.min(1.0 - self.second.passed);
            self.second.add(step, part);
            left -= part;
            if self.second.passed >= 1.0 - NOTHING {
                self.end_second();
            }
        }
    }

    fn end_second(&mut self) {
        let second = std::mem::take(&mut self.second);
        self.busiest = self.busiest.max(second.background);
        if let Some(offered) = &mut self.offered {
            offered.note(second.done, second.offered);
        }
    }

    /// Longest time for which writers were held back without a break, seconds.
    pub(crate) fn longest_held_back(&self) -> f64 {
        self.longest_held_back
    }

    /// Most files of L0, and most bytes.
    pub(crate) fn peak_level0(&self) -> (usize, f64) {
        (self.level0_files, self.level0_bytes)
    }

    /// Most bytes that flushes and compactions moved within a second.
    pub(crate) fn busiest_second(&self) -> f64 {
        self.busiest.max(self.second.background)
    }

    /// Throughput against the offered rate; `None` in a closed loop.
    pub(crate) fn offered(&self) -> Option<Offered> {
        self.offered.clone()
    }
}

impl Second {
    fn add(&mut self, step: &Passed, seconds: f64) {
        self.passed += seconds;
        self.done += step.done * seconds;
        self.offered += step.offered * seconds;
        self.background += step.background * seconds;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn passed(seconds: f64, done: f64, held_back: bool) -> Passed {
        Passed {
            seconds,
            done,
            offered: 100.0,
            background: done,
            held_back,
        }
    }

    #[test]
    fn seconds_are_judged_whole_wherever_steps_end() {
        let mut watch = Watch::new(true);
        watch.pass(&passed(0.5, 100.0, false));
        watch.pass(&passed(0.25, 0.0, true));
        watch.pass(&passed(0.5, 40.0, true));
        watch.pass(&passed(2.0, 130.0, false));
        watch.pass(&passed(0.5, 0.0, true));
        let seen = watch.offered().expect("a rate was offered");
        let near = |a: f64, b: f64| (a - b).abs() < 1e-6;
        // 60 operations; then 10 and three quarters of 130; then 130; a part is left.
        assert_eq!((seen.seconds, seen.dips), (3, 1));
        assert!(near(seen.slowest, 0.6), "{seen:?}");
        assert!(near(seen.throughput[1], 107.5), "{seen:?}");
        assert!(near(watch.longest_held_back(), 0.75));
        assert!(near(watch.busiest_second(), 130.0));
    }

    #[test]
    fn a_closed_loop_is_offered_nothing() {
        let mut watch = Watch::new(false);
        watch.level0(3, 5.0);
        watch.level0(2, 7.0);
        watch.pass(&Passed {
            offered: f64::INFINITY,
            ..passed(3.0, 50.0, false)
        });
        assert_eq!(watch.offered(), None);
        assert_eq!(watch.peak_level0(), (3, 7.0));
    }
}
