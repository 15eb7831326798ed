//! `lissom sim`

mod arguments;
mod calibration;

use std::fs;
use std::path::{Path, PathBuf};

use clap::ArgMatches;
use lissom::core::filters::FilterAllocation;
use lissom_bench::{
    Contender, MachineModel, OracleKind, Simulation, SimulationPlan, render_decisions,
    render_levels, render_simulation, run_simulation, write_limits,
};

use super::bench::place;
use super::sizes::{self, wrong};
use crate::arguments::{find, get};
use crate::built;
use crate::failure::{Failure, Outcome};
use crate::output::{self, StatusLine};

pub use arguments::command;

/// Arms when none is named: the hull's ends and middle.
const ARMS: [&str; 4] = ["fixed-1", "fixed-4", "fixed-10", "lazy-leveling"];

/// The slowest device that a store's settings take, bytes a second.
const LEAST_DEVICE: u64 = 1 << 20;

pub fn run(given: &ArgMatches) -> Outcome {
    let machine = match find::<PathBuf>(given, "machine") {
        Some(file) => read_machine(&file)?,
        None => MachineModel::default(),
    };
    if given.contains_id("calibrate") || given.contains_id("compare") {
        return calibration::run(given, machine);
    }
    let plan = plan(given, machine)?;
    let out = find::<PathBuf>(given, "out");
    if let Some(out) = &out {
        prepare(out, &plan)?;
    }
    let seen = simulate(&plan).map_err(wrong)?;
    let picture = out.map(|out| write_limits(&seen, &out)).transpose()?;
    if given.get_flag("json") {
        return output::print_json(&seen);
    }
    let mut text = render_simulation(&seen);
    if given.get_flag("levels") {
        text += &render_levels(&seen);
    }
    if given.get_flag("decisions") {
        text += &render_decisions(&seen);
    }
    text.extend(picture.map(|path| place("\npicture", path)));
    output::print(&text)
}

/// Carries a plan out, and tells on the terminal which arm it is at.
pub fn simulate(plan: &SimulationPlan) -> lissom_bench::Result<Simulation> {
    let mut line = StatusLine::new();
    let seen = run_simulation(plan, &mut |what| line.show(what))?;
    Ok(Simulation {
        program: Some(built::program()),
        ..seen
    })
}

/// Before minutes are spent, whether there will be a picture, and a place for it.
fn prepare(out: &Path, plan: &SimulationPlan) -> Outcome {
    if !plan.arms.iter().any(Contender::chooses_limits) {
        return Err(Failure::WrongUse(
            "--out: no arm follows the workload, so that there are no run limits to draw: add \
             --arm learned"
                .into(),
        ));
    }
    fs::create_dir_all(out).map_err(|error| {
        Failure::Failed(format!(
            "cannot write into {}: {error}; check the path and the free space",
            out.display()
        ))
    })
}

fn plan(given: &ArgMatches, machine: MachineModel) -> Result<SimulationPlan, Failure> {
    let workload = sizes::workload(given, &get::<String>(given, "workload"))?;
    let arms = match given.get_many::<Contender>("arm") {
        Some(arms) => arms.cloned().collect(),
        None => ARMS.iter().filter_map(|name| name.parse().ok()).collect(),
    };
    let resources = sizes::resources(given)?;
    resources.check().map_err(wrong)?;
    let device_bytes_per_second = find::<u64>(given, "device-bytes-per-second");
    if let Some(bytes) = device_bytes_per_second.filter(|bytes| *bytes < LEAST_DEVICE) {
        return Err(Failure::WrongUse(format!(
            "--device-bytes-per-second {bytes}: it must be at least {LEAST_DEVICE}, as in a store"
        )));
    }
    let (noise, slow_noise) = (spread(given, "noise")?, spread(given, "slow-noise")?);
    let plan = SimulationPlan {
        workload,
        arms,
        resources,
        machine,
        device_bytes_per_second,
        filters: match get::<String>(given, "filters").as_str() {
            "monkey" => FilterAllocation::Monkey,
            _ => FilterAllocation::Uniform,
        },
        noise,
        slow_noise,
        timed_one_in: get(given, "timed-one-in"),
        seed: get(given, "seed"),
        seeds: get(given, "seeds"),
        oracle: oracle(given),
        reopen: given.get_flag("reopen"),
    };
    plan.check().map_err(wrong)?;
    Ok(plan)
}

fn oracle(given: &ArgMatches) -> Option<OracleKind> {
    let how = find::<String>(given, "oracle")?;
    Some(match how.as_str() {
        "search" => OracleKind::Search,
        _ => OracleKind::Sessions,
    })
}

fn spread(given: &ArgMatches, name: &str) -> Result<f64, Failure> {
    let share: f64 = get(given, name);
    if (0.0..=2.0).contains(&share) {
        Ok(share)
    } else {
        Err(Failure::WrongUse(format!(
            "--{name} {share}: it must be from 0 to 2, as 0.05 for 5 %"
        )))
    }
}

fn read_machine(file: &Path) -> Result<MachineModel, Failure> {
    let text = fs::read_to_string(file).map_err(|error| {
        Failure::WrongUse(format!(
            "cannot read {}: {error}; check the path",
            file.display()
        ))
    })?;
    let read: Result<MachineModel, String> =
        serde_json::from_str(&text).map_err(|error| error.to_string());
    let checked = read.and_then(|machine| machine.check().map(|()| machine));
    checked.map_err(|why| {
        Failure::WrongUse(format!(
            "{} is no machine: {why}; let `lissom sim --save-machine` write one",
            file.display()
        ))
    })
}

#[cfg(test)]
mod tests {
    use lissom_bench::{demo_command, demo_simulation};

    use super::*;

    #[test]
    fn the_command_that_the_demo_tells_simulates_what_the_demo_has_simulated() {
        let simulated = demo_simulation().expect("a plan");
        let told = demo_command(&simulated);
        let words = told.split_whitespace().filter(|word| *word != "\\");
        let given = command().try_get_matches_from(words.skip(1));
        let given = given.expect("a command line");
        let again = plan(&given, MachineModel::default()).expect("a plan");
        assert_eq!(again, simulated);
        assert!(given.get_flag("decisions") && given.contains_id("out"));
    }
}
