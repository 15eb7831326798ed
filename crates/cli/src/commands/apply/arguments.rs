//! What `lissom apply` is told.

use std::path::PathBuf;

use clap::{Arg, Command, value_parser};

use crate::arguments::{flag, json, path};

pub fn command() -> Command {
    Command::new("apply")
        .about("Applies an OPTIONS file, or settings of Lissom's, to a database")
        .long_about(
            "Applies an OPTIONS file, or settings of Lissom's, to a database.\n\n\
             OPTIONS is a file as RocksDB and `lissom search --out` write it, all of it or a \
             part, or a JSON object of Lissom's settings. Each option is decided on by itself, \
             with a reason. What takes effect by reopening is recorded by opening and closing \
             the directory, which no other process may have open. With --running the process \
             that has a store of Lissom's open is asked instead, for what can be changed while \
             reads and writes go on.\n\n\
             What needs a rebuild is not changed without --rewrite. With it all data are \
             written anew, into a directory beside it; both are compared, then exchanged in \
             one step. It may be killed at any instant: the same command goes on. The old \
             directory stays as PATH.before-apply: --finish removes it, --undo takes it back. \
             A store of Lissom's is not rebuilt, since it rewrites files as it merges them; \
             settings that hold from its next open on are recorded, for the program to open it \
             with.\n\n\
             --yes answers the question of --undo, and lets --finish remove a directory that was \
             opened for writing and alone has what was written then.\n\n\
             Exit code 1 when an option could not be changed. What the directory does not keep, \
             as block_cache of RocksDB or workers of Lissom, is for the program that opens the \
             database to set, and counts as no failure.",
        )
        .arg(path())
        .arg(
            Arg::new("options")
                .value_name("OPTIONS")
                .required_unless_present_any(["finish", "undo"])
                .conflicts_with_all(["finish", "undo"])
                .value_parser(value_parser!(PathBuf))
                .help("File with options or settings"),
        )
        .arg(flag(
            "dry-run",
            "Says what each option takes, and does nothing",
        ))
        .arg(flag(
            "rewrite",
            "Rewrites all data, for options that existing files must have or fit",
        ))
        .arg(
            flag("running", "Asks the process that has the store open")
                .conflicts_with_all(["dry-run", "rewrite"]),
        )
        .arg(
            flag("finish", "Removes the old directory of a rebuild")
                .conflicts_with_all(["undo", "dry-run", "rewrite", "running"]),
        )
        .arg(
            flag("undo", "Takes the old directory of a rebuild back")
                .conflicts_with_all(["dry-run", "rewrite", "running"]),
        )
        .arg(flag(
            "yes",
            "Takes it back, or removes it, even if the rebuilt one was written to",
        ))
        .arg(json())
}
