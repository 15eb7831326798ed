//! OPTIONS files of the search, loaded by RocksDB's own loader.

use std::path::Path;

use lissom_search::Random;
use lissom_search::export::{Format, OptionsFile, write};
use lissom_search::space::{BuiltIn, Constants, Section, Space};
use rust_rocksdb::{Cache, DB, Env, Options};

fn space(which: BuiltIn) -> Space {
    let file = which.file().expect("reads");
    let constants = Constants::new().with("memory", 256e6);
    file.with(&constants).expect("is legal")
}

/// What RocksDB writes beside a database that it opened with this file.
fn loaded_by_rocksdb(text: &str) -> OptionsFile {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path();
    std::fs::write(path.join("OPTIONS-000001"), text).expect("written");
    let env = Env::new().expect("an environment");
    let cache = Cache::new_lru_cache(1 << 20);
    let (mut options, families) =
        Options::load_latest(path, env, false, cache).expect("RocksDB loads it");
    options.create_if_missing(true);
    let data = tempfile::tempdir().expect("a directory");
    let db = DB::open_cf_descriptors(&options, data.path(), families).expect("RocksDB opens it");
    db.put("key", "value").expect("written");
    drop(db);
    OptionsFile::parse(&newest_options(data.path())).expect("reads")
}

fn newest_options(directory: &Path) -> String {
    let files = std::fs::read_dir(directory).expect("a directory").flatten();
    let newest = files
        .map(|entry| entry.path())
        .filter(|path| path.to_string_lossy().contains("OPTIONS-"))
        .max();
    std::fs::read_to_string(newest.expect("an OPTIONS file")).expect("text")
}

#[test]
fn rocksdb_loads_what_is_exported() {
    for which in [BuiltIn::RocksDb, BuiltIn::Dremel] {
        let space = space(which);
        let mut configurations = space.sample(12, &mut Random::new(7)).expect("sampled");
        configurations.push(space.default_configuration());
        for configuration in configurations {
            let export = write(Format::RocksDb, &space, &configuration).expect("written");
            let asked = OptionsFile::parse(&export.text).expect("reads");
            let used = loaded_by_rocksdb(&export.text);
            for name in ["write_buffer_size", "num_levels", "target_file_size_base"] {
                let both = [&asked, &used].map(|file| file.get(Section::Cf, name));
                assert_eq!(both[0], both[1], "{name} in {}", export.text);
            }
            // RocksDB leaves out ":false", writes no cache, and some policies as
            // `{id=ribbonfilter:10:0;bloom_before_level=0;}`.
            let policy = used.get(Section::Table, "filter_policy").expect("written");
            let policy = policy.trim_start_matches("{id=");
            let policy = policy.split(';').next().unwrap_or(policy);
            let wanted = asked.get(Section::Table, "filter_policy").expect("written");
            assert!(wanted.starts_with(policy), "{policy} for {wanted}");
        }
    }
}

#[test]
fn universal_options_are_nested() {
    let space = space(BuiltIn::RocksDb);
    let export = write(Format::RocksDb, &space, &space.default_configuration());
    let text = export
        .expect("written")
        .text
        .replace("size_ratio=1;", "size_ratio=13;");
    let used = loaded_by_rocksdb(&text);
    let universal = used.get(Section::Cf, "compaction_options_universal");
    let universal = universal.expect("written");
    assert!(universal.contains("size_ratio=13;"), "{universal}");
    assert!(universal.contains("min_merge_width=2;"), "{universal}");
}
