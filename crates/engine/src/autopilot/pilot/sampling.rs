//! Samples of a tree, for how much of it users can still read: only where its bound on space
//! asks, and a few stretches in each look, for the planner waits for them.

use std::time::{Duration, Instant};

use lissom_core::live::{Stretch, starts};
use lissom_core::{Key, Live, LiveSample, Observation, Tree, planner};

use crate::error::Result;

/// Stretches that a look reads: some hundred blocks.
const IN_A_LOOK: usize = 4;

/// When a sample is tried again after one that could not be read, or told nothing.
const TRY_AGAIN: Duration = Duration::from_secs(600);

/// What is known of the data in a tree, and the sample that is being read.
pub(super) struct Sampling {
    known: Live,
    under_way: Option<UnderWay>,
    failed_at: Option<Instant>,
}

struct UnderWay {
    /// As it was when the sample began.
    tree: Tree,
    /// Where the stretches begin that are still to be read.
    left: Vec<Key>,
    stretches: Vec<Stretch>,
}

impl Sampling {
    /// One that reads samples, or never does, where they would count as operations of users.
    pub(super) fn new(reads: bool) -> Sampling {
        Sampling {
            known: if reads { Live::Awaited } else { Live::Unknown },
            under_way: None,
            failed_at: None,
        }
    }

    /// Whether the next look reads more.
    pub(super) fn has_more(&self) -> bool {
        self.under_way.is_some()
    }

    /// Tells the observation what is known, once `read` was asked for some stretches where more
    /// is to be known. Returns what has just become known.
    ///
    /// # Errors
    /// `read`'s; the bound on space is judged without a sample then, for a while.
    pub(super) fn complete(
        &mut self,
        seen: &mut Observation,
        now: Instant,
        read: impl FnMut(&Key) -> Result<Stretch>,
    ) -> Result<Option<LiveSample>> {
        let is_over = |at| now.duration_since(at) >= TRY_AGAIN;
        if self.failed_at.take_if(|at| is_over(*at)).is_some() {
            self.known = Live::Awaited;
        }
        seen.live = self.known;
        if self.under_way.is_none() && planner::wants_sample(seen) {
            self.under_way = Some(UnderWay::begin(&seen.tree));
        }
        let Some(under_way) = &mut self.under_way else {
            return Ok(None);
        };
        let outcome = under_way.go_on(read);
        if outcome.is_ok() && !under_way.left.is_empty() {
            return Ok(None);
        }
        let told = under_way.told().filter(|_| outcome.is_ok());
        self.end(told, now);
        seen.live = self.known;
        outcome.map(|()| told)
    }

    fn end(&mut self, told: Option<LiveSample>, now: Instant) {
        self.under_way = None;
        self.known = told.map_or(Live::Unknown, Live::Sampled);
        self.failed_at = told.is_none().then_some(now);
    }
}

impl UnderWay {
    fn begin(tree: &Tree) -> UnderWay {
        UnderWay {
            tree: tree.clone(),
            left: starts(tree),
            stretches: Vec::new(),
        }
    }

    fn go_on(&mut self, mut read: impl FnMut(&Key) -> Result<Stretch>) -> Result<()> {
        for _ in 0..IN_A_LOOK {
            if let Some(start) = self.left.pop() {
                self.stretches.push(read(&start)?);
            }
        }
        Ok(())
    }

    fn told(&self) -> Option<LiveSample> {
        LiveSample::of(&self.tree, &self.stretches)
    }
}

#[cfg(test)]
mod tests {
    use lissom_core::testing::{numbered_files, small_shape};
    use lissom_core::{RunLimit, RunLimits, Shape, TreeState};

    use super::*;
    use crate::error::Error;

    /// Forty files over a run of 20: three times what the oldest run holds.
    fn seen() -> Observation {
        let (mut oldest, mut newer) = (numbered_files(60), numbered_files(60));
        oldest.truncate(20);
        newer.retain(|file| file.number > 20);
        let shape = Shape {
            max_space_amplification: 2.0,
            ..small_shape()
        };
        let mut levels = vec![Vec::new(); usize::from(shape.layout.num_levels())];
        let (_, last) = shape.layout.span(lissom_core::LogicalLevel(1));
        levels[usize::from(last.0)] = oldest;
        levels[usize::from(last.0) - 1] = newer;
        let tree = Tree::new(levels).expect("runs");
        let limits = RunLimits::uniform(RunLimit::clamped(9));
        Observation::quiet(shape, tree, TreeState::new(limits), 2)
    }

    /// Looks until nothing more is read; what is known then, and the stretches that were read.
    fn look(sampling: &mut Sampling, now: Instant, stretch: Option<Stretch>) -> (Live, usize) {
        let (mut read, mut seen) = (0, seen());
        for _ in 0..100 {
            let _outcome = sampling.complete(&mut seen, now, |_| {
                read += 1;
                stretch.ok_or_else(|| Error::fix("no"))
            });
            if !sampling.has_more() {
                break;
            }
            assert_eq!(seen.live, Live::Awaited, "it is under way");
        }
        (seen.live, read)
    }

    fn stretch(passed: u64) -> Option<Stretch> {
        Some(Stretch { live: 64, passed })
    }

    #[test]
    fn a_sample_is_read_once_and_told_from_then_on() {
        let mut sampling = Sampling::new(true);
        let now = Instant::now();
        let (told, read) = look(&mut sampling, now, stretch(64));
        assert!(matches!(told, Live::Sampled(_)), "{told:?}");
        assert_eq!(read, lissom_core::live::STRETCHES);
        assert_eq!(look(&mut sampling, now, stretch(64)), (told, 0));
    }

    #[test]
    fn nothing_is_read_where_it_would_count_as_users() {
        let mut sampling = Sampling::new(false);
        let told = look(&mut sampling, Instant::now(), stretch(64));
        assert_eq!(told, (Live::Unknown, 0));
    }

    #[test]
    fn what_cannot_be_read_is_left_alone_for_a_while() {
        let mut sampling = Sampling::new(true);
        let now = Instant::now();
        assert_eq!(look(&mut sampling, now, None), (Live::Unknown, 1));
        assert_eq!(look(&mut sampling, now, stretch(64)), (Live::Unknown, 0));
        let (told, _) = look(&mut sampling, now + TRY_AGAIN, stretch(64));
        assert!(matches!(told, Live::Sampled(_)), "{told:?}");
    }

    #[test]
    fn few_entries_tell_nothing() {
        let mut sampling = Sampling::new(true);
        let few = Some(Stretch { live: 3, passed: 3 });
        let (told, _) = look(&mut sampling, Instant::now(), few);
        assert_eq!(told, Live::Unknown);
    }
}
