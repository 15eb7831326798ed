//! The workloads near an expected one, and the worst of them.

use serde::{Deserialize, Serialize};

use crate::cost_model::{Costs, ModelError, Workload};

/// All workloads whose divergence from the expected one is at most rho
/// (Endure, equation 5, the observed workload first). A kind of operation that
/// the expected workload lacks is lacking in all of them: give it a small
/// share, 1 % say, if it may happen.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[serde(try_from = "Parts", into = "Parts")]
pub struct Neighbourhood {
    expected: Workload,
    divergence: f64,
}

#[derive(Serialize, Deserialize)]
struct Parts {
    expected: Workload,
    divergence: f64,
}

impl TryFrom<Parts> for Neighbourhood {
    type Error = ModelError;

    fn try_from(parts: Parts) -> Result<Neighbourhood, ModelError> {
        Neighbourhood::new(parts.expected, parts.divergence)
    }
}

impl From<Neighbourhood> for Parts {
    fn from(near: Neighbourhood) -> Parts {
        Parts {
            expected: near.expected,
            divergence: near.divergence,
        }
    }
}

/// The worst workload of a neighbourhood for given costs.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct WorstCase {
    /// The workload.
    pub workload: Workload,
    /// Its mean cost of an operation, I/Os.
    pub cost: f64,
}

impl Neighbourhood {
    /// The workloads within a divergence (rho, nats) of an expected one.
    ///
    /// # Errors
    /// A divergence that is negative or no finite number.
    pub fn new(expected: Workload, divergence: f64) -> Result<Neighbourhood, ModelError> {
        if !(divergence.is_finite() && divergence >= 0.0) {
            return Err(ModelError::new(format!(
                "workloads cannot diverge by {divergence}: give a number of at least 0, such as 1"
            )));
        }
        Ok(Neighbourhood {
            expected,
            divergence,
        })
    }

    /// The expected workload alone.
    pub fn only(expected: Workload) -> Neighbourhood {
        Neighbourhood {
            expected,
            divergence: 0.0,
        }
    }

    /// The workload in the middle.
    pub fn expected(&self) -> &Workload {
        &self.expected
    }

    /// The largest divergence (rho), nats.
    pub fn divergence(&self) -> f64 {
        self.divergence
    }

    /// The largest mean cost over the neighbourhood, and where it is met.
    ///
    /// It is the minimum over lambda > 0 of [`Neighbourhood::dual`]. There the
    /// derivative vanishes, which says that the tilted workload
    /// v_k ~ w_k * e^(c_k/lambda) has divergence rho: the worst case itself. As
    /// that divergence grows with theta = 1/lambda, theta is found by bisection
    /// and Newton's steps. The ends, where no lambda attains the minimum: rho = 0
    /// is the expected workload; a rho of at least -ln(share of the costliest
    /// kinds) allows only those to happen.
    pub fn worst_case(&self, costs: &Costs) -> WorstCase {
        let tilt = Tilt::new(&self.expected, costs);
        if self.divergence == 0.0 || tilt.spread == 0.0 {
            return WorstCase {
                workload: self.expected,
                cost: costs.under(&self.expected),
            };
        }
        let tilted = if self.divergence >= -tilt.costliest_share().ln() {
            tilt.costliest()
        } else {
            tilt.at_divergence(self.divergence)
        };
        WorstCase {
            workload: Workload::computed(tilted),
            cost: tilt.cost(&tilted),
        }
    }

    /// Endure's dual (equation 10) with eta eliminated:
    /// rho * lambda + lambda * ln sum w_k * e^(c_k/lambda), an upper bound of
    /// the worst case for each lambda > 0, I/Os.
    pub fn dual(&self, costs: &Costs, lambda: f64) -> f64 {
        let tilt = Tilt::new(&self.expected, costs);
        let sum: f64 = tilt.weights(1.0 / lambda * tilt.spread).iter().sum();
        lambda * (self.divergence + sum.ln()) + tilt.most
    }
}

/// An expected workload and costs, as the distance from the largest cost that
/// has a share, in units of their spread: all in 0 to 1, so that no exponential
/// overflows.
struct Tilt {
    shares: [f64; 4],
    below: [f64; 4],
    most: f64,
    spread: f64,
}

impl Tilt {
    fn new(expected: &Workload, costs: &Costs) -> Tilt {
        let shares = expected.shares();
        let happening = || {
            let both = costs.0.iter().zip(&shares);
            both.filter(|(_, share)| **share > 0.0)
                .map(|(cost, _)| *cost)
        };
        let most = happening().fold(f64::NEG_INFINITY, f64::max);
        let least = happening().fold(f64::INFINITY, f64::min);
        let spread = most - least;
        let unit = if spread > 0.0 { spread } else { 1.0 };
        Tilt {
            shares,
            below: costs.0.map(|cost| (most - cost) / unit),
            most,
            spread,
        }
    }

    /// Shares scaled by e^(-theta * below); a share of 0 stays 0.
    fn weights(&self, theta: f64) -> [f64; 4] {
        std::array::from_fn(|at| match self.shares[at] {
            0.0 => 0.0,
            share => share * (-theta * self.below[at]).exp(),
        })
    }

    fn costliest(&self) -> [f64; 4] {
        std::array::from_fn(|at| {
            if self.below[at] == 0.0 {
                self.shares[at]
            } else {
                0.0
            }
        })
        .map(|share: f64| share / self.costliest_share())
    }

    fn costliest_share(&self) -> f64 {
        let both = self.shares.iter().zip(self.below);
        let sum: f64 = both
            .filter(|(_, below)| *below == 0.0)
            .map(|(share, _)| share)
            .sum();
        sum.min(1.0)
    }

    fn cost(&self, tilted: &[f64; 4]) -> f64 {
        self.most - self.spread * self.mean_below(tilted)
    }

    fn mean_below(&self, tilted: &[f64; 4]) -> f64 {
        tilted
            .iter()
            .zip(self.below)
            .map(|(share, below)| share * below)
            .sum()
    }

    /// The tilted workload, its divergence, and the derivative of that by
    /// theta: theta times the variance of the costs.
    fn tilted(&self, theta: f64) -> ([f64; 4], f64, f64) {
        let weights = self.weights(theta);
        let sum: f64 = weights.iter().sum();
        let tilted = weights.map(|weight| weight / sum);
        let mean = self.mean_below(&tilted);
        let squares = tilted
            .iter()
            .zip(self.below)
            .map(|(share, below)| share * (below - mean).powi(2));
        let divergence = -theta * mean - sum.ln();
        (tilted, divergence, theta * squares.sum::<f64>())
    }

    /// The tilted workload with this divergence, or a rounding error less.
    fn at_divergence(&self, divergence: f64) -> [f64; 4] {
        let (mut low, mut high) = (0.0, f64::INFINITY);
        let mut best = self.shares;
        // A small divergence is about theta² * variance / 2.
        let (_, _, variance) = self.tilted(1e-9);
        let mut theta = (2.0 * divergence / (variance * 1e9))
            .sqrt()
            .clamp(1e-9, 1e3);
        for _ in 0..200 {
            let (tilted, found, slope) = self.tilted(theta);
            let over = found - divergence;
            if over <= 0.0 {
                low = theta;
                best = tilted;
            } else {
                high = theta;
            }
            if over.abs() <= 1e-13 * divergence {
                return tilted;
            }
            if high <= low * (1.0 + 1e-15) {
                break;
            }
            theta -= over / slope;
            if !(theta > low && theta < high) {
                theta = between(low, high);
            }
        }
        best
    }
}

/// A point inside a bracket that may be open above.
fn between(low: f64, high: f64) -> f64 {
    if high == f64::INFINITY {
        low * 2.0 + 1e-6
    } else if low > 0.0 {
        (low * high).sqrt()
    } else {
        high / 2.0
    }
}

#[cfg(test)]
#[path = "neighbourhood_tests.rs"]
mod tests;
