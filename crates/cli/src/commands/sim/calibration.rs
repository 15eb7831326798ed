//! `--calibrate` and `--compare`: the simulator beside measured runs.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use clap::ArgMatches;
use lissom_bench::{
    Calibration, MachineModel, Results, calibrate, compare_measured, load_workload,
    machines_caution, render_calibrations,
};

use crate::arguments::find;
use crate::built;
use crate::failure::{Failure, Outcome};
use crate::output::{self, StatusLine};

/// Fits, compares, or fits and compares what was fitted with other results.
pub fn run(given: &ArgMatches, start: MachineModel) -> Outcome {
    let (own, others) = (results(given, "calibrate")?, results(given, "compare")?);
    check_workload(given, &own, &others)?;
    let mut line = StatusLine::new();
    let fitted = calibrate(&own, start, &mut |what| line.show(what))?;
    drop(line);
    let machine = fitted.first().map_or(start, |it| it.machine);
    let compared = compare_measured(&others, machine)?;
    if let Some(file) = find::<PathBuf>(given, "save-machine") {
        save_machine(&file, &machine)?;
    }
    let caution = machines_caution(&own);
    let (fitted, compared) = (signed(fitted), signed(compared));
    if given.get_flag("json") {
        if let Some(caution) = &caution {
            output::say(caution);
        }
        return print_json(fitted, compared);
    }
    output::print(&render_calibrations(&fitted, &compared, caution.as_deref()))
}

fn results(given: &ArgMatches, name: &str) -> Result<Vec<Results>, Failure> {
    let paths = given.get_many::<PathBuf>(name).unwrap_or_default();
    paths
        .map(|path| Results::read(path).map_err(Failure::from))
        .collect()
}

/// Results tell their own workload, so one beside them changes nothing. Where there are several
/// it must be one of theirs: another one was meant for something that will not happen.
fn check_workload(given: &ArgMatches, own: &[Results], others: &[Results]) -> Outcome {
    let several = own.len() > 1 || others.len() > 1;
    let Some(name) = find::<String>(given, "workload").filter(|_| several) else {
        return Ok(());
    };
    let all = own.iter().chain(others);
    let theirs: BTreeSet<&str> = all.map(|it| it.parameters.workload.name.as_str()).collect();
    let of_file = || load_workload(&name).is_ok_and(|it| theirs.contains(it.name.as_str()));
    if theirs.contains(name.as_str()) || of_file() {
        return Ok(());
    }
    let theirs: Vec<&str> = theirs.into_iter().collect();
    Err(Failure::WrongUse(format!(
        "WORKLOAD {name}: the results given are not of it but of {}; name one of these, or no \
         workload at all",
        theirs.join(", ")
    )))
}

fn signed(found: Vec<Calibration>) -> Vec<Calibration> {
    let sign = |it| Calibration {
        program: Some(built::program()),
        ..it
    };
    found.into_iter().map(sign).collect()
}

/// One alone, or all in a list: what was fitted first.
fn print_json(fitted: Vec<Calibration>, compared: Vec<Calibration>) -> Outcome {
    let all: Vec<Calibration> = fitted.into_iter().chain(compared).collect();
    match &all[..] {
        [only] => output::print_json(only),
        several => output::print_json(&several),
    }
}

/// The constants as `--machine` reads them.
fn save_machine(file: &Path, machine: &MachineModel) -> Outcome {
    let text = serde_json::to_string_pretty(machine).expect("numbers are JSON");
    fs::write(file, text + "\n").map_err(|error| {
        Failure::Failed(format!(
            "cannot write {}: {error}; check the path and the free space",
            file.display()
        ))
    })
}
