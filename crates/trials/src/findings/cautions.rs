//! What one should know before believing a search.

use lissom_search::objective::{Standing, judge};
use lissom_search::search::Setup;
use lissom_search::verdict;

use super::{Best, Findings};

/// All sentences.
pub(super) fn of(findings: &Findings, setup: &Setup) -> Vec<String> {
    let mut sentences = Vec::new();
    match &findings.best {
        None => sentences.push(format!("nothing was found: {}", findings.reason)),
        Some(best) => {
            sentences.extend(exceeded(best, setup));
            sentences.extend(unproven(findings, best));
            sentences.extend(short(findings, best));
        }
    }
    sentences.extend(failed_repeats(findings));
    let failed = findings.failures().count();
    if failed > 0 {
        sentences.push(format!(
            "{failed} of {} trials failed; the report has their causes",
            findings.trials.len()
        ));
    }
    sentences
}

fn exceeded(best: &Best, setup: &Setup) -> Option<String> {
    let standing = judge(&setup.objective, &setup.constraints, &best.metrics);
    matches!(standing, Ok(Standing::Exceeded(_))).then(|| {
        let bounds: Vec<String> = setup.constraints.iter().map(ToString::to_string).collect();
        format!(
            "no trial kept {}; the best comes nearest to it",
            bounds.join(" and ")
        )
    })
}

/// The best might be so by chance.
fn unproven(findings: &Findings, best: &Best) -> Option<String> {
    if best.is_default {
        return Some("nothing better than the default was found".to_owned());
    }
    let Some(verdict) = &findings.verdict else {
        return Some(
            "the best was not run again, so that it may be the best by chance: give a longer \
             --budget, or a shorter --evaluation"
                .to_owned(),
        );
    };
    let ties = verdict.goals.iter().flat_map(|goal| {
        let comparisons = goal.comparisons.iter();
        comparisons
            .filter(|it| it.against == verdict::Contender::Default)
            .filter(|it| it.standing != verdict::Standing::Better)
            .map(move |it| format!("{}: {it}", goal.goal.name))
    });
    let ties: Vec<String> = ties.collect();
    (!ties.is_empty()).then(|| {
        format!(
            "the best is not better than the default beyond the spread ({})",
            ties.join("; ")
        )
    })
}

/// Trials are compared at points; a best that did not come to the last is of an
/// unsettled store.
fn short(findings: &Findings, best: &Best) -> Option<String> {
    let full = findings.evaluation_seconds;
    (best.seconds < 0.99 * full).then(|| {
        format!(
            "the best was measured for {:.0} s of {full:.0} s in the search, since the budget \
             ended before",
            best.seconds
        )
    })
}

fn failed_repeats(findings: &Findings) -> Vec<String> {
    let failures = findings.verdict.iter().flat_map(|it| &it.failures);
    failures
        .map(|(contender, count)| format!("{contender} failed in {count} of its repeats"))
        .collect()
}
