//! Limits that are gone to at once: those that served a workload when it was last seen, and
//! those before something that has not proved itself.

use super::cost::Expected;
use super::learning::Part;
use super::lengths::Course;
use super::march::beside;
use super::memory::Remembered;
use super::phase::Phase;
use super::present::Turn;
use super::structure::Structure;
use super::{Learned, Wish, wish};
use crate::shape::RunLimits;
use crate::tuner::Question;

/// What the model expects under limits to come, and under the present ones.
#[derive(Clone, Copy, Debug)]
pub(super) struct Told {
    pub there: Expected,
    pub here: Expected,
}

/// A way back: while it is pinned, or waits for its levels, it is asked for again.
#[derive(Clone, Debug)]
pub(super) struct WayBack {
    pub from: RunLimits,
    pub to: RunLimits,
    why: String,
}

impl Learned {
    /// Asks for limits that were there before, until others than the present ones hold.
    pub(super) fn way_back(
        &mut self,
        seen: &Question<'_>,
        to: RunLimits,
        why: String,
    ) -> Option<Wish> {
        self.owed = Some(WayBack {
            from: seen.limits.clone(),
            to: to.clone(),
            why: why.clone(),
        });
        wish(seen, to, why)
    }

    /// The way back that was asked for and has not been gone.
    pub(super) fn ask_again(&mut self, seen: &Question<'_>) -> Option<Wish> {
        let owed = self.owed.take_if(|owed| !owed.from.is_same(seen.limits));
        if owed.is_some() {
            return None;
        }
        let WayBack { to, why, .. } = self.owed.clone()?;
        wish(seen, to, why)
    }

    /// Goes back where the store was closed before something had proved itself.
    pub(super) fn take_back(&mut self, seen: &Question<'_>) -> Option<Wish> {
        let back = self.undo.take()?;
        let unproved = self.unproved.take();
        let others_hold = unproved.is_some_and(|it| !it.is_same(seen.limits));
        if others_hold || back.is_same(seen.limits) {
            return None;
        }
        let told = self.foretell(seen, &back);
        let why = "what was tried had not proved itself when the store was closed";
        self.way_back(seen, back, format!("{why}; {}", sentence(told)))
    }

    /// Begins anew when the workload is another one. Returns what served it
    /// before, if it was seen before.
    pub(super) fn notice_change(&mut self, seen: &Question<'_>) -> Option<Wish> {
        // What the phase was measured under.
        let before = self.present.pattern;
        if self.present.see(seen.mission) != Turn::Other {
            return None;
        }
        self.memory = self.memory_with(before);
        self.imposed = None;
        let back = self.tried.take().map(|tried| tried.back);
        if before.is_some() {
            self.turned = true;
            self.lengths.learn(&self.course);
        }
        let remembered = self.remembered();
        let phase = Phase::new(self.learning.has(Part::Spread));
        self.phase = match &remembered {
            Some(known) => phase.remembering(&known.bars, known.one_by_one),
            None => phase,
        };
        self.course = Course::default();
        self.course.pass(seen.mission.duration);
        self.march = None;
        self.cost.begin_anew();
        match remembered {
            Some(remembered) => {
                // What served this workload stands above a way back under another.
                self.owed = None;
                self.serve_again(seen, remembered.limits)
            }
            None => self.end_with_workload(seen, back?),
        }
    }

    fn remembered(&self) -> Option<Remembered> {
        let found = self.memory.find(&self.present.pattern?, self.data);
        found.filter(|_| self.learning.has(Part::Memory)).cloned()
    }

    fn serve_again(&mut self, seen: &Question<'_>, limits: RunLimits) -> Option<Wish> {
        self.phase.measure_first();
        if limits.is_same(seen.limits) {
            return None;
        }
        let told = self.foretell(seen, &limits);
        if let Some(told) = told {
            self.leave(seen, told);
        }
        let why = "it served this workload when it was last seen";
        wish(seen, limits, format!("{why}; {}", sentence(told)))
    }

    /// A trial ends with the workload that it was for.
    fn end_with_workload(&mut self, seen: &Question<'_>, back: RunLimits) -> Option<Wish> {
        if back.is_same(seen.limits) {
            return None;
        }
        let told = self.foretell(seen, &back);
        let why = "the workload changed during a trial";
        self.way_back(seen, back, format!("{why}; {}", sentence(told)))
    }

    /// What the model expects of other limits, once it has taken up the mission. `None`
    /// where it has nothing to go by.
    fn foretell(&mut self, seen: &Question<'_>, limits: &RunLimits) -> Option<Told> {
        let structure = Structure::of(seen.shape, seen.tree)?;
        self.learn(seen, &structure);
        self.cost.expect(self.lengths.whole(&self.course));
        Some(Told {
            there: self.cost.expected(&structure, limits)?,
            here: self.cost.expected(&structure, seen.limits)?,
        })
    }
}

fn sentence(told: Option<Told>) -> String {
    match told {
        Some(Told { there, here }) => format!(
            "the model expects {:.1} µs an operation under these limits, {:.1} µs under those \
             before{}",
            there.takes * 1e6,
            here.takes * 1e6,
            beside(&[there, here].map(Expected::later))
        ),
        None => "the model cannot tell yet what an operation will take".into(),
    }
}
