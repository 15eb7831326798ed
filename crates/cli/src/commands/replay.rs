//! `lissom replay`

use std::path::PathBuf;

use clap::{ArgMatches, Command};
use lissom::core::replay::Redecided;
use lissom::core::tuner::Policy;
use lissom::inspect::{AllowedInstead, Replayed};

use crate::arguments::{column_family, find, get, json, option, path, share, times_or_none};
use crate::failure::Outcome;
use crate::output;

pub fn command() -> Command {
    Command::new("replay")
        .about("Decides a store's recorded missions again, with another policy")
        .long_about(
            "Decides a store's recorded missions again, with another policy: what would it have \
             done? The observations are the recorded ones; its decisions do not change them.",
        )
        .arg(path().help("Directory of a database, or the journal in it"))
        .arg(
            option(
                "policy",
                "NAME",
                "Who decides: fixed-K, lazy-leveling, thresholds-LOW-HIGH, learned or lerp",
            )
            .default_value("learned")
            .value_parser(|name: &str| name.parse::<Policy>().map_err(|error| error.to_string())),
        )
        .arg(
            option(
                "exploration",
                "SHARE",
                "Share of the missions that learned may spend on trials, from 0 to 1 [default: \
                 what the store let it, by its journal]",
            )
            .allow_negative_numbers(true)
            .value_parser(share),
        )
        .arg(
            option(
                "max-write-amplification",
                "TIMES",
                "Bytes that may be written for each of the users' when learned begins a merge for \
                 the reads' sake, or none for no bound [default: what the store let it, by its \
                 journal]",
            )
            .allow_negative_numbers(true)
            .value_parser(times_or_none),
        )
        .arg(column_family("Which column family [default: default]"))
        .arg(json())
}

pub fn run(given: &ArgMatches) -> Outcome {
    let policy: Policy = get(given, "policy");
    let family = find::<String>(given, "column-family").unwrap_or_else(|| "default".into());
    let path: PathBuf = get(given, "path");
    let instead = AllowedInstead {
        exploration: find::<f64>(given, "exploration"),
        max_write_amplification: find::<Option<f64>>(given, "max-write-amplification"),
    };
    let replayed = lissom::inspect::replay(&path, &family, &policy, &instead)?;
    if given.get_flag("json") {
        return output::print_json(&replayed.missions);
    }
    output::print(&table(&replayed, &policy))
}

/// What makes a policy decide otherwise than it did then, though it is the same.
fn caveats(replayed: &Replayed, policy: &Policy) -> String {
    let mut text = String::new();
    if let Some(remark) = &replayed.remark {
        text += &format!("{remark}.\n");
    }
    if policy.learns() && !replayed.from_start {
        text += &format!(
            "The journal does not begin with the store's first mission: {policy} starts here \
             without what it had learned before, and may decide otherwise than it did in the \
             store.\n"
        );
    }
    text
}

fn table(replayed: &Replayed, policy: &Policy) -> String {
    let decided: &[Redecided] = &replayed.missions;
    let alike = decided
        .iter()
        .filter(|it| it.recorded.is_same(&it.replayed))
        .count();
    let mut text = format!(
        "{policy} on {} recorded missions, as decided then in {alike} of them\n{}\n",
        decided.len(),
        caveats(replayed, policy)
    );
    let width = |of: fn(&Redecided) -> usize| decided.iter().map(of).max().unwrap_or(0).max(8);
    let recorded = width(|it| it.recorded.to_string().len());
    let replayed = width(|it| it.replayed.to_string().len());
    text += &format!(
        "  mission   reads   {:recorded$}   {:replayed$}\n",
        "recorded", "replayed"
    );
    for it in decided {
        let reads = it
            .read_share
            .map_or("-".into(), |share| format!("{:.0} %", share * 100.0));
        text += &format!(
            "  {:>7}   {reads:>5}   {:recorded$}   {:replayed$}\n",
            it.mission,
            it.recorded.to_string(),
            it.replayed.to_string()
        );
        for why in &it.why {
            text += &format!("                    {why}\n");
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use lissom::core::{LogicalLevel, RunLimit};

    use super::*;

    #[test]
    fn limits_in_another_spelling_are_the_same_decision() {
        let policy: Policy = "fixed-1".parse().expect("a policy");
        let replayed = policy.first_limits();
        let mut recorded = replayed.clone();
        recorded.set(LogicalLevel(12), RunLimit::ONE);
        let decided = |mission, recorded| Redecided {
            mission,
            read_share: None,
            recorded,
            replayed: replayed.clone(),
            why: Vec::new(),
        };
        let mut other = recorded.clone();
        other.set(LogicalLevel(1), RunLimit::clamped(4));
        let told = table(
            &Replayed {
                missions: vec![decided(1, recorded), decided(2, other)],
                from_start: true,
                remark: None,
            },
            &policy,
        );
        let words = "fixed-1 on 2 recorded missions, as decided then in 1 of them";
        assert!(told.starts_with(words), "{told}");
    }
}
