//! What a search may choose from.

use crate::cost_model::{CostModel, ModelError, RunPolicy, System, Tuning};
use crate::layout::Layout;

/// Which size ratios may be chosen within [`DesignSpace::size_ratios`].
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum SizeRatios {
    /// Whole numbers, as the tree takes them.
    #[default]
    Whole,
    /// Any number, as in Endure.
    Real,
}

/// The tunings among which the best is sought.
#[derive(Clone, PartialEq, Debug)]
pub struct DesignSpace {
    /// Smallest and largest size ratio (T). Default: 2 to 100.
    pub size_ratios: (f64, f64),
    /// Whole or real. Default: whole.
    pub steps: SizeRatios,
    /// Policies to choose from. Default: leveling, tiering, lazy leveling.
    pub policies: Vec<RunPolicy>,
    /// Least filter bits per entry. Default: 0.
    pub least_filter_bits: f64,
    /// The most levels of the tree. Default: all that the model counts,
    /// [`System::MOST_LEVELS`].
    pub most_levels: usize,
}

impl Default for DesignSpace {
    fn default() -> DesignSpace {
        DesignSpace {
            size_ratios: Tuning::SIZE_RATIOS,
            steps: SizeRatios::Whole,
            policies: vec![
                RunPolicy::Leveling,
                RunPolicy::Tiering,
                RunPolicy::LazyLeveling,
            ],
            least_filter_bits: 0.0,
            most_levels: System::MOST_LEVELS,
        }
    }
}

impl DesignSpace {
    /// The space that Endure searches: any size ratio from 2 to 100, leveling
    /// or tiering. (The authors' robust search alone also keeps filters at 1 bit
    /// or more: set [`DesignSpace::least_filter_bits`] for that.)
    pub fn published() -> DesignSpace {
        DesignSpace {
            steps: SizeRatios::Real,
            policies: vec![RunPolicy::Leveling, RunPolicy::Tiering],
            ..DesignSpace::default()
        }
    }

    /// The default space without trees of more levels than the layout has. Tiering
    /// and lazy leveling by size ratios above [`Layout::max_run_limit`] are in it,
    /// though no level holds so many runs.
    pub fn held() -> DesignSpace {
        DesignSpace {
            most_levels: usize::from(Layout::V1.levels),
            ..DesignSpace::default()
        }
    }

    /// Whether there is something to choose.
    pub(super) fn check(&self, model: &CostModel) -> Result<(), ModelError> {
        let (least, most) = self.size_ratios;
        let (lowest, highest) = Tuning::SIZE_RATIOS;
        if !(lowest <= least && least <= most && most <= highest) {
            return Err(ModelError::new(format!(
                "size ratios from {least} to {most} cannot be searched: give two from {lowest} to {highest}, the smaller one first"
            )));
        }
        if self.steps == SizeRatios::Whole && least.ceil() > most.floor() {
            return Err(ModelError::new(format!(
                "there is no whole size ratio from {least} to {most}: widen the range"
            )));
        }
        if self.policies.is_empty() {
            return Err(ModelError::new(
                "there is no policy to choose from: name at least one",
            ));
        }
        if !(1..=System::MOST_LEVELS).contains(&self.most_levels) {
            return Err(ModelError::new(format!(
                "a tree of at most {} levels cannot be searched for: give from 1 to {}",
                self.most_levels,
                System::MOST_LEVELS
            )));
        }
        let bits = self.least_filter_bits;
        if !(bits >= 0.0 && bits <= model.most_filter_bits()) {
            return Err(ModelError::new(format!(
                "filters of at least {bits} bits per entry do not fit: the memory holds from 0 to {:.3}",
                model.most_filter_bits()
            )));
        }
        Ok(())
    }
}
