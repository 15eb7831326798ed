//! What is given: data, memory and device.

use serde::{Deserialize, Serialize};

use super::ModelError;

/// What a tuning cannot change. Checked when a
/// [`CostModel`](super::CostModel) is made of it.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct System {
    /// Entries in the tree (N). At least 1.
    pub entries: u64,
    /// Size of an entry, key and value, bits (E). At least 1.
    pub entry_bits: u64,
    /// Memory for filters and write buffer together, bits (m).
    pub memory_bits: u64,
    /// Smallest write buffer that a tuning may leave, bits. At least 1 and at
    /// most [`System::memory_bits`].
    pub min_buffer_bits: u64,
    /// Entries per page, the unit of an I/O (B). Over 0; under 1 when an entry
    /// takes several pages.
    pub page_entries: f64,
    /// Mean share of all entries that a scan covers (S_RQ), 0 to 1.
    pub range_selectivity: f64,
    /// Cost of a write I/O over that of a read I/O (A_rw). At least 0; 1 when
    /// they cost the same.
    pub write_asymmetry: f64,
}

impl System {
    /// The most levels that the model counts.
    pub const MOST_LEVELS: usize = 64;

    /// The system of Endure's evaluation: 10 M entries of 1 KB, four to a page,
    /// 10 bits of memory per entry of which the buffer keeps at least 1 MiB,
    /// scans that cover next to nothing, writes that cost as much as reads.
    ///
    /// The text speaks of 10 GB of memory, which would hold all the data; the
    /// authors' job gives 10 bits per entry, and their table 3 fits that.
    pub fn published() -> System {
        System {
            entries: 10_000_000,
            entry_bits: 8 * 1024,
            memory_bits: 100_000_000,
            min_buffer_bits: 8 * 1024 * 1024,
            page_entries: 4.0,
            range_selectivity: 0.0,
            write_asymmetry: 1.0,
        }
    }

    /// Whether the model can take it.
    pub(super) fn check(&self) -> Result<(), ModelError> {
        let wrong = |sentence: String| Err(ModelError::new(sentence));
        if self.entries == 0 {
            return wrong("a tree of 0 entries has no costs: give the entries it will hold".into());
        }
        if self.entry_bits == 0 {
            return wrong("an entry cannot have 0 bytes: give the size of key and value".into());
        }
        if self.memory_bits == 0 {
            return wrong("there is no memory: give what filters and write buffer may take".into());
        }
        if self.min_buffer_bits == 0 {
            return wrong("the smallest write buffer cannot have 0 bytes: give at least 1".into());
        }
        if self.min_buffer_bits > self.memory_bits {
            return wrong(format!(
                "the smallest write buffer of {} bits does not fit the memory of {} bits: give more memory or a smaller buffer",
                self.min_buffer_bits, self.memory_bits
            ));
        }
        if !(self.page_entries.is_finite() && self.page_entries > 0.0) {
            return wrong(format!(
                "a page cannot hold {} entries: give a number above 0",
                self.page_entries
            ));
        }
        if !(0.0..=1.0).contains(&self.range_selectivity) {
            return wrong(format!(
                "a scan cannot cover a share of {} of all entries: give a number from 0 to 1",
                self.range_selectivity
            ));
        }
        if !(self.write_asymmetry.is_finite() && self.write_asymmetry >= 0.0) {
            return wrong(format!(
                "a write cannot cost {} times a read: give a number of at least 0",
                self.write_asymmetry
            ));
        }
        if self.buffers(self.min_buffer_bits as f64) >= 2f64.powi(Self::MOST_LEVELS as i32) {
            return wrong(format!(
                "a write buffer of {} bits is too small for this much data: give a larger smallest buffer",
                self.min_buffer_bits
            ));
        }
        Ok(())
    }

    /// Size of the data in buffers, plus one: N * E / m_buf + 1.
    pub(crate) fn buffers(&self, buffer_bits: f64) -> f64 {
        self.entries as f64 * self.entry_bits as f64 / buffer_bits + 1.0
    }

    /// Filter bits per entry that leave the smallest write buffer.
    pub(crate) fn most_filter_bits(&self) -> f64 {
        (self.memory_bits - self.min_buffer_bits) as f64 / self.entries as f64
    }

    /// What these filters leave for the write buffer, bits:
    /// m_buf = m - m_filt.
    pub(crate) fn buffer_bits(&self, filter_bits_per_entry: f64) -> f64 {
        self.memory_bits as f64 - filter_bits_per_entry * self.entries as f64
    }

    /// L = ceil(log_T(N * E / m_buf + 1)) (Endure, equation 1). A part in 10^9
    /// over a whole number is taken for rounding, so that a buffer chosen to
    /// make a number of levels does make it.
    pub(crate) fn levels(&self, size_ratio: f64, filter_bits_per_entry: f64) -> usize {
        let buffers = self.buffers(self.buffer_bits(filter_bits_per_entry));
        let levels = (buffers.ln() / size_ratio.ln() - 1e-9).ceil();
        (levels.max(1.0) as usize).min(Self::MOST_LEVELS)
    }

    /// The most filter bits per entry with which the tree has no more than
    /// `levels` levels: m_buf = N * E / (T^L - 1), and at least the smallest
    /// buffer. May be negative: then not even all memory makes so few levels.
    pub(crate) fn filter_bits_for(&self, size_ratio: f64, levels: usize) -> f64 {
        let full = size_ratio.powi(levels as i32) - 1.0;
        let per_entry = self.memory_bits as f64 / self.entries as f64;
        (per_entry - self.entry_bits as f64 / full).min(self.most_filter_bits())
    }
}
