//! What a search found, for the terminal.

use lissom_search::verdict::Estimate;

use super::words::{percent, time, value};
use super::{Best, Contribution, Findings};

/// Everything in a few lines: the best, how it stands, and what each parameter
/// brings.
pub fn render(findings: &Findings) -> String {
    let mut text = head(findings) + &measured_with(findings);
    if let Some(best) = &findings.best {
        text += &describe_best(findings, best);
        text += &comparisons(findings);
        text += &changes(findings);
    }
    for caution in &findings.cautions {
        text += &format!("caution: {caution}\n");
    }
    for note in &findings.notes {
        text += &format!("note: {note}\n");
    }
    text
}

fn head(findings: &Findings) -> String {
    let failed = findings.failures().count();
    format!(
        "{} on {}, {}: {} trials in {} arms, {failed} failed, {} of {} taken\n",
        findings.space,
        findings.target,
        findings.objective,
        findings.trials.len(),
        findings.arms,
        time(findings.spent_seconds),
        time(findings.budget_seconds)
    )
}

/// What the figures hold under, beside what was tried.
fn measured_with(findings: &Findings) -> String {
    let all = findings.measured_with.iter();
    let all: Vec<String> = all.map(|(name, it)| format!("{name}={it}")).collect();
    match all.is_empty() {
        true => String::new(),
        false => format!("measured with: {}\n", all.join(", ")),
    }
}

fn describe_best(findings: &Findings, best: &Best) -> String {
    let row = findings.trials.iter().find(|it| it.trial == best.trial);
    let values = row
        .and_then(|row| row.readings.last())
        .map(|it| it.values.as_slice());
    let goals: Vec<String> = findings
        .goals
        .iter()
        .zip(values.unwrap_or_default())
        .map(|(goal, it)| format!("{} {}", goal.name, value(&goal.name, *it)))
        .collect();
    format!(
        "best: {} ({}), {} over {}\n",
        best.trial,
        best.origin,
        goals.join(", "),
        time(best.seconds)
    )
}

fn comparisons(findings: &Findings) -> String {
    let mut text = String::new();
    let Some(verdict) = &findings.verdict else {
        return text;
    };
    for goal in &verdict.goals {
        for (contender, figure) in &goal.figures {
            let half = (figure.max - figure.min) / 2.0;
            text += &format!(
                "  {:<17} {} {} ±{}\n",
                contender.to_string(),
                goal.goal.name,
                value(&goal.goal.name, figure.median),
                value(&goal.goal.name, half)
            );
        }
        for comparison in &goal.comparisons {
            text += &format!("  {}: {comparison}\n", goal.goal.name);
            if Some(comparison.against) == findings.default {
                text += &ratio(comparison.ratio);
            }
        }
    }
    text + streams(findings)
}

/// What the operations of the repeats have to do with each other.
fn streams(findings: &Findings) -> &'static str {
    match findings.seeded {
        true => "  each round of repeats had operations of its own, the same for all in it\n",
        false => {
            "  whether rounds of repeats differ in their operations is for the program to know: \
             {seed} in the command tells it the round\n"
        }
    }
}

/// `  that is 2.10 times the default`, by the rounds of the line before.
fn ratio(times: Option<f64>) -> String {
    times.map_or_else(String::new, |times| {
        format!("  that is {times:.2} times the default\n")
    })
}

fn changes(findings: &Findings) -> String {
    let mut rows = vec![["option", "default", "best", "brings"].map(str::to_owned)];
    for parameter in findings.parameters.iter().filter(|it| it.differs) {
        let best = parameter.best.as_ref().map(ToString::to_string);
        rows.push([
            parameter.name.clone(),
            parameter.default.to_string(),
            best.unwrap_or_default(),
            brings(findings, &parameter.name),
        ]);
    }
    if rows.len() == 1 {
        return String::new();
    }
    format!("\nwhat the best sets\n{}\n", aligned(&rows))
}

/// What a parameter brings: as measured, as estimated, or why it is unknown.
fn brings(findings: &Findings, name: &str) -> String {
    let measured = findings
        .contributions
        .iter()
        .find(|it| it.difference.name == name);
    let estimated = findings
        .estimates
        .iter()
        .find(|it| it.difference.name == name);
    let bound = findings.bound.iter().find(|it| it.difference.name == name);
    match (measured, estimated, bound) {
        (Some(measured), _, _) => measured_words(measured),
        (None, Some(estimated), _) => estimated_words(estimated),
        (None, None, Some(bound)) => format!("cannot be set back alone: {}", bound.rule),
        (None, None, None) => "unknown".to_owned(),
    }
}

fn measured_words(contribution: &Contribution) -> String {
    let Some(gains) = &contribution.gains else {
        return "without it the trial failed".to_owned();
    };
    let words = gains
        .iter()
        .zip(&contribution.spreads)
        .map(|(gain, spread)| {
            let inside = if gain.abs() <= *spread {
                " (inside the spread)"
            } else {
                ""
            };
            format!("{}{inside}", percent(*gain))
        });
    words.collect::<Vec<_>>().join(", ")
}

fn estimated_words(estimate: &Estimate) -> String {
    format!(
        "about {} ±{:.1} %, by the trials alone",
        percent(estimate.gain),
        estimate.error * 100.0
    )
}

/// Columns side by side; the last one is not padded.
fn aligned(rows: &[[String; 4]]) -> String {
    let width = |column: usize| {
        let cells = rows.iter().map(|row| row[column].chars().count());
        cells.max().unwrap_or(0)
    };
    let widths = [width(0), width(1), width(2)];
    let lines = rows.iter().map(|[name, default, best, brings]| {
        let [first, second, third] = widths;
        format!("  {name:<first$}   {default:>second$}   {best:>third$}   {brings}")
    });
    lines.collect::<Vec<_>>().join("\n")
}
