//! What one should know before believing a search.

use lissom_search::objective::metrics::{SESSIONS, SESSIONS_VISITED};
use lissom_search::objective::{Goal, Metrics, Standing, judge};
use lissom_search::search::{CutOff, Setup};
use lissom_search::verdict::{self, Contender, LEAST_ROUNDS, Verdict};

use super::{Best, Contribution, Findings};

/// All sentences.
pub(super) fn of(findings: &Findings, setup: &Setup) -> Vec<String> {
    let mut sentences = Vec::new();
    match &findings.best {
        None => sentences.push(format!("nothing was found: {}", findings.reason)),
        Some(best) => {
            sentences.extend(exceeded(findings, best, setup));
            sentences.extend(flaw(findings));
            sentences.extend(unproven(findings, best));
            sentences.extend(outdone(findings));
            sentences.extend(short(findings, best));
            sentences.extend(cut_off(findings));
            sentences.extend(harmful(findings));
            sentences.extend(unvisited(best));
        }
    }
    sentences.extend(failed_repeats(findings));
    sentences.extend(vain_repeats(findings));
    let failed = findings.failures().count();
    if failed > 0 {
        sentences.push(format!(
            "{failed} of {} trials failed; the report has their causes",
            findings.trials.len()
        ));
    }
    sentences
}

/// Of those that were measured for a full evaluation, or for longest if none was, the search's
/// best goes before all that exceed a bound; if it does itself, all of these do. Of another
/// best the repeats tell.
fn exceeded(findings: &Findings, best: &Best, setup: &Setup) -> Option<String> {
    let stands = |metrics: &Metrics| judge(&setup.objective, &setup.constraints, metrics);
    let exceeds = matches!(stands(&best.metrics), Ok(Standing::Exceeded(_)));
    if !exceeds || findings.chosen != Some(Contender::Best) {
        return None;
    }
    let bounds: Vec<String> = setup.constraints.iter().map(ToString::to_string).collect();
    let working = findings.trials.iter().filter(|it| it.failure.is_none());
    let last = working.filter_map(|it| it.readings.last());
    let kept = last.filter(|it| matches!(stands(&it.metrics), Ok(Standing::Kept(_))));
    let early = match kept.count() {
        0 => String::new(),
        kept => format!(
            "; {kept} that were stopped earlier kept it until then, which does not tell whether \
             they would have kept it to the end"
        ),
    };
    Some(format!(
        "no trial that was measured for {:.0} s kept {}, and the best comes nearest to it{early}",
        best.seconds.min(findings.evaluation_seconds),
        bounds.join(" and ")
    ))
}

/// What the repeats say against the best itself.
fn flaw(findings: &Findings) -> Option<String> {
    let words = findings.against.get(&findings.chosen?)?;
    Some(format!("the best is in doubt: {words}"))
}

/// The best might be so by chance.
fn unproven(findings: &Findings, best: &Best) -> Option<String> {
    if best.is_default {
        return Some("nothing better than the default was found".to_owned());
    }
    let Some(verdict) = &findings.verdict else {
        return Some(format!(
            "the best was not run again, so that it may be the best by chance: {}",
            advice(findings)
        ));
    };
    // Without it a rule forbids the default, which a note of the search says.
    let default = findings.default?;
    if rounds_with(verdict, default) < LEAST_ROUNDS {
        let why = if !verdict.failures.is_empty() {
            "repeats failed".to_owned()
        } else if !findings.in_vain.is_empty() {
            "repeats came to nothing".to_owned()
        } else {
            advice(findings)
        };
        return Some(format!(
            "the best was not compared with the default in three complete rounds, so that it may \
             be the best by chance: {why}"
        ));
    }
    let ties: Vec<String> = comparisons(verdict)
        .filter(|(_, it)| it.against == default && it.standing != verdict::Standing::Better)
        .map(|(goal, it)| format!("{goal}: {it}"))
        .collect();
    (!ties.is_empty()).then(|| {
        format!(
            "the best is not better than the default beyond the spread ({})",
            ties.join("; ")
        )
    })
}

/// What would give time to repeats. Set-up that is a small part of a trial is not worth
/// a word.
fn advice(findings: &Findings) -> String {
    let advice = "give a longer --budget, a shorter --evaluation, or --repeats 3";
    if findings.setup_seconds < 0.1 * findings.evaluation_seconds {
        return advice.to_owned();
    }
    format!(
        "trials took {:.0} s to set up, which repeats need as well; {advice}, or fewer --entries",
        findings.setup_seconds
    )
}

/// Another one than the default is better in a goal, though not in all.
fn outdone(findings: &Findings) -> Vec<String> {
    let is_sound = |it: Contender| !findings.against.contains_key(&it);
    let all = findings.verdict.iter().flat_map(comparisons);
    all.filter(|(_, it)| it.standing == verdict::Standing::Worse)
        .filter(|(_, it)| Some(it.against) != findings.default && is_sound(it.against))
        .map(|(goal, it)| format!("the best is worse in {goal}: {it}"))
        .collect()
}

/// Rounds in which both the best and this contender were measured.
fn rounds_with(verdict: &Verdict, contender: Contender) -> usize {
    let rounds = comparisons(verdict).filter(|(_, it)| it.against == contender);
    rounds.map(|(_, it)| it.rounds).min().unwrap_or(0)
}

/// All comparisons, each with its goal's name.
fn comparisons(verdict: &Verdict) -> impl Iterator<Item = (&str, &verdict::Comparison)> {
    let goals = verdict.goals.iter();
    goals.flat_map(|goal| {
        let comparisons = goal.comparisons.iter();
        comparisons.map(move |it| (goal.goal.name.as_str(), it))
    })
}

/// Trials are compared at points; a best that did not come to the last is of an
/// unsettled store. Another one that the repeats chose was stopped before.
fn short(findings: &Findings, best: &Best) -> Option<String> {
    let full = findings.evaluation_seconds;
    let is_first = findings.chosen == Some(Contender::Best);
    (is_first && best.seconds < 0.99 * full).then(|| {
        format!(
            "the best was measured for {:.0} s of {full:.0} s in the search, since the budget \
             ended before",
            best.seconds
        )
    })
}

/// What did not come to the last comparison was not compared with what did.
fn cut_off(findings: &Findings) -> Option<String> {
    let CutOff {
        trials,
        short,
        until,
    } = findings.cut_off?;
    Some(format!(
        "the time was used up before {short} of the {trials} trials that were still in the \
         running had run for {until:.0} s, so that one of them may be better: give a longer \
         --budget"
    ))
}

/// Settings of the best that cost it more than its repeats lie apart, and bring as much in no
/// other goal. Without a second repeat nobody knows how far they do.
fn harmful(findings: &Findings) -> Vec<String> {
    let own = findings.repeats.iter().filter(|it| {
        let is_best = Some(it.contender) == findings.chosen;
        is_best && it.values.is_some()
    });
    if own.count() < 2 {
        return Vec::new();
    }
    let all = findings.contributions.iter();
    all.filter_map(|it| harm(&findings.goals, it)).collect()
}

fn harm(goals: &[Goal], contribution: &Contribution) -> Option<String> {
    let gains = contribution.gains.as_ref()?;
    let beyond = gains.iter().zip(&contribution.spreads);
    if beyond.clone().any(|(gain, spread)| *gain > *spread) {
        return None;
    }
    let losses = goals
        .iter()
        .zip(beyond)
        .filter(|(_, (gain, spread))| **gain < -**spread);
    let losses: Vec<String> = losses
        .map(|(goal, (gain, spread))| {
            format!(
                "{:.1} % worse in {} (spread {:.1} %)",
                gain.abs() * 100.0,
                goal.name,
                spread * 100.0
            )
        })
        .collect();
    (!losses.is_empty()).then(|| {
        format!(
            "with {} the best is {} than with the default's setting, by one run: measure it with \
             that setting, too",
            contribution.difference,
            losses.join(" and ")
        )
    })
}

/// What was not measured cannot be optimised.
fn unvisited(best: &Best) -> Option<String> {
    let (all, visited) = (
        best.metrics.get(SESSIONS)?,
        best.metrics.get(SESSIONS_VISITED)?,
    );
    (visited.round() < all.round()).then(|| {
        format!(
            "the best was measured in {visited:.0} of the {all:.0} sessions of the workload, so \
             that the others count for nothing: give a longer --evaluation, or fewer --entries"
        )
    })
}

fn failed_repeats(findings: &Findings) -> Vec<String> {
    let failures = findings.verdict.iter().flat_map(|it| &it.failures);
    failures
        .filter(|(contender, _)| Some(**contender) != findings.chosen)
        .map(|(contender, count)| format!("{contender} failed in {count} of its repeats"))
        .collect()
}

/// Nobody failed in these, and nobody was measured.
fn vain_repeats(findings: &Findings) -> Vec<String> {
    let in_vain = findings.in_vain.iter();
    in_vain
        .map(|(contender, count)| {
            format!(
                "{count} of the repeats of {contender} came to nothing, lost or without a report \
                 when the budget ended: the verdict goes without them"
            )
        })
        .collect()
}
