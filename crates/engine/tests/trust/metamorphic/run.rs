//! A history under one decider, compared step by step with the model.

use std::path::Path;

use super::decisions::{Decider, Hostile, Nobody, Work};
use super::history::Op;
use super::model::{Answer, Entry, Step, resolve};
use super::session::Session;

/// Carries out the steps in a new directory.
///
/// # Errors
/// The first answer that is wrong, with what was decided before.
pub fn run(steps: &[Step], decider: &mut dyn Decider) -> Result<(), String> {
    let place = crate::scratch();
    let path = place.path().join("db");
    std::fs::create_dir(&path).expect("a writable directory");
    let result = steps_in(steps, &path, place.path(), decider);
    result.map_err(|why| format!("{why}\nlast decisions:\n  {}", decider.log()))
}

fn steps_in(
    steps: &[Step],
    path: &Path,
    scratch: &Path,
    decider: &mut dyn Decider,
) -> Result<(), String> {
    let mut store = decider.open(path)?;
    for part in steps.chunk_by(|step, _| !matches!(step.op, Op::Quiet)) {
        let mut session = Session::new(&store, scratch);
        for step in part {
            decider.meddle(&store)?;
            if matches!(step.op, Op::Quiet) {
                break;
            }
            let answer = session.perform(&step.op);
            compare(step, answer)?;
        }
        drop(session);
        let Some(quiet) = part.last().filter(|step| matches!(step.op, Op::Quiet)) else {
            break;
        };
        compare(quiet, store.everything())?;
        decider.rest(&store)?;
        compare(quiet, store.everything())?;
        if decider.reopen(path) {
            decider.count(&store)?;
            drop(store);
            store = decider.open(path)?;
            compare(quiet, store.everything())?;
        }
    }
    decider.count(&store)
}

fn compare(step: &Step, answer: Result<Answer, String>) -> Result<(), String> {
    let place = || format!("operation {} ({})", step.at, short(&step.op));
    let answer = answer.map_err(|error| format!("{} failed: {error}", place()))?;
    if answer == step.answer {
        return Ok(());
    }
    Err(format!(
        "{} gave a wrong answer: {}",
        place(),
        difference(&step.answer, &answer)
    ))
}

fn short(op: &Op) -> String {
    let text = format!("{op:?}");
    text.chars().take(160).collect()
}

fn difference(right: &Answer, wrong: &Answer) -> String {
    match (right, wrong) {
        (Answer::Entries(right), Answer::Entries(wrong)) => of_entries(right, wrong),
        (Answer::Everything(right), Answer::Everything(wrong)) => {
            let names =
                |all: &[(u8, Vec<Entry>)]| -> Vec<u8> { all.iter().map(|(cf, _)| *cf).collect() };
            if names(right) != names(wrong) {
                return format!("families {:?}, not {:?}", names(wrong), names(right));
            }
            let bad = right.iter().zip(wrong).find(|(a, b)| a != b);
            bad.map_or_else(String::new, |((cf, right), (_, wrong))| {
                format!("family {cf}: {}", of_entries(right, wrong))
            })
        }
        _ => format!("{} instead of {}", shorter(wrong), shorter(right)),
    }
}

fn shorter(answer: &Answer) -> String {
    match answer {
        Answer::Values(values) => {
            let texts: Vec<String> = values
                .iter()
                .map(|value| value.as_ref().map_or("nothing".into(), |v| start(v)))
                .collect();
            texts.join(", ")
        }
        other => format!("{other:?}").chars().take(200).collect(),
    }
}

fn of_entries(right: &[Entry], wrong: &[Entry]) -> String {
    let at = right.iter().zip(wrong).take_while(|(a, b)| a == b).count();
    let show = |entries: &[Entry]| {
        entries.get(at).map_or("the end".to_owned(), |(k, v)| {
            format!("{}={}", String::from_utf8_lossy(k), start(v))
        })
    };
    format!(
        "entry {at} is {} instead of {} ({} entries instead of {})",
        show(wrong),
        show(right),
        wrong.len(),
        right.len()
    )
}

fn start(bytes: &[u8]) -> String {
    String::from_utf8_lossy(&bytes[..bytes.len().min(24)]).into_owned()
}

/// A history under stock RocksDB and under each of the given decision seeds.
/// Returns what the autopilots did.
///
/// # Errors
/// The decider (`None` is stock RocksDB) and what was wrong.
pub fn check(history: &[Op], decisions: &[u64]) -> Result<Work, (Option<u64>, String)> {
    let steps = resolve(history);
    run(&steps, &mut Nobody).map_err(|why| (None, why))?;
    let mut work = Work::default();
    for seed in decisions {
        let mut hostile = Hostile::new(*seed);
        run(&steps, &mut hostile).map_err(|why| (Some(*seed), why))?;
        work += hostile.work;
    }
    Ok(work)
}
