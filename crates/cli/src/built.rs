//! What this program was built from, as its build script found it.

use lissom_bench::Program;

/// Version, commit and sources, for what it measures.
pub fn program() -> Program {
    let commit = Some(env!("LISSOM_COMMIT")).filter(|commit| !commit.is_empty());
    Program {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        commit: commit.map(str::to_owned),
        dirty: env!("LISSOM_DIRTY") == "true",
        sources: Some(env!("LISSOM_SOURCES"))
            .filter(|sources| !sources.is_empty())
            .map(str::to_owned),
    }
}
