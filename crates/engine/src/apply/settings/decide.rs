//! What each wanted setting takes.

use std::collections::BTreeMap;

use super::{Given, Keeper, SettingsText, keeper, show};
use crate::apply::plan::{Host, How, Row};
use crate::apply::text::Section;
use crate::error::Result;
use crate::settings::Settings;

/// A store of Lissom's.
pub(crate) struct Store<'a> {
    pub(crate) host: Host,
    /// By column family.
    pub(crate) settings: &'a BTreeMap<String, Settings>,
    /// Whether it was opened with a rate limiter.
    pub(crate) has_rate_limit: bool,
}

/// What each wanted setting takes; each holds for every column family.
pub(crate) fn decide(store: &Store<'_>, wanted: &SettingsText) -> Vec<Row> {
    wanted
        .iter()
        .map(|(name, given)| row(store, name, given, aim(store, wanted, name)))
        .collect()
}

/// What is wanted of a setting, as [`present`] tells what it is. A closed directory takes up
/// all settings together; of those of a running store some may not change.
fn aim(store: &Store<'_>, wanted: &SettingsText, name: &str) -> Option<String> {
    let wanted = match store.host {
        Host::Running => wanted.only(name),
        Host::Lissom | Host::Plain => wanted.clone(),
    };
    let families = store.settings.iter();
    let changed: Result<BTreeMap<String, Settings>> = families
        .map(|(family, settings)| Ok((family.clone(), wanted.unchecked_over(settings)?)))
        .collect();
    present(&changed.ok()?, name)
}

fn row(store: &Store<'_>, name: &str, wanted: &Given, aim: Option<String>) -> Row {
    // Parsing has tried the values.
    let new = aim.unwrap_or_else(|| wanted.value.to_string());
    let old = match (store.host, keeper(name)) {
        // Of a closed directory nobody knows it; a default would stand in its place.
        (Host::Lissom | Host::Plain, Some(Keeper::Program)) => None,
        _ => present(store.settings, name),
    };
    let (how, why) = match &old {
        Some(old) if *old == new => (How::Unchanged, "it is so already"),
        _ => verdict(store, name, wanted),
    };
    Row {
        section: Section::Settings,
        name: name.to_owned(),
        line: wanted.line,
        old,
        new,
        how,
        for_new_files: how != How::Unchanged
            && matches!(
                name,
                "bloom_bits_per_key"
                    | "block_size"
                    | "filters"
                    | "compression"
                    | "max_files"
                    | "target_file_size_base"
            ),
        why: why.to_owned(),
    }
}

/// The value of a setting; where column families differ, each with its own.
pub(in crate::apply) fn present(
    settings: &BTreeMap<String, Settings>,
    name: &str,
) -> Option<String> {
    let values: Vec<(&String, String)> = settings
        .iter()
        .map(|(family, settings)| (family, show(settings, name)))
        .collect();
    let (_, first) = values.first()?;
    if values.iter().all(|(_, value)| value == first) {
        return Some(first.clone());
    }
    let each: Vec<String> = values
        .iter()
        .map(|(family, value)| format!("{family}: {value}"))
        .collect();
    Some(each.join(", "))
}

fn verdict(store: &Store<'_>, name: &str, wanted: &Given) -> (How, &'static str) {
    match (store.host, keeper(name)) {
        (Host::Running, _) => running(store, name, wanted),
        (_, Some(Keeper::Directory)) => (
            How::Reopening,
            "the directory records it, and the tree converges to it; Db::open goes by the settings \
             that it is given, for which lissom::inspect::recorded_settings reads the record",
        ),
        (_, _) => UNKEPT,
    }
}

/// As the block cache of stock RocksDB, which no OPTIONS file has.
const UNKEPT: (How, &str) = (
    How::Unkept,
    "nothing in the directory keeps it: set it in the settings that Db::open is given",
);

fn running(store: &Store<'_>, name: &str, wanted: &Given) -> (How, &'static str) {
    match name {
        "policy" => (
            How::RunTime,
            "by Db::set_policy; the next Db::open goes by the settings that it is given",
        ),
        "rate_limit_bytes_per_second" if wanted.value.is_null() => (
            How::Impossible,
            "a limit can be raised but not taken away while the store runs",
        ),
        "rate_limit_bytes_per_second" if store.has_rate_limit => (
            How::RunTime,
            "by Db::set_rate_limit; the next Db::open goes by the settings that it is given",
        ),
        "rate_limit_bytes_per_second" => (
            How::Impossible,
            "the store was opened without a rate limiter: set one at open, then it can be changed",
        ),
        _ if OF_TREE.contains(&name) => (
            How::RunTime,
            "the planner goes by it at its next look; the next Db::open goes by the settings that \
             it is given",
        ),
        _ if OF_NEW_FILES.contains(&name) => (
            How::RunTime,
            "files that are begun from then on have it; the next Db::open goes by the settings \
             that it is given",
        ),
        _ if keeper(name) == Some(Keeper::Program) => UNKEPT,
        _ => (
            How::Impossible,
            "it is read at open: set it in the settings that Db::open is given",
        ),
    }
}

/// What the planner reads anew at each look. RocksDB's own merges of L0 alone keep the file
/// size of the open.
const OF_TREE: &[&str] = &[
    "level0_file_num_compaction_trigger",
    "level_compaction_dynamic_level_bytes",
    "max_files",
    "max_space_amplification",
    "size_ratio",
    "target_file_size_base",
    "tombstone_share",
];

/// What files are written by.
const OF_NEW_FILES: &[&str] = &["bloom_bits_per_key", "compression"];

/// Whether a setting of a column family, other than its policy, can change while the store runs.
pub(crate) fn can_be_reshaped(name: &str) -> bool {
    OF_TREE.contains(&name) || OF_NEW_FILES.contains(&name)
}

#[cfg(test)]
mod tests {
    use lissom_core::filters::FilterAllocation;

    use super::*;

    fn row_of(host: Host, has_rate_limit: bool, text: &str) -> Row {
        let settings = BTreeMap::from([("default".to_owned(), Settings::default())]);
        let store = Store {
            host,
            settings: &settings,
            has_rate_limit,
        };
        let wanted = SettingsText::parse(text).expect(text);
        let mut rows = decide(&store, &wanted);
        assert_eq!(rows.len(), 1);
        rows.remove(0)
    }

    #[test]
    fn each_setting_and_when_it_takes_effect() {
        for (text, running, closed) in [
            ("{\"policy\": \"fixed-1\"}", How::Unchanged, How::Unchanged),
            ("{\"policy\": \"fixed-4\"}", How::RunTime, How::Reopening),
            ("{\"size_ratio\": 10.0}", How::Unchanged, How::Unchanged),
            ("{\"exploration\": 0.1}", How::Unchanged, How::Unkept),
            ("{\"exploration\": 0}", How::Unkept, How::Unkept),
            (
                "{\"max_write_amplification\": 30}",
                How::Unchanged,
                How::Unkept,
            ),
            (
                "{\"max_write_amplification\": null}",
                How::Unkept,
                How::Unkept,
            ),
            ("{\"compression\": \"zstd\"}", How::RunTime, How::Reopening),
            ("{\"bloom_bits_per_key\": 8}", How::RunTime, How::Reopening),
            (
                "{\"level0_stop_writes_trigger\": 40}",
                How::Impossible,
                How::Reopening,
            ),
            ("{\"filters\": \"monkey\"}", How::Unkept, How::Unkept),
            ("{\"workers\": 60}", How::Unkept, How::Unkept),
            (
                "{\"use_direct_reads\": true}",
                How::Impossible,
                How::Reopening,
            ),
            (
                "{\"write_buffer_size\": 2097152}",
                How::Impossible,
                How::Reopening,
            ),
            ("{\"schedule\": \"eager\"}", How::Unchanged, How::Unkept),
            ("{\"schedule\": \"dlc\"}", How::Unkept, How::Unkept),
            (
                "{\"rate_limit_bytes_per_second\": 1000000}",
                How::RunTime,
                How::Unkept,
            ),
        ] {
            let row = row_of(Host::Running, true, text);
            assert_eq!(row.how, running, "{row:?}");
            let row = row_of(Host::Lissom, false, text);
            assert_eq!(row.how, closed, "{row:?}");
        }
        let unlimited = row_of(
            Host::Running,
            false,
            "{\"rate_limit_bytes_per_second\": 1000000}",
        );
        assert_eq!(unlimited.how, How::Impossible, "{unlimited:?}");
    }

    /// What is no part of the shape would be taken and never reach the planner.
    #[test]
    fn dimensions_of_the_tree_change_at_run_time_and_with_the_shape() {
        let texts = [
            "{\"level0_file_num_compaction_trigger\": 6}",
            "{\"level_compaction_dynamic_level_bytes\": false}",
            "{\"max_files\": 200}",
            "{\"max_space_amplification\": 2}",
            "{\"size_ratio\": 4}",
            "{\"target_file_size_base\": 4194304}",
            "{\"tombstone_share\": 0.25}",
        ];
        for (name, text) in OF_TREE.iter().zip(texts) {
            let row = row_of(Host::Running, true, text);
            assert_eq!((row.name.as_str(), row.how), (*name, How::RunTime));
            let row = row_of(Host::Lissom, false, text);
            assert_eq!(row.how, How::Reopening, "{row:?}");
            let wanted = SettingsText::parse(text).expect(text);
            let changed = wanted.over(&Settings::default()).expect(text);
            assert_ne!(changed.shape(), Settings::default().shape(), "{name}");
        }
        assert_eq!(OF_TREE.len(), texts.len());
    }

    /// Over Monkey's filters `lerp` is named `lerp-monkey`.
    #[test]
    fn a_policy_is_compared_by_what_it_is_over_the_filters() {
        use FilterAllocation::{Monkey, Uniform};
        let named = |policy: &str, filters| Settings {
            policy: policy.parse().expect("a policy"),
            filters,
            ..Settings::default()
        };
        let row = |families: &[Settings], text: &str, host| {
            let names = ["default", "other"].map(str::to_owned).into_iter();
            let settings: BTreeMap<String, Settings> =
                names.zip(families.iter().cloned()).collect();
            let store = Store {
                host,
                settings: &settings,
                has_rate_limit: false,
            };
            let wanted = SettingsText::parse(text).expect(text);
            let mut rows = decide(&store, &wanted);
            rows.pop().expect("a row")
        };
        let mixed = [named("lerp-monkey", Monkey), named("lerp", Uniform)];
        let (monkey, uniform) = (&mixed[..1], &mixed[1..]);
        let fixed = [named("fixed-1", Monkey)];
        for host in [Host::Running, Host::Lissom] {
            for (families, policy, new, same) in [
                (monkey, "lerp", "lerp-monkey", true),
                (monkey, "lerp-monkey", "lerp-monkey", true),
                (monkey, "fixed-1", "fixed-1", false),
                (uniform, "lerp", "lerp", true),
                (uniform, "lerp-monkey", "lerp-monkey", false),
                (&fixed[..], "lerp", "lerp-monkey", false),
                (
                    &mixed[..],
                    "lerp",
                    "default: lerp-monkey, other: lerp",
                    true,
                ),
            ] {
                let text = format!("{{\"policy\": \"{policy}\"}}");
                let row = row(families, &text, host);
                let found = (row.new.as_str(), row.how == How::Unchanged);
                assert_eq!(found, (new, same), "{row:?}");
            }
            // Filters that are wanted too hold at the next open, and not while a store runs.
            let text = "{\"filters\": \"monkey\", \"policy\": \"lerp\"}";
            let row = row(uniform, text, host);
            let running = host == Host::Running;
            assert_eq!(row.how == How::Unchanged, running, "{row:?}");
        }
    }

    #[test]
    fn column_families_that_differ_are_told_apart() {
        let other = Settings {
            size_ratio: 4,
            ..Settings::default()
        };
        let settings = BTreeMap::from([
            ("default".to_owned(), Settings::default()),
            ("other".to_owned(), other),
        ]);
        let store = Store {
            host: Host::Lissom,
            settings: &settings,
            has_rate_limit: false,
        };
        let wanted = SettingsText::parse("{\"size_ratio\": 4}").expect("well-formed");
        let rows = decide(&store, &wanted);
        assert_eq!(rows[0].old.as_deref(), Some("default: 10, other: 4"));
        assert_eq!(rows[0].how, How::Reopening);
    }
}
