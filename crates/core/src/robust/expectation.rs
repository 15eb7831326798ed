//! What someone expects of a store, in the words that they have.

use serde::{Deserialize, Serialize};

use super::history::{self, Observed};
use super::{Advice, DesignSpace, Neighbourhood, Tuned, advise, tune};
use crate::cost_model::{CostModel, ModelError, RunPolicy, System, Workload};
use crate::filters::FilterAllocation;
use crate::layout::Layout;

/// Operations, data and memory, before there is a store.
///
/// ```
/// use lissom_core::robust::Expectation;
///
/// let workload = "z0=20,z1=60,q=10,w=10".parse()?;
/// let expected = Expectation::new(workload, 10_000_000, 1024, 16 << 20);
/// println!("{}", expected.advise()?);
/// # Ok::<(), lissom_core::cost_model::ModelError>(())
/// ```
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Expectation {
    /// Shares of the kinds of operation.
    pub workload: Workload,
    /// How far the workload may turn out to be another, as a divergence (rho),
    /// nats. Default: 1.
    pub divergence: f64,
    /// Entries that the store will hold.
    pub entries: u64,
    /// Bytes of an entry, key and value.
    pub entry_bytes: u64,
    /// Memory for write buffers and filters together, bytes. Cached blocks come
    /// on top.
    pub memory_bytes: u64,
    /// Smallest memory for write buffers, bytes. Default: 1 MiB.
    pub min_buffer_bytes: u64,
    /// Bytes of a block, the unit of a read. Default: 4096.
    pub block_bytes: u64,
    /// Entries that a scan returns, as a mean. Default: 10.
    pub scan_entries: u64,
    /// Cost of writing a block over that of reading one. Default: 1.
    pub write_asymmetry: f64,
    /// How filter memory is shared among levels. Default: uniform.
    pub filters: FilterAllocation,
}

impl Expectation {
    /// An expectation with the defaults for the rest.
    pub fn new(
        workload: Workload,
        entries: u64,
        entry_bytes: u64,
        memory_bytes: u64,
    ) -> Expectation {
        Expectation {
            workload,
            divergence: 1.0,
            entries,
            entry_bytes,
            memory_bytes,
            min_buffer_bytes: 1 << 20,
            block_bytes: 4096,
            scan_entries: 10,
            write_asymmetry: 1.0,
            filters: FilterAllocation::Uniform,
        }
    }

    /// The same, with the divergence that observed workloads show: the largest of one
    /// of them from the expected one. What a store has seen of a column family stands in its
    /// journal (`lissom::inspect::observed_workloads`), so that with each opening rho follows
    /// the spread of its missions, of which so many are taken together that few operations do
    /// not set it ([`history::of_missions`]).
    ///
    /// # Errors
    /// No workload at all, or one in which something happened that is not expected at
    /// all.
    pub fn informed_by(self, observed: &[Observed]) -> Result<Expectation, ModelError> {
        let near = history::around(self.workload, observed.iter().map(|it| &it.workload))?;
        Ok(Expectation {
            divergence: near.divergence(),
            ..self
        })
    }

    /// The expected workload and those within the divergence.
    ///
    /// # Errors
    /// As [`Neighbourhood::new`].
    pub fn neighbourhood(&self) -> Result<Neighbourhood, ModelError> {
        Neighbourhood::new(self.workload, self.divergence)
    }

    /// The model of such a store.
    ///
    /// # Errors
    /// A sentence when a figure makes no sense.
    pub fn model(&self) -> Result<CostModel, ModelError> {
        if self.memory_bytes < self.min_buffer_bytes {
            return Err(ModelError::new(format!(
                "a memory of {} bytes is smaller than one write buffer of {} bytes: give more memory, or a smaller least buffer",
                self.memory_bytes, self.min_buffer_bytes
            )));
        }
        if self.scan_entries > self.entries {
            return Err(ModelError::new(format!(
                "a scan cannot return {} of {} entries: give fewer",
                self.scan_entries, self.entries
            )));
        }
        let system = System {
            entries: self.entries,
            entry_bits: bits("an entry", self.entry_bytes)?,
            memory_bits: bits("the memory", self.memory_bytes)?,
            min_buffer_bits: bits("the least write buffer", self.min_buffer_bytes)?,
            page_entries: self.block_bytes as f64 / self.entry_bytes.max(1) as f64,
            range_selectivity: self.scan_entries as f64 / self.entries.max(1) as f64,
            write_asymmetry: self.write_asymmetry,
        };
        CostModel::new(system, self.filters)
    }

    /// Nominal and robust tuning among all that the model knows.
    ///
    /// # Errors
    /// A sentence when a figure makes no sense.
    pub fn advise(&self) -> Result<Advice, ModelError> {
        advise(
            &self.model()?,
            &self.neighbourhood()?,
            &DesignSpace::default(),
        )
    }

    /// The robust tuning among those that the tree can hold: more than
    /// [`Layout::max_run_limit`] runs in a level it cannot, nor more levels than
    /// [`Layout::levels`].
    ///
    /// # Errors
    /// A sentence when a figure makes no sense.
    pub fn tune_held(&self) -> Result<Tuned, ModelError> {
        let (model, near) = (self.model()?, self.neighbourhood()?);
        let one_run = DesignSpace {
            policies: vec![RunPolicy::Leveling],
            ..DesignSpace::held()
        };
        let many_runs = DesignSpace {
            size_ratios: (2.0, f64::from(Layout::V1.max_run_limit())),
            policies: vec![RunPolicy::Tiering, RunPolicy::LazyLeveling],
            ..DesignSpace::held()
        };
        let leveled = tune(&model, &near, &one_run)?;
        // By itself it fails where such size ratios need more levels for the data.
        let tiered = tune(&model, &near, &many_runs).ok();
        let better = tiered.filter(|it| it.worst.cost < leveled.worst.cost);
        Ok(better.unwrap_or(leveled))
    }
}

fn bits(what: &str, bytes: u64) -> Result<u64, ModelError> {
    bytes.checked_mul(8).ok_or_else(|| {
        ModelError::new(format!(
            "{what} of {bytes} bytes is more than can be counted"
        ))
    })
}

#[cfg(test)]
mod tests {
    use super::super::tune_limits;
    use super::*;

    fn expected() -> Expectation {
        let workload = "z0=25,z1=25,q=25,w=25".parse().expect("shares");
        Expectation::new(workload, 10_000_000, 1024, 12_500_000)
    }

    #[test]
    fn words_become_the_published_system() {
        let model = Expectation {
            scan_entries: 0,
            ..expected()
        }
        .model()
        .expect("sound");
        assert_eq!(*model.system(), System::published());
    }

    #[test]
    fn what_was_seen_sets_the_divergence() {
        let seen: Vec<Observed> = ["z0=25,z1=25,q=25,w=25", "z0=10,z1=10,q=10,w=70"]
            .iter()
            .map(|text| Observed::listed(text.parse().expect("shares")))
            .collect();
        let informed = expected().informed_by(&seen).expect("seen");
        let far = seen[1].workload.divergence_from(&informed.workload);
        assert_eq!(informed.divergence, far);
        let calm = expected().informed_by(&seen[..1]).expect("seen");
        assert!(calm.divergence < 1e-12, "{}", calm.divergence);
        assert!(expected().informed_by(&[]).is_err());
    }

    fn assert_held(expected: &Expectation) -> Tuned {
        let held = expected.tune_held().expect("a tuning");
        assert!(held.tuning.run_limits(held.levels).is_ok(), "{held:?}");
        let free = expected.advise().expect("advice").robust;
        assert!(held.worst.cost >= free.worst.cost * (1.0 - 1e-9));
        held
    }

    #[test]
    fn what_is_held_is_held() {
        for workload in ["w=100", "w=90,z0=10", "z0=97,z1=1,q=1,w=1", "q=98,w=2"] {
            for divergence in [0.0, 0.5, 2.0] {
                let expected = Expectation {
                    workload: workload.parse().expect("shares"),
                    divergence,
                    ..expected()
                };
                assert_held(&expected);
            }
        }
        // Least of all would cost a size ratio of 2, in more levels than there are.
        let workload = "q=40,w=60".parse().expect("shares");
        let deep = Expectation {
            divergence: 0.0,
            ..Expectation::new(workload, 250_000_000, 4096, 12_500_000)
        };
        let free = deep.advise().expect("advice").robust;
        assert!(free.tuning.run_limits(free.levels).is_err(), "{free:?}");
        assert_held(&deep);
        let (model, near) = (deep.model(), deep.neighbourhood());
        let (model, near) = (model.expect("sound"), near.expect("sound"));
        let limits = tune_limits(&model, &near, &DesignSpace::held()).expect("limits");
        let held = limits.tuning.run_limits(limits.levels);
        assert!(held.is_ok(), "{limits:?}");
    }

    #[test]
    fn data_for_which_many_runs_need_too_many_levels_are_held_in_single_runs() {
        let workload = "w=100".parse().expect("shares");
        let entries = 1_000_000_000_000_000;
        let vast = Expectation::new(workload, entries, 1_000_000, 12_500_000);
        let held = assert_held(&vast);
        assert_eq!(held.tuning.policy, RunPolicy::Leveling);
    }

    #[test]
    fn wrong_figures_say_what_to_give() {
        type Change = fn(&mut Expectation);
        let wrong: [(Change, &str); 6] = [
            (|it| it.entries = 0, "a scan cannot return 10 of 0 entries"),
            (|it| it.entry_bytes = 0, "an entry cannot have 0 bytes"),
            (|it| it.memory_bytes = 0, "smaller than one write buffer"),
            (|it| it.memory_bytes = u64::MAX, "more than can be counted"),
            (|it| it.divergence = -1.0, "cannot diverge by -1"),
            (|it| it.write_asymmetry = f64::NAN, "cannot cost NaN times"),
        ];
        for (change, says) in wrong {
            let mut expected = expected();
            change(&mut expected);
            let error = expected.advise().expect_err(says).to_string();
            assert!(error.contains(says), "{error}");
        }
    }
}
