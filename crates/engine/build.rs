//! Compiles the C++ plug-in against the RocksDB that the binding brings.

use std::path::{Path, PathBuf};
use std::{env, fs};

/// Headers change their contents with these, so they must be what the build
/// script of rust-librocksdb-sys passes on the same target.
const DEFINES: &[(&str, Option<&str>)] = &[("NDEBUG", Some("1")), ("HAVE_ALIGNED_NEW", None)];
const POSIX_DEFINES: &[&str] = &["ROCKSDB_PLATFORM_POSIX", "ROCKSDB_LIB_IO_POSIX"];
const LINUX_DEFINES: &[&str] = &[
    "OS_LINUX",
    "ROCKSDB_SCHED_GETCPU_PRESENT",
    "ROCKSDB_AUXV_GETAUXVAL_PRESENT",
    "ROCKSDB_FALLOCATE_PRESENT",
    "ROCKSDB_RANGESYNC_PRESENT",
];

fn main() {
    println!("cargo::rerun-if-changed=plugin/src");
    println!("cargo::rerun-if-changed=plugin/include");
    let include = PathBuf::from(env::var_os("DEP_ROCKSDB_INCLUDE").expect(
        "rust-librocksdb-sys, a direct dependency with links = \"rocksdb\", sets DEP_ROCKSDB_INCLUDE",
    ));
    let mut build = cc::Build::new();
    build
        .cpp(true)
        .std("c++20")
        .flag("-fno-rtti")
        .flag("-include")
        .flag("cstdint")
        .include("plugin/include")
        .include("plugin/src")
        .files(sources(Path::new("plugin/src")));
    system_includes(&mut build, &include);
    define(&mut build);
    build.compile("lissom_plugin");
}

// RocksDB's own warnings are not ours. The second folder is the root of its
// sources, where its internal headers are found.
fn system_includes(build: &mut cc::Build, include: &Path) {
    let root = include
        .parent()
        .expect("RocksDB's include folder has a parent");
    for path in [include, root] {
        build.flag("-isystem").flag(path);
    }
}

fn define(build: &mut cc::Build) {
    for (name, value) in DEFINES {
        build.define(name, *value);
    }
    let is = |key: &str, value: &str| env::var(key).is_ok_and(|found| found == value);
    if is("CARGO_CFG_TARGET_POINTER_WIDTH", "64") {
        build.define("HAVE_UINT128_EXTENSION", None);
    }
    for name in POSIX_DEFINES {
        build.define(name, None);
    }
    if is("CARGO_CFG_TARGET_OS", "macos") {
        build
            .define("OS_MACOSX", None)
            .define("HAVE_FULLFSYNC", None);
    }
    if is("CARGO_CFG_TARGET_OS", "linux") {
        for name in LINUX_DEFINES {
            build.define(name, None);
        }
        if !is("CARGO_CFG_TARGET_ENV", "musl") {
            build.define("ROCKSDB_PTHREAD_ADAPTIVE_MUTEX", None);
        }
    }
}

fn sources(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("plugin/src lies beside this script");
    let mut files: Vec<_> = entries
        .map(|entry| entry.expect("a readable entry of plugin/src").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "cc"))
        .collect();
    files.sort();
    files
}
