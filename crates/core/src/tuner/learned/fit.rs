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
mod tests {
    use super::*;

    const PRIOR: Terms = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 0.5, 0.25, 0.75];

    /// One of the first term, and nothing else.
    fn first() -> Terms {
        let mut met = [0.0; TERMS];
        met[0] = 1.0;
        met
    }

    #[test]
    fn nothing_seen_is_the_prior() {
        assert_eq!(Fit::new().constants(&PRIOR, 1.0), PRIOR);
    }

    #[test]
    fn what_was_seen_wins_where_it_says_something() {
        let truth = [2.0, 1.0, 3.0, 0.1, 9.0, 4.0, 0.2, 0.5, 1.5];
        let mut fit = Fit::new();
        for mission in 0..200u32 {
            let met: Terms = std::array::from_fn(|at| {
                let at = at as u32;
                f64::from((mission * (at + 2) * 7 + at * at * 3) % 101)
            });
            let took: f64 = met.iter().zip(&truth).map(|(a, b)| a * b).sum();
            fit.learn(&met, took, took, 0.0);
        }
        let found = fit.constants(&PRIOR, 10.0);
        for (found, truth) in found.iter().zip(&truth) {
            assert!(
                (found - truth).abs() < 0.1 * truth + 0.05,
                "{found} {truth}"
            );
        }
    }

    /// Every second mission takes three times as long.
    #[test]
    fn what_varies_is_fitted_by_its_mean_and_not_by_its_fastest() {
        let mut fit = Fit::new();
        for mission in 0..400 {
            let took = if mission % 2 == 0 { 1.0 } else { 3.0 };
            let expected = fit.constants(&PRIOR, 10.0)[0];
            fit.learn(&first(), took, expected, 0.0);
        }
        let found = fit.constants(&PRIOR, 10.0)[0];
        assert!((1.8..2.2).contains(&found), "{found}");
    }

    /// Learns missions of the first term that take so long, one after the other.
    fn pass(fit: &mut Fit, times: impl IntoIterator<Item = f64>) -> f64 {
        for took in times {
            let expected = fit.constants(&PRIOR, 10.0)[0];
            fit.compare(took, expected, 0.0);
            fit.learn(&first(), took, expected, 0.0);
        }
        fit.constants(&PRIOR, 10.0)[0]
    }

    #[test]
    fn a_machine_that_gets_slower_or_faster_is_known_within_thirty_missions() {
        for times in [10.0, 3.0, 1.5, 0.5, 0.1] {
            let mut fit = Fit::new();
            pass(&mut fit, [1.0; 100]);
            let found = pass(&mut fit, [times; 25]);
            assert!((found / times - 1.0).abs() < 0.1, "{found} of {times}");
        }
    }

    /// No constant is under a fiftieth of its prior, so that all miss.
    #[test]
    fn a_row_that_does_not_end_is_a_fault_of_the_model() {
        let mut fit = Fit::new();
        let fast = 0.1 * LEAST * PRIOR[0];
        pass(&mut fit, [fast; 100]);
        assert!(fit.row.missions > LONGEST_ROW, "{:?}", fit.row);
        // As many as are remembered, and not two.
        let weight = (ERROR * SURPRISE * fast).powi(2) * fit.products[0][0];
        assert!(weight > 0.9 / (1.0 - FORGETTING), "{weight}");
    }

    #[test]
    fn a_pause_of_the_machine_and_a_few_slow_missions_are_no_other_machine() {
        let mut fit = Fit::new();
        pass(&mut fit, [1.0; 100]);
        let after = pass(&mut fit, [100.0, 1.0, 1.0, 3.0, 3.0, 3.0, 3.0, 3.0]);
        assert!(after < 1.3, "{after}");
        let again = pass(&mut fit, [1.0; 10]);
        assert!((again - 1.0).abs() < 0.2, "{again}");
    }

    #[test]
    fn missions_that_vary_make_no_row() {
        let mut fit = Fit::new();
        let times = (0..400).map(|mission| if mission % 5 == 0 { 1.0 } else { 1.6 });
        let found = pass(&mut fit, times);
        assert!((1.35..1.6).contains(&found), "{found}");
        assert!(fit.row.missions < ROW);
    }

    #[test]
    fn what_tells_little_misses_nothing() {
        let mut fit = Fit::new();
        pass(&mut fit, [1.0; 100]);
        for _ in 0..2 * ROW {
            fit.compare(2.0, 1.0, 1.0);
        }
        assert_eq!(fit.row, Row::default());
        fit.compare(2.0, 1.0, 0.0);
        assert_eq!(fit.row.missions, 1);
        fit.compare(0.5, 1.0, 0.0);
        assert_eq!(fit.row.missions, 1, "on the other side");
        fit.compare(f64::NAN, 1.0, 0.0);
        assert_eq!(fit.row, Row::default());
    }

    #[test]
    fn who_tells_little_makes_little_be_forgotten() {
        let after = |error: f64| {
            let mut fit = Fit::new();
            for _ in 0..100 {
                fit.learn(&first(), 3.0, 3.0, 0.0);
            }
            for _ in 0..100 {
                fit.learn(&first(), 6.0, 6.0, error);
            }
            fit.constants(&PRIOR, 10.0)[0]
        };
        let (exact, rough) = (after(0.0), after(1.0));
        assert!(exact > 5.8 && rough < 4.0, "{exact} {rough}");
    }

    #[test]
    fn one_direction_leaves_the_others_at_the_prior() {
        let mut fit = Fit::new();
        for _ in 0..100 {
            fit.learn(&first(), 3.0, 3.0, 0.0);
        }
        let found = fit.constants(&PRIOR, 1.0);
        assert!((found[0] - 3.0).abs() < 0.05, "{found:?}");
        assert_eq!(found[1..], PRIOR[1..]);
    }

    /// A mission of all terms but the last.
    fn without_the_last() -> Terms {
        let mut met = [2.0; TERMS];
        met[TERMS - 1] = 0.0;
        met
    }

    /// Bit by bit.
    #[test]
    fn a_term_that_was_never_met_changes_no_other() {
        let mut fit = Fit::new();
        for took in 1..50u32 {
            fit.learn(&first(), 3.0, 3.0, 0.0);
            fit.learn(&without_the_last(), f64::from(took), f64::from(took), 0.0);
        }
        let with = |last: f64| {
            let mut prior = PRIOR;
            prior[TERMS - 1] = last;
            fit.constants(&prior, 1.0)[..TERMS - 1].to_vec()
        };
        assert_eq!(with(0.25), with(1e6));
        assert_eq!(with(0.25), with(1e-6));
    }

    /// A night of reads, of which each takes what it took.
    #[test]
    fn what_was_learned_of_one_kind_outlasts_many_missions_of_another() {
        let mut both = [0.0; TERMS];
        (both[0], both[5]) = (1.0, 1.0);
        let mut writes = [0.0; TERMS];
        writes[5] = 1.0;
        let mut fit = Fit::new();
        for _ in 0..30 {
            fit.learn(&both, 63.0, 63.0, 0.0);
            fit.learn(&writes, 60.0, 60.0, 0.0);
        }
        let before = fit.constants(&PRIOR, 1.0);
        for _ in 0..10_000 {
            fit.learn(&first(), 3.0, 3.0, 0.0);
        }
        let after = fit.constants(&PRIOR, 1.0);
        assert!((before[5] - 60.0).abs() < 3.0, "{before:?}");
        assert!((after[5] - before[5]).abs() < 3.0, "{after:?}");
        for _ in 0..200 {
            fit.learn(&writes, 30.0, 30.0, 0.0);
        }
        let anew = fit.constants(&PRIOR, 1.0);
        assert!(
            (anew[5] - 30.0).abs() < 3.0,
            "it can be learned anew: {anew:?}"
        );
    }

    #[test]
    fn what_an_older_program_has_learned_is_taken_up() {
        let mut fit = Fit::new();
        let mut known = without_the_last();
        known[FEWEST_TERMS..].fill(0.0);
        fit.learn(&known, 3.0, 3.0, 0.0);
        let state = serde_json::to_value(&fit).expect("data");
        let read = |state: &serde_json::Value| serde_json::from_value::<Fit>(state.clone());
        assert_eq!(read(&state).expect("its own"), fit);
        let mut old = state.clone();
        let rows = old["products"].as_array_mut().expect("rows");
        rows.truncate(FEWEST_TERMS);
        for row in rows {
            let row = row.as_array_mut().expect("a row");
            row.truncate(FEWEST_TERMS);
        }
        let why = read(&old).expect_err("sums of more terms");
        assert!(why.to_string().contains("products of 7"), "{why}");
        let sums = old["sums"].as_array_mut().expect("sums");
        sums.truncate(FEWEST_TERMS);
        assert_eq!(read(&old).expect("an older state"), fit);
        old["products"][3] = serde_json::json!([1.0]);
        assert!(read(&old).is_err(), "a row is short");
    }

    #[test]
    fn what_was_hardly_timed_moves_little() {
        let after = |error: f64| {
            let mut fit = Fit::new();
            fit.learn(&first(), 3.0, 3.0, error);
            fit.constants(&PRIOR, 1.0)[0]
        };
        let (exact, rough, none) = (after(0.0), after(1.0), after(100.0));
        assert!(
            exact > 2.8 && rough < 1.3 && rough > none,
            "{exact} {rough}"
        );
        assert!((none - PRIOR[0]).abs() < 1e-3, "{none}");
    }

    #[test]
    fn nonsense_teaches_nothing() {
        let mut fit = Fit::new();
        for (met, took, error) in [
            (1.0, f64::NAN, 0.0),
            (f64::INFINITY, 1.0, 0.0),
            (1.0, 0.0, 0.0),
            (1.0, 1.0, f64::NAN),
        ] {
            assert!(!fit.learn(&[met; TERMS], took, took, error));
        }
        assert_eq!(fit, Fit::new());
        assert!(fit.is_sound());
        assert!(fit.learn(&[1.0; TERMS], 1.0, 1.0, 0.0));
    }
}
