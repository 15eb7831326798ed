//! Rows as MariaDB 10.11 shows them.

use super::*;
use crate::ErrorKind;

fn rows(text: &str) -> Rows {
    text.lines()
        .map(|line| {
            line.split_whitespace()
                .map(|it| Some(it.to_owned()))
                .collect()
        })
        .collect()
}

const OPTIONS: &str = "\
default DISABLE_AUTO_COMPACTIONS OFF
default LEVEL0_FILE_NUM_COMPACTION_TRIGGER 4
default LEVEL0_SLOWDOWN_WRITES_TRIGGER -1
default LEVEL0_STOP_WRITES_TRIGGER 36
default MAX_BYTES_FOR_LEVEL_BASE 268435456
default LEVEL_COMPACTION_DYNAMIC_LEVEL_BYTES OFF
default COMPACTION_STYLE kCompactionStyleLevel
cf_hot DISABLE_AUTO_COMPACTIONS ON
cf_hot LEVEL0_FILE_NUM_COMPACTION_TRIGGER 77
cf_hot LEVEL0_SLOWDOWN_WRITES_TRIGGER 20
cf_hot LEVEL0_STOP_WRITES_TRIGGER 36
cf_hot MAX_BYTES_FOR_LEVEL_BASE 8388608
cf_hot LEVEL_COMPACTION_DYNAMIC_LEVEL_BYTES ON
cf_hot COMPACTION_STYLE kCompactionStyleLevel";

#[test]
fn families_are_read_and_an_empty_level_is_zero() {
    let levels = "default L0.NumFiles 18\ndefault L0.SizeBytes 8.28e6\ncf_hot Sum.NumFiles 3";
    let families = families(&rows(OPTIONS), &rows(levels), "here").expect("all is there");
    let default = &families["default"];
    assert_eq!(
        (default.level0_files, default.level0_bytes),
        (18, 8_280_000)
    );
    assert_eq!(default.options.level0_slowdown_writes_trigger, -1);
    assert!(!default.dynamic_level_bytes);
    let hot = &families["cf_hot"];
    assert_eq!((hot.level0_files, hot.level0_bytes), (0, 0));
    assert!(hot.options.disable_auto_compactions && hot.dynamic_level_bytes);
    assert_eq!(hot.options.level0_file_num_compaction_trigger, 77);
}

#[test]
fn a_level_of_which_nothing_is_shown_counts_as_full() {
    let levels = rows("default Sum.NumFiles 0");
    let families = families(&rows(OPTIONS), &levels, "here").expect("all is there");
    assert_eq!(families["default"].level0_files, 0);
    let hot = &families["cf_hot"];
    assert_eq!((hot.level0_files, hot.level0_bytes), (u64::MAX, u64::MAX));
}

#[test]
fn what_is_missing_is_named() {
    let error = families(&Rows::new(), &Rows::new(), "here").expect_err("nothing");
    assert!(error.to_string().contains("privilege PROCESS"), "{error}");
    let error = families(&rows(OPTIONS), &Rows::new(), "here").expect_err("no levels");
    assert!(error.to_string().contains("no statistics"), "{error}");
    let without: Vec<&str> = OPTIONS.lines().filter(|it| !it.contains("STOP")).collect();
    let levels = rows("default Sum.NumFiles 0");
    let error = families(&rows(&without.join("\n")), &levels, "here").expect_err("one");
    assert!(
        error.to_string().contains("LEVEL0_STOP_WRITES_TRIGGER"),
        "{error}"
    );
    assert_eq!(error.kind(), ErrorKind::Fix);
}

#[test]
fn levels_that_are_not_said_to_be_dynamic_or_not_are_neither() {
    let levels = rows("default Sum.NumFiles 0");
    let line = "default LEVEL_COMPACTION_DYNAMIC_LEVEL_BYTES OFF";
    for instead in ["", "default LEVEL_COMPACTION_DYNAMIC_LEVEL_BYTES 0"] {
        let odd = OPTIONS.replace(line, instead);
        let error = families(&rows(&odd), &levels, "here").expect_err(instead);
        let sentence = error.to_string();
        assert!(sentence.contains("DYNAMIC_LEVEL_BYTES"), "{sentence}");
        assert_eq!(error.kind(), ErrorKind::Fix);
        // A restoration does not need it.
        options(&rows(&odd), &["default"], "here").expect("all is there");
    }
}

#[test]
fn only_the_families_that_are_asked_for_are_read() {
    let odd = OPTIONS.replace("TRIGGER 77", "TRIGGER many");
    let read = options(&rows(&odd), &["default", "cf_gone"], "here").expect("all is there");
    assert_eq!(read.keys().collect::<Vec<_>>(), ["default"]);
    assert_eq!(read["default"].level0_stop_writes_trigger, 36);
    options(&rows(&odd), &["cf_hot"], "here").expect_err("no number");
    let error = options(&Rows::new(), &["default"], "here").expect_err("nothing");
    assert!(error.to_string().contains("privilege PROCESS"), "{error}");
}

#[test]
fn a_size_over_the_largest_signed_number_counts_as_that() {
    for (text, value) in [
        ("18446744073709551615", Some(i64::MAX)),
        ("-1", Some(-1)),
        ("many", None),
    ] {
        assert_eq!(number(text), value, "{text}");
    }
}

#[test]
fn counters_are_summed_over_the_kinds_of_block() {
    let text: Vec<String> = COUNTERS
        .iter()
        .enumerate()
        .map(|(at, name)| format!("{} {}", name.to_uppercase(), 10_u64.pow(at as u32)))
        .collect();
    let counters = counters(&rows(&text.join("\n")), "here").expect("all is there");
    assert_eq!(counters.block_cache_bytes_insert, 111);
    assert_eq!(counters.seeks, 100_000);
    assert_eq!(counters.bytes_written, 1_000_000);
    assert_eq!(counters.stall_micros, 100_000_000);
    let error = super::counters(&Rows::new(), "here").expect_err("nothing");
    assert!(
        error.to_string().contains("not a MyRocks server"),
        "{error}"
    );
}

#[test]
fn the_start_is_the_clock_less_the_uptime() {
    let seen = instance(&rows("1700000000.25 100 db1 3306 1"), "here").expect("all is there");
    assert_eq!(seen.identity, "db1/3306/1");
    assert_eq!((seen.started_at, seen.uptime), (1_699_999_900, 100));
    assert_eq!(seen.clock(), 1_700_000_000);
    for text in ["", "noon 100 db1", "1700000000", "1700000000 long db1"] {
        instance(&rows(text), "here").expect_err(text);
    }
    let query = instance_query("information_schema.GLOBAL_STATUS", "@@GLOBAL.port");
    assert!(query.starts_with("SELECT UNIX_TIMESTAMP(), VARIABLE_VALUE, @@GLOBAL.port FROM info"));
}

#[test]
fn a_clock_before_the_start_moves_no_start() {
    for uptime in ["18446744073709548016", "-3600"] {
        let shown = rows(&format!("1700000000 {uptime} db1 3306 1"));
        let seen = instance(&shown, "here").expect("all is there");
        assert_eq!(seen.started_at, 1_700_003_600, "{uptime}");
        assert_eq!(seen.clock(), 1_700_000_000, "{uptime}");
    }
}

#[test]
fn what_is_no_number_is_too_much() {
    for text in ["nan", "NaN", "-nan", "inf", "-inf", "", "many"] {
        assert_eq!(whole(text), u64::MAX, "{text}");
    }
    for (text, number) in [("-1", 0), ("0.9", 0), ("8.28e6", 8_280_000)] {
        assert_eq!(whole(text), number, "{text}");
    }
}

#[test]
fn the_queries_name_what_is_read() {
    assert!(options_query().contains("'LEVEL0_FILE_NUM_COMPACTION_TRIGGER'"));
    assert!(counters_query().contains("'Rocksdb_wal_bytes'"));
}
