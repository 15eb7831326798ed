//! How large a workload and the memory for it are: what `bench` and `sim` are told
//! alike.

use clap::{Arg, ArgAction, ArgMatches, value_parser};
use lissom_bench::{Resources, Workload, load_workload};

use crate::arguments::{amount, find, get, option};
use crate::failure::Failure;

/// `--entries`, `--scale`, `--repeat`, `--write-buffer-size`, `--block-cache-size`, `--set`
pub fn arguments() -> [Arg; 6] {
    let number = |name, value, help| option(name, value, help).value_parser(amount);
    [
        number(
            "entries",
            "N",
            "Entries to load, as 2000000 or 2M [default: the workload's]",
        ),
        option(
            "scale",
            "FACTOR",
            "Factor on the workload's operations, in every session",
        )
        .default_value("1")
        .value_parser(value_parser!(f64)),
        option("repeat", "N", "How often the sessions are gone through")
            .default_value("1")
            .value_parser(value_parser!(u32).range(1..=10_000)),
        number(
            "write-buffer-size",
            "BYTES",
            "Bytes of a write buffer [default: 2 MiB]",
        ),
        number(
            "block-cache-size",
            "BYTES",
            "Bytes of the block cache [default: 32 MiB]",
        ),
        option(
            "set",
            "NAME=VALUE",
            "Another resource that all arms share, as level0_slowdown_writes_trigger=60; \
             results.json of `lissom bench` lists them",
        )
        .action(ArgAction::Append),
    ]
}

/// The workload called `name`, as large as was asked for.
pub fn workload(given: &ArgMatches, name: &str) -> Result<Workload, Failure> {
    load_workload(name)
        .and_then(|workload| workload.sized(find(given, "entries"), get(given, "scale")))
        .and_then(|workload| workload.repeated(get(given, "repeat")))
        .map_err(wrong)
}

/// The default resources but for what was asked for; not checked together.
pub fn resources(given: &ArgMatches) -> Result<Resources, Failure> {
    let mut resources = Resources::default();
    // More than an address space holds is more than any machine has.
    let bytes =
        |name| find(given, name).map(|bytes: u64| usize::try_from(bytes).unwrap_or(usize::MAX));
    if let Some(bytes) = bytes("write-buffer-size") {
        resources.write_buffer_size = bytes;
    }
    if let Some(bytes) = bytes("block-cache-size") {
        resources.block_cache_size = bytes;
    }
    for assignment in given.get_many::<String>("set").unwrap_or_default() {
        resources = resources.with(assignment).map_err(wrong)?;
    }
    Ok(resources)
}

/// What is wrong was given on the command line.
pub fn wrong(error: lissom_bench::BenchError) -> Failure {
    Failure::WrongUse(error.to_string())
}
