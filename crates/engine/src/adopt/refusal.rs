//! What cannot be taken over, each in one sentence: decided from what is on record of
//! a database before it is opened, but for the compression of single files.

use std::collections::BTreeMap;

use crate::ffi::options::{ColumnFamilyOptions, CompactionStyle, Compression};
use crate::ffi::options_file::LoadedOptions;
use crate::ffi::snapshot::TableRow;
use crate::requirements::BYTEWISE;

/// Compression types that this program was built with: none, LZ4, LZ4HC, Zstandard.
const COMPRESSIONS: [u8; 4] = [0x00, 0x04, 0x05, 0x07];

/// The same by the names that older files carry.
const COMPRESSION_NAMES: [&str; 6] = ["", "NoCompression", "LZ4", "LZ4HC", "ZSTD", "ZSTDNotFinal"];

/// A column family that is about to be taken over.
pub(super) struct Candidate<'a> {
    pub(super) options: &'a ColumnFamilyOptions,
    /// The merge operator that whoever takes it over brings along.
    pub(super) merge_operator: Option<&'a str>,
}

/// Why a column family cannot be taken over; `None` when it can.
pub(super) fn family(candidate: &Candidate<'_>) -> Option<String> {
    let options = candidate.options;
    order(options)
        .or_else(|| style(options))
        .or_else(|| files(options))
        .or_else(|| merge_operator(candidate))
}

/// Why a database cannot be taken over.
pub(super) fn database(
    loaded: &LoadedOptions,
    wal_dir: Option<&str>,
    blobs: bool,
) -> Option<String> {
    if loaded.db.allow_ingest_behind {
        return Some(
            "allow_ingest_behind keeps RocksDB's last level free for older data, which Lissom \
             uses: open it once with RocksDB and allow_ingest_behind off"
                .into(),
        );
    }
    if let Some(directory) = wal_dir {
        return Some(format!(
            "its write-ahead log lies elsewhere, in {directory}: open it once with RocksDB, flush all \
             column families, close it, and open it once more without wal_dir; if this is a copy of \
             a database that goes on there, empty wal_dir in its newest OPTIONS file instead"
        ));
    }
    blobs.then(|| {
        "it keeps values in blob files, whose bytes the planner does not see: open it with \
         RocksDB, enable_blob_files off and enable_blob_garbage_collection on, compact it, and \
         try again"
            .into()
    })
}

/// The planner cuts and compares keys byte by byte.
fn order(options: &ColumnFamilyOptions) -> Option<String> {
    if options.timestamp_size > 0 {
        return Some(
            "its keys carry user timestamps, which order versions of one key: \
             open it with RocksDB alone"
                .into(),
        );
    }
    (options.comparator != BYTEWISE).then(|| {
        format!(
            "its comparator is {}, and Lissom needs RocksDB's bytewise order: copy the data into \
             a new database with keys that sort bytewise, or open it with RocksDB alone",
            options.comparator
        )
    })
}

fn style(options: &ColumnFamilyOptions) -> Option<String> {
    match options.compaction_style {
        CompactionStyle::Level | CompactionStyle::Universal | CompactionStyle::None => {}
        CompactionStyle::Fifo => {
            return Some(
                "its compaction style is kCompactionStyleFIFO, which drops old data by design: \
                 Lissom keeps data, so open it with RocksDB alone"
                    .into(),
            );
        }
        other @ CompactionStyle::Other(_) => {
            return Some(format!(
                "it has {other}, which this version does not know: \
                 open it once with RocksDB and kCompactionStyleLevel"
            ));
        }
    }
    if options.preclude_last_level_data_seconds > 0 {
        return Some(
            "preclude_last_level_data_seconds is set, which knows RocksDB's last level only: \
             open it once with RocksDB and set it to 0"
                .into(),
        );
    }
    options.cf_allow_ingest_behind.then(|| {
        "cf_allow_ingest_behind keeps RocksDB's last level free for older data, which Lissom \
         uses: open it once with RocksDB and turn it off"
            .into()
    })
}

fn files(options: &ColumnFamilyOptions) -> Option<String> {
    if options.enable_blob_files {
        return Some(
            "enable_blob_files is on, and the planner does not see the bytes of blob files: \
             open it once with RocksDB and turn it off"
                .into(),
        );
    }
    let factory = options
        .table_factory
        .as_deref()
        .unwrap_or("BlockBasedTable");
    (factory != "BlockBasedTable").then(|| {
        format!(
            "its files are of the kind {factory}, and Lissom reads and writes BlockBasedTable: \
             copy the data into a new database"
        )
    })
}

/// Why the files of a database cannot be read: nothing that is on record compresses them in
/// a way that can be undone here. Where something does, the files are looked at themselves,
/// for a compression is also on record where no file has it.
pub(super) fn compressions(families: &[&ColumnFamilyOptions]) -> Option<String> {
    let on_record: Vec<_> = families
        .iter()
        .flat_map(|family| {
            let kinds = compressions_of(family).into_iter();
            kinds.map(move |(option, kind)| (&family.name, option, kind))
        })
        .collect();
    if on_record
        .iter()
        .any(|(.., kind)| COMPRESSIONS.contains(&kind.0))
    {
        return None;
    }
    let (name, option, kind) = on_record.first()?;
    Some(format!(
        "column family \"{name}\": its {option} is {kind}, and this program was built with \
         LZ4 and Zstandard: open it with RocksDB, choose one of them, and compact it whole"
    ))
}

/// What the files of a column family are compressed with, and the option that says so.
fn compressions_of(family: &ColumnFamilyOptions) -> Vec<(&'static str, Compression)> {
    let by_level = family.compression_per_level.iter();
    let mut kinds: Vec<_> = by_level
        .map(|kind| ("compression_per_level", *kind))
        .collect();
    if kinds.is_empty() {
        kinds.push(("compression", family.compression));
    }
    kinds.push(("bottommost_compression", family.bottommost_compression));
    kinds.retain(|(_, kind)| *kind != Compression::DISABLED);
    kinds
}

/// Why one of the files that lie in a column family cannot be read.
pub(super) fn tables(tables: &BTreeMap<u64, TableRow>) -> Option<String> {
    tables.iter().find_map(|(number, table)| {
        let unknown = unknown_compression(&table.compression)?;
        Some(format!(
            "file {number:06}.sst is compressed with {unknown}, and this program was built with \
             LZ4 and Zstandard: open it with RocksDB, choose one of them, and compact it whole"
        ))
    })
}

/// The first compression of a file's list that cannot be undone here. RocksDB
/// writes `ZSTD`, and from format 7 on `BuiltinV2;0407;`.
fn unknown_compression(name: &str) -> Option<String> {
    let Some((_, codes)) = name.split_once(';') else {
        return (!COMPRESSION_NAMES.contains(&name)).then(|| name.to_owned());
    };
    let codes = codes.split(';').next().unwrap_or_default();
    let codes: Vec<char> = codes.chars().collect();
    codes
        .chunks(2)
        .map(|code| code.iter().collect::<String>())
        .find(|code| {
            let kind = u8::from_str_radix(code, 16);
            !kind.is_ok_and(|kind| COMPRESSIONS.contains(&kind))
        })
        .map(|code| match code.as_str() {
            "01" => "Snappy".into(),
            "02" => "Zlib".into(),
            "03" => "BZip2".into(),
            "06" => "Xpress".into(),
            other => format!("compression type 0x{other}"),
        })
}

/// Merging merge operands needs the operator that made them.
fn merge_operator(candidate: &Candidate<'_>) -> Option<String> {
    let wanted = candidate.options.merge_operator.as_deref()?;
    match candidate.merge_operator {
        Some(brought) if brought == wanted => None,
        brought => Some(format!(
            "its merge operator is {wanted}, and {}: take it over from the program that has it, \
             with lissom::adopt::Adopter::customise",
            match brought {
                Some(other) => format!("{other} was given"),
                None => "this program has none".into(),
            }
        )),
    }
}

/// What RocksDB records where nobody chose: 30 days.
const RECORDED_TTL: u64 = 30 * 24 * 60 * 60;

/// Features that stay in the data and do nothing under the autopilot: worth a
/// sentence before it happens.
pub(super) fn remarks(options: &ColumnFamilyOptions) -> Vec<String> {
    let mut remarks = Vec::new();
    let name = &options.name;
    for (kind, object) in [
        ("compaction filter", &options.compaction_filter),
        (
            "compaction filter factory",
            &options.compaction_filter_factory,
        ),
    ] {
        remarks.extend(object.as_ref().map(|object| {
            format!(
                "column family {name}: the {kind} {object} does not run while this program \
                 compacts; set it in Opening::customise when you open the database"
            )
        }));
    }
    if COMPRESSIONS.contains(&options.bottommost_compression.0) {
        remarks.push(format!(
            "column family {name}: all levels are compressed by its bottommost_compression, {}, \
             unless the setting compression says otherwise",
            options.bottommost_compression
        ));
    }
    let set = |seconds: u64| seconds > 0 && seconds < u64::MAX - 1 && seconds != RECORDED_TTL;
    if set(options.ttl) || set(options.periodic_compaction_seconds) {
        remarks.push(format!(
            "column family {name}: ttl and periodic_compaction_seconds do nothing under the \
             autopilot"
        ));
    }
    remarks
}

#[cfg(test)]
mod tests {
    use super::unknown_compression;

    #[test]
    fn compressions_are_read_in_both_spellings() {
        for known in [
            "",
            "NoCompression",
            "LZ4",
            "ZSTD",
            "BuiltinV2;0407;",
            "BuiltinV2;;",
        ] {
            assert_eq!(unknown_compression(known), None, "{known}");
        }
        assert_eq!(unknown_compression("Snappy").as_deref(), Some("Snappy"));
        assert_eq!(
            unknown_compression("BuiltinV2;0401;").as_deref(),
            Some("Snappy")
        );
        assert_eq!(
            unknown_compression("Mine;80;").as_deref(),
            Some("compression type 0x80")
        );
    }
}
