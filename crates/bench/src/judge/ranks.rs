//! Who was better than whom in a session: ranks and stars.

use super::arm::{ArmVerdict, SessionVerdict};
use super::figure::Figure;
use crate::arms::ArmName;
use crate::workload::CLOSING_SESSION;

impl ArmVerdict {
    /// Its rank in each closed session but the closing one: one more than the rivals that
    /// were [ahead](Figure::is_ahead_of), so that ties share a rank. Who is nobody's rival
    /// has no rank.
    pub fn ranks(&self, all: &[ArmVerdict]) -> Vec<(&str, usize)> {
        self.ranked(all, Figure::is_ahead_of)
    }

    /// The mean of [`ArmVerdict::ranks`]; `None` without any.
    pub fn mean_rank(&self, all: &[ArmVerdict]) -> Option<f64> {
        mean(&self.ranks(all))
    }

    /// The same by medians alone, without ties, as RusKey's table 3 has it: no spread can
    /// make it better.
    pub fn mean_rank_by_medians(&self, all: &[ArmVerdict]) -> Option<f64> {
        mean(&self.ranked(all, |other, own| other.median < own.median))
    }

    fn ranked(
        &self,
        all: &[ArmVerdict],
        is_ahead: impl Fn(&Figure, &Figure) -> bool,
    ) -> Vec<(&str, usize)> {
        if !self.is_rival {
            return Vec::new();
        }
        let rank = |session: &SessionVerdict| {
            let rivals = all.iter().filter(|rival| rival.is_rival);
            let ahead = rivals.flat_map(|rival| &rival.sessions).filter(|other| {
                other.name == session.name && is_ahead(&other.seconds, &session.seconds)
            });
            1 + ahead.count()
        };
        let ranked = |session: &&SessionVerdict| !session.open && session.name != CLOSING_SESSION;
        let sessions = self.sessions.iter().filter(ranked);
        sessions
            .map(|session| (session.name.as_str(), rank(session)))
            .collect()
    }
}

fn mean(ranks: &[(&str, usize)]) -> Option<f64> {
    let sum: usize = ranks.iter().map(|(_, rank)| rank).sum();
    (!ranks.is_empty()).then(|| sum as f64 / ranks.len() as f64)
}

/// Of several settings of the thresholds, leaves the one with the lowest median total a rival:
/// with all of them a policy would be as often among the first as it has settings, and every
/// other arm as often behind it.
pub fn leave_best_setting(arms: &mut [ArmVerdict]) {
    let settings = arms.iter().enumerate().filter(|(_, arm)| is_setting(arm));
    let by_total = |a: &(usize, &ArmVerdict), b: &(usize, &ArmVerdict)| {
        let (a, b) = (&a.1.total_seconds, &b.1.total_seconds);
        a.median.total_cmp(&b.median)
    };
    let best = settings.min_by(by_total).map(|(at, _)| at);
    let all = arms.iter_mut().enumerate();
    for (_, arm) in all.filter(|(at, arm)| is_setting(arm) && Some(*at) != best) {
        arm.is_rival = false;
    }
}

fn is_setting(arm: &ArmVerdict) -> bool {
    arm.is_rival && matches!(arm.arm, ArmName::Thresholds(..))
}

/// Marks in each session the rivals of which no other is [ahead](Figure::is_ahead_of): those of
/// rank 1, and by the 99.9th percentile where a rate is offered. Of the lowest median nobody is.
pub fn mark_best(arms: &mut [ArmVerdict]) {
    let mut rivals: Vec<&mut ArmVerdict> = arms.iter_mut().filter(|arm| arm.is_rival).collect();
    let sessions = rivals.iter().map(|arm| arm.sessions.len()).max();
    for number in 0..sessions.unwrap_or(0) {
        let own = rivals.iter_mut();
        let mut own: Vec<_> = own.filter_map(|arm| arm.sessions.get_mut(number)).collect();
        let judged: Vec<Figure> = own.iter().map(|it| it.judged().clone()).collect();
        for (session, figure) in own.iter_mut().zip(&judged) {
            session.best = !judged.iter().any(|other| other.is_ahead_of(figure));
        }
    }
}
