//! Handing guard keys and filter bits to the plug-in, when they changed.

use lissom_core::filters::{FilterAllocation, bits_per_key};
use lissom_core::guards::Guards;
use lissom_core::{Key, Layout, LogicalLevel, Observation, PhysicalLevel, Tree};

use crate::error::Result;
use crate::options::{Hooks, logical_index};

/// What the plug-in was given last.
#[derive(Default)]
pub(super) struct Published {
    guards: Option<(Guards, Vec<u64>)>,
    entries: Vec<u64>,
    /// On average over the levels.
    bits_per_key: Option<f64>,
}

impl Published {
    /// Cut points of every logical level, for all its slots. What RocksDB's brake
    /// leaves on the landing level becomes a run of level 1 and is cut like one.
    pub(super) fn guards(&mut self, hooks: &Hooks, seen: &Observation) -> Result<()> {
        let intervals = |level| {
            let pieces = seen.shape.pieces(level, &seen.state.limits, &seen.tree);
            // As finely as guards tell them apart.
            pieces.max(1).next_power_of_two()
        };
        let intervals = Layout::V1.logical_levels().map(intervals).collect();
        let wanted = (seen.state.guards.clone(), intervals);
        if self.guards.as_ref() == Some(&wanted) {
            return Ok(());
        }
        for (level, intervals) in Layout::V1.logical_levels().zip(&wanted.1) {
            let (first, last) = Layout::V1.span(level);
            let first = if level == LogicalLevel(1) {
                PhysicalLevel::LANDING
            } else {
                first
            };
            let keys: Vec<&[u8]> = wanted
                .0
                .for_intervals(*intervals)
                .map(Key::as_bytes)
                .collect();
            hooks
                .guards
                .set(usize::from(first.0)..usize::from(last.0) + 1, &keys)?;
        }
        self.guards = Some(wanted);
        Ok(())
    }

    /// Bits per key of the levels, when their average has changed; under Monkey's allocation also
    /// when the levels' entries have, by a tenth.
    pub(super) fn filters(
        &mut self,
        hooks: &Hooks,
        average: f64,
        seen: &Observation,
    ) -> Result<()> {
        let allocation = hooks.settings.filters;
        let entries = match allocation {
            FilterAllocation::Uniform => vec![0; usize::from(Layout::V1.levels)],
            FilterAllocation::Monkey => entries_by_level(&seen.tree),
        };
        let same = self.bits_per_key == Some(average);
        if same && !changed_by_a_tenth(&self.entries, &entries) {
            return Ok(());
        }
        let runs: Vec<u16> = Layout::V1
            .logical_levels()
            .map(|level| seen.tree.runs_of(&Layout::V1, level).len() as u16)
            .collect();
        let bits = bits_per_key(allocation, average, &entries, &runs);
        for level in 0..Layout::V1.num_levels() {
            let of_level = bits[logical_index(PhysicalLevel(level))];
            hooks.bloom.set_bits(usize::from(level), of_level)?;
        }
        self.entries = entries;
        self.bits_per_key = Some(average);
        Ok(())
    }
}

fn entries_by_level(tree: &Tree) -> Vec<u64> {
    let mut entries = vec![0; usize::from(Layout::V1.levels)];
    for (level, file) in tree.iter() {
        entries[logical_index(level)] += file.entries;
    }
    entries
}

fn changed_by_a_tenth(old: &[u64], new: &[u64]) -> bool {
    old.len() != new.len()
        || old
            .iter()
            .zip(new)
            .any(|(old, new)| old.abs_diff(*new) > old / 10)
}

/// Bits per key that new files of each logical level get now.
pub(super) fn current_bits(hooks: &Hooks) -> Vec<f64> {
    Layout::V1
        .logical_levels()
        .map(|level: LogicalLevel| {
            let (first, _) = Layout::V1.span(level);
            hooks.bloom.bits(usize::from(first.0))
        })
        .collect()
}
