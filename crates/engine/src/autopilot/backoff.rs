//! When to try again. A look again comes before every retry; waiting keeps it
//! from spinning.

use std::collections::{BTreeSet, HashMap, VecDeque};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::time::{Duration, Instant};

use lissom_core::journal::Outcome;
use lissom_core::{PhysicalLevel, Plan, Tree};

/// After this many failures of one plan its inputs are left alone; so is a file that
/// could not be read as often.
const MOST_ATTEMPTS: u32 = 5;

/// A plan that came out stale so often, and over such a time, while nothing around it
/// changed has failed.
const MOST_STALE: u32 = 20;
const LONGEST_STALE: Duration = Duration::from_secs(10);

/// Stale plans that are remembered: as many as there may be workers.
const STALE_KEPT: usize = 64;

/// What was put off waits this long, doubled each time.
const FIRST_PUT_OFF: Duration = Duration::from_millis(5);
const LONGEST_PUT_OFF: Duration = Duration::from_secs(1);

/// What failed rests this long, doubled each time.
const REST: Duration = Duration::from_millis(500);
const LONGEST_REST: Duration = Duration::from_secs(60);

/// What has not failed for so long since it could be tried again is forgotten: the inputs of a
/// plan may be gone, and no success of it ever tells. Longer than files are set aside, so that one
/// that fails again is not given all of its attempts anew.
const KEPT: Duration = Duration::from_secs(2 * 3_600);

/// Waiting times of one column family.
#[derive(Debug, Default)]
pub(super) struct BackOff {
    /// Plans in a row that were put off: half a second of that is no reason to wait a minute for
    /// one that fails.
    put_off: u32,
    until: Option<Instant>,
    /// Plans in a row that failed, of L0 and of what lies deeper: the one does not wait for the
    /// other.
    failed: [Row; 2],
    /// Plans that failed since they last succeeded.
    failures: HashMap<Name, Failures>,
    /// Files that could not be read, by their numbers.
    refusals: HashMap<u64, Failures>,
    /// Plans that came out stale, the last one at the end.
    stale: VecDeque<Stale>,
}

/// Failures in a row, and until when nothing of their kind starts.
#[derive(Clone, Copy, Debug, Default)]
struct Row {
    times: u32,
    until: Option<Instant>,
}

/// How often something failed, and until when it rests. What succeeds elsewhere says nothing
/// of it, and ends no rest.
#[derive(Debug)]
struct Failures {
    times: u32,
    until: Instant,
}

impl Failures {
    /// Counts one more. True when the attempts are used up.
    fn add(&mut self, now: Instant) -> bool {
        self.until = now + doubled(REST, self.times, LONGEST_REST);
        self.times = self.times.saturating_add(1);
        self.times >= MOST_ATTEMPTS
    }

    fn none(now: Instant) -> Failures {
        Failures {
            times: 0,
            until: now,
        }
    }

    fn are_recent(&self, now: Instant) -> bool {
        now.saturating_duration_since(self.until) < KEPT
    }
}

fn doubled(first: Duration, times: u32, most: Duration) -> Duration {
    first.saturating_mul(1 << times.min(16)).min(most)
}

/// A plan that came out stale, in a row while its surroundings stayed the same.
#[derive(Debug)]
struct Stale {
    plan: Name,
    /// Not known of the first time.
    around: Option<u64>,
    times: u32,
    since: Instant,
}

/// What makes a plan the same plan.
type Name = (PhysicalLevel, BTreeSet<u64>);

fn name(plan: &Plan) -> Name {
    (plan.output, plan.files().collect())
}

/// Which of the two [rows](Row) of failures is a plan's: that of L0, or that of deeper ones.
fn kind(plan: &Plan) -> usize {
    usize::from(plan.top() > PhysicalLevel::L0)
}

/// Tells the levels that a plan reaches over from what they were before: by their files and
/// where these lie. L0 does not count: what is flushed meanwhile is nothing to the plan.
pub(super) fn surroundings(tree: &Tree, plan: &Plan) -> u64 {
    let mut hasher = DefaultHasher::new();
    let reached = |level: PhysicalLevel| {
        level > PhysicalLevel::L0 && plan.top() <= level && level <= plan.output
    };
    for (level, file) in tree.iter().filter(|(level, _)| reached(*level)) {
        (level, file.number).hash(&mut hasher);
    }
    hasher.finish()
}

impl BackOff {
    pub(super) fn succeeded(&mut self, plan: &Plan) {
        let done = name(plan);
        self.failures.remove(&done);
        self.stale.retain(|stale| stale.plan != done);
        self.refusals
            .retain(|file, _| plan.files().all(|input| input != *file));
        (self.put_off, self.until) = (0, None);
        self.failed = Default::default();
    }

    /// The tree had changed, or somebody cancelled: 5 ms, doubled each time, at
    /// most a second.
    pub(super) fn postponed(&mut self, now: Instant) {
        let wait = doubled(FIRST_PUT_OFF, self.put_off, LONGEST_PUT_OFF);
        self.put_off = self.put_off.saturating_add(1);
        self.until = self.until.max(Some(now + wait));
    }

    /// It failed: half a second, doubled each time, at most a minute; for this plan, and for
    /// all others of its kind until one of either succeeds. True when this plan has used up its
    /// attempts.
    pub(super) fn failed(&mut self, plan: &Plan, now: Instant) -> bool {
        let row = &mut self.failed[kind(plan)];
        let wait = doubled(REST, row.times, LONGEST_REST);
        row.times = row.times.saturating_add(1);
        row.until = row.until.max(Some(now + wait));
        self.failures.retain(|_, failures| failures.are_recent(now));
        let failures = self.failures.entry(name(plan));
        failures.or_insert_with(|| Failures::none(now)).add(now)
    }

    /// Until when a plan rests, since it failed, or a file of its could not be read.
    pub(super) fn rests_until(&self, plan: &Plan) -> Option<Instant> {
        let files = plan.files().filter_map(|file| self.refusals.get(&file));
        let failed = files.chain(self.failures.get(&name(plan)));
        failed.map(|failures| failures.until).max()
    }

    /// Whether a plan rests.
    pub(super) fn rests(&self, plan: &Plan, now: Instant) -> bool {
        self.rests_until(plan).is_some_and(|until| now < until)
    }

    /// Until when a plan waits: it rests, or others of its kind have failed.
    pub(super) fn waits_until(&self, plan: &Plan) -> Option<Instant> {
        self.rests_until(plan).max(self.failed[kind(plan)].until)
    }

    /// Whether a plan waits.
    pub(super) fn waits(&self, plan: &Plan, now: Instant) -> bool {
        self.waits_until(plan).is_some_and(|until| now < until)
    }

    /// Whether this plan came out stale the last time: then its [`surroundings`] tell
    /// something.
    pub(super) fn came_out_stale(&self, plan: &Plan) -> bool {
        self.stale.iter().any(|stale| stale.plan == name(plan))
    }

    /// What an outcome comes to. A stale plan is made anew from another look; where that
    /// gives the same plan in the same surroundings again and again, it has failed.
    /// `around` is known of a plan that came out stale before.
    pub(super) fn judge(
        &mut self,
        plan: &Plan,
        around: Option<u64>,
        outcome: Outcome,
        now: Instant,
    ) -> Outcome {
        match outcome {
            Outcome::Stale { why } if self.stays_stale(plan, around, now) => {
                // Others of its kind wait with it: as for any plan that fails for the first time.
                self.failed[kind(plan)].times = 0;
                Outcome::Failed {
                    error: format!(
                        "it could not begin for {} s or more, though nothing around it changed: \
                         {why}",
                        LONGEST_STALE.as_secs()
                    ),
                }
            }
            other => other,
        }
    }

    /// Counts a stale outcome. True when there were too many.
    fn stays_stale(&mut self, plan: &Plan, around: Option<u64>, now: Instant) -> bool {
        let plan = name(plan);
        let at = self.stale.iter().position(|stale| stale.plan == plan);
        let before = at.and_then(|at| self.stale.remove(at));
        let mut stale = before
            .filter(|stale| stale.around == around)
            .unwrap_or(Stale {
                plan,
                around,
                times: 0,
                since: now,
            });
        stale.times = stale.times.saturating_add(1);
        let long = now.saturating_duration_since(stale.since) >= LONGEST_STALE;
        let stays = long && stale.times >= MOST_STALE;
        self.stale.push_back(stale);
        if self.stale.len() > STALE_KEPT {
            self.stale.pop_front();
        }
        stays
    }

    /// A file could not be read, which may pass. True when it has used up its attempts;
    /// they are then counted anew.
    pub(super) fn refused(&mut self, file: u64, now: Instant) -> bool {
        self.refusals.retain(|_, failures| failures.are_recent(now));
        let refusals = self.refusals.entry(file);
        let used_up = refusals.or_insert_with(|| Failures::none(now)).add(now);
        if used_up {
            self.refusals.remove(&file);
        }
        used_up
    }

    /// How long nothing should be started, of whatever kind; `None` when something may.
    pub(super) fn remaining(&self, now: Instant) -> Option<Duration> {
        self.until
            .map(|until| until.saturating_duration_since(now))
            .filter(|wait| !wait.is_zero())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::autopilot::testing::merge_of;
    use lissom_core::testing::numbered_files;

    fn plan(file: u64) -> Plan {
        merge_of(PhysicalLevel::L0, vec![file])
    }

    #[test]
    fn waiting_doubles_up_to_a_bound_and_success_ends_it() {
        let now = Instant::now();
        let mut back_off = BackOff::default();
        assert_eq!(back_off.remaining(now), None);
        back_off.postponed(now);
        assert_eq!(back_off.remaining(now), Some(Duration::from_millis(5)));
        back_off.postponed(now);
        assert_eq!(back_off.remaining(now), Some(Duration::from_millis(10)));
        for _ in 0..40 {
            back_off.postponed(now);
        }
        assert_eq!(back_off.remaining(now), Some(Duration::from_secs(1)));
        back_off.succeeded(&plan(1));
        assert_eq!(back_off.remaining(now), None);
    }

    #[test]
    fn what_was_put_off_lengthens_no_rest_and_ends_none() {
        let now = Instant::now();
        let mut back_off = BackOff::default();
        for _ in 0..20 {
            back_off.postponed(now);
        }
        let later = now + Duration::from_secs(1);
        assert_eq!(back_off.remaining(later), None);
        back_off.failed(&plan(1), later);
        assert_eq!(back_off.waits_until(&plan(3)), Some(later + REST));
        back_off.failed(&plan(2), later);
        back_off.postponed(later);
        assert_eq!(back_off.waits_until(&plan(3)), Some(later + 2 * REST));
    }

    #[test]
    fn what_fails_below_holds_up_no_merge_of_l0_nor_the_other_way_round() {
        let now = Instant::now();
        let deep = |file| merge_of(PhysicalLevel(17), vec![file]);
        let mut back_off = BackOff::default();
        for _ in 0..8 {
            back_off.failed(&deep(1), now);
        }
        assert_eq!(back_off.waits_until(&deep(2)), Some(now + LONGEST_REST));
        assert_eq!(back_off.remaining(now), None);
        assert!(!back_off.waits(&plan(3), now));
        back_off.failed(&plan(3), now);
        assert!(back_off.waits(&plan(4), now) && !back_off.waits(&plan(4), now + REST));
        back_off.succeeded(&plan(4));
        assert!(!back_off.waits(&deep(2), now) && back_off.waits(&deep(1), now));
    }

    /// Each failed merge of L0 has other inputs than the one before.
    #[test]
    fn what_failed_long_ago_is_forgotten() {
        let mut now = Instant::now();
        let mut back_off = BackOff::default();
        for file in 0..1_000 {
            back_off.failed(&plan(file), now);
            back_off.refused(file, now);
            now += Duration::from_secs(60);
        }
        assert!(back_off.failures.len() <= 122 && back_off.refusals.len() <= 122);
        assert!(
            back_off.failures.len() >= 120,
            "of the last two hours it knows"
        );
    }

    #[test]
    fn one_plan_is_given_up_after_its_attempts() {
        let now = Instant::now();
        let mut back_off = BackOff::default();
        let given_up: Vec<bool> = (0..5).map(|_| back_off.failed(&plan(1), now)).collect();
        assert_eq!(given_up, [false, false, false, false, true]);
        assert!(!back_off.failed(&plan(2), now));
    }

    /// Whether a plan has failed that comes out stale.
    fn fails(back_off: &mut BackOff, file: u64, around: u64, at: Instant) -> bool {
        let why = "refused".to_owned();
        match back_off.judge(&plan(file), Some(around), Outcome::Stale { why }, at) {
            Outcome::Failed { error } => error.ends_with(": refused"),
            _ => false,
        }
    }

    #[test]
    fn a_plan_that_stays_stale_while_nothing_changes_has_failed() {
        let begun = Instant::now();
        let after = |tenths: u32| begun + Duration::from_millis(100) * tenths;
        let mut back_off = BackOff::default();
        for tenths in 0..100 {
            // Two by turns, as two workers have them.
            assert!(!fails(&mut back_off, 1, 7, after(tenths)), "{tenths}");
            assert!(!fails(&mut back_off, 2, 7, after(tenths)), "{tenths}");
        }
        assert!(fails(&mut back_off, 1, 7, after(100)));
        assert!(fails(&mut back_off, 1, 7, after(101)), "and each time on");
        assert!(!fails(&mut back_off, 2, 8, after(100)), "another tree");
        back_off.succeeded(&plan(1));
        assert!(!fails(&mut back_off, 1, 7, after(102)), "counted anew");
        assert!(!fails(&mut back_off, 3, 7, after(0)));
        let twice = fails(&mut back_off, 3, 7, after(500));
        assert!(!twice, "that is not often");
    }

    #[test]
    fn a_plan_that_stays_stale_holds_others_up_no_longer_than_one_that_fails() {
        let begun = Instant::now();
        let mut back_off = BackOff::default();
        for second in 0..30 {
            let now = begun + Duration::from_secs(second);
            if fails(&mut back_off, 1, 7, now) {
                back_off.failed(&plan(1), now);
                assert_eq!(back_off.waits_until(&plan(2)), Some(now + REST));
                assert!(fails(&mut back_off, 1, 7, now));
                back_off.failed(&plan(1), now);
                assert_eq!(back_off.waits_until(&plan(2)), Some(now + REST));
                return;
            }
            back_off.postponed(now);
        }
        panic!("it never failed");
    }

    #[test]
    fn other_outcomes_stay_what_they_are_and_few_stale_plans_are_kept() {
        let now = Instant::now();
        let mut back_off = BackOff::default();
        let cancelled = back_off.judge(&plan(1), Some(7), Outcome::Cancelled, now);
        assert_eq!(cancelled, Outcome::Cancelled);
        for file in 0..1_000 {
            assert!(!fails(&mut back_off, file, 7, now));
        }
        assert_eq!(back_off.stale.len(), STALE_KEPT);
    }

    #[test]
    fn surroundings_are_asked_for_from_the_second_time_on() {
        let now = Instant::now();
        let mut back_off = BackOff::default();
        assert!(!back_off.came_out_stale(&plan(1)));
        let why = "refused".to_owned();
        back_off.judge(&plan(1), None, Outcome::Stale { why }, now);
        assert!(back_off.came_out_stale(&plan(1)) && !back_off.came_out_stale(&plan(2)));
        back_off.succeeded(&plan(1));
        assert!(!back_off.came_out_stale(&plan(1)));
    }

    #[test]
    fn only_flushes_leave_a_plans_surroundings_as_they_are() {
        let around = |level0: u64, target: u64, below: u64| {
            let [level0, target, below] = [level0, target, below].map(numbered_files);
            let tree = Tree::new(vec![level0, Vec::new(), target, below]).expect("legal");
            surroundings(&tree, &plan(1))
        };
        assert_eq!(around(1, 3, 3), around(2, 3, 3));
        assert_eq!(around(1, 3, 3), around(1, 3, 4), "below its output");
        assert_ne!(around(1, 3, 3), around(1, 4, 3));
    }

    /// Whatever plans it was part of.
    #[test]
    fn one_file_is_given_up_after_its_attempts() {
        let now = Instant::now();
        let mut back_off = BackOff::default();
        let given_up: Vec<bool> = (0..6).map(|_| back_off.refused(7, now)).collect();
        assert_eq!(given_up, [false, false, false, false, true, false]);
        assert!(!back_off.refused(8, now));
        back_off.succeeded(&plan(7));
        assert!((0..4).all(|_| !back_off.refused(7, now)), "counted anew");
    }

    #[test]
    fn what_fails_rests_whatever_succeeds_elsewhere() {
        let mut at = Instant::now();
        let mut back_off = BackOff::default();
        for millis in [500, 1_000, 2_000, 4_000] {
            assert!(!back_off.failed(&plan(1), at));
            assert!(!back_off.refused(3, at));
            back_off.succeeded(&plan(2));
            assert_eq!(back_off.remaining(at), None, "others go on");
            assert_eq!(back_off.waits_until(&plan(2)), None);
            at += Duration::from_millis(millis);
            assert_eq!(back_off.rests_until(&plan(1)), Some(at));
            let other = merge_of(PhysicalLevel::L0, vec![3, 4]);
            assert_eq!(back_off.rests_until(&other), Some(at), "a file of its");
        }
        assert!(back_off.failed(&plan(1), at));
        back_off.succeeded(&plan(1));
        assert_eq!(back_off.rests_until(&plan(1)), None);
    }
}
