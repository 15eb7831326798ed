//! Workloads that were seen, and the limits that served them.
//!
//! What a tree holds counts too: with much more or less data its levels are others, and
//! limits for one tree are none for the other.

use serde::{Deserialize, Serialize};

use super::bars::{Bar, TERM};
use super::kept::of_a_tree;
use crate::cost_model::AccessPattern;
use crate::layout::Layout;
use crate::shape::RunLimits;

/// Data of which neither is so many times the other is the same.
const SAME_DATA: f64 = 3.0;

/// The oldest is forgotten.
const MOST: usize = 32;

/// Limits that served a workload well.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub(super) struct Remembered {
    #[serde(flatten)]
    pattern: AccessPattern,
    /// Bytes in the tree; 0 in what older programs have learned, which fits any.
    #[serde(default)]
    data: f64,
    pub limits: RunLimits,
    /// Limits that proved wrong under it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub bars: Vec<Bar>,
    /// Missions under it in which levels are yet to march one by one: together they proved wrong.
    #[serde(default)]
    pub one_by_one: u64,
}

impl Remembered {
    fn is_same(&self, pattern: &AccessPattern, data: f64) -> bool {
        let unknown = self.data <= 0.0;
        let like = self.data <= SAME_DATA * data && data <= SAME_DATA * self.data;
        (unknown || like) && self.pattern.is_like(pattern)
    }

    /// How far it is from another workload: 1 where they begin to be two.
    fn distance_from(&self, pattern: &AccessPattern) -> f64 {
        let shares = self.pattern.distance_from(pattern) / AccessPattern::ALIKE;
        let longer = self.pattern.longer(pattern).ln() / AccessPattern::LONGER.ln();
        let rarer = self.pattern.rarer(pattern).0.ln() / AccessPattern::RARER.ln();
        shares.max(longer).max(rarer)
    }

    /// Whether all numbers can be, as those of a state file may not.
    fn is_sound(&self) -> bool {
        // Of two kinds.
        let most = 2 * usize::from(Layout::V1.levels) * usize::from(Layout::V1.max_run_limit());
        let bars = self.bars.len() <= most && self.bars.iter().all(Bar::is_sound);
        let data = self.data.is_finite() && self.data >= 0.0;
        let in_term = self.one_by_one <= TERM;
        bars && data && in_term && self.pattern.is_sound() && of_a_tree(&self.limits)
    }
}

/// Workloads, the one of late last.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub(super) struct Memory(Vec<Remembered>);

impl Memory {
    /// Remembers what served a workload, in place of what did before.
    pub fn keep(&mut self, pattern: AccessPattern, data: f64, limits: &RunLimits, bars: Vec<Bar>) {
        self.0.retain(|old| !old.is_same(&pattern, data));
        if self.0.len() >= MOST {
            self.0.remove(0);
        }
        self.0.push(Remembered {
            pattern,
            data,
            limits: limits.clone(),
            bars,
            one_by_one: 0,
        });
    }

    /// The bars under a workload are others, whatever served it.
    pub fn renew(&mut self, pattern: &AccessPattern, data: f64, bars: Vec<Bar>) {
        if let Some(at) = self.nearest(pattern, data) {
            self.0[at].bars = bars;
        }
    }

    /// Under a workload levels are to march one by one for so many missions.
    pub fn march_one_by_one(&mut self, pattern: &AccessPattern, data: f64, missions: u64) {
        if let Some(at) = self.nearest(pattern, data) {
            self.0[at].one_by_one = missions.min(TERM);
        }
    }

    /// What served the nearest workload that is the same.
    pub fn find(&self, pattern: &AccessPattern, data: f64) -> Option<&Remembered> {
        self.nearest(pattern, data).map(|at| &self.0[at])
    }

    fn nearest(&self, pattern: &AccessPattern, data: f64) -> Option<usize> {
        let same = |at: &usize| self.0[*at].is_same(pattern, data);
        let far = |at: &usize| self.0[*at].distance_from(pattern);
        let near = (0..self.0.len()).filter(same);
        near.min_by(|a, b| far(a).total_cmp(&far(b)))
    }

    /// Whether all can be so, as what a state file holds may not.
    pub fn is_sound(&self) -> bool {
        self.0.len() <= MOST && self.0.iter().all(Remembered::is_sound)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layout::LogicalLevel;
    use crate::shape::RunLimit;

    fn limits(limit: u16) -> RunLimits {
        RunLimits::uniform(RunLimit::clamped(limit))
    }

    /// So many gets of a hundred operations, the others writes.
    fn reads(percent: f64) -> AccessPattern {
        let share = percent / 100.0;
        AccessPattern::new([0.0, share, 0.0, 1.0 - share, 0.0], 0.0)
    }

    fn found(memory: &Memory, pattern: AccessPattern, data: f64) -> Option<&RunLimits> {
        memory.find(&pattern, data).map(|it| &it.limits)
    }

    #[test]
    fn the_nearest_of_the_same_is_found() {
        let mut memory = Memory::default();
        memory.keep(reads(50.0), 1e9, &limits(4), Vec::new());
        memory.keep(reads(90.0), 1e9, &limits(1), Vec::new());
        let find = |memory: &Memory, percent: f64| found(memory, reads(percent), 1e9).cloned();
        assert_eq!(find(&memory, 55.0), Some(limits(4)));
        assert_eq!(find(&memory, 10.0), None);
        memory.keep(reads(48.0), 1e9, &limits(6), Vec::new());
        assert_eq!(find(&memory, 50.0), Some(limits(6)));
        assert_eq!(memory.0.len(), 2);
    }

    #[test]
    fn what_served_writes_or_short_scans_is_not_taken_for_deletes_or_long_ones() {
        let deletes = AccessPattern::new([0.0, 0.5, 0.0, 0.25, 0.25], 0.0);
        let scans = |entries: f64| AccessPattern::new([0.0, 0.5, 0.5, 0.0, 0.0], 0.5 * entries);
        let mut memory = Memory::default();
        memory.keep(reads(50.0), 1e9, &limits(4), Vec::new());
        memory.keep(scans(10.0), 1e9, &limits(2), Vec::new());
        assert_eq!(found(&memory, deletes, 1e9), None);
        assert_eq!(found(&memory, scans(40.0), 1e9), None);
        memory.keep(deletes, 1e9, &limits(5), Vec::new());
        memory.keep(scans(40.0), 1e9, &limits(1), Vec::new());
        assert_eq!(found(&memory, deletes, 1e9), Some(&limits(5)));
        assert_eq!(found(&memory, reads(50.0), 1e9), Some(&limits(4)));
        // Both are the same as these; by the entries of a scan one is nearer.
        assert_eq!(found(&memory, scans(15.0), 1e9), Some(&limits(2)));
        assert_eq!(found(&memory, scans(25.0), 1e9), Some(&limits(1)));
    }

    #[test]
    fn what_served_a_smaller_tree_is_not_taken_for_a_large_one() {
        let half = reads(50.0);
        let mut memory = Memory::default();
        memory.keep(half, 1e9, &limits(4), Vec::new());
        assert_eq!(found(&memory, half, 2e9), Some(&limits(4)));
        assert_eq!(found(&memory, half, 1e10), None);
        memory.keep(half, 1e10, &limits(7), Vec::new());
        assert_eq!(found(&memory, half, 1e9), Some(&limits(4)));
        assert_eq!(found(&memory, half, 1e10), Some(&limits(7)));
    }

    /// They knew no deletes, no entries of scans, and no size of the data.
    #[test]
    fn what_older_programs_learned_fits_any_data_and_scan_until_it_is_learned_anew() {
        let shares = [0.0, 0.5, 0.5, 0.0];
        let old = serde_json::json!([{"shares": shares, "limits": limits(4)}]);
        let mut memory: Memory = serde_json::from_value(old).expect("an older state");
        assert!(memory.is_sound());
        let scans = |entries: f64| AccessPattern::new([0.0, 0.5, 0.5, 0.0, 0.0], 0.5 * entries);
        for entries in [1.0, 1_000.0] {
            assert_eq!(found(&memory, scans(entries), 1e12), Some(&limits(4)));
        }
        memory.keep(scans(1.0), 1e12, &limits(7), Vec::new());
        assert_eq!(found(&memory, scans(1_000.0), 1e12), None);
        assert_eq!(found(&memory, scans(1.0), 1e6), None);
        let text = serde_json::to_string(&memory).expect("data");
        let read: Memory = serde_json::from_str(&text).expect(&text);
        assert_eq!(read, memory);
    }

    #[test]
    fn bars_are_renewed_where_something_is_remembered() {
        let bar = || vec![Bar::new(LogicalLevel(2), RunLimit::clamped(3))];
        let mut memory = Memory::default();
        memory.renew(&reads(50.0), 1e9, bar());
        assert_eq!(memory, Memory::default());
        memory.keep(reads(50.0), 1e9, &limits(4), Vec::new());
        memory.renew(&reads(45.0), 1e9, bar());
        let remembered = memory.find(&reads(50.0), 1e9).expect("kept");
        assert_eq!((&remembered.limits, &remembered.bars), (&limits(4), &bar()));
    }

    #[test]
    fn that_levels_march_one_by_one_is_kept_where_something_is_remembered() {
        let mut memory = Memory::default();
        memory.march_one_by_one(&reads(50.0), 1e9, 7);
        memory.keep(reads(50.0), 1e9, &limits(4), Vec::new());
        let told = |memory: &Memory| memory.find(&reads(50.0), 1e9).map(|it| it.one_by_one);
        assert_eq!(told(&memory), Some(0));
        memory.march_one_by_one(&reads(45.0), 1e9, 7);
        let text = serde_json::to_string(&memory).expect("data");
        let read: Memory = serde_json::from_str(&text).expect(&text);
        assert_eq!(told(&read), Some(7));
    }

    #[test]
    fn what_no_tree_has_is_not_sound() {
        let mut long = limits(4);
        long.set(LogicalLevel(13), RunLimit::ONE);
        let mut memory = Memory::default();
        memory.keep(reads(50.0), 1e9, &long, Vec::new());
        assert!(!memory.is_sound());
        for (level, sound) in [(0, false), (1, true), (12, true), (13, false)] {
            let bar = Bar::new(LogicalLevel(level), RunLimit::ONE);
            let mut memory = Memory::default();
            memory.keep(reads(50.0), 1e9, &limits(4), vec![bar]);
            assert_eq!(memory.is_sound(), sound, "{level}");
        }
    }

    #[test]
    fn the_oldest_is_forgotten() {
        let mut memory = Memory::default();
        let of = |a: f64, b: f64| AccessPattern::new([a, b, 0.0, 0.0, 0.0], 0.0);
        for at in 0..11u16 {
            for other in 0..11u16 {
                let (a, b) = (f64::from(at) / 10.0, f64::from(other) / 10.0);
                memory.keep(of(a, b), 1e9, &limits(at + 1), Vec::new());
            }
        }
        assert!(memory.0.len() <= MOST && memory.is_sound());
        assert_eq!(found(&memory, of(1.0, 1.0), 1e9), Some(&limits(11)));
    }
}
