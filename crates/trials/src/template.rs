//! The command line of a trial's child, with places for what differs.

use std::path::Path;

use lissom_search::search::TrialId;

use crate::error::{Result, TrialsError};

/// A command line, in words. These stand for what differs from trial to trial,
/// alone or inside a word:
///
/// | | |
/// |---|---|
/// | `{options}` | a file with the configuration; it must occur |
/// | `{directory}` | an empty directory of the trial's own |
/// | `{metrics}` | a file into which the child writes its lines instead of its standard output |
/// | `{shared}` | a directory that all trials share, removed when the search has ended |
/// | `{trial}` | the trial's number |
/// | `{seconds}` | the most seconds that it will run, without set-up and pauses |
/// | `{seed}` | a number to draw operations from: 1, and in repeats another for each round |
///
/// No shell sees it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Template {
    words: Vec<String>,
}

/// What the places stand for.
#[derive(Clone, Debug)]
pub(crate) struct Filling<'a> {
    pub options: &'a Path,
    pub directory: &'a Path,
    pub metrics: &'a Path,
    pub shared: &'a Path,
    pub trial: TrialId,
    pub seconds: f64,
    pub seed: u64,
}

const OPTIONS: &str = "{options}";
const METRICS: &str = "{metrics}";
const SHARED: &str = "{shared}";
const TRIAL: &str = "{trial}";
const SECONDS: &str = "{seconds}";
const SEED: &str = "{seed}";

impl Template {
    /// Splits a command line by a shell's rules for words and quotes.
    ///
    /// # Errors
    /// A quote without its end, no word, no `{options}`.
    pub fn parse(command: &str) -> Result<Template> {
        Template::of(words(command)?)
    }

    /// A command line of these words, the program first.
    ///
    /// # Errors
    /// No program, no `{options}`, or a zero byte.
    pub fn of(words: Vec<String>) -> Result<Template> {
        check(&words)?;
        if words.iter().all(|it| !it.contains(OPTIONS)) {
            return Err(TrialsError::new(format!(
                "the command has no {OPTIONS}, so the program would not see what to try: put it \
                 where the file with the configuration is named"
            )));
        }
        Ok(Template { words })
    }

    /// The words, as they were given.
    pub fn words(&self) -> &[String] {
        &self.words
    }

    /// Whether samples come by a file.
    pub(crate) fn writes_a_file(&self) -> bool {
        self.words.iter().any(|it| it.contains(METRICS))
    }

    /// Whether trials share a directory.
    pub(crate) fn shares(&self) -> bool {
        self.words.iter().any(|it| it.contains(SHARED))
    }

    /// Whether a trial is told what to draw its operations from.
    pub fn is_seeded(&self) -> bool {
        self.words.iter().any(|it| it.contains(SEED))
    }

    /// The words of one trial.
    pub(crate) fn filled(&self, filling: &Filling<'_>) -> Vec<String> {
        let path = |path: &Path| path.display().to_string();
        let values = [
            (OPTIONS, path(filling.options)),
            ("{directory}", path(filling.directory)),
            (METRICS, path(filling.metrics)),
            (SHARED, path(filling.shared)),
            (TRIAL, filling.trial.0.to_string()),
            (SECONDS, filling.seconds.ceil().to_string()),
            (SEED, filling.seed.to_string()),
        ];
        let words = self.words.iter();
        words.map(|word| replaced(word, &values)).collect()
    }

    /// The words of one trial that runs elsewhere: what stands for paths is left for
    /// whoever knows them.
    pub(crate) fn half_filled(&self, trial: TrialId, seconds: f64, seed: u64) -> Vec<String> {
        let values = [
            (TRIAL, trial.0.to_string()),
            (SECONDS, seconds.ceil().to_string()),
            (SEED, seed.to_string()),
        ];
        let words = self.words.iter();
        words.map(|word| replaced(word, &values)).collect()
    }
}

/// Splits a command line by a shell's rules for words and quotes.
///
/// # Errors
/// A quote without its end, no program, or a zero byte.
pub fn words(command: &str) -> Result<Vec<String>> {
    let Some(words) = shlex::split(command) else {
        return Err(TrialsError::new(format!(
            "the command {command:?} has a quote without its end: close it"
        )));
    };
    check(&words)?;
    Ok(words)
}

/// Whether a program can be started by these words.
fn check(words: &[String]) -> Result<()> {
    if words.first().is_none_or(|it| it.is_empty()) {
        return Err(TrialsError::new(
            "the command is empty: write a program and its arguments",
        ));
    }
    if words.iter().any(|it| it.contains('\0')) {
        return Err(TrialsError::new(
            "the command holds a zero byte, which no program can be given: remove it",
        ));
    }
    Ok(())
}

/// From left to right, so that a value that looks like a place stays as it is.
fn replaced(word: &str, values: &[(&str, String)]) -> String {
    let mut text = String::new();
    let mut rest = word;
    while let Some(at) = rest.find('{') {
        let (before, from) = rest.split_at(at);
        text.push_str(before);
        let known = values
            .iter()
            .find_map(|(name, value)| Some((value, from.strip_prefix(*name)?)));
        rest = match known {
            Some((value, behind)) => {
                text.push_str(value);
                behind
            }
            None => {
                text.push('{');
                from.strip_prefix('{').unwrap_or_default()
            }
        };
    }
    text + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filled(command: &str) -> Vec<String> {
        let filling = Filling {
            options: Path::new("/t/a b/OPTIONS"),
            directory: Path::new("/t/{trial}"),
            metrics: Path::new("/t/metrics"),
            shared: Path::new("/t/shared"),
            trial: TrialId(7),
            seconds: 76.2,
            seed: 3,
        };
        Template::parse(command).expect(command).filled(&filling)
    }

    #[test]
    fn places_are_filled_inside_words() {
        assert_eq!(
            filled(
                "prog --options={options} '{directory}/x' {shared}/y {trial} -s{seconds} {seed} '{ {x} {'"
            ),
            [
                "prog",
                "--options=/t/a b/OPTIONS",
                "/t/{trial}/x",
                "/t/shared/y",
                "7",
                "-s77",
                "3",
                "{ {x} {"
            ]
        );
        assert!(
            Template::parse("p {options} {metrics}")
                .expect("legal")
                .writes_a_file()
        );
        let plain = Template::parse("p {options}").expect("legal");
        assert!(!plain.writes_a_file() && !plain.shares() && !plain.is_seeded());
        let seeded = Template::parse("p {options} --seed={seed}");
        assert!(seeded.expect("legal").is_seeded());
        let sharing = Template::parse("p {options} --set={shared}/x");
        assert!(sharing.expect("legal").shares());
    }

    #[test]
    fn paths_are_left_for_elsewhere() {
        let template = Template::parse("p {options} {directory}/{trial} -s{seconds}/{seed} {x}");
        let words = template.expect("legal").half_filled(TrialId(7), 76.2, 3);
        assert_eq!(words, ["p", "{options}", "{directory}/7", "-s77/3", "{x}"]);
    }

    #[test]
    fn a_command_that_cannot_work_is_a_sentence() {
        for (command, says) in [
            ("", "the command is empty"),
            ("'' {options}", "the command is empty"),
            ("prog --db {directory}", "has no {options}"),
            ("prog '{options}", "a quote without its end"),
            ("prog {options} a\0b", "a zero byte"),
        ] {
            let error = Template::parse(command).expect_err(command).to_string();
            assert!(error.contains(says), "{error}");
        }
    }
}
