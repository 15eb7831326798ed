//! The numbers that a parameter may be set to.

use serde::{Deserialize, Serialize};

/// Numbers between two ends, at even distances or at even ratios.
///
/// A search draws only these; a configuration from elsewhere may hold any number
/// between the ends.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct Grid {
    /// The smallest.
    pub min: f64,
    /// The largest that is allowed; the last step may end below it.
    pub max: f64,
    /// What lies between.
    pub spacing: Spacing,
}

/// How numbers follow each other.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Spacing {
    /// At this distance, above 0.
    Linear(f64),
    /// So many numbers, each the same multiple of the one before.
    Log(u64),
}

impl Grid {
    /// How many numbers there are.
    pub(crate) fn count(&self) -> u64 {
        match self.spacing {
            // The small part keeps a last step that rounding would lose; the conversion saturates.
            Spacing::Linear(step) => {
                let steps = ((self.max - self.min) / step + 1e-9) as u64;
                steps.saturating_add(1)
            }
            Spacing::Log(_) if self.min == self.max => 1,
            Spacing::Log(steps) => steps,
        }
    }

    /// The number at a place from 0 on.
    pub(crate) fn at(&self, place: u64) -> f64 {
        match self.spacing {
            Spacing::Linear(step) => (self.min + step * place as f64).min(self.max),
            Spacing::Log(steps) if place + 1 >= steps => self.max,
            Spacing::Log(steps) => {
                let part = place as f64 / (steps - 1) as f64;
                self.min * (self.max / self.min).powf(part)
            }
        }
    }

    /// Whether a number lies between the ends.
    pub(crate) fn holds(&self, number: f64) -> bool {
        (self.min..=self.max).contains(&number)
    }

    /// How far a number is from the smallest to the largest, 0 to 1; by ratio where
    /// the steps are ratios.
    pub(crate) fn position(&self, number: f64) -> f64 {
        if self.min == self.max {
            return 0.0;
        }
        match self.spacing {
            Spacing::Linear(_) => (number - self.min) / (self.max - self.min),
            Spacing::Log(_) => (number / self.min).ln() / (self.max / self.min).ln(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(grid: &Grid) -> Vec<f64> {
        (0..grid.count()).map(|place| grid.at(place)).collect()
    }

    #[test]
    fn even_distances() {
        let spacing = Spacing::Linear(8.0);
        let (min, max) = (32.0, 80.0);
        let grid = Grid { min, max, spacing };
        assert_eq!(all(&grid), [32.0, 40.0, 48.0, 56.0, 64.0, 72.0, 80.0]);
        let tenths = Grid {
            min: 0.1,
            max: 0.3,
            spacing: Spacing::Linear(0.1),
        };
        assert_eq!(tenths.count(), 3, "rounding loses no step");
        assert!((grid.position(56.0) - 0.5).abs() < 1e-12);
    }

    #[test]
    fn even_ratios() {
        let spacing = Spacing::Log(4);
        let (min, max) = (2048.0, 16384.0);
        let grid = Grid { min, max, spacing };
        let wanted = [2048.0, 4096.0, 8192.0, 16384.0];
        for (found, wanted) in all(&grid).iter().zip(wanted) {
            assert!((found / wanted - 1.0).abs() < 1e-12, "{found}");
        }
        assert!((grid.position(4096.0) - 1.0 / 3.0).abs() < 1e-12);
    }

    #[test]
    fn one_number_is_a_grid() {
        for spacing in [Spacing::Linear(1.0), Spacing::Log(5)] {
            let (min, max) = (10.0, 10.0);
            let grid = Grid { min, max, spacing };
            assert_eq!(all(&grid), [10.0]);
            assert_eq!(grid.position(10.0), 0.0);
        }
    }
}
