//! Reading the text of an OPTIONS file.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use super::lines::{content, fields};
use super::section::{Header, header};
use super::{OptionsText, Section, Setting};
use crate::apply::catalogue::kind::Kind;
use crate::apply::catalogue::{Known, elsewhere, find, usual};

const FORM: &str = "an OPTIONS file has [DBOptions], [CFOptions \"NAME\"] and \
                    [TableOptions/BlockBasedTable \"NAME\"]";

/// The option by which a column family's section may hold table options.
const TABLE_FACTORY: &str = "block_based_table_factory";

/// Where the reader is.
enum Place {
    /// Before the first section.
    Nowhere,
    /// In a section whose lines set nothing.
    Aside,
    In(Section),
}

struct Reader {
    options: OptionsText,
    mistakes: Vec<String>,
    place: Place,
    line: usize,
}

/// The options, and a sentence for each line that sets none.
pub(super) fn read(text: &str) -> (OptionsText, Vec<String>) {
    let mut reader = Reader {
        options: OptionsText::default(),
        mistakes: Vec::new(),
        place: Place::Nowhere,
        line: 0,
    };
    for line in text.lines() {
        reader.line += 1;
        reader.line(content(line));
    }
    (reader.options, reader.mistakes)
}

impl Reader {
    fn line(&mut self, line: &str) {
        if line.is_empty() {
            return;
        }
        match header(line) {
            Some(header) => self.header(line, header),
            None => self.statement(line),
        }
    }

    fn mistake(&mut self, what: &str) {
        self.mistakes.push(format!("line {}: {what}", self.line));
    }

    fn header(&mut self, line: &str, header: Header) {
        self.place = match header {
            Header::Known(section) => {
                self.options.sections.entry(section.clone()).or_default();
                Place::In(section)
            }
            Header::Version => Place::Aside,
            Header::OtherTable(kind) => {
                self.mistake(&format!(
                    "{line} is for files of the kind {kind}, and only BlockBasedTable is known here"
                ));
                Place::Aside
            }
            Header::Unknown => {
                self.mistake(&format!("{line} is no section: {FORM}"));
                Place::Aside
            }
        };
    }

    fn statement(&mut self, line: &str) {
        let section = match &self.place {
            Place::In(section) => section.clone(),
            Place::Aside => return,
            Place::Nowhere => {
                return self.mistake(&format!("\"{line}\" stands before any section: {FORM}"));
            }
        };
        match line.split_once('=') {
            None => self.mistake(&format!("\"{line}\" sets nothing: write name=value")),
            Some((name, value)) => self.option(&section, name.trim(), value.trim()),
        }
    }

    fn option(&mut self, section: &Section, name: &str, value: &str) {
        if let (Section::Family(family), TABLE_FACTORY) = (section, name) {
            let table = Section::Table(family.clone());
            return self.structure(&table, "", value);
        }
        let Some(known) = find(section, name) else {
            return self.unknown(section, name);
        };
        if let Kind::Struct(_) = known.kind {
            return self.structure(section, usual(section, name), value);
        }
        self.set(section, &full_name(section, name), known, value);
    }

    fn unknown(&mut self, section: &Section, name: &str) {
        let advice = match elsewhere(section, name) {
            Some(other) => format!("it belongs to {other}"),
            None => "remove the line, or mend its name".to_owned(),
        };
        self.mistake(&format!(
            "RocksDB 11.12 has no option {name} in {section}: {advice}"
        ));
    }

    /// Sets the fields of a structure, one by one: those that are not named stay.
    fn structure(&mut self, section: &Section, name: &str, value: &str) {
        let found = match fields(value) {
            Ok(found) => found,
            Err(why) => {
                let name = if name.is_empty() { TABLE_FACTORY } else { name };
                return self.mistake(&format!("the structure \"{value}\" of {name} {why}"));
            }
        };
        for (field, value) in found {
            let field = match name {
                "" => field.to_owned(),
                outer => format!("{outer}.{field}"),
            };
            match find(section, &field) {
                Some(known) => self.set(section, &field, known, value),
                None => self.unknown(section, &field),
            }
        }
    }

    fn set(&mut self, section: &Section, name: &str, known: &'static Known, text: &str) {
        let value = match known.kind.read(text) {
            Ok(value) => value,
            Err(why) => {
                return self.mistake(&format!(
                    "{name} in {section} is \"{text}\", which is {why}"
                ));
            }
        };
        let setting = Setting {
            known,
            value,
            line: self.line,
        };
        let settings: &mut BTreeMap<String, Setting> =
            self.options.sections.entry(section.clone()).or_default();
        let earlier = match settings.entry(name.to_owned()) {
            Entry::Vacant(free) => {
                free.insert(setting);
                return;
            }
            Entry::Occupied(taken) => taken.get().line,
        };
        self.mistake(&format!(
            "{name} in {section} is set in line {earlier} already: keep one of the two"
        ));
    }
}

/// RocksDB's own name, of a structure's field too.
fn full_name(section: &Section, name: &str) -> String {
    match name.split_once('.') {
        None => usual(section, name).to_owned(),
        Some((outer, field)) => format!("{}.{field}", usual(section, outer)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn family(name: &str) -> Section {
        Section::Family(name.into())
    }

    fn mistakes(text: &str) -> String {
        OptionsText::parse(text).expect_err(text).to_string()
    }

    #[test]
    fn a_file_as_rocksdb_writes_it() {
        let text = "# This is a RocksDB option file.\n\n[Version]\n  rocksdb_version=11.12.0\n\n\
                    [DBOptions]\n  max_background_jobs=6\n  wal_dir=/a\\:b\n\n\
                    [CFOptions \"default\"]\n  compaction_options_universal={size_ratio=5;\
                    stop_style=kCompactionStopStyleTotalSize;}\n  compression_per_level=\n  \
                    [TableOptions/BlockBasedTable \"default\"]\n  block_size=8192\n";
        let options = OptionsText::parse(text).expect("well-formed");
        assert_eq!(options.len(), 6);
        assert_eq!(options.families(), ["default"]);
        let get = |section: &Section, name| options.get(section, name);
        assert_eq!(get(&Section::Database, "max_background_jobs"), Some("6"));
        assert_eq!(get(&Section::Database, "wal_dir"), Some("/a\\:b"));
        assert_eq!(
            get(
                &family("default"),
                "compaction_options_universal.size_ratio"
            ),
            Some("5")
        );
        assert_eq!(
            get(&Section::Table("default".into()), "block_size"),
            Some("8192")
        );
        let setting = options
            .setting(&Section::Database, "wal_dir")
            .expect("it is set");
        assert_eq!(setting.line, 8);
    }

    #[test]
    fn units_aliases_and_dotted_names() {
        let text = "[CFOptions \"a\"]\nwrite_buffer_size=64M\nmemtable=skip_list\n\
                    compaction_options_universal.size_ratio=3\n\
                    block_based_table_factory={block_size=8K;}\n";
        let options = OptionsText::parse(text).expect("well-formed");
        let get = |name| options.get(&family("a"), name);
        assert_eq!(get("write_buffer_size"), Some("67108864"));
        assert_eq!(get("memtable_factory"), Some("skip_list"));
        assert_eq!(get("compaction_options_universal.size_ratio"), Some("3"));
        assert_eq!(
            options.get(&Section::Table("a".into()), "block_size"),
            Some("8192")
        );
    }

    #[test]
    fn every_mistake_has_its_line() {
        let said = mistakes(
            "x=1\n[DBOptions]\nmax_background_jobs=many\nwrite_buffer_size=1\n\
             [CFOption \"a\"]\nignored=1\n[CFOptions \"a\"]\nspeed=9\nttl\nttl=1\nttl=2\n\
             compaction_style=level\ncompaction_options_universal={speed=1;}\n\
             compaction_options_universal=5\n[TableOptions/PlainTable \"a\"]\nx=1\n",
        );
        for words in [
            "line 1: \"x=1\" stands before any section",
            "line 3: max_background_jobs in [DBOptions] is \"many\", which is no whole number",
            "line 4: RocksDB 11.12 has no option write_buffer_size in [DBOptions]: it belongs to \
             [CFOptions \"NAME\"]",
            "line 5: [CFOption \"a\"] is no section",
            "line 8: RocksDB 11.12 has no option speed in [CFOptions \"a\"]: remove the line",
            "line 9: \"ttl\" sets nothing",
            "line 11: ttl in [CFOptions \"a\"] is set in line 10 already",
            "line 12: compaction_style in [CFOptions \"a\"] is \"level\", which is none of \
             kCompactionStyleLevel",
            "line 13: RocksDB 11.12 has no option compaction_options_universal.speed",
            "line 14: the structure \"5\" of compaction_options_universal is written as",
            "line 15: [TableOptions/PlainTable \"a\"] is for files of the kind PlainTable",
        ] {
            assert!(said.contains(words), "{words}\n{said}");
        }
        assert_eq!(said.lines().count(), 11, "{said}");
    }

    #[test]
    fn a_file_that_sets_nothing_is_refused() {
        for text in ["", "# nothing\n", "[DBOptions]\n", "[Version]\na=1\n"] {
            assert!(mistakes(text).contains("no option is set"), "{text}");
        }
    }

    #[test]
    fn what_is_recorded_and_not_known_is_told() {
        let (options, mistakes) = OptionsText::recorded(
            "[DBOptions]\n  of_the_future=1\n  max_background_jobs=4\n[CFOptions \"a\"]\n  ttl=x\n",
        );
        assert_eq!(options.len(), 1);
        assert_eq!(options.families(), ["a"]);
        assert_eq!(mistakes.len(), 2, "{mistakes:?}");
        assert!(mistakes[0].starts_with("line 2: "), "{mistakes:?}");
        assert!(mistakes[1].starts_with("line 5: "), "{mistakes:?}");
    }
}
