//! Options as RocksDB is given them.

use std::collections::BTreeMap;

use super::{OptionsText, Section, Setting};
use crate::apply::catalogue::Change;
use crate::ffi::options_text::Lines;

impl OptionsText {
    /// The lines of the database and of one column family. What RocksDB passes over
    /// or keeps nowhere is left out.
    pub(in crate::apply) fn lines(&self, family: &str) -> Lines {
        let of = |section: &Section| {
            let pairs = self.pairs(section);
            let lines = pairs
                .iter()
                .map(|(name, value)| format!("{name}={value}\n"));
            lines.collect::<String>()
        };
        Lines {
            db: of(&Section::Database),
            cf: of(&Section::Family(family.to_owned())),
            table: of(&Section::Table(family.to_owned())),
            table_factory: None,
        }
    }

    /// Names and values of a section; the fields of a structure stand together, as
    /// in `compaction_options_universal={size_ratio=5;}`.
    pub(in crate::apply) fn pairs(&self, section: &Section) -> BTreeMap<String, String> {
        let mut pairs = BTreeMap::new();
        let mut structures: BTreeMap<&str, String> = BTreeMap::new();
        for (name, setting) in self.sections.get(section).into_iter().flatten() {
            if !is_passed_on(setting) {
                continue;
            }
            let value = &setting.value.given;
            match name.split_once('.') {
                None => {
                    pairs.insert(name.clone(), value.clone());
                }
                Some((outer, field)) => {
                    let fields = structures.entry(outer).or_default();
                    *fields += &format!("{field}={value};");
                }
            }
        }
        for (name, fields) in structures {
            pairs.insert(name.to_owned(), format!("{{{fields}}}"));
        }
        pairs
    }
}

fn is_passed_on(setting: &Setting) -> bool {
    !matches!(setting.known.change, Change::Gone | Change::Unkept)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn structures_are_put_together_again() {
        let (options, _) = OptionsText::recorded(
            "[CFOptions \"a\"]\nttl=7\nfilter_deletes=1\n\
             compaction_options_universal={min_merge_width=2;size_ratio=5;}\n\
             [TableOptions/BlockBasedTable \"a\"]\nblock_size=4K\n[DBOptions]\nuse_fsync=1\n",
        );
        let lines = options.lines("a");
        assert_eq!(
            lines.cf,
            "compaction_options_universal={min_merge_width=2;size_ratio=5;}\nttl=7\n"
        );
        assert_eq!(lines.db, "use_fsync=true\n");
        assert_eq!(lines.table, "block_size=4096\n");
        assert_eq!(options.lines("b").cf, "");
    }
}
