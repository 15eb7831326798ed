//! Six sessions of workloads near and far from the expected one (Endure,
//! section 8): what comes, written down before anything is measured.

use lissom::core::cost_model::Workload;
use lissom::core::robust::benchmark::sample;
use lissom::core::robust::history;
use serde::{Deserialize, Serialize};

use crate::error::{BenchError, Result};
use crate::generate::Rng;

/// Workloads that diverge by less from the expected one count as expected.
const NEAR: f64 = 0.2;

/// Share of a session's queries that are of its kind; the others are any.
const OF_ITS_KIND: f64 = 0.8;

/// Samples that may be drawn for one workload near the expected one.
const MOST_DRAWS: usize = 200;

/// What a session mostly consists of.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SessionKind {
    /// Workloads near the expected one.
    Expected,
    /// Gets of absent keys.
    EmptyReads,
    /// Gets of present keys.
    NonEmptyReads,
    /// Gets of both kinds.
    Reads,
    /// Scans.
    Ranges,
    /// Writes.
    Writes,
}

impl SessionKind {
    /// The order in which they are run.
    pub const ALL: [SessionKind; 6] = [
        SessionKind::Expected,
        SessionKind::EmptyReads,
        SessionKind::NonEmptyReads,
        SessionKind::Reads,
        SessionKind::Ranges,
        SessionKind::Writes,
    ];

    /// Its name in tables.
    pub fn name(self) -> &'static str {
        match self {
            SessionKind::Expected => "expected",
            SessionKind::EmptyReads => "empty reads",
            SessionKind::NonEmptyReads => "non-empty reads",
            SessionKind::Reads => "reads",
            SessionKind::Ranges => "ranges",
            SessionKind::Writes => "writes",
        }
    }

    /// Shares of its own kind (z0, z1, q, w), given how the gets divide.
    fn own(self, absent: f64) -> Option<[f64; 4]> {
        match self {
            SessionKind::Expected => None,
            SessionKind::EmptyReads => Some([1.0, 0.0, 0.0, 0.0]),
            SessionKind::NonEmptyReads => Some([0.0, 1.0, 0.0, 0.0]),
            SessionKind::Reads => Some([absent, 1.0 - absent, 0.0, 0.0]),
            SessionKind::Ranges => Some([0.0, 0.0, 1.0, 0.0]),
            SessionKind::Writes => Some([0.0, 0.0, 0.0, 1.0]),
        }
    }
}

/// A session: workloads, one after another.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct UncertainSession {
    /// What it mostly consists of.
    pub kind: SessionKind,
    /// Its workloads.
    pub workloads: Vec<Workload>,
}

/// The sessions of one experiment. Equal seeds give equal sessions.
///
/// # Errors
/// Never with workloads of positive shares.
pub fn sessions(expected: &Workload, each: usize, seed: u64) -> Result<Vec<UncertainSession>> {
    let mut rng = Rng::new(&[seed]);
    SessionKind::ALL
        .into_iter()
        .map(|kind| {
            let workloads = (0..each)
                .map(|_| workload(kind, expected, &mut rng))
                .collect::<Result<_>>()?;
            Ok(UncertainSession { kind, workloads })
        })
        .collect()
}

fn workload(kind: SessionKind, expected: &Workload, rng: &mut Rng) -> Result<Workload> {
    let absent = rng.unit();
    match kind.own(absent) {
        None => near(expected, rng),
        Some(own) => {
            let any = any(rng)?;
            mix(&own, &any.shares(), OF_ITS_KIND)
        }
    }
}

/// A sample near the expected workload, or one that was drawn towards it until it
/// is.
fn near(expected: &Workload, rng: &mut Rng) -> Result<Workload> {
    let mut drawn = any(rng)?;
    for _ in 0..MOST_DRAWS {
        if drawn.divergence_from(expected) < NEAR {
            return Ok(drawn);
        }
        drawn = any(rng)?;
    }
    while drawn.divergence_from(expected) >= NEAR {
        drawn = mix(&expected.shares(), &drawn.shares(), 0.5)?;
    }
    Ok(drawn)
}

fn any(rng: &mut Rng) -> Result<Workload> {
    let drawn = sample(1, &mut || rng.unit());
    drawn
        .first()
        .map(|sample| sample.workload)
        .ok_or_else(|| BenchError::new("no workload could be drawn"))
}

fn mix(own: &[f64; 4], any: &[f64; 4], share: f64) -> Result<Workload> {
    let mixed = std::array::from_fn(|at| share * own[at] + (1.0 - share) * any[at]);
    Workload::new(mixed).map_err(|error| BenchError::new(error.to_string()))
}

/// The divergence that the sessions make necessary: the largest of one of their
/// workloads.
///
/// # Errors
/// When something comes that is not expected at all.
pub fn divergence(expected: &Workload, sessions: &[UncertainSession]) -> Result<f64> {
    let all: Vec<Workload> = sessions
        .iter()
        .flat_map(|session| session.workloads.iter().copied())
        .collect();
    history::around(*expected, &all)
        .map(|near| near.divergence())
        .map_err(|error| BenchError::new(error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use lissom::core::cost_model::expected_workloads;

    #[test]
    fn each_session_is_of_its_stated_kind() {
        for expected in expected_workloads() {
            let sessions = sessions(&expected.workload, 5, 3).expect("sessions");
            assert_eq!(sessions.len(), 6);
            for session in &sessions {
                for workload in &session.workloads {
                    let shares = workload.shares();
                    let own = match session.kind {
                        SessionKind::Expected => {
                            assert!(workload.divergence_from(&expected.workload) < NEAR);
                            continue;
                        }
                        SessionKind::EmptyReads => shares[0],
                        SessionKind::NonEmptyReads => shares[1],
                        SessionKind::Reads => shares[0] + shares[1],
                        SessionKind::Ranges => shares[2],
                        SessionKind::Writes => shares[3],
                    };
                    assert!(own >= OF_ITS_KIND - 1e-12, "{:?}: {shares:?}", session.kind);
                }
            }
            let rho = divergence(&expected.workload, &sessions).expect("no share is 0");
            assert!(rho > 0.2 && rho < 5.0, "{}: {rho}", expected.name);
        }
    }

    #[test]
    fn equal_seeds_give_equal_sessions() {
        let expected = expected_workloads()[7].workload;
        let of = |seed| sessions(&expected, 2, seed).expect("sessions");
        assert_eq!(of(1), of(1));
        assert_ne!(of(1), of(2));
    }
}
