//! `lissom bench uncertainty`

use std::fs;
use std::path::PathBuf;

use clap::{Arg, ArgMatches, Command, value_parser};
use lissom_bench::{
    CampaignPlan, Uncertainty, UncertaintyPlan, UncertaintyVariants, evaluate_uncertainty,
    evaluate_variants, render_campaign, render_simulated, render_uncertainty, render_variants,
    run_campaign, simulate_campaign, write_pictures,
};

use serde::Serialize;

use crate::arguments::{amount, flag, get, option, out};
use crate::built::program;
use crate::failure::{Failure, Outcome};
use crate::output::{self, StatusLine};

/// Everything, as one JSON object.
#[derive(Serialize)]
struct All<'a> {
    #[serde(flatten)]
    evaluation: &'a Uncertainty,
    #[serde(flatten)]
    variants: &'a UncertaintyVariants,
}

/// Where every figure lies, under the directory for results.
const RESULTS: &str = "uncertainty.json";

pub fn command() -> Command {
    Command::new("uncertainty")
        .about("Robust against nominal tunings over workloads that nobody expected, by the model")
        .long_about(
            "Robust against nominal tunings over workloads that nobody expected, by the model: \
             Endure's 15 expected workloads, 10,000 sampled ones, rho from 0 to 3.75. Writes \
             uncertainty.json and three pictures. With --engine both tunings of each expected \
             workload are loaded and measured in six sessions instead; results are kept in \
             engine.json after each, and the same command goes on from there.",
        )
        .arg(flag("engine", "Measures on the engine"))
        .arg(
            flag(
                "simulate",
                "Simulates the same at 10^6 to 10^8 entries, operations in proportion",
            )
            .conflicts_with("engine"),
        )
        .args(engine())
        .arg(
            option("samples", "N", "Sampled workloads")
                .default_value("10000")
                .value_parser(amount),
        )
        .arg(
            option("seed", "N", "Seed of the samples")
                .default_value("1")
                .value_parser(value_parser!(u64)),
        )
        .arg(
            option(
                "least-filter-bits",
                "BITS",
                "Least filter bits per entry of robust tunings; the authors' search has 1",
            )
            .default_value("1")
            .value_parser(value_parser!(f64)),
        )
        .arg(out("bench/out/uncertainty"))
        .arg(flag("json", "Writes JSON to standard output too"))
}

/// How much is measured on the engine.
fn engine() -> [Arg; 3] {
    let count = |name, default, help| {
        option(name, "N", help)
            .default_value(default)
            .value_parser(amount)
    };
    [
        count(
            "entries",
            "1M",
            "Entries of 1 KB, with --engine or --simulate",
        ),
        count("workloads", "5", "Workloads in a session, with --engine"),
        count("queries", "200k", "Queries of a workload, with --engine"),
    ]
}

pub fn run(given: &ArgMatches) -> Outcome {
    if given.get_flag("engine") {
        return measure(given);
    }
    if given.get_flag("simulate") {
        return simulate(given);
    }
    let samples = usize::try_from(get::<u64>(given, "samples"))
        .map_err(|_| Failure::WrongUse("so many samples cannot be held: give fewer".into()))?;
    let plan = UncertaintyPlan {
        least_filter_bits: get(given, "least-filter-bits"),
        ..UncertaintyPlan::published(samples, get(given, "seed"))
    };
    let seen = evaluate_uncertainty(&plan).map_err(|error| Failure::WrongUse(error.to_string()))?;
    let variants =
        evaluate_variants(&plan).map_err(|error| Failure::WrongUse(error.to_string()))?;
    let directory: PathBuf = get(given, "out");
    let results = directory.join(RESULTS);
    let all = All {
        evaluation: &seen,
        variants: &variants,
    };
    let text = serde_json::to_string(&all)
        .map_err(|error| Failure::Failed(format!("the result is no JSON: {error}; report this")))?;
    fs::create_dir_all(&directory)
        .and_then(|()| fs::write(&results, &text))
        .map_err(|error| {
            Failure::Failed(format!(
                "cannot write {}: {error}; check the path and the free space",
                results.display()
            ))
        })?;
    let pictures = write_pictures(&seen, &directory)?;
    if given.get_flag("json") {
        return output::print_json(&all);
    }
    let mut written = format!("\n{}\n", results.display());
    for picture in pictures {
        written += &format!("{}\n", picture.display());
    }
    output::print(&(render_uncertainty(&seen) + &render_variants(&variants) + &written))
}

fn campaign_plan(given: &ArgMatches) -> Result<CampaignPlan, Failure> {
    let number = |name| get::<u64>(given, name);
    let plan = CampaignPlan {
        entries: number("entries"),
        workloads: usize::try_from(number("workloads")).unwrap_or(usize::MAX),
        queries: number("queries"),
        seed: get(given, "seed"),
    };
    let checked = plan.check().map(|()| plan);
    checked.map_err(|error| Failure::WrongUse(error.to_string()))
}

fn simulate(given: &ArgMatches) -> Outcome {
    let plan = campaign_plan(given)?;
    let mut line = StatusLine::new();
    let seen = simulate_campaign(&plan, &mut |what| line.show(what))?;
    drop(line);
    if given.get_flag("json") {
        output::print_json(&seen)
    } else {
        output::print(&render_simulated(&seen))
    }
}

fn measure(given: &ArgMatches) -> Outcome {
    let plan = campaign_plan(given)?;
    let mut line = StatusLine::new();
    let out: PathBuf = get(given, "out");
    let campaign = run_campaign(&plan, &program(), &out, &mut |what| {
        line.show(what);
    })?;
    drop(line);
    if given.get_flag("json") {
        output::print_json(&campaign)
    } else {
        output::print(&render_campaign(&campaign))
    }
}
