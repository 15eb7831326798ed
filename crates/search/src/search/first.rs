//! What is tried before anything is known: the default, and one configuration of
//! each arm (Dremel, 4.6.1).

use super::earlier::{self, Earlier, Sorted};
use super::{ArmId, Origin, Planned, Search};
use crate::error::Result;
use crate::space::Point;

impl Search {
    /// Fills the queue.
    pub(super) fn plan_first(&mut self, earlier: &[Earlier]) -> Result<()> {
        let Sorted {
            mut good,
            bad,
            mut hung,
        } = earlier::sorted(
            &self.space,
            &self.setup.objective,
            &self.setup.constraints,
            earlier,
        );
        self.plan_default()?;
        good.retain(|point| !self.tried.contains(point));
        // What was measured in one search and failed in another is not begun with; rounds may
        // come to it.
        let failed = |point: &Point| bad.contains(point) || hung.contains(point);
        let (doubtful, good): (Vec<Point>, Vec<Point>) = good.into_iter().partition(failed);
        let known = self.best_of_arms(&good)?;
        let is_bad = |point: &Point| !doubtful.contains(point);
        self.tried.extend(bad.into_iter().filter(is_bad));
        self.tried.extend(good);
        hung.extend(doubtful);
        for (arm, point) in known {
            let reason = match arm {
                Some(arm) => format!("the best that earlier searches found in {arm}"),
                None => "the best that earlier searches found".to_owned(),
            };
            self.plan(arm, point, Origin::Earlier, reason);
        }
        self.plan_unknown_arms(&hung);
        Ok(())
    }

    /// The best earlier configuration of each arm that has one, the best arm first. With other
    /// buckets, or of another sample, the best of all may be of no arm.
    fn best_of_arms(&self, good: &[Point]) -> Result<Vec<(Option<ArmId>, Point)>> {
        let mut known: Vec<(Option<ArmId>, Point)> = Vec::new();
        for point in good {
            let arm = self.arms.find(&self.space.feature_values_of(point)?);
            let is_wanted = match arm {
                Some(_) => known.iter().all(|(other, _)| *other != arm),
                None => known.is_empty(),
            };
            if is_wanted {
                known.push((arm, point.clone()));
            }
        }
        Ok(known)
    }

    fn plan_default(&mut self) -> Result<()> {
        if !self.setup.method.with_default {
            return Ok(());
        }
        let default = self.space.default_configuration();
        if let Some(rule) = self.space.broken_rules(&default)?.first() {
            let note = format!("the default configuration is not tried, since it breaks {rule}");
            self.notes.push(note);
            return Ok(());
        }
        let point = self.space.point(&default)?;
        let arm = self.arms.find(&self.space.feature_values_of(&point)?);
        let reason = "the default configuration comes first, to compare with".to_owned();
        self.plan(arm, point, Origin::Default, reason);
        Ok(())
    }

    /// In random order, so that a short budget prefers no bucket. What is doubtful, as it hung
    /// before, comes only where an arm has nothing else: each time it costs a deadline.
    fn plan_unknown_arms(&mut self, doubtful: &[Point]) {
        // What is planned here is of one arm each, so it concerns no other.
        let avoided = [self.tried.as_slice(), doubtful].concat();
        let mut arms: Vec<ArmId> = self.arms.ids().collect();
        self.random.shuffle(&mut arms);
        for arm in arms {
            let planned = |it: &Planned| it.arm == Some(arm) && it.origin == Origin::Earlier;
            if self.queue.iter().any(planned) {
                continue;
            }
            let sampling = self.setup.method.first;
            let mut picked = self.arms.pick(arm, sampling, &avoided, &mut self.random);
            if picked.is_none() && !doubtful.is_empty() {
                picked = self.arms.pick(arm, sampling, &self.tried, &mut self.random);
            }
            if let Some(point) = picked {
                let buckets = self.arms.describe(arm);
                let reason = format!("{arm} has no trial yet ({buckets})");
                self.plan(Some(arm), point, Origin::First, reason);
            }
        }
    }

    /// Puts a configuration into the queue.
    pub(super) fn plan(
        &mut self,
        arm: Option<ArmId>,
        point: Point,
        origin: Origin,
        reason: String,
    ) {
        self.tried.push(point.clone());
        self.queue.push_back(Planned {
            arm,
            point,
            origin,
            reason,
        });
    }
}
