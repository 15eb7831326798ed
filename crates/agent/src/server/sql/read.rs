//! Answers of the server, as the decisions see them.
//!
//! Only options of column families are taken from `ROCKSDB_CF_OPTIONS`: after an
//! update its `TABLE_FACTORY::` rows are wrong.

use std::collections::BTreeMap;

use crate::decide::{
    Counters, Families, Family, FamilyOptions, Instance, OptionName, OptionsByFamily,
};
use crate::error::{Error, Result};

/// Rows of cells; `None` is NULL.
pub(super) type Rows = Vec<Vec<Option<String>>>;

const DYNAMIC: &str = "LEVEL_COMPACTION_DYNAMIC_LEVEL_BYTES";
const STYLE: &str = "COMPACTION_STYLE";

/// Files and bytes of each level 0, and of all levels: a level 0 with nothing in it
/// may have no row, their sum always has one.
pub(super) const LEVELS_QUERY: &str = "SELECT CF_NAME, CONCAT(`LEVEL`, '.', `TYPE`), `VALUE` \
     FROM information_schema.ROCKSDB_COMPACTION_STATS \
     WHERE `LEVEL` IN ('L0', 'Sum') AND `TYPE` IN ('NumFiles', 'SizeBytes')";

/// Status variables that are read.
const COUNTERS: [&str; 9] = [
    "Rocksdb_block_cache_data_bytes_insert",
    "Rocksdb_block_cache_index_bytes_insert",
    "Rocksdb_block_cache_filter_bytes_insert",
    "Rocksdb_number_keys_read",
    "Rocksdb_number_keys_written",
    "Rocksdb_number_db_seek",
    "Rocksdb_bytes_written",
    "Rocksdb_wal_bytes",
    "Rocksdb_stall_micros",
];

/// Options of all column families.
pub(super) fn options_query() -> String {
    let mut names: Vec<String> = OptionName::ALL
        .iter()
        .map(|option| format!("'{}'", option.name().to_ascii_uppercase()))
        .collect();
    names.extend([format!("'{DYNAMIC}'"), format!("'{STYLE}'")]);
    format!(
        "SELECT CF_NAME, OPTION_TYPE, `VALUE` FROM information_schema.ROCKSDB_CF_OPTIONS \
         WHERE OPTION_TYPE IN ({})",
        names.join(", ")
    )
}

/// All counters.
pub(super) fn counters_query() -> String {
    let names: Vec<String> = COUNTERS.iter().map(|name| format!("'{name}'")).collect();
    format!(
        "SHOW GLOBAL STATUS WHERE Variable_name IN ({})",
        names.join(", ")
    )
}

/// The first cell of the first row.
pub(super) fn first(rows: &Rows) -> Option<&str> {
    rows.first()?.first()?.as_deref()
}

/// The value of a variable in rows of name and value.
pub(super) fn value<'a>(rows: &'a Rows, name: &str) -> Option<&'a str> {
    rows.iter().find_map(|row| match row.as_slice() {
        [Some(found), Some(value), ..] if found.eq_ignore_ascii_case(name) => Some(value.as_str()),
        _ => None,
    })
}

/// Its clock, its uptime, and what names it. In one statement: the start is the difference of
/// the first two, and a server may be slow between two statements.
pub(super) fn instance_query(status_table: &str, identity_columns: &str) -> String {
    format!(
        "SELECT UNIX_TIMESTAMP(), VARIABLE_VALUE, {identity_columns} FROM {status_table} \
         WHERE VARIABLE_NAME = 'Uptime'"
    )
}

/// From [`instance_query`].
pub(super) fn instance(rows: &Rows, place: &str) -> Result<Instance> {
    let missing = |what: &str| Error::fix(format!("{place} does not report {what}"));
    let row = rows.first().ok_or_else(|| missing("its uptime"))?;
    let mut cells = row.iter().map(|cell| cell.as_deref().unwrap_or(""));
    // A clock with a fraction is cut.
    let now: u64 = cells
        .next()
        .and_then(|text| text.split('.').next()?.parse().ok())
        .ok_or_else(|| missing("its clock"))?;
    let uptime = cells
        .next()
        .and_then(seconds)
        .ok_or_else(|| missing("its uptime"))?;
    Ok(Instance {
        identity: cells.collect::<Vec<&str>>().join("/"),
        started_at: now.wrapping_sub(uptime),
        uptime,
    })
}

/// While its clock stands before its start, a server's uptime is negative. MariaDB shows it
/// without a sign then, wrapped.
fn seconds(text: &str) -> Option<u64> {
    let signed = || text.parse::<i64>().map(i64::cast_unsigned);
    text.parse::<u64>().or_else(|_| signed()).ok()
}

/// From `SHOW GLOBAL STATUS`.
pub(super) fn counters(rows: &Rows, place: &str) -> Result<Counters> {
    let counter = |name: &str| {
        value(rows, name)
            .and_then(|text| text.parse::<u64>().ok())
            .ok_or_else(|| {
                Error::fix(format!(
                    "{place} does not report {name}: it is not a MyRocks server, or one that is too \
                     old for the agent"
                ))
            })
    };
    let [data, index, filter, rest @ ..] = COUNTERS;
    let [keys_read, keys_written, seeks, rest @ ..] = rest;
    let [written, wal, stalled] = rest;
    Ok(Counters {
        block_cache_bytes_insert: counter(data)?
            .saturating_add(counter(index)?)
            .saturating_add(counter(filter)?),
        keys_read: counter(keys_read)?,
        keys_written: counter(keys_written)?,
        seeks: counter(seeks)?,
        bytes_written: counter(written)?,
        wal_bytes: counter(wal)?,
        stall_micros: counter(stalled)?,
    })
}

/// From rows of column family, name and value.
pub(super) fn families(options: &Rows, levels: &Rows, place: &str) -> Result<Families> {
    let options = shown(options, place)?;
    let levels = by_family(levels);
    if levels.is_empty() {
        // Without them every level 0 would seem empty, whatever it holds.
        return Err(Error::refused(format!(
            "{place} shows column families and no statistics of their levels"
        )));
    }
    options
        .into_iter()
        .map(|(name, options)| {
            let size = |what: &str| match levels.get(name) {
                Some(levels) => levels.get(what).map_or(0, |it| whole(it)),
                // Of which nothing is shown counts as full: nothing is delayed on it.
                None => u64::MAX,
            };
            let family = Family {
                options: family_options(name, &options, place)?,
                dynamic_level_bytes: value_of(name, &options, DYNAMIC, place, switch)?,
                compaction_style: options.get(STYLE).copied().unwrap_or("unknown").to_owned(),
                level0_files: size("L0.NumFiles"),
                level0_bytes: size("L0.SizeBytes"),
            };
            Ok((name.to_owned(), family))
        })
        .collect()
}

/// The options of these column families, as far as they are there.
pub(super) fn options(rows: &Rows, names: &[&str], place: &str) -> Result<OptionsByFamily> {
    shown(rows, place)?
        .into_iter()
        .filter(|(name, _)| names.contains(name))
        .map(|(name, options)| Ok((name.to_owned(), family_options(name, &options, place)?)))
        .collect()
}

/// Without the privilege none is shown, and all would seem to be gone.
fn shown<'a>(options: &'a Rows, place: &str) -> Result<ByFamily<'a>> {
    let families = by_family(options);
    if families.is_empty() {
        return Err(Error::fix(format!(
            "{place} shows no column family: the user needs the privilege PROCESS (GRANT PROCESS \
             ON *.* TO that user)"
        )));
    }
    Ok(families)
}

type ByFamily<'a> = BTreeMap<&'a str, BTreeMap<&'a str, &'a str>>;

fn by_family(rows: &Rows) -> ByFamily<'_> {
    let mut families = ByFamily::new();
    for row in rows {
        if let [Some(family), Some(name), Some(value), ..] = row.as_slice() {
            let family = families.entry(family.as_str()).or_default();
            family.insert(name.as_str(), value.as_str());
        }
    }
    families
}

fn family_options(
    family: &str,
    shown: &BTreeMap<&str, &str>,
    place: &str,
) -> Result<FamilyOptions> {
    let mut options = FamilyOptions {
        disable_auto_compactions: false,
        level0_file_num_compaction_trigger: 0,
        level0_slowdown_writes_trigger: 0,
        level0_stop_writes_trigger: 0,
        max_bytes_for_level_base: 0,
    };
    for option in OptionName::ALL {
        let name = option.name().to_ascii_uppercase();
        options.set(option, value_of(family, shown, &name, place, number)?);
    }
    Ok(options)
}

/// What is absent, or reads as nothing that is known, must not pass for a default.
fn value_of<T>(
    family: &str,
    shown: &BTreeMap<&str, &str>,
    name: &str,
    place: &str,
    read: fn(&str) -> Option<T>,
) -> Result<T> {
    let value = shown.get(name).and_then(|text| read(text));
    value.ok_or_else(|| {
        Error::fix(format!(
            "{place} does not report {name} of column family {family}: it is too old or too \
             new for the agent"
        ))
    })
}

fn number(text: &str) -> Option<i64> {
    // A size has no sign, and may be over the largest number with one.
    let clamped = || text.parse::<u64>().ok().map(|_| i64::MAX);
    switch(text)
        .map(i64::from)
        .or_else(|| text.parse::<i64>().ok())
        .or_else(clamped)
}

fn switch(text: &str) -> Option<bool> {
    if text.eq_ignore_ascii_case("on") {
        Some(true)
    } else if text.eq_ignore_ascii_case("off") {
        Some(false)
    } else {
        None
    }
}

/// Statistics are shown as floating-point numbers.
fn whole(text: &str) -> u64 {
    // What is no number counts as too much: nothing is delayed on it.
    text.parse::<f64>()
        .ok()
        .filter(|number| number.is_finite())
        .map_or(u64::MAX, |number| number.max(0.0) as u64)
}

#[cfg(test)]
#[path = "read_tests.rs"]
mod tests;
