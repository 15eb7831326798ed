//! How large should the neighbourhood be?
//!
//! Endure (section 4) offers three sources: workloads that were observed,
//! ranges that an operator gives, or two workloads, one expected and one off
//! peak. As a rule of thumb the nominal tuning competes under a divergence of
//! 0.2.

use serde::{Deserialize, Serialize};

use super::Neighbourhood;
use crate::cost_model::{ModelError, OperationKind, Workload};
use crate::observation::OperationMix;

/// Operations of which shares are taken at least. By two standard errors, 1 / sqrt(n),
/// shares of so many lie within 0.02 of those of many; what fewer seem to say is chance:
/// one get in an idle second is a workload of nothing but gets.
pub const LEAST_OPERATIONS: u64 = 2_500;

/// A workload that was observed.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct Observed {
    /// The shares.
    pub workload: Workload,
    /// Operations that they are of: it weighs as much in the mean.
    pub operations: u64,
}

impl Observed {
    /// A workload of which the shares alone are known: all of these weigh the same.
    pub fn listed(workload: Workload) -> Observed {
        Observed {
            workload,
            operations: LEAST_OPERATIONS,
        }
    }

    fn of(operations: &OperationMix) -> Option<Observed> {
        Some(Observed {
            workload: Workload::of_mission(operations)?,
            operations: operations.total(),
        })
    }
}

/// The workloads of one column family's missions, which come in their order: as many
/// missions together as make [`LEAST_OPERATIONS`]. What is left over at the end joins the
/// workload before it, or is one where it is all.
pub fn of_missions<'a>(missions: impl IntoIterator<Item = &'a OperationMix>) -> Vec<Observed> {
    let mut merged: Vec<OperationMix> = Vec::new();
    for mission in missions {
        match merged.last_mut() {
            Some(last) if is_few(last) => *last += mission,
            _ => merged.push(*mission),
        }
    }
    if let Some(rest) = merged.pop_if(|last| is_few(last)) {
        match merged.last_mut() {
            Some(last) => *last += &rest,
            None => merged.push(rest),
        }
    }
    merged.iter().filter_map(Observed::of).collect()
}

fn is_few(mix: &OperationMix) -> bool {
    mix.total() < LEAST_OPERATIONS
}

/// The mean of observed workloads, and the largest divergence of one of them
/// from it (Endure's first heuristic). It is finite, since the mean has some of
/// everything that was seen.
///
/// # Errors
/// No workload at all.
pub fn around_mean(observed: &[Observed]) -> Result<Neighbourhood, ModelError> {
    let mean = mean(observed)?;
    around(mean, observed.iter().map(|it| &it.workload))
}

/// An expected workload, and the largest divergence of an observed one from it.
///
/// # Errors
/// No workload at all, or one in which something happened that is not expected
/// at all.
pub fn around<'a>(
    expected: Workload,
    observed: impl IntoIterator<Item = &'a Workload>,
) -> Result<Neighbourhood, ModelError> {
    let mut largest: Option<f64> = None;
    for workload in observed {
        let divergence = finite(workload, &expected)?;
        largest = Some(largest.map_or(divergence, |before| before.max(divergence)));
    }
    Neighbourhood::new(expected, largest.ok_or_else(nothing_seen)?)
}

/// The mean of observed workloads, and the largest divergence of one of them
/// from another (Endure's rule of thumb, section 7.3).
///
/// # Errors
/// No workload at all, or two of which one lacks what the other has.
pub fn between_pairs(observed: &[Observed]) -> Result<Neighbourhood, ModelError> {
    let mean = mean(observed)?;
    let mut largest = 0f64;
    for expected in observed {
        for other in observed {
            largest = largest.max(finite(&other.workload, &expected.workload)?);
        }
    }
    Neighbourhood::new(mean, largest)
}

/// An expected workload, and the divergence of another, off peak.
///
/// # Errors
/// Something happens off peak that is not expected at all.
pub fn to_off_peak(expected: Workload, off_peak: &Workload) -> Result<Neighbourhood, ModelError> {
    around(expected, std::slice::from_ref(off_peak))
}

/// Workloads within ranges of shares (lowest and highest of z0, z1, q, w), drawn
/// evenly and scaled to sum to 1, as [`around_mean`] takes them. `uniform` gives
/// numbers from 0 to 1.
///
/// # Errors
/// A range that is negative, no number, or upside down, or ranges that are all
/// 0.
pub fn sampled_from_ranges(
    ranges: &[(f64, f64); 4],
    samples: usize,
    uniform: &mut dyn FnMut() -> f64,
) -> Result<Neighbourhood, ModelError> {
    for (kind, (low, high)) in OperationKind::ALL.iter().zip(ranges) {
        if !(*low >= 0.0 && low <= high && high.is_finite()) {
            return Err(ModelError::new(format!(
                "the share of {kind} cannot range from {low} to {high}: give two numbers of at least 0, the smaller one first"
            )));
        }
    }
    let mut draw = || ranges.map(|(low, high)| low + (high - low) * uniform());
    let drawn: Vec<Observed> = (0..samples)
        .map(|_| Workload::from_counts(draw()).map(Observed::listed))
        .collect::<Result<_, _>>()?;
    around_mean(&drawn)
}

/// The workload of all operations together.
///
/// # Errors
/// No workload at all.
pub fn mean(observed: &[Observed]) -> Result<Workload, ModelError> {
    if observed.is_empty() {
        return Err(nothing_seen());
    }
    let mut sums = [0.0; 4];
    for it in observed {
        for (sum, share) in sums.iter_mut().zip(it.workload.shares()) {
            *sum += share * it.operations as f64;
        }
    }
    Workload::from_counts(sums)
}

fn nothing_seen() -> ModelError {
    ModelError::new("a history without workloads shows no spread: observe at least one")
}

fn finite(observed: &Workload, expected: &Workload) -> Result<f64, ModelError> {
    let divergence = observed.divergence_from(expected);
    if divergence.is_finite() {
        return Ok(divergence);
    }
    let unexpected = OperationKind::ALL
        .into_iter()
        .find(|kind| observed.share(*kind) > 0.0 && expected.share(*kind) == 0.0);
    let kind = unexpected.map_or_else(String::new, |kind| kind.to_string());
    Err(ModelError::new(format!(
        "{kind} were seen beside a workload ({expected}) that has none: no divergence allows for that, so expect at least a small share, such as 1 %"
    )))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn workload(shares: [f64; 4]) -> Workload {
        Workload::new(shares).expect("sums to 1")
    }

    fn listed(shares: [[f64; 4]; 2]) -> [Observed; 2] {
        shares.map(|shares| Observed::listed(workload(shares)))
    }

    fn mix(gets: u64, writes: u64) -> OperationMix {
        OperationMix {
            gets_found: gets,
            writes,
            ..OperationMix::default()
        }
    }

    #[test]
    fn few_operations_of_an_idle_second_are_no_workload_of_their_own() {
        let (busy, idle) = (mix(25_000, 25_000), mix(1, 0));
        let seen = of_missions(&[busy, idle, idle, busy, idle]);
        let operations: Vec<u64> = seen.iter().map(|it| it.operations).collect();
        assert_eq!(operations, [50_000, 50_003]);
        let near = around_mean(&seen).expect("two workloads");
        assert!(near.divergence() < 1e-6, "{near:?}");
        // Other shares of as many operations as can be told apart are.
        let seen = of_missions(&[busy, mix(LEAST_OPERATIONS, 0), mix(0, LEAST_OPERATIONS)]);
        assert_eq!(seen.len(), 3);
        assert!(around_mean(&seen).expect("three workloads").divergence() > 0.6);
    }

    #[test]
    fn few_operations_are_all_that_was_seen_where_there_are_no_others() {
        let seen = of_missions(&[mix(1, 0), mix(0, 3)]);
        assert_eq!(seen.len(), 1);
        assert_eq!(seen[0].operations, 4);
        assert_eq!(seen[0].workload.shares(), [0.0, 0.25, 0.0, 0.75]);
        let none: [OperationMix; 0] = [];
        assert!(of_missions(&none).is_empty());
        assert!(of_missions(&[mix(0, 0)]).is_empty());
    }

    #[test]
    fn the_mean_is_that_of_all_operations() {
        let mut seen = listed([[0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 0.0, 1.0]]);
        seen[0].operations = 3 * seen[1].operations;
        let mean = mean(&seen).expect("two workloads");
        assert_eq!(mean.shares(), [0.0, 0.75, 0.0, 0.25]);
    }

    /// Mean of (1, 0) and (0, 1) is (1/2, 1/2), and each diverges by ln 2.
    #[test]
    fn spread_around_the_mean_by_hand() {
        let seen = listed([[1.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 1.0]]);
        let near = around_mean(&seen).expect("two workloads");
        assert_eq!(near.expected().shares(), [0.5, 0.0, 0.0, 0.5]);
        assert!((near.divergence() - 2f64.ln()).abs() < 1e-15);
        let error = between_pairs(&seen).expect_err("disjoint").to_string();
        assert!(error.contains("expect at least a small share"), "{error}");
    }

    /// 0.75 ln(0.75/0.25) + 0.25 ln(0.25/0.75) = 0.5 ln 3.
    #[test]
    fn spread_between_pairs_by_hand() {
        let seen = listed([[0.75, 0.25, 0.0, 0.0], [0.25, 0.75, 0.0, 0.0]]);
        let near = between_pairs(&seen).expect("same kinds");
        assert!((near.divergence() - 0.5 * 3f64.ln()).abs() < 1e-15);
        let [expected, other] = seen.map(|it| it.workload);
        let off_peak = to_off_peak(expected, &other).expect("same kinds");
        assert_eq!(off_peak.expected(), &expected);
        assert!((off_peak.divergence() - near.divergence()).abs() < 1e-15);
    }

    #[test]
    fn every_observed_workload_is_in_the_neighbourhood() {
        let seen: Vec<Observed> = crate::cost_model::expected_workloads()
            .iter()
            .map(|expected| Observed::listed(expected.workload))
            .collect();
        let near = around_mean(&seen).expect("15 workloads");
        for it in &seen {
            assert!(it.workload.divergence_from(near.expected()) <= near.divergence());
        }
        let pairs = between_pairs(&seen).expect("no zero shares");
        assert!(pairs.divergence() > near.divergence());
    }

    #[test]
    fn ranges_of_one_point_have_no_spread() {
        let mut always = || 0.5;
        let point = [(25.0, 25.0); 4];
        let near = sampled_from_ranges(&point, 10, &mut always).expect("a range");
        assert_eq!(near.divergence(), 0.0);
        let mut sequence = (0..).map(|step| f64::from(step % 7) / 7.0);
        let mut uniform = || sequence.next().expect("endless");
        let wide = sampled_from_ranges(&[(0.0, 1.0); 4], 50, &mut uniform).expect("ranges");
        assert!(wide.divergence() > 0.1);
    }

    #[test]
    fn wrong_histories_say_what_to_give() {
        let error = around_mean(&[]).expect_err("empty").to_string();
        assert!(error.contains("observe at least one"), "{error}");
        let none: [Workload; 0] = [];
        let error = around(workload([0.25; 4]), &none).expect_err("empty");
        let error = error.to_string();
        assert!(error.contains("observe at least one"), "{error}");
        for range in [
            (-1.0, 1.0),
            (1.0, 0.0),
            (f64::NAN, 1.0),
            (0.0, f64::INFINITY),
        ] {
            let ranges = [(0.0, 1.0), range, (0.0, 1.0), (0.0, 1.0)];
            let error = sampled_from_ranges(&ranges, 3, &mut || 0.5).expect_err("bad");
            assert!(
                error.to_string().contains("the smaller one first"),
                "{error}"
            );
        }
    }
}
