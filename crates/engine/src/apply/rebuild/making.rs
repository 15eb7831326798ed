//! The options that a copy is made with, where it would not come to its end with those
//! that it is to have.
//!
//! Source: RocksDB 11.12, db/column_family.cc (`GetWriteStallConditionAndCause`: writes
//! stop at level0_stop_writes_trigger whether anybody compacts or not, unless
//! disable_auto_compactions is set), and db/db_impl/db_impl_write.cc (writes without a log are
//! refused where logs are recycled).

use crate::apply::text::{OptionsText, Section};
use crate::error::Result;

const NOBODY: &str = "kCompactionStyleNone";
const LEVEL: &str = "kCompactionStyleLevel";
const UNIVERSAL: &str = "kCompactionStyleUniversal";

/// The options of the copy while it is written.
///
/// # Errors
/// When an option does not exist.
pub(super) fn making(target: &OptionsText, names: &[String]) -> Result<OptionsText> {
    let mut options = target.clone();
    options.choose(&Section::Database, "persist_stats_to_disk", "false")?;
    options.choose(&Section::Database, "recycle_log_file_num", "0")?;
    for name in names.iter().filter(|name| is_left_alone(target, name)) {
        let section = Section::Family(name.clone());
        let style = style_of_copy(target, &section);
        if let Some(style) = style {
            options.choose(&section, "compaction_style", style)?;
        }
        let off = match style.is_some() || has_levels(target, &section) {
            true => "false",
            false => "true",
        };
        options.choose(&section, "disable_auto_compactions", off)?;
    }
    Ok(options)
}

/// The style that merges what the application would. One level alone only universal compaction
/// merges into itself.
fn style_of_copy(target: &OptionsText, section: &Section) -> Option<&'static str> {
    has_no_style(target, section).then(|| match has_levels(target, section) {
        true => LEVEL,
        false => UNIVERSAL,
    })
}

/// Whether universal compaction writes the copy, by its own options or while it is made.
pub(super) fn is_universal(target: &OptionsText, section: &Section) -> bool {
    let own = target.get(section, "compaction_style");
    style_of_copy(target, section).or(own) == Some(UNIVERSAL)
}

/// Whether compaction must come to its end before the copy has its own options: nobody
/// would take the files out of level 0 later. Each read would look into all of them, and under
/// a style without compaction the first writes would stop.
pub(super) fn must_settle(target: &OptionsText, names: &[String]) -> bool {
    names.iter().any(|name| is_left_alone(target, name))
}

/// Nobody compacts but the application.
fn is_left_alone(target: &OptionsText, name: &str) -> bool {
    let section = Section::Family(name.to_owned());
    has_no_style(target, &section)
        || target.get(&section, "disable_auto_compactions") == Some("true")
}

fn has_no_style(target: &OptionsText, section: &Section) -> bool {
    target.get(section, "compaction_style") == Some(NOBODY)
}

fn has_levels(target: &OptionsText, section: &Section) -> bool {
    let levels = target.get(section, "num_levels");
    levels.is_some_and(|levels| levels.parse::<i32>().is_ok_and(|levels| levels > 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn made(family: &str) -> (OptionsText, bool) {
        let text = format!(
            "[DBOptions]\npersist_stats_to_disk=true\nrecycle_log_file_num=4\n\
             [CFOptions \"a\"]\n{family}\n"
        );
        let (target, mistakes) = OptionsText::recorded(&text);
        assert_eq!(mistakes, [""; 0]);
        let names = ["a".to_owned()];
        let options = making(&target, &names).expect("they exist");
        (options, must_settle(&target, &names))
    }

    fn get<'a>(options: &'a OptionsText, name: &str) -> Option<&'a str> {
        options.get(&Section::Family("a".into()), name)
    }

    #[test]
    fn rocksdbs_own_statistics_and_old_logs_are_left_out() {
        let (options, settles) = made("compaction_style=kCompactionStyleUniversal");
        let database = |name| options.get(&Section::Database, name);
        assert_eq!(database("persist_stats_to_disk"), Some("false"));
        assert_eq!(database("recycle_log_file_num"), Some("0"));
        assert_eq!(
            get(&options, "compaction_style"),
            Some("kCompactionStyleUniversal")
        );
        assert_eq!(get(&options, "disable_auto_compactions"), None);
        assert!(!settles);
    }

    #[test]
    fn somebody_compacts_where_nobody_will() {
        let (options, settles) = made(
            "compaction_style=kCompactionStyleNone\nnum_levels=7\ndisable_auto_compactions=true",
        );
        assert_eq!(
            get(&options, "compaction_style"),
            Some("kCompactionStyleLevel")
        );
        assert_eq!(get(&options, "disable_auto_compactions"), Some("false"));
        assert!(settles);
        let (options, settles) = made(
            "compaction_style=kCompactionStyleUniversal\nnum_levels=7\n\
             disable_auto_compactions=true",
        );
        let style = get(&options, "compaction_style");
        assert_eq!(style, Some("kCompactionStyleUniversal"), "its own");
        assert_eq!(get(&options, "disable_auto_compactions"), Some("false"));
        assert!(settles);
        let (options, settles) = made("compaction_style=kCompactionStyleNone\nnum_levels=1");
        assert_eq!(get(&options, "compaction_style"), Some(UNIVERSAL));
        assert_eq!(get(&options, "disable_auto_compactions"), Some("false"));
        assert!(settles);
        let (options, _) = made(
            "compaction_style=kCompactionStyleLevel\nnum_levels=1\ndisable_auto_compactions=true",
        );
        assert_eq!(get(&options, "compaction_style"), Some(LEVEL), "its own");
        assert_eq!(get(&options, "disable_auto_compactions"), Some("true"));
    }
}
