//! Constants fitted online: least squares with forgetting around a prior.
//!
//! A mission gives one equation: what an operation took, over what it met. Older
//! equations count less and less; where they say nothing, the prior holds. Errors
//! are relative, so an equation is divided by what it was expected to explain.

use serde::{Deserialize, Serialize};

/// What an operation's time is made of.
pub(super) const TERMS: usize = 9;

/// Terms that programs knew before the entries that scans pass were one, and merges beside
/// reads another. Newer terms come last, so that what such a program has learned can be taken up.
const FEWEST_TERMS: usize = 7;

/// Weight of an equation against that of the next.
const FORGETTING: f64 = 0.96;

/// Relative error of one mission's time that is no news.
const ERROR: f64 = 0.1;

/// A mission weighs as one that took at most so many times as long, or as little, as it did.
const SURPRISE: f64 = 2.0;

/// What takes longer or less long than expected by more than so many errors has missed.
const MISSED: f64 = 2.0;

/// Missions in a row that missed on the same side, from which what was seen before is of
/// something else: the cache holds the data no more, or again, or the device got slower.
/// A merge is felt while it runs and counted when it ends: one of a few missions makes no row.
const ROW: u32 = 8;

/// As [`FORGETTING`], for the next missions of a row. One that goes on after them is a fault of
/// the model, for which nothing is forgotten: two missions alone would be left of what is known.
const FORGETTING_MISSED: f64 = 0.5;
const LONGEST_ROW: u32 = 3 * ROW;

/// No constant falls below this share of its prior.
const LEAST: f64 = 0.02;

/// One number for each term.
pub(super) type Terms = [f64; TERMS];

/// What an error is a share of.
fn scale(took: f64, expected: f64) -> f64 {
    // `max` and `min` take any number; `clamp` would panic on some.
    expected.max(took / SURPRISE).min(took * SURPRISE)
}

/// The sum of what was met, each term by what it takes.
pub(super) fn dot(one: &Terms, other: &Terms) -> f64 {
    one.iter().zip(other).map(|(a, b)| a * b).sum()
}

/// Least squares over what was seen.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(try_from = "Kept")]
pub(super) struct Fit {
    products: [Terms; TERMS],
    sums: Terms,
    /// Not kept over a restart.
    #[serde(skip)]
    row: Row,
}

/// Missions in a row that missed on the same side.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
struct Row {
    missions: u32,
    slower: bool,
}

/// What a state file holds, of as many terms as the program knew that wrote it.
#[derive(Deserialize)]
struct Kept {
    products: Vec<Vec<f64>>,
    sums: Vec<f64>,
}

impl TryFrom<Kept> for Fit {
    type Error = String;

    /// Of terms that are not told nothing was seen.
    fn try_from(kept: Kept) -> Result<Fit, String> {
        let known = kept.sums.len();
        let square =
            kept.products.len() == known && kept.products.iter().all(|row| row.len() == known);
        if !square || !(FEWEST_TERMS..=TERMS).contains(&known) {
            return Err(format!(
                "sums of {known} terms and products of {}: there are {TERMS} of each, or \
                 {FEWEST_TERMS} as older programs have them",
                kept.products.len()
            ));
        }
        let mut fit = Fit::new();
        for (row, told) in fit.products.iter_mut().zip(&kept.products) {
            row[..known].copy_from_slice(told);
        }
        fit.sums[..known].copy_from_slice(&kept.sums);
        Ok(fit)
    }
}

impl Fit {
    pub fn new() -> Fit {
        Fit {
            products: [[0.0; TERMS]; TERMS],
            sums: [0.0; TERMS],
            row: Row::default(),
        }
    }

    /// Compares a mission, by itself, with what was expected of it. Relative errors alone do not
    /// tell a machine that got slower: a mission that takes ten times as long weighs a
    /// twenty-fifth of those that were seen before, and its sort would be believed after more than
    /// a hundred. Missions that are blurred would not do: one that a pause met misses for as long
    /// as it is in their mean.
    pub fn compare(&mut self, took: f64, expected: f64, error: f64) {
        let off = (took - expected) / (ERROR.hypot(error) * scale(took, expected));
        let slower = off > 0.0;
        if !off.is_finite() || off.abs() <= MISSED {
            self.row = Row::default();
            return;
        }
        let before = if slower == self.row.slower {
            self.row.missions
        } else {
            0
        };
        self.row = Row {
            missions: before.saturating_add(1),
            slower,
        };
    }

    /// Whether any equation was of this term.
    pub fn has_met(&self, term: usize) -> bool {
        self.products[term][term] > 0.0
    }

    /// Whether all numbers are numbers, as those of a state file may not be.
    pub fn is_sound(&self) -> bool {
        let all = self.products.iter().flatten().chain(&self.sums);
        all.copied().all(f64::is_finite)
    }

    /// What was met, how long it took, how long it was expected to take, and the relative error
    /// with which it was told. Whether there was anything to learn from it.
    ///
    /// Errors are a share of what is expected. By what it took a mission that happened to be
    /// slow would hardly count, as those are in which merges are felt, and the fit lie under the
    /// mean (iteratively reweighted least squares). It does where missions differ by more than
    /// [`SURPRISE`] twice over: a pause of the machine is to count little.
    pub fn learn(&mut self, met: &Terms, took: f64, expected: f64, error: f64) -> bool {
        let numbers = met.iter().chain([&took, &expected, &error]);
        if took <= 0.0 || !numbers.copied().all(f64::is_finite) {
            return false;
        }
        let error = ERROR.hypot(error);
        let weight = 1.0 / (error * scale(took, expected));
        self.forget(met, (ERROR / error).powi(2));
        for (row, one) in self.products.iter_mut().zip(met) {
            for (cell, other) in row.iter_mut().zip(met) {
                *cell += one * other * weight * weight;
            }
        }
        for (sum, one) in self.sums.iter_mut().zip(met) {
            *sum += one * took * weight * weight;
        }
        true
    }

    /// Forgets a part of what was seen in the direction of these terms, and nothing of what is
    /// orthogonal to it: a night of reads tells nothing of what writes take. The constants that
    /// fit best stay those that they are (directional forgetting, Cao and Schwartz, 2000). Who
    /// tells little makes little be forgotten: `part` of what an exact mission does.
    fn forget(&mut self, met: &Terms, part: f64) {
        let seen: Terms = self.products.map(|row| dot(&row, met));
        let all = dot(&seen, met);
        if all <= 0.0 {
            return;
        }
        let kept = match self.row.missions {
            ROW..LONGEST_ROW => FORGETTING_MISSED,
            _ => FORGETTING,
        };
        let part = part * (1.0 - kept) / all;
        let told = part * dot(&self.sums, met);
        for (row, one) in self.products.iter_mut().zip(&seen) {
            for (cell, other) in row.iter_mut().zip(&seen) {
                *cell -= part * one * other;
            }
        }
        for (sum, one) in self.sums.iter_mut().zip(&seen) {
            *sum -= told * one;
        }
    }

    /// The constants, each within so much (relative) of its prior unless what was
    /// seen says otherwise.
    pub fn constants(&self, prior: &Terms, doubt: f64) -> Terms {
        let mut products = self.products;
        let mut sums = self.sums;
        for at in 0..TERMS {
            let trust = 1.0 / (doubt * prior[at]).powi(2);
            products[at][at] += trust;
            sums[at] += trust * prior[at];
        }
        let mut found = solve(products, sums).unwrap_or(*prior);
        for (constant, prior) in found.iter_mut().zip(prior) {
            *constant = constant.max(LEAST * prior);
        }
        found
    }
}

/// Gauss's elimination; the matrix is positive definite but for rounding.
fn solve(mut matrix: [Terms; TERMS], mut right: Terms) -> Option<Terms> {
    for pivot in 0..TERMS {
        let best = (pivot..TERMS).max_by(|a, b| {
            let size = |row: &usize| matrix[*row][pivot].abs();
            size(a).total_cmp(&size(b))
        })?;
        matrix.swap(pivot, best);
        right.swap(pivot, best);
        let head = matrix[pivot][pivot];
        if head.abs() < 1e-300 {
            return None;
        }
        for row in pivot + 1..TERMS {
            let factor = matrix[row][pivot] / head;
            let (above, below) = matrix.split_at_mut(row);
            for (cell, from) in below[0].iter_mut().zip(&above[pivot]).skip(pivot) {
                *cell -= factor * from;
            }
            right[row] -= factor * right[pivot];
        }
    }
    let mut found = [0.0; TERMS];
    for row in (0..TERMS).rev() {
        let known: f64 = (row + 1..TERMS).map(|at| matrix[row][at] * found[at]).sum();
        found[row] = (right[row] - known) / matrix[row][row];
    }
    found.iter().all(|it| it.is_finite()).then_some(found)
}

#[cfg(test)]
#[path = "fit_tests.rs"]
mod tests;
