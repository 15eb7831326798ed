//! How large should the neighbourhood be?
//!
//! Endure (section 4) offers three sources: workloads that were observed,
//! ranges that an operator gives, or two workloads, one expected and one off
//! peak. As a rule of thumb the nominal tuning competes under a divergence of
//! 0.2.

use super::Neighbourhood;
use crate::cost_model::{ModelError, OperationKind, Workload};

/// The mean of observed workloads, and the largest divergence of one of them
/// from it (Endure's first heuristic). It is finite, since the mean has some of
/// everything that was seen.
///
/// # Errors
/// No workload at all.
pub fn around_mean(observed: &[Workload]) -> Result<Neighbourhood, ModelError> {
    let mean = mean(observed)?;
    around(mean, observed)
}

/// An expected workload, and the largest divergence of an observed one from it.
///
/// # Errors
/// No workload at all, or one in which something happened that is not expected
/// at all.
pub fn around(expected: Workload, observed: &[Workload]) -> Result<Neighbourhood, ModelError> {
    some(observed)?;
    let mut largest = 0f64;
    for workload in observed {
        largest = largest.max(finite(workload, &expected)?);
    }
    Neighbourhood::new(expected, largest)
}

/// The mean of observed workloads, and the largest divergence of one of them
/// from another (Endure's rule of thumb, section 7.3).
///
/// # Errors
/// No workload at all, or two of which one lacks what the other has.
pub fn between_pairs(observed: &[Workload]) -> Result<Neighbourhood, ModelError> {
    let mean = mean(observed)?;
    let mut largest = 0f64;
    for expected in observed {
        for workload in observed {
            largest = largest.max(finite(workload, expected)?);
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
    let drawn: Vec<Workload> = (0..samples)
        .map(|_| Workload::from_counts(ranges.map(|(low, high)| low + (high - low) * uniform())))
        .collect::<Result<_, _>>()?;
    around_mean(&drawn)
}

/// The workload whose share of each kind is the mean of the shares.
///
/// # Errors
/// No workload at all.
pub fn mean(observed: &[Workload]) -> Result<Workload, ModelError> {
    some(observed)?;
    let mut sums = [0.0; 4];
    for workload in observed {
        for (sum, share) in sums.iter_mut().zip(workload.shares()) {
            *sum += share;
        }
    }
    Workload::from_counts(sums)
}

fn some(observed: &[Workload]) -> Result<(), ModelError> {
    if observed.is_empty() {
        return Err(ModelError::new(
            "a history without workloads shows no spread: observe at least one",
        ));
    }
    Ok(())
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

    /// Mean of (1, 0) and (0, 1) is (1/2, 1/2), and each diverges by ln 2.
    #[test]
    fn spread_around_the_mean_by_hand() {
        let seen = [
            workload([1.0, 0.0, 0.0, 0.0]),
            workload([0.0, 0.0, 0.0, 1.0]),
        ];
        let near = around_mean(&seen).expect("two workloads");
        assert_eq!(near.expected().shares(), [0.5, 0.0, 0.0, 0.5]);
        assert!((near.divergence() - 2f64.ln()).abs() < 1e-15);
        let error = between_pairs(&seen).expect_err("disjoint").to_string();
        assert!(error.contains("expect at least a small share"), "{error}");
    }

    /// 0.75 ln(0.75/0.25) + 0.25 ln(0.25/0.75) = 0.5 ln 3.
    #[test]
    fn spread_between_pairs_by_hand() {
        let seen = [
            workload([0.75, 0.25, 0.0, 0.0]),
            workload([0.25, 0.75, 0.0, 0.0]),
        ];
        let near = between_pairs(&seen).expect("same kinds");
        assert!((near.divergence() - 0.5 * 3f64.ln()).abs() < 1e-15);
        let off_peak = to_off_peak(seen[0], &seen[1]).expect("same kinds");
        assert_eq!(off_peak.expected(), &seen[0]);
        assert!((off_peak.divergence() - near.divergence()).abs() < 1e-15);
    }

    #[test]
    fn every_observed_workload_is_in_the_neighbourhood() {
        let seen: Vec<Workload> = crate::cost_model::expected_workloads()
            .iter()
            .map(|expected| expected.workload)
            .collect();
        let near = around_mean(&seen).expect("15 workloads");
        for workload in &seen {
            assert!(workload.divergence_from(near.expected()) <= near.divergence());
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
