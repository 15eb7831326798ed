//! The evaluation as a table.

use std::fmt::Write as _;

use super::{CATEGORIES, Uncertainty, UncertaintySummary};

/// Values of rho that the table shows, as far as they were evaluated.
const SHOWN: [f64; 7] = [0.25, 0.5, 1.0, 1.5, 2.0, 3.0, 3.75];

/// A name, and the number behind it.
type Figure = (&'static str, fn(&UncertaintySummary) -> f64);

/// By category, for several rho: comparisons won, mean gain, throughput range.
pub fn render_uncertainty(seen: &Uncertainty) -> String {
    let mut text = format!(
        "15 expected workloads, {} sampled ones, seed {}; robust against nominal tuning, by the \
         model\n",
        seen.plan.samples, seen.plan.seed
    );
    let figures: [Figure; 3] = [
        ("comparisons won, %", |it| 100.0 * it.won),
        ("mean gain in throughput, %", |it| 100.0 * it.mean_gain),
        ("range of throughput, % of the nominal one's", |it| {
            100.0 * it.range_ratio
        }),
    ];
    for (name, figure) in figures {
        let _ = write!(text, "\n{name}\n  {:12}", "rho");
        let shown: Vec<f64> = SHOWN
            .into_iter()
            .filter(|rho| seen.plan.divergences.contains(rho))
            .collect();
        for rho in &shown {
            let _ = write!(text, "{rho:>8}");
        }
        text.push('\n');
        for category in CATEGORIES {
            let _ = write!(text, "  {category:12}");
            for rho in &shown {
                let found = seen
                    .summaries
                    .iter()
                    .find(|it| it.category == category && it.rho == *rho);
                let _ = write!(text, "{:>8.1}", found.map_or(f64::NAN, figure));
            }
            text.push('\n');
        }
    }
    text
}
