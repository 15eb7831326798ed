//! OPTIONS files, written and read.

use super::*;
use crate::random::Random;

#[test]
fn what_is_written_reads_back() {
    for which in [BuiltIn::RocksDb, BuiltIn::Dremel] {
        let space = space(which);
        let drawn = space.sample(50, &mut Random::new(1)).expect("sampled");
        for configuration in drawn {
            let export = write(Format::RocksDb, &space, &configuration).expect("written");
            let file = OptionsFile::parse(&export.text).expect("reads");
            assert!(export.text.ends_with(&file.to_string()), "{}", export.text);
            for parameter in space.parameters() {
                let Some(section) = parameter.section else {
                    continue;
                };
                let value = configuration.get(&parameter.name).map(Setting::to_string);
                let found = file.get(section, &parameter.name);
                let composed = ["filter_policy", "bits_per_key", "bloom_before_level"];
                if !parameter.name.contains('.') && !composed.contains(&&*parameter.name) {
                    assert_eq!(found, value.as_deref(), "{}", parameter.name);
                }
            }
        }
    }
}

#[test]
fn options_files_are_read_as_rocksdb_reads_them() {
    let file = OptionsFile::parse(
        "# a comment\n[Version]\n  rocksdb_version=7.8.3\n[DBOptions]\n  max_background_jobs=4 # \
         four\n  db_log_dir=/a\\:b\\#c\n\n[CFOptions \"default\"]\n[TableOptions/BlockBasedTable \
         \"default\"]\n\tblock_size = 4096\n",
    )
    .expect("reads");
    assert_eq!(file.get(Section::Db, "max_background_jobs"), Some("4"));
    assert_eq!(file.get(Section::Table, "block_size"), Some("4096"));
    assert_eq!(file.settings().len(), 3);
    let log = file.get(Section::Db, "db_log_dir").expect("set");
    assert_eq!(options_file::unescaped(log), "/a:b#c");
}

#[test]
fn options_files_with_mistakes_name_the_line() {
    let family = "[CFOptions \"default\"]";
    for (text, sentence) in [
        ("a=1", "line 1 of the OPTIONS file: a stands in no section"),
        (
            "[DBOptions]\nmax_background_jobs",
            "line 2 of the OPTIONS file: \"max_background_jobs\" is no setting",
        ),
        (
            "[DBOptions]\n=4",
            "line 2 of the OPTIONS file: \"=4\" names",
        ),
        (
            "[DBOptions]\na=1\na=2",
            "line 3 of the OPTIONS file: a stands twice in [DBOptions]",
        ),
        ("[DBOptions]\n[DBOptions]", "stands twice: merge"),
        ("[DBOptions]\n[CFOptions \"cold\"]", "another column family"),
        ("[TableOptions/PlainTable \"default\"]", "block-based table"),
        ("[Options]", "[Options] is no section"),
        (family, "has no section [DBOptions]"),
        ("[DBOptions]", "has no section [CFOptions \"default\"]"),
    ] {
        let error = OptionsFile::parse(text).expect_err(text).to_string();
        assert!(error.contains(sentence), "{error}");
    }
}
