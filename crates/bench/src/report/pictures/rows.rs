//! An arm's part of a picture: its samples of one session.

use super::View;
use crate::arms::ArmName;
use crate::drive::Sample;
use crate::report::labels::Labels;
use crate::run::{ArmRun, Results};

/// Points that are joined: seconds from the session's start, and a value.
pub(super) type Line = Vec<(f64, f64)>;

/// An arm's samples of one session, with the session's start.
pub(super) struct Row<'a> {
    pub label: String,
    /// Whether RocksDB itself tells its debt.
    pub is_stock: bool,
    pub began: f64,
    pub samples: Vec<&'a Sample>,
}

/// Those of the first round.
pub(super) fn rows<'a>(results: &'a Results, session: usize, labels: &Labels) -> Vec<Row<'a>> {
    let arms = results.parameters.arms.iter();
    let first = |arm: &ArmName| {
        results
            .runs
            .iter()
            .find(|run| run.round == 0 && run.arm == *arm)
    };
    arms.filter_map(first)
        .filter_map(|run| Row::of(run, session, labels))
        .collect()
}

impl<'a> Row<'a> {
    /// `None` where the session has no sample.
    fn of(run: &'a ArmRun, session: usize, labels: &Labels) -> Option<Self> {
        let own = run.samples.iter().filter(|it| it.session == session);
        let samples: Vec<&Sample> = own.collect();
        let first = samples.first()?;
        Some(Self {
            label: labels.of(&run.arm),
            is_stock: run.arm.is_stock(),
            began: first.at - first.seconds,
            samples,
        })
    }

    /// Seconds from the session's start to its last sample.
    pub fn last(&self) -> f64 {
        self.samples.last().map_or(0.0, |it| it.at - self.began)
    }

    /// What a view shows, broken where there is nothing to draw.
    pub fn lines(&self, of: fn(&Sample) -> Option<f64>, view: &View) -> Vec<Line> {
        let point = |it: &Sample| Some((it.at - self.began, of(it)?));
        let points: Vec<Option<(f64, f64)>> = self.within(view).map(point).collect();
        let parts = points.split(Option::is_none);
        parts
            .map(|part| part.iter().copied().flatten().collect::<Line>())
            .filter(|line| !line.is_empty())
            .collect()
    }

    /// Where in a view nothing ended, from when to when: whoever waits then has no latency
    /// yet, and it is long.
    pub fn without_operations(&self, view: &View) -> Vec<(f64, f64)> {
        let empty = self.within(view).filter(|it| it.latency.is_empty());
        empty
            .map(|it| {
                let to = it.at - self.began;
                ((to - it.seconds).max(view.from), to)
            })
            .collect()
    }

    fn within(&self, view: &View) -> impl Iterator<Item = &'a Sample> {
        let (began, seconds) = (self.began, view.from..=view.to);
        let samples = self.samples.iter().copied();
        samples.filter(move |it| seconds.contains(&(it.at - began)))
    }
}
