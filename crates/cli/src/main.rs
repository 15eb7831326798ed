//! The program `lissom`. It reads the command line and prints; what it prints
//! comes from the libraries.

mod arguments;
mod built;
mod commands;
mod failure;
mod output;

use std::process::ExitCode;

#[cfg(all(target_os = "linux", target_env = "gnu"))]
#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

fn main() -> ExitCode {
    // Help, versions and wrong use end here, with clap's own exit codes 0 and 2.
    let given = commands::program().get_matches();
    match commands::run(&given) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failure.report(),
    }
}
