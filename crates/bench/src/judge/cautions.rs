//! Where the rules of a believable benchmark are not met, the report says so.

use super::Verdict;
use super::debt::debt_seconds;
use super::phase::PhaseShortfall;
use crate::arms::ArmName;
use crate::arms::options_file::counts_indexes;
use crate::distinct::distinct;
use crate::run::{ArmRun, LEAST_ROUNDS, Parameters, Program};

/// Ratio of session times above which one session outweighs the others.
const UNBALANCED: f64 = 3.0;

/// Every rule that this comparison does not meet, as a sentence.
pub fn cautions(
    parameters: &Parameters,
    verdict: &Verdict,
    rounds: &[Vec<&ArmRun>],
) -> Vec<String> {
    let mut cautions = Vec::new();
    if verdict.complete_rounds < LEAST_ROUNDS as usize {
        cautions.push(format!(
            "Not a comparison: {} complete round{}; at least {LEAST_ROUNDS} are needed.",
            verdict.complete_rounds,
            if verdict.complete_rounds == 1 {
                ""
            } else {
                "s"
            }
        ));
    }
    cautions.extend(hull_caution(&parameters.arms, true));
    cautions.extend(oracle_caution(parameters, verdict));
    cautions.extend(ratio_caution(parameters, rounds));
    cautions.extend(verdict.write_shortfall.iter().map(PhaseShortfall::sentence));
    cautions.extend(verdict.arms.iter().filter(|arm| arm.over_space_bound).map(|arm| {
        format!(
            "{} reached a space amplification of {:.2}, over the bound of {:.2}: out of the hull and of any claim.",
            arm.arm, arm.peak_space_amplification.max, parameters.space_bound
        )
    }));
    cautions.extend(options_caution(&parameters.arms));
    cautions.extend(uncounted_memory_caution(parameters));
    cautions.extend(answers_caution(parameters, rounds));
    cautions.extend(program_cautions(rounds));
    cautions.extend(boot_caution(rounds));
    cautions.extend(sitting_caution(rounds));
    cautions.extend(offer_caution(parameters, rounds));
    cautions.extend(unsettled_caution(rounds));
    cautions.extend(debt_caution(parameters, rounds));
    cautions.extend(unending_debt_caution(parameters, rounds));
    cautions.extend(untimed_debt_caution(parameters, rounds));
    cautions.extend(untold_debt_caution(verdict));
    cautions.extend(balance_caution(verdict));
    cautions
}

/// Static arms worth choosing between which a store of Lissom's can switch.
const OWN: [&str; 3] = [FIXED_ONE, FIXED_MORE, LAZY_LEVELING];
const FIXED_ONE: &str = "fixed-1";
const FIXED_MORE: &str = "fixed-K of more than one run";
const LAZY_LEVELING: &str = "lazy-leveling";

/// RocksDB's own, which the simulator does not know.
const STOCK: [&str; 3] = [LEVELED, LEVELED_TUNED, UNIVERSAL];
const LEVELED: &str = "rocksdb-leveled";
const LEVELED_TUNED: &str = "rocksdb-leveled-tuned";
const UNIVERSAL: &str = "rocksdb-universal";

/// Which of them an arm is.
fn worth_choosing(arm: &ArmName) -> Option<&'static str> {
    match arm {
        ArmName::Fixed(1) => Some(FIXED_ONE),
        ArmName::Fixed(_) => Some(FIXED_MORE),
        ArmName::LazyLeveling => Some(LAZY_LEVELING),
        ArmName::RocksdbLeveled => Some(LEVELED),
        ArmName::RocksdbLeveledTuned(_) => Some(LEVELED_TUNED),
        ArmName::RocksdbUniversal => Some(UNIVERSAL),
        _ => None,
    }
}

/// The hull must hold every static arm worth choosing; those of stock RocksDB where it
/// `takes_stock`.
pub fn hull_caution(arms: &[ArmName], takes_stock: bool) -> Option<String> {
    let has = |name: &str| arms.iter().any(|arm| worth_choosing(arm) == Some(name));
    let stock = STOCK.into_iter().filter(|_| takes_stock);
    let missing: Vec<&str> = OWN
        .into_iter()
        .chain(stock)
        .filter(|name| !has(name))
        .collect();
    (!missing.is_empty()).then(|| {
        format!(
            "The hull is not whole: it lacks {}. The best static arm may be better than shown.",
            missing.join(", ")
        )
    })
}

/// The best of each session, put together, is no run: what switching costs is not in it.
fn oracle_caution(parameters: &Parameters, verdict: &Verdict) -> Option<String> {
    let bound = verdict.headroom.as_ref()?.switchable.as_ref()?;
    // One session is followed by the closing one.
    let changes = bound.best_per_session.len() > 2;
    let known = parameters.arms.iter().any(ArmName::is_oracle);
    (changes && !known).then(|| {
        "No arm switches with perfect knowledge: the headroom is a sum of sessions that no run has \
         shown."
            .to_string()
    })
}

/// An OPTIONS file has the last word but where the machine is shared out.
fn options_caution(arms: &[ArmName]) -> Option<String> {
    let given = arms
        .iter()
        .filter(|it| matches!(it, ArmName::RocksdbOptions(_)));
    let names: Vec<String> = given.map(ArmName::to_string).collect();
    (!names.is_empty()).then(|| {
        format!(
            "{}: memory, direct I/O and background jobs as in all arms; buffers, L0 triggers, files, \
             filters and compression by the OPTIONS file.",
            names.join(", ")
        )
    })
}

/// Indexes and filters outside of the cache are memory that the other arms do not have.
fn uncounted_memory_caution(parameters: &Parameters) -> Option<String> {
    let files = &parameters.resources.options_files;
    let uncounted = |arm: &&ArmName| match arm {
        ArmName::RocksdbOptions(name) => files.get(name).is_some_and(|text| !counts_indexes(text)),
        _ => false,
    };
    let arms = parameters.arms.iter().filter(uncounted);
    let names: Vec<String> = arms.map(ArmName::to_string).collect();
    (!names.is_empty()).then(|| {
        format!(
            "{}: indexes and filters are not in its cache, and so are more memory than the other arms \
             have; cache_index_and_filter_blocks=true in the OPTIONS file counts them.",
            names.join(", ")
        )
    })
}

/// A limit over the size ratio makes no other tree than the ratio does.
fn ratio_caution(parameters: &Parameters, rounds: &[Vec<&ArmRun>]) -> Option<String> {
    let data_bytes = rounds.first()?.first()?.data_bytes()?;
    let ratio = parameters.resources.fitted_size_ratio(data_bytes);
    let over = |arm: &&ArmName| matches!(arm.shape(), ArmName::Fixed(limit) if *limit > ratio);
    let names: Vec<String> = parameters
        .arms
        .iter()
        .filter(over)
        .map(ArmName::to_string)
        .collect();
    (!names.is_empty()).then(|| {
        format!(
            "The size ratio that fits {} MB of data is {ratio}: {} builds the tree that fixed-{ratio} would.",
            data_bytes / 1_000_000,
            names.join(", ")
        )
    })
}

/// One thread asks all arms of a round the same, in the same order, so that all give as many
/// answers: a scan that ended early shows nowhere else.
fn answers_caution(parameters: &Parameters, rounds: &[Vec<&ArmRun>]) -> Option<String> {
    if parameters.threads > 1 {
        return None;
    }
    let differs = |(first, other): (&ArmRun, &ArmRun)| {
        let mut sessions = first.sessions.iter().zip(&other.sessions);
        let differs = sessions.find(|(one, other)| {
            one.operations == other.operations && one.verified != other.verified
        });
        differs.map(|(one, it)| {
            format!(
                "{} gave {} answers to {} operations of {} (round {}), {} gave {}: one of them lacks \
                 entries or has too many, and has a defect.",
                other.arm,
                it.verified,
                it.operations,
                it.name,
                other.round + 1,
                first.arm,
                one.verified
            )
        })
    };
    let pairs = rounds.iter().filter_map(|round| round.split_first());
    let pairs = pairs.flat_map(|(first, others)| others.iter().map(|other| (*first, *other)));
    pairs.into_iter().find_map(differs)
}

/// Figures are one program's, and its commit says which.
fn program_cautions(rounds: &[Vec<&ArmRun>]) -> Vec<String> {
    let runs = rounds.iter().flatten();
    let programs = distinct(runs.map(|run| run.program.as_ref()));
    let dirty = programs.iter().flatten().filter(|program| program.dirty);
    let mut cautions: Vec<String> = dirty
        .map(|program| {
            format!("{program} was built from sources that differ from that commit: nobody can build it again.")
        })
        .collect();
    if programs.len() > 1 {
        let name = |program: &Option<&Program>| {
            program.map_or("one that did not tell".to_string(), Program::to_string)
        };
        let names: Vec<String> = programs.iter().map(name).collect();
        cautions.push(format!(
            "Runs of different programs stand beside each other: {}.",
            names.join("; ")
        ));
    }
    cautions
}

/// Under how many starts of a machine runs were made, as far as they tell.
fn boots<'a, 'b: 'a>(runs: impl Iterator<Item = &'a &'b ArmRun>) -> usize {
    distinct(runs.filter_map(|run| run.boot.as_ref())).len()
}

/// Machines of clouds change between two starts, and do not tell.
fn boot_caution(rounds: &[Vec<&ArmRun>]) -> Option<String> {
    let of_rounds: Vec<usize> = rounds.iter().map(|round| boots(round.iter())).collect();
    if let Some(round) = of_rounds.iter().position(|boots| *boots > 1) {
        return Some(format!(
            "Round {} was measured under {} starts of a machine, perhaps on several: its arms are \
             no comparison.",
            round + 1,
            of_rounds[round]
        ));
    }
    let all = boots(rounds.iter().flatten());
    (all > 1).then(|| {
        format!(
            "The rounds were measured under {all} starts of a machine, perhaps on several: arms \
             compare within each round, and the spread is of machines too."
        )
    })
}

/// A machine's own speed drifts within hours, by as much as arms differ.
fn sitting_caution(rounds: &[Vec<&ArmRun>]) -> Option<String> {
    let sittings = |round: &Vec<&ArmRun>| distinct(round.iter().filter_map(|run| run.sitting));
    let split = rounds.iter().find(|round| sittings(round).len() > 1)?;
    let begun = sittings(split);
    let apart = begun.iter().max()? - begun.iter().min()?;
    Some(format!(
        "Round {} was measured in {} sittings that began {:.1} hours apart: if the machine became \
         faster or slower meanwhile, its arms are no comparison.",
        split.first()?.round + 1,
        begun.len(),
        apart as f64 / 3600.0
    ))
}

/// Another machine, or another program, carries more or less than rates are a share of.
fn offer_caution(parameters: &Parameters, rounds: &[Vec<&ArmRun>]) -> Option<String> {
    let offer = parameters.offered.as_ref()?;
    let runs = || rounds.iter().flatten();
    let mut boots = runs().filter_map(|run| run.boot.as_ref());
    let mut programs = runs().filter_map(|run| run.program.as_ref());
    let elsewhere = boots.any(|own| offer.boots.iter().any(|it| it != own));
    let otherwise = programs.any(|own| offer.programs.iter().any(|it| it != own));
    let how = match (elsewhere, otherwise) {
        (false, false) => return None,
        (true, false) => "under another start of a machine, perhaps on another",
        (false, true) => "by another program",
        (true, true) => "under another start of a machine, perhaps on another, by another program",
    };
    Some(format!(
        "The highest rate is {:.0} % of a maximum that was measured {how}: which share of its own \
         an arm was offered here is not known.",
        100.0 * offer.share
    ))
}

fn unsettled_caution(rounds: &[Vec<&ArmRun>]) -> Option<String> {
    let unsettled = |run: &&&ArmRun| !run.load.settled;
    let run = rounds.iter().flatten().find(unsettled)?;
    Some(format!(
        "{} had background work left when measuring began (round {}): its figures hold part of the load.",
        run.arm,
        run.round + 1
    ))
}

fn debt_caution(parameters: &Parameters, rounds: &[Vec<&ArmRun>]) -> Option<String> {
    let patience = parameters.settle_seconds;
    let debt = |run: &&ArmRun, round: &Vec<&ArmRun>| debt_seconds(run, round, patience);
    let uncharged = |round: &Vec<&ArmRun>| round.iter().any(|run| debt(run, round).is_none());
    rounds.iter().any(uncharged).then(|| {
        "Debt could not be charged: no arm of the round compacted while it was measured."
            .to_string()
    })
}

/// How long an arm would have gone on is not known.
fn unending_debt_caution(parameters: &Parameters, rounds: &[Vec<&ArmRun>]) -> Option<String> {
    let patience = parameters.settle_seconds?;
    let runs = rounds.iter().flatten();
    let restless = runs.filter(|run| run.totals.settle_seconds.is_none());
    let names = distinct(restless.map(|run| run.arm.to_string()));
    (!names.is_empty()).then(|| {
        format!(
            "{} did not come to rest in {patience} s: more debt than these, which are charged, and a \
             total that is too low.",
            names.join(", ")
        )
    })
}

/// Debt that was timed and debt that is reckoned from bytes are two quantities.
fn untimed_debt_caution(parameters: &Parameters, rounds: &[Vec<&ArmRun>]) -> Option<String> {
    let is_timed = |run: &ArmRun| run.totals.settle_seconds.is_some();
    let runs = || rounds.iter().flatten();
    if parameters.settle_seconds.is_some() || !runs().any(|run| is_timed(run)) {
        return None;
    }
    let untimed = runs().find(|run| !is_timed(run))?;
    Some(format!(
        "The debt of {} in round {} was not timed, as that of others was, and is reckoned from \
         bytes.",
        untimed.arm,
        untimed.round + 1
    ))
}

/// A total without the debt is too good.
fn untold_debt_caution(verdict: &Verdict) -> Option<String> {
    let untold = verdict.arms.iter().filter(|arm| arm.debt_seconds.is_none());
    let names: Vec<String> = untold.map(|arm| arm.arm.to_string()).collect();
    (!names.is_empty()).then(|| {
        format!(
            "No debt is charged to {}, which does not tell it: its total is too low by what it left.",
            names.join(", ")
        )
    })
}

fn balance_caution(verdict: &Verdict) -> Option<String> {
    let balance = verdict.headroom.as_ref()?.balance;
    (balance > UNBALANCED).then(|| {
        format!(
            "Sessions are unequal: under its own best static arm the longest takes {balance:.1} times \
             the shortest, so it outweighs the others in every total."
        )
    })
}
