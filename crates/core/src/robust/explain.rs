//! Why the robust tuning is another than the nominal one.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::Tuned;
use crate::cost_model::{OperationKind, Percent, Ratio, Workload};

/// What separates two tunings, and the workload that makes it matter.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Difference {
    /// The nominal tuning.
    pub nominal: Tuned,
    /// The robust tuning.
    pub robust: Tuned,
    /// The kind of operation that adds most to the nominal tuning's cost in its
    /// worst case; none when its worst case is the expected one.
    pub growth: Option<Growth>,
}

/// A kind of operation whose share grows.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct Growth {
    /// Which.
    pub kind: OperationKind,
    /// Its expected share.
    pub from: f64,
    /// Its share in the worst workload for the nominal tuning.
    pub to: f64,
    /// Mean cost of an operation there under the nominal tuning, I/Os.
    pub nominal_cost: f64,
    /// Mean cost of an operation there under the robust tuning, I/Os.
    pub robust_cost: f64,
}

impl Difference {
    /// Compares two tunings for an expected workload; the nominal one comes
    /// with its worst case in the neighbourhood.
    pub fn new(expected: &Workload, nominal: &Tuned, robust: &Tuned) -> Difference {
        let worst = nominal.worst.workload;
        let added =
            |kind: OperationKind| (worst.share(kind) - expected.share(kind)) * nominal.costs[kind];
        let kind = OperationKind::ALL
            .into_iter()
            .max_by(|one, other| added(*one).total_cmp(&added(*other)));
        let grown = kind.filter(|kind| worst.share(*kind) > expected.share(*kind));
        Difference {
            nominal: nominal.clone(),
            robust: robust.clone(),
            growth: grown.map(|kind| Growth {
                kind,
                from: expected.share(kind),
                to: worst.share(kind),
                nominal_cost: nominal.costs.under(&worst),
                robust_cost: robust.costs.under(&worst),
            }),
        }
    }

    /// What the robust tuning has instead of the nominal one's, in words, as
    /// far as it shows in the digits that are printed.
    pub fn changes(&self) -> Vec<String> {
        let (nominal, robust) = (&self.nominal.tuning, &self.robust.tuning);
        let mut changes = Vec::new();
        let mut differ = |before: &str, robust: String, after: &str, nominal: String| {
            if robust != nominal {
                changes.push(format!("{before}{robust}{after} instead of {nominal}"));
            }
        };
        let ratio = |ratio| Ratio(ratio).to_string();
        let bits = |bits: f64| format!("{bits:.1}");
        let policies = [robust, nominal].map(|tuning| tuning.policy.to_string());
        let [robust_policy, nominal_policy] = policies;
        differ("", robust_policy, "", nominal_policy);
        differ(
            "a size ratio of ",
            ratio(robust.size_ratio),
            "",
            ratio(nominal.size_ratio),
        );
        differ(
            "",
            bits(robust.filter_bits_per_entry),
            " filter bits per entry",
            bits(nominal.filter_bits_per_entry),
        );
        changes
    }
}

/// A sentence without a full stop.
impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(growth) = &self.growth else {
            return f.write_str("no workload in the neighbourhood costs more than the expected one, so the nominal tuning stands");
        };
        let changes = self.changes();
        let Growth {
            kind,
            from,
            to,
            nominal_cost,
            robust_cost,
        } = growth;
        write!(
            f,
            "if {kind} grew from {} to {} of all operations, ",
            Percent(*from),
            Percent(*to)
        )?;
        let Some((last, others)) = changes.split_last() else {
            return write!(
                f,
                "an operation would cost {nominal_cost:.2} I/Os, and no other tuning withstands it better"
            );
        };
        write!(
            f,
            "an operation would cost {nominal_cost:.2} I/Os under the nominal tuning and {robust_cost:.2} under the robust one, which takes "
        )?;
        if !others.is_empty() {
            write!(f, "{} and ", others.join(", "))?;
        }
        f.write_str(last)?;
        let [nominal, robust] = [&self.nominal, &self.robust].map(|tuned| tuned.costs[*kind]);
        if robust < nominal {
            write!(
                f,
                ": {kind} then cost {robust:.2} I/Os each instead of {nominal:.2}"
            )?;
        }
        Ok(())
    }
}
