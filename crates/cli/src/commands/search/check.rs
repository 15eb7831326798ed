//! What can be known to be wrong with a search before it begins.

use std::path::{Path, PathBuf};

use lissom::apply::SettingsText;
use lissom_search::export::{self, Format};
use lissom_search::search::Search;
use lissom_search::space::{Configuration, Kind, Setting, Space};
use lissom_trials::{TrialsError, check_writable};

use super::request::Request;
use super::subject::LISSOM;

/// So many of what a file leaves out are told, and how many others there are.
const MOST_SHOWN: usize = 3;

/// What can be known to be wrong before anything is measured or written; otherwise the
/// search as if nothing had been measured before.
pub fn check(request: &Request) -> lissom_trials::Result<Search> {
    let plan = &request.plan;
    let search = Search::new(&plan.space, plan.setup.clone(), &[])?;
    for format in [request.format, request.out_format] {
        for configuration in default_and_others(&plan.space)? {
            export::write(format, &plan.space, &configuration)?;
        }
    }
    if request.system.as_deref() == Some(LISSOM) {
        check_settings(&plan.space)?;
    }
    check_distinct(request)?;
    check_writable(&request.out)?;
    check_writable(&request.report)?;
    Ok(search)
}

/// The default configuration, and it with each other word that it may have: what one word asks
/// for may be missing from the space.
fn default_and_others(space: &Space) -> lissom_trials::Result<Vec<Configuration>> {
    let default = space.default_configuration();
    let mut all = vec![default.clone()];
    for parameter in space.parameters() {
        let Kind::Choice(words) = &parameter.kind else {
            continue;
        };
        for word in words {
            let mut other = default.clone();
            other.set(&parameter.name, Setting::Choice(word.clone()));
            let other = space.canonical(&other)?;
            if space.check(&other).is_ok() {
                all.push(other);
            }
        }
    }
    Ok(all)
}

/// What the file that a trial reads cannot say of a configuration, in a sentence: a search would
/// tell differences where there are none.
pub fn unsaid(request: &Request) -> lissom_trials::Result<Option<String>> {
    let space = &request.plan.space;
    let mut remarks: Vec<String> = Vec::new();
    for configuration in default_and_others(space)? {
        for remark in export::write(request.format, space, &configuration)?.remarks {
            // One for each parameter, by its name.
            let name = |remark: &str| remark.split(' ').next().map(str::to_owned);
            if remarks.iter().all(|it| name(it) != name(&remark)) {
                remarks.push(remark);
            }
        }
    }
    let (shown, others) = remarks.split_at(remarks.len().min(MOST_SHOWN));
    if shown.is_empty() {
        return Ok(None);
    }
    let more = match others.len() {
        0 => String::new(),
        more => format!("; and {more} more"),
    };
    Ok(Some(format!(
        "what trials read cannot tell all that is searched, and differences in the rest are \
         chance: {}{more}; choose another --format, or take these out of the space",
        shown.join("; ")
    )))
}

/// Whether options, log and report are three files: the first and the last replace what has
/// their name, at the end.
fn check_distinct(request: &Request) -> lissom_trials::Result<()> {
    let files = [
        ("--out", &request.out),
        ("--log", &request.log),
        ("--report", &request.report),
    ];
    for (at, (name, path)) in files.iter().enumerate() {
        let mut before = files.iter().take(at);
        if let Some((other, _)) = before.find(|(_, it)| place(it) == place(path)) {
            return Err(TrialsError::new(format!(
                "{other} and {name} are both {}, of which one would replace the other: give each \
                 a name of its own",
                path.display()
            )));
        }
    }
    Ok(())
}

/// A file's path as it is told from others, whether the file exists or not.
fn place(path: &Path) -> PathBuf {
    let named = || {
        let parent = path.parent().filter(|it| !it.as_os_str().is_empty());
        let parent = parent.unwrap_or(Path::new("."));
        let parent = parent.canonicalize().unwrap_or_else(|_| parent.to_owned());
        parent.join(path.file_name().unwrap_or_default())
    };
    path.canonicalize().unwrap_or_else(|_| named())
}

/// Whether everything that a space sets is a setting of Lissom's.
fn check_settings(space: &Space) -> lissom_trials::Result<()> {
    let default = export::write(Format::Json, space, &space.default_configuration())?;
    let Err(error) = SettingsText::parse(&default.text) else {
        return Ok(());
    };
    // One for each parameter, with the line of a file that nobody sees: the first suffices.
    let sentences = error.to_string();
    let first = sentences.lines().next().unwrap_or_default();
    let what = first.split_once(": ").map_or(first, |(_, what)| what);
    Err(TrialsError::new(format!(
        "--system lissom cannot try the space {}: {what}; give --space lissom, or --system rocksdb",
        space.name()
    )))
}
