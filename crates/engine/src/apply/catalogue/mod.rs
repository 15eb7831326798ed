//! Every option that RocksDB 11.12 reads from an OPTIONS file: what its values look
//! like, and when a change of it takes effect.
//!
//! A test compares these tables with the options that RocksDB itself writes.

mod database;
mod family;
pub(super) mod filter;
pub(super) mod kind;
mod table;
mod words;

use self::kind::Kind;
use super::text::Section;

/// An option.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Known {
    pub(super) name: &'static str,
    pub(super) kind: Kind,
    pub(super) change: Change,
    /// It holds for files that are written after the change; the others keep what
    /// they were written with.
    pub(super) for_new_files: bool,
}

/// When a change of an option takes effect.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Change {
    /// At once, by SetOptions or SetDBOptions.
    RunTime,
    /// At the next open.
    Open,
    /// Never, with the reason.
    Never(&'static str),
    /// RocksDB reads it and writes it nowhere: it belongs to the program that opens
    /// the database.
    Unkept,
    /// RocksDB no longer has it, and passes over it.
    Gone,
}

const fn run(name: &'static str, kind: Kind) -> Known {
    known(name, kind, Change::RunTime)
}

const fn open(name: &'static str, kind: Kind) -> Known {
    known(name, kind, Change::Open)
}

const fn fixed(name: &'static str, kind: Kind, why: &'static str) -> Known {
    known(name, kind, Change::Never(why))
}

const fn unkept(name: &'static str) -> Known {
    known(name, Kind::Object, Change::Unkept)
}

const fn gone(name: &'static str) -> Known {
    known(name, Kind::Object, Change::Gone)
}

const fn known(name: &'static str, kind: Kind, change: Change) -> Known {
    Known {
        name,
        kind,
        change,
        for_new_files: false,
    }
}

impl Known {
    const fn for_new_files(mut self) -> Known {
        self.for_new_files = true;
        self
    }
}

/// An option of a section by the name that a file gives it. A field of a structure
/// is named as in `compaction_options_universal.size_ratio`.
pub(super) fn find(section: &Section, name: &str) -> Option<&'static Known> {
    let all = options(section);
    match name.split_once('.') {
        None => by_name(all, usual(section, name)),
        Some((outer, field)) => match by_name(all, usual(section, outer))?.kind {
            Kind::Struct(fields) => by_name(fields, field),
            _ => None,
        },
    }
}

fn options(section: &Section) -> &'static [Known] {
    match section {
        Section::Database => database::OPTIONS,
        Section::Family(_) => family::OPTIONS,
        Section::Table(_) => table::OPTIONS,
        Section::Settings => &[],
    }
}

fn by_name(all: &'static [Known], name: &str) -> Option<&'static Known> {
    all.iter().find(|known| known.name == name)
}

/// RocksDB's own name for an option that has two.
pub(super) fn usual<'a>(section: &Section, name: &'a str) -> &'a str {
    match (section, name) {
        (Section::Family(_), "memtable") => "memtable_factory",
        (Section::Family(_), "memtable_veirfy_per_key_checksum_on_seek") => {
            "memtable_verify_per_key_checksum_on_seek"
        }
        _ => name,
    }
}

/// Another section that has an option of this name.
pub(super) fn elsewhere(section: &Section, name: &str) -> Option<Section> {
    let family = "NAME".to_owned();
    [
        Section::Database,
        Section::Family(family.clone()),
        Section::Table(family),
    ]
    .into_iter()
    .find(|other| {
        std::mem::discriminant(other) != std::mem::discriminant(section)
            && find(other, name).is_some()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn default_family() -> Section {
        Section::Family("default".into())
    }

    #[test]
    fn every_table_is_in_order_and_names_nothing_twice() {
        for section in [
            Section::Database,
            default_family(),
            Section::Table("default".into()),
        ] {
            let names: Vec<&str> = options(&section).iter().map(|known| known.name).collect();
            assert!(names.is_sorted_by(|a, b| a < b), "{section}: {names:?}");
        }
    }

    #[test]
    fn options_are_found_by_all_their_names() {
        let name = |name| find(&default_family(), name).map(|known| known.name);
        assert_eq!(name("ttl"), Some("ttl"));
        assert_eq!(name("memtable"), Some("memtable_factory"));
        assert_eq!(
            name("compaction_options_universal.size_ratio"),
            Some("size_ratio")
        );
        assert_eq!(name("compaction_options_universal.speed"), None);
        assert_eq!(name("ttl.ttl"), None);
        assert_eq!(name("block_size"), None);
        assert_eq!(
            elsewhere(&default_family(), "block_size"),
            Some(Section::Table("NAME".into()))
        );
    }

    #[test]
    fn what_the_sources_mark_as_mutable_changes_at_run_time() {
        let change = |section: &Section, name| find(section, name).map(|known| known.change);
        let family = default_family();
        for (section, name, expected) in [
            (&Section::Database, "max_background_jobs", Change::RunTime),
            (&Section::Database, "use_direct_reads", Change::Open),
            (&Section::Database, "env", Change::Unkept),
            (&Section::Database, "allow_os_buffer", Change::Gone),
            (&family, "write_buffer_size", Change::RunTime),
            (&family, "compaction_pri", Change::Open),
            (&family, "min_write_buffer_number_to_merge", Change::Open),
        ] {
            assert_eq!(change(section, name), Some(expected), "{name}");
        }
        assert!(matches!(
            change(&family, "comparator"),
            Some(Change::Never(_))
        ));
    }
}
