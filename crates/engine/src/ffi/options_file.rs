//! What the OPTIONS file of a directory says, without opening the database.

use std::collections::BTreeMap;
use std::path::Path;

use super::buffer::{Owned, Reader};
use super::options::{ColumnFamilyOptions, DbOptions};
use super::{Error, layout, raw};
use crate::apply::text::lines::{content, unescape};

/// The contents of a directory's newest OPTIONS file.
#[derive(Debug, Clone, PartialEq)]
pub struct LoadedOptions {
    /// The file's name, such as `OPTIONS-000007`.
    pub file_name: String,
    /// The database's options.
    pub db: DbOptions,
    /// The column families, `default` first.
    pub column_families: Vec<LoadedColumnFamily>,
}

/// One column family of an OPTIONS file.
#[derive(Debug, Clone, PartialEq)]
pub struct LoadedColumnFamily {
    /// Its options, with the names of objects as the file has them.
    pub options: ColumnFamilyOptions,
    /// The objects that this program cannot make, as the file names them:
    /// `comparator=mine`. Whoever opens the column family must bring them.
    pub unknown: Vec<String>,
}

/// Reads the newest OPTIONS file in `path`. Options and objects that this
/// version does not know are passed over; of the objects, the names remain.
pub fn load_latest_options(path: &Path) -> Result<LoadedOptions, Error> {
    layout::verify()?;
    let text_path = path.to_str().ok_or_else(|| {
        Error::new(format!(
            "the path {} is not UTF-8, which RocksDB needs",
            path.display()
        ))
    })?;
    // SAFETY: the path is read during the call only, within its length.
    let buffer = unsafe {
        Owned::fill(|out| {
            raw::lissom_load_latest_options(text_path.as_ptr().cast(), text_path.len(), out)
        })
    }
    .map_err(|e| {
        Error::new(format!(
            "no readable OPTIONS file in {text_path} ({e}): open it once with the RocksDB that \
             wrote it, which makes one"
        ))
    })?;
    let mut reader = buffer.reader();
    let file_name = reader.string()?;
    let objects = read_objects(&path.join(&file_name))?;
    let db = DbOptions::read(&mut reader)?;
    let column_families = read_families(&mut reader, &objects)?;
    reader.finish()?;
    Ok(LoadedOptions {
        file_name,
        db,
        column_families,
    })
}

/// By column family, the options of its section.
type Sections = BTreeMap<String, BTreeMap<String, String>>;

fn read_objects(file: &Path) -> Result<Sections, Error> {
    std::fs::read_to_string(file)
        .map(|text| parse_sections(&text))
        .map_err(|e| Error::new(format!("cannot read {}: {e}", file.display())))
}

fn read_families(
    reader: &mut Reader<'_>,
    objects: &Sections,
) -> Result<Vec<LoadedColumnFamily>, Error> {
    let empty = BTreeMap::new();
    let count = reader.count(8)?;
    (0..count)
        .map(|_| {
            let options = ColumnFamilyOptions::read(reader)?;
            let named = objects.get(&options.name).unwrap_or(&empty);
            Ok(with_names(options, named))
        })
        .collect()
}

/// The `[CFOptions "name"]` sections. Indentation and comments are dropped. RocksDB escapes
/// the names in its headers.
fn parse_sections(text: &str) -> Sections {
    let mut sections = Sections::new();
    let mut current: Option<String> = None;
    for line in text.lines().map(content) {
        if let Some(header) = line.strip_prefix('[') {
            current = header
                .strip_prefix("CFOptions \"")
                .and_then(|rest| rest.strip_suffix("\"]"))
                .map(unescape);
        } else if let (Some(name), Some((key, value))) = (&current, line.split_once('=')) {
            sections
                .entry(name.clone())
                .or_default()
                .insert(key.trim().to_owned(), value.trim().replace("\\#", "#"));
        }
    }
    sections
}

/// The id in a value: `name` or `{id=name;setting=1;}`.
fn object_id(value: &str) -> Option<String> {
    let id = match value.strip_prefix("{id=") {
        Some(rest) => rest.split([';', '}']).next().unwrap_or_default(),
        None => value,
    };
    (!id.is_empty() && id != "nullptr").then(|| id.to_owned())
}

/// Puts the file's names over what was loaded: an object that could not be made
/// was silently replaced by the default or by nothing.
fn with_names(
    mut options: ColumnFamilyOptions,
    named: &BTreeMap<String, String>,
) -> LoadedColumnFamily {
    let mut unknown = Vec::new();
    if let Some(id) = named.get("comparator").and_then(|value| object_id(value))
        && options.comparator != id
    {
        unknown.push(format!("comparator={id}"));
        // What a foreign comparator appends to its keys is not known either.
        options.timestamp_size = 0;
        options.comparator = id;
    }
    for (key, field) in [
        ("merge_operator", &mut options.merge_operator),
        ("compaction_filter", &mut options.compaction_filter),
        (
            "compaction_filter_factory",
            &mut options.compaction_filter_factory,
        ),
        (
            "sst_partitioner_factory",
            &mut options.sst_partitioner_factory,
        ),
        ("prefix_extractor", &mut options.prefix_extractor),
        ("table_factory", &mut options.table_factory),
    ] {
        if let Some(id) = named.get(key).and_then(|value| object_id(value)) {
            if field.is_none() {
                unknown.push(format!("{key}={id}"));
            }
            *field = Some(id);
        }
    }
    LoadedColumnFamily { options, unknown }
}

#[cfg(test)]
mod tests {
    use super::{object_id, parse_sections};

    #[test]
    fn only_column_family_sections_count() {
        let sections = parse_sections(
            "[DBOptions]\n  comparator=wrong\n\n[CFOptions \"a b\"]\n  comparator=mine  # why\n  \
             x=a\\#b\n[TableOptions/BlockBasedTable \"a b\"]\n  comparator=wrong\n",
        );
        assert_eq!(sections.len(), 1);
        assert_eq!(sections["a b"]["comparator"], "mine");
        assert_eq!(sections["a b"]["x"], "a#b");
    }

    #[test]
    fn names_of_column_families_are_unescaped() {
        for (header, name) in [
            (r"a\:b\\c", r"a:b\c"),
            (r"a\#b", "a#b"),
            (r"a\nb\rc", "a\nb\rc"),
            (r#"a"]b"#, r#"a"]b"#),
        ] {
            let sections = parse_sections(&format!("[CFOptions \"{header}\"]\n  x=1\n"));
            assert_eq!(sections[name]["x"], "1", "{header}");
        }
    }

    #[test]
    fn an_object_is_named_by_its_id() {
        assert_eq!(object_id("plain").as_deref(), Some("plain"));
        assert_eq!(
            object_id("{id=inner;delimiter=,;}").as_deref(),
            Some("inner")
        );
        assert_eq!(object_id("{id=inner}").as_deref(), Some("inner"));
        assert_eq!(object_id("nullptr"), None);
        assert_eq!(object_id(""), None);
    }
}
