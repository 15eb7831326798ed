//! Tables of what each option takes.

use std::collections::BTreeMap;

use super::*;
use crate::apply::plan::remarks;

const PRESENT: &str = "[DBOptions]\nmax_background_jobs=2\nallow_ingest_behind=false\n\
    wal_dir=\n[CFOptions \"default\"]\nwrite_buffer_size=67108864\n\
    compaction_style=kCompactionStyleLevel\nnum_levels=7\n\
    level_compaction_dynamic_level_bytes=true\nmax_bytes_for_level_multiplier=10.000000\n\
    compaction_options_universal={size_ratio=1;min_merge_width=2;}\ncompression=kLZ4Compression\n\
    comparator=leveldb.BytewiseComparator\nmerge_operator=nullptr\nprefix_extractor=nullptr\n\
    [TableOptions/BlockBasedTable \"default\"]\nblock_size=4096\nfilter_policy=nullptr\n";

const DEFAULT: &str = "[CFOptions \"default\"]\n";
const TABLE: &str = "[TableOptions/BlockBasedTable \"default\"]\n";
const DATABASE: &str = "[DBOptions]\n";

/// The only row, of options that are written as in `PRESENT` but for some.
fn row_of(host: Host, deepest: Option<u32>, present: &str, wanted: &str) -> Row {
    let (options, _) = OptionsText::recorded(present);
    let deepest: BTreeMap<String, u32> = deepest
        .into_iter()
        .map(|level| ("default".into(), level))
        .collect();
    let present = Present {
        host,
        options: &options,
        deepest: &deepest,
    };
    let wanted = OptionsText::parse(wanted).expect(wanted);
    let mut rows = decide(&present, &wanted);
    assert_eq!(rows.len(), 1, "{rows:?}");
    rows.remove(0)
}

fn plain(section: &str, statement: &str) -> Row {
    row_of(
        Host::Plain,
        Some(6),
        PRESENT,
        &format!("{section}{statement}\n"),
    )
}

#[test]
fn a_closed_directory_of_rocksdb() {
    for (section, statement, how, words) in [
        (
            DATABASE,
            "max_background_jobs=2",
            How::Unchanged,
            "so already",
        ),
        (
            DATABASE,
            "max_background_jobs=6",
            How::Reopening,
            "next open",
        ),
        (DATABASE, "use_fsync=true", How::Reopening, "at open"),
        (
            DATABASE,
            "wal_dir=/elsewhere",
            How::Impossible,
            "the log that exists",
        ),
        (DATABASE, "allow_2pc=true", How::Impossible, "TransactionDB"),
        (DATABASE, "env=posix", How::Unkept, "in no OPTIONS file"),
        (
            DATABASE,
            "skip_log_error_on_recovery=true",
            How::Ignored,
            "no longer",
        ),
        (
            DATABASE,
            "allow_ingest_behind=true",
            How::Rebuild,
            "last level",
        ),
        (DEFAULT, "write_buffer_size=64M", How::Unchanged, ""),
        (
            DEFAULT,
            "write_buffer_size=128M",
            How::Reopening,
            "run time",
        ),
        (
            DEFAULT,
            "min_write_buffer_number_to_merge=2",
            How::Reopening,
            "at open",
        ),
        (
            DEFAULT,
            "max_bytes_for_level_multiplier=10",
            How::Unchanged,
            "",
        ),
        (
            DEFAULT,
            "max_bytes_for_level_multiplier=8",
            How::Reopening,
            "",
        ),
        (
            DEFAULT,
            "compaction_options_universal={size_ratio=5;}",
            How::Reopening,
            "",
        ),
        (
            DEFAULT,
            "compaction_options_universal.size_ratio=1",
            How::Unchanged,
            "",
        ),
        (DEFAULT, "compression=kZSTD", How::Reopening, ""),
        (DEFAULT, "compression_per_level=", How::Unchanged, ""),
        (DEFAULT, "comparator=mine", How::Impossible, "copy the data"),
        (
            DEFAULT,
            "merge_operator=put",
            How::Reopening,
            "no merge operator",
        ),
        (DEFAULT, "num_levels=8", How::Reopening, ""),
        (DEFAULT, "num_levels=6", How::Rebuild, "level 6 holds files"),
        (
            DEFAULT,
            "compaction_style=kCompactionStyleUniversal",
            How::Reopening,
            "sorted run",
        ),
        (
            DEFAULT,
            "compaction_style=kCompactionStyleFIFO",
            How::Impossible,
            "oldest files",
        ),
        (
            DEFAULT,
            "compaction_style=kCompactionStyleNone",
            How::Impossible,
            "writes would stop",
        ),
        (
            DEFAULT,
            "level_compaction_dynamic_level_bytes=false",
            How::Rebuild,
            "level 1",
        ),
        (TABLE, "block_size=4K", How::Unchanged, ""),
        (TABLE, "block_size=8K", How::Reopening, ""),
        (TABLE, "block_cache=1G", How::Unkept, "in no OPTIONS file"),
        (
            TABLE,
            "cache_index_and_filter_blocks=true",
            How::Reopening,
            "at open",
        ),
    ] {
        let row = plain(section, statement);
        assert_eq!(row.how, how, "{row:?}");
        assert!(row.why.contains(words), "{row:?}");
        assert_eq!(row.line, 2);
    }
}

#[test]
fn what_holds_for_new_files_says_so() {
    assert!(plain(TABLE, "block_size=8K").for_new_files);
    assert!(plain(TABLE, "filter_policy=bloomfilter:10").for_new_files);
    assert!(plain(DEFAULT, "prefix_extractor=fixed:4").for_new_files);
    assert!(!plain(TABLE, "block_size=4K").for_new_files);
    assert!(!plain(DEFAULT, "write_buffer_size=1M").for_new_files);
}

#[test]
fn what_deletes_files_under_fifo_compaction_is_impossible_there() {
    let fifo = PRESENT.replace("kCompactionStyleLevel", "kCompactionStyleFIFO")
        + "[CFOptions \"default\"]\ndisable_auto_compactions=true\n";
    for statement in [
        "ttl=60",
        "compaction_options_fifo={max_table_files_size=1;}",
        "compaction_options_fifo.max_data_files_size=1",
        "disable_auto_compactions=false",
    ] {
        let wanted = format!("{DEFAULT}{statement}\n");
        let row = row_of(Host::Plain, Some(0), &fifo, &wanted);
        assert_eq!(row.how, How::Impossible, "{row:?}");
        assert!(row.why.contains("deletes"), "{row:?}");
        assert_eq!(plain(DEFAULT, statement).how, How::Reopening, "{statement}");
    }
    let wanted = format!("{DEFAULT}write_buffer_size=1M\n");
    let row = row_of(Host::Plain, Some(0), &fifo, &wanted);
    assert_eq!(row.how, How::Reopening, "{row:?}");
}

#[test]
fn a_compaction_filter_can_only_be_taken_away() {
    for name in ["compaction_filter", "compaction_filter_factory"] {
        let row = plain(DEFAULT, &format!("{name}=RemoveEmptyValueCompactionFilter"));
        assert_eq!(row.how, How::Impossible, "{row:?}");
        assert!(row.why.contains("drops entries"), "{row:?}");
        let with = format!("{PRESENT}{DEFAULT}{name}=mine\n");
        let wanted = format!("{DEFAULT}{name}=nullptr\n");
        let row = row_of(Host::Plain, None, &with, &wanted);
        assert_eq!(row.how, How::Reopening, "{row:?}");
    }
}

#[test]
fn a_change_under_which_scans_pass_over_keys_is_remarked_on() {
    let row = plain(DEFAULT, "prefix_extractor=fixed:4");
    let said = remarks(&[row]);
    assert_eq!(said.len(), 1, "{said:?}");
    assert!(said[0].contains("total_order_seek"), "{said:?}");
    assert!(said[0].contains(DEFAULT.trim()), "{said:?}");
    let with = PRESENT.replace(
        "prefix_extractor=nullptr",
        "prefix_extractor=rocksdb.FixedPrefix.6",
    );
    let wanted = format!("{DEFAULT}prefix_extractor=fixed:4\n");
    let row = row_of(Host::Plain, None, &with, &wanted);
    assert_eq!(row.how, How::Reopening, "{row:?}");
    assert_eq!(remarks(&[row]).len(), 1, "its prefixes are others");
    let opt_in = PRESENT.replace(
        "prefix_extractor",
        "prefix_seek_opt_in_only=true\nprefix_extractor",
    );
    for (value, many) in [("true", 0), ("false", 1)] {
        let wanted = format!("{DATABASE}prefix_seek_opt_in_only={value}\n");
        let said = remarks(&[row_of(Host::Plain, None, &opt_in, &wanted)]);
        assert_eq!(said.len(), many, "{said:?}");
    }
    let row = plain(DEFAULT, "prefix_extractor=nullptr");
    assert!(remarks(&[row]).is_empty());
}

#[test]
fn a_tree_that_fits_needs_no_rebuild() {
    let of = |deepest, statement: &str| {
        let wanted = format!("{DEFAULT}{statement}\n");
        row_of(Host::Plain, deepest, PRESENT, &wanted).how
    };
    assert_eq!(of(Some(3), "num_levels=4"), How::Reopening);
    assert_eq!(of(Some(3), "num_levels=3"), How::Rebuild);
    assert_eq!(of(None, "num_levels=2"), How::Reopening);
    let dynamic = "level_compaction_dynamic_level_bytes=false";
    assert_eq!(of(Some(0), dynamic), How::Reopening);
    assert_eq!(of(None, dynamic), How::Reopening);
}

#[test]
fn from_universal_to_leveled() {
    let universal = PRESENT.replace("kCompactionStyleLevel", "kCompactionStyleUniversal");
    let wanted = format!("{DEFAULT}compaction_style=kCompactionStyleLevel\n");
    let row = row_of(Host::Plain, Some(5), &universal, &wanted);
    assert_eq!(row.how, How::Rebuild, "{row:?}");
    let row = row_of(Host::Plain, None, &universal, &wanted);
    assert_eq!(row.how, How::Reopening, "{row:?}");
    // Dynamic level bytes mean nothing under the style that is wanted.
    let (options, _) = OptionsText::recorded(PRESENT);
    let deepest = BTreeMap::from([("default".to_owned(), 6)]);
    let present = Present {
        host: Host::Plain,
        options: &options,
        deepest: &deepest,
    };
    let wanted = format!(
        "{DEFAULT}compaction_style=kCompactionStyleUniversal\n\
         level_compaction_dynamic_level_bytes=false\n"
    );
    let wanted = OptionsText::parse(&wanted).expect("well-formed");
    let rows = decide(&present, &wanted);
    assert!(rows.iter().all(|row| row.how == How::Reopening), "{rows:?}");
}

#[test]
fn a_recorded_merge_operator_stays() {
    let with = PRESENT.replace("merge_operator=nullptr", "merge_operator=join");
    let wanted = format!("{DEFAULT}merge_operator=put\n");
    let row = row_of(Host::Plain, Some(1), &with, &wanted);
    assert_eq!(row.how, How::Impossible, "{row:?}");
    assert!(row.why.contains("merge operands"), "{row:?}");
}

#[test]
fn a_store_of_lissoms_keeps_what_it_owns() {
    for (section, statement, running, closed, words) in [
        (
            DEFAULT,
            "compaction_style=kCompactionStyleUniversal",
            How::Impossible,
            How::Impossible,
            "policy and size_ratio",
        ),
        (
            DEFAULT,
            "disable_auto_compactions=true",
            How::Impossible,
            How::Impossible,
            "Autopilot::pause",
        ),
        (
            DEFAULT,
            "compaction_options_universal.size_ratio=7",
            How::Impossible,
            How::Impossible,
            "policy",
        ),
        (
            DEFAULT,
            "ttl=60",
            How::Impossible,
            How::Impossible,
            "planner",
        ),
        (
            DEFAULT,
            "write_buffer_size=1M",
            How::Impossible,
            How::Impossible,
            "of the same name",
        ),
        (
            TABLE,
            "block_size=8K",
            How::Impossible,
            How::Impossible,
            "block_size",
        ),
        (
            TABLE,
            "format_version=5",
            How::Impossible,
            How::Impossible,
            "no setting for this one",
        ),
        (
            DATABASE,
            "max_background_jobs=8",
            How::RunTime,
            How::Impossible,
            "Opening::customise",
        ),
        (
            DEFAULT,
            "memtable_whole_key_filtering=true",
            How::RunTime,
            How::Impossible,
            "Opening::customise",
        ),
        (
            DEFAULT,
            "prefix_extractor=fixed:4",
            How::Impossible,
            How::Impossible,
            "cross prefixes",
        ),
        (
            DEFAULT,
            "bloom_locality=1",
            How::Impossible,
            How::Impossible,
            "at open",
        ),
        (
            DATABASE,
            "max_background_jobs=2",
            How::Unchanged,
            How::Unchanged,
            "",
        ),
    ] {
        for (host, how) in [(Host::Running, running), (Host::Lissom, closed)] {
            let wanted = format!("{section}{statement}\n");
            let row = row_of(host, Some(3), PRESENT, &wanted);
            assert_eq!(row.how, how, "{host:?} {row:?}");
            assert!(row.why.contains(words), "{host:?} {row:?}");
        }
    }
}

#[test]
fn column_families_that_are_not_there_are_named() {
    let wanted = OptionsText::parse("[CFOptions \"a\"]\nttl=1\n[CFOptions \"b\"]\nttl=1\n");
    let families = ["default".to_owned(), "b".to_owned()];
    let sentences = strangers(&families, &wanted.expect("well-formed"));
    assert_eq!(
        sentences,
        ["there is no column family \"a\": the database has default, b"]
    );
}
