//! `lissom adopt`

use std::path::PathBuf;

use clap::{ArgMatches, Command, value_parser};
use lissom::adopt::Adopter;
use lissom::core::tuner::Policy;

use super::work::{Wording, carry_out, consent};
use crate::arguments::{find, get, option, path};
use crate::failure::Outcome;

pub fn command() -> Command {
    Command::new("adopt")
        .about("Takes over a plain RocksDB directory")
        .long_about(
            "Takes over a plain RocksDB directory.\n\n\
             Says beforehand what will be rewritten. Runs sink to their places by moves, which \
             cost nothing; what is over its limits is merged, in bounded pieces. It may be killed \
             at any instant: the same command goes on. No other process may have the database \
             open. Open it with `lissom::Db` afterwards; `lissom detach` gives it back.",
        )
        .arg(path())
        .arg(
            option(
                "policy",
                "NAME",
                "Who chooses the run limits: fixed-K, lazy-leveling, thresholds-LOW-HIGH, learned or lerp \
                 [default: fixed-1, or what an earlier adoption recorded]",
            )
            .value_parser(|name: &str| name.parse::<Policy>()),
        )
        .arg(
            option(
                "size-ratio",
                "T",
                "Capacity of a level over that of the level above, 2 to 100 [default: 10]",
            )
            .value_parser(value_parser!(u32).range(2..=100)),
        )
        .args(consent())
}

pub fn run(given: &ArgMatches) -> Outcome {
    lissom::open_files::raise_limit();
    let policy: Option<Policy> = find(given, "policy");
    let size_ratio: Option<u32> = find(given, "size-ratio");
    let adopter = Adopter::new(get::<PathBuf>(given, "path")).settings(move |_, settings| {
        if let Some(size_ratio) = size_ratio {
            settings.size_ratio = size_ratio;
        }
        if let Some(policy) = &policy {
            settings.policy = policy.clone();
        }
    });
    let wording = Wording {
        done_already: "is adopted, and nothing is left to do",
        question: "Adopt it?",
        done: "adopted: open it with lissom::Db, look at it with `lissom inspect`",
    };
    let work = adopter.forecast()?;
    carry_out(given, &wording, &work, |watch| adopter.adopt(watch))
}
