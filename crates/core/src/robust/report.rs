//! Advice as a table.

use std::fmt;

use super::{Advice, Tuned};
use crate::cost_model::{OperationKind, Percent, Ratio};

const LABEL: usize = 30;
const COLUMN: usize = 16;

/// A table with a column for each tuning, what is lost and what is saved, and
/// why.
impl fmt::Display for Advice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let near = &self.near;
        writeln!(f, "{:LABEL$}{}", "expected workload", near.expected())?;
        writeln!(
            f,
            "{:LABEL$}{:.2}",
            "largest divergence (rho)",
            near.divergence()
        )?;
        writeln!(f)?;
        let [nominal, robust] = [&self.nominal, &self.robust];
        row(f, "", "nominal", "robust")?;
        for (label, cell) in CELLS {
            row(f, label, &cell(nominal), &cell(robust))?;
        }
        for kind in OperationKind::ALL {
            let cost = |tuned: &Tuned| format!("{:.3}", tuned.costs[kind]);
            row(f, &format!("I/Os, {kind}"), &cost(nominal), &cost(robust))?;
        }
        let [expected, worst] = [
            |tuned: &Tuned| format!("{:.3}", tuned.expected_cost),
            |tuned: &Tuned| format!("{:.3}", tuned.worst.cost),
        ];
        row(
            f,
            "I/Os, expected workload",
            &expected(nominal),
            &expected(robust),
        )?;
        row(f, "I/Os, worst workload", &worst(nominal), &worst(robust))?;
        writeln!(f)?;
        self.conclude(f)
    }
}

type Cell = (&'static str, fn(&Tuned) -> String);

const CELLS: [Cell; 6] = [
    ("size ratio", |tuned| {
        Ratio(tuned.tuning.size_ratio).to_string()
    }),
    ("filter bits per entry", |tuned| {
        format!("{:.2}", tuned.tuning.filter_bits_per_entry)
    }),
    ("write buffer", |tuned| {
        format!("{:.1} MB", tuned.buffer_bits / 8e6)
    }),
    ("policy", |tuned| tuned.tuning.policy.to_string()),
    ("levels", |tuned| tuned.levels.to_string()),
    ("can be held by the tree", |tuned| {
        let held = tuned.tuning.run_limits(tuned.levels).is_ok();
        if held { "yes" } else { "model only" }.to_string()
    }),
];

fn row(f: &mut fmt::Formatter<'_>, label: &str, nominal: &str, robust: &str) -> fmt::Result {
    writeln!(f, "{label:LABEL$}{nominal:>COLUMN$}{robust:>COLUMN$}")
}

impl Advice {
    fn conclude(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "If the guess is right, the robust tuning costs {} more; if it is wrong, it saves up to {} in the worst case.",
            Percent(rounded(self.lost_if_right())),
            Percent(rounded(self.saved_if_wrong()))
        )?;
        writeln!(f, "Why: {}.", self.difference())?;
        for kind in OperationKind::ALL {
            if self.near.expected().share(kind) == 0.0 {
                writeln!(
                    f,
                    "No {kind} are expected, so no tuning prepares for them: give {} a small share, such as 1 %, if they may come.",
                    kind.symbol()
                )?;
            }
        }
        Ok(())
    }
}

/// At least 0, and to a tenth of a percent.
fn rounded(share: f64) -> f64 {
    (share * 1000.0).round().max(0.0) / 1000.0
}
