//! `lissom sim`

use std::fs;
use std::path::{Path, PathBuf};

use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};
use lissom::core::filters::FilterAllocation;
use lissom_bench::{
    Contender, MachineModel, Results, SimulationPlan, calibrate, render_calibration,
    render_simulation, run_simulation, write_limits,
};

use super::bench::place;
use super::sizes::{self, wrong};
use crate::arguments::{amount, find, flag, get, json, option};
use crate::failure::{Failure, Outcome};
use crate::output::{self, StatusLine};

/// Arms when none is named: the hull's ends and middle.
const ARMS: [&str; 4] = ["fixed-1", "fixed-4", "fixed-10", "lazy-leveling"];

/// The slowest device that a store's settings take, bytes a second.
const LEAST_DEVICE: u64 = 1 << 20;

pub fn command() -> Command {
    Command::new("sim")
        .about(
            "Runs a workload in virtual time: the same planner, tuners and schedules over a \
             modelled tree",
        )
        .long_about(
            "Runs a workload in virtual time: the same planner, tuners and schedules over a \
             modelled tree. Minutes of a real store take a second. With --calibrate the machine's \
             constants are fitted to a measured run instead, and the model's error is shown; \
             --machine takes them up.\n\n\
             --reopen tells what a learner gains by what it has kept: its sessions are gone \
             through twice, the second time in a tree that is loaded anew, with a tuner that \
             has restored the state which the first one saved.",
        )
        .arg(
            Arg::new("workload")
                .value_name("WORKLOAD")
                .required_unless_present_any(["calibrate", "compare"])
                .help("A shipped workload (see `lissom workloads`), random:SEED, or a TOML file"),
        )
        .arg(
            option(
                "arm",
                "NAME",
                "A contender; repeat it: fixed-K, lazy-leveling, thresholds-LOW-HIGH, learned, lerp, \
                 learned-from-K, learned-without-PART, lerp-without-propagation, \
                 lerp-without-pull; learned-frozen, held after the load; fixed-4@dlc with \
                 a schedule [default: fixed-1, -4, -10, lazy-leveling]",
            )
            .action(ArgAction::Append)
            .value_parser(|name: &str| name.parse::<Contender>()),
        )
        .args(sizes::arguments())
        .args(tuners())
        .args(machine())
        .arg(flag(
            "oracle",
            "Adds an arm that follows in each session the static arm that was best in it",
        ))
        .arg(flag(
            "decisions",
            "Lists every change of the run limits, and what schedules ordered",
        ))
        .args(learners())
        .arg(json())
}

/// What is shown of arms that choose their limits.
fn learners() -> [Arg; 2] {
    [
        flag(
            "reopen",
            "Runs each arm that keeps what it learns a second time, with what it has kept: \
             `learned` and `learned, reopened`; other arms are run once",
        )
        .conflicts_with_all(["calibrate", "compare"]),
        option(
            "out",
            "DIR",
            "Writes limits.svg into this directory: the run limits of each level over the \
             sessions, of each arm that follows the workload",
        )
        .value_parser(value_parser!(PathBuf))
        .conflicts_with_all(["calibrate", "compare"]),
    ]
}

/// What the tree and its tuners are told.
fn tuners() -> [Arg; 4] {
    let share = |name, help| {
        option(name, "SHARE", help)
            .default_value("0")
            .allow_negative_numbers(true)
            .value_parser(value_parser!(f64))
    };
    [
        option(
            "filters",
            "KIND",
            "How levels share the filters: uniform or monkey",
        )
        .default_value("uniform")
        .value_parser(["uniform", "monkey"]),
        share(
            "noise",
            "Spread of the times that tuners are told, as 0.05: a factor for each mission",
        ),
        share(
            "slow-noise",
            "Spread of a factor of the times of gets and scans that drifts within two minutes, \
             beside --noise",
        ),
        option("seed", "N", "Seed of the noise")
            .default_value("1")
            .value_parser(value_parser!(u64)),
    ]
}

fn machine() -> [Arg; 5] {
    let file = |name, value, help| option(name, value, help).value_parser(value_parser!(PathBuf));
    [
        file(
            "machine",
            "FILE",
            "The machine's constants, as --save-machine writes them",
        ),
        option(
            "device-bytes-per-second",
            "BYTES",
            "What schedules hold the device for, reads and writes together [default: what the \
             machine's constants allow]",
        )
        .value_parser(amount),
        file(
            "calibrate",
            "PATH",
            "Fits the constants to results of `lissom bench`: their directory, or a file of them",
        )
        .conflicts_with("compare"),
        file(
            "compare",
            "PATH",
            "Compares with results of `lissom bench`, fitting nothing: their directory, or a file \
             of them as bench/results/NAME.json",
        ),
        file("save-machine", "FILE", "Writes the fitted constants here").requires("calibrate"),
    ]
}

pub fn run(given: &ArgMatches) -> Outcome {
    let machine = match find::<PathBuf>(given, "machine") {
        Some(file) => read_machine(&file)?,
        None => MachineModel::default(),
    };
    for (name, fit) in [("calibrate", true), ("compare", false)] {
        if let Some(path) = find::<PathBuf>(given, name) {
            return compare(given, &path, machine, fit);
        }
    }
    let plan = plan(given, machine)?;
    let out = find::<PathBuf>(given, "out");
    if let Some(out) = &out {
        prepare(out, &plan)?;
    }
    let mut line = StatusLine::new();
    let seen = run_simulation(&plan, &mut |what| line.show(what)).map_err(wrong)?;
    drop(line);
    let picture = out.map(|out| write_limits(&seen, &out)).transpose()?;
    if given.get_flag("json") {
        return output::print_json(&seen);
    }
    let mut text = render_simulation(&seen);
    if given.get_flag("decisions") {
        for arm in &seen.arms {
            text += &format!("\n{}\n", arm.arm);
            for it in &arm.outcome.orders {
                let session = &arm.outcome.sessions[it.session].name;
                text += &format!("  {:>8.1} s  {session}: {}\n", it.at, it.order.why);
            }
            for it in &arm.outcome.decisions {
                let session = &arm.outcome.sessions[it.session].name;
                text += &format!(
                    "  {:>8.1} s  mission {:>4}, {session}: {}\n",
                    it.at, it.mission, it.limits
                );
                for why in &it.why {
                    text += &format!("              {why}\n");
                }
            }
        }
    }
    text.extend(picture.map(|path| place("\npicture", path)));
    output::print(&text)
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
        seed: get(given, "seed"),
        oracle: given.get_flag("oracle"),
        reopen: given.get_flag("reopen"),
    };
    plan.check().map_err(wrong)?;
    Ok(plan)
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

fn compare(given: &ArgMatches, path: &Path, machine: MachineModel, fit: bool) -> Outcome {
    let results = Results::read(path)?;
    let mut line = StatusLine::new();
    let seen = calibrate(&results, machine, fit, &mut |what| line.show(what))?;
    drop(line);
    if let Some(file) = find::<PathBuf>(given, "save-machine") {
        let text = serde_json::to_string_pretty(&seen.machine).expect("numbers are JSON");
        fs::write(&file, text + "\n").map_err(|error| {
            Failure::Failed(format!(
                "cannot write {}: {error}; check the path and the free space",
                file.display()
            ))
        })?;
    }
    if given.get_flag("json") {
        output::print_json(&seen)
    } else {
        output::print(&render_calibration(&seen))
    }
}

fn read_machine(file: &Path) -> Result<MachineModel, Failure> {
    let text = fs::read_to_string(file).map_err(|error| {
        Failure::WrongUse(format!(
            "cannot read {}: {error}; check the path",
            file.display()
        ))
    })?;
    serde_json::from_str(&text).map_err(|error| {
        Failure::WrongUse(format!(
            "{} is no machine: {error}; let `lissom sim --save-machine` write one",
            file.display()
        ))
    })
}
