//! Standard output for results, standard error for progress and questions.

use std::io::{self, ErrorKind, IsTerminal, Write};

use lissom::inspect::Style;
use serde::Serialize;

use crate::failure::{Failure, Outcome};

/// Writes a result. That nobody reads it ends no work: the exit code is that of the work.
pub fn print(text: &str) -> Outcome {
    print_if_read(text).map(|_| ())
}

/// Writes a result; false where nobody reads any more, as under `| head`.
pub fn print_if_read(text: &str) -> Result<bool, Failure> {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(false),
        Err(error) => Err(Failure::Failed(format!(
            "cannot write to standard output: {error}; check where it goes"
        ))),
    }
}

/// Writes a result as JSON.
pub fn print_json(value: &impl Serialize) -> Outcome {
    match serde_json::to_string_pretty(value) {
        Ok(text) => print(&(text + "\n")),
        Err(error) => Err(Failure::Failed(format!(
            "the result cannot be written as JSON: {error}; report this"
        ))),
    }
}

/// A sentence about the run itself, for a log too.
pub fn say(sentence: &str) {
    // Whoever closed standard error wants none.
    let _ = writeln!(io::stderr(), "{sentence}");
}

/// A sentence that one should know from the start, also where only a log is left to tell it.
pub fn note(sentence: &str) {
    say(&format!("note: {sentence}"));
}

/// A sentence that a person at the terminal should know from the start.
pub fn remark(sentence: &str) {
    if io::stderr().is_terminal() {
        note(sentence);
    }
}

/// Colours on a terminal, unless `NO_COLOR` is set (<https://no-color.org>).
pub fn style() -> Style {
    let refused = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    let dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
    Style {
        colour: io::stdout().is_terminal() && !refused && !dumb,
    }
}

/// Clears the row that the cursor is in, and no other.
const CLEAR: &str = "\r\x1b[K";

/// From here on what is too long for a row stays within it.
const NO_WRAP: &str = "\x1b[?7l";
const WRAP: &str = "\x1b[?7h";

/// A text in the place of the one before. In one piece, lest a kill leave the terminal
/// without its wrapping.
fn written_over(text: &str) -> String {
    format!("{CLEAR}{NO_WRAP}{text}{WRAP}")
}

/// One line on standard error that is written over and over; nothing where that
/// is no terminal.
pub struct StatusLine {
    shown: bool,
}

impl StatusLine {
    pub fn new() -> StatusLine {
        StatusLine { shown: false }
    }

    pub fn show(&mut self, text: &str) {
        if io::stderr().is_terminal() {
            self.shown = true;
            // A terminal that is gone is noticed elsewhere.
            let _ = io::stderr().write_all(written_over(text).as_bytes());
        }
    }
}

impl Drop for StatusLine {
    fn drop(&mut self) {
        if self.shown {
            let _ = write!(io::stderr(), "{CLEAR}");
        }
    }
}

/// Asks on the terminal. Without one, or without `--yes`, it is wrong use; `instead` says what to
/// give there.
pub fn confirm(question: &str, instead: &str, yes: bool) -> Result<bool, Failure> {
    if yes {
        return Ok(true);
    }
    if !(io::stdin().is_terminal() && io::stderr().is_terminal()) {
        return Err(Failure::WrongUse(format!(
            "nobody can be asked here: give {instead}"
        )));
    }
    let _ = write!(io::stderr(), "{question} [y/N] ");
    let mut answer = String::new();
    io::stdin()
        .read_line(&mut answer)
        .map_err(|error| Failure::Failed(format!("cannot read the answer: {error}")))?;
    Ok(matches!(answer.trim(), "y" | "Y" | "yes"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The rows of a terminal that knows these sequences.
    fn rows(columns: usize, mut written: &str) -> Vec<String> {
        let (mut above, mut row, mut wraps) = (Vec::new(), String::new(), true);
        while !written.is_empty() {
            if let Some(rest) = written.strip_prefix(CLEAR) {
                row.clear();
                written = rest;
            } else if let Some(rest) = written.strip_prefix(NO_WRAP) {
                (wraps, written) = (false, rest);
            } else if let Some(rest) = written.strip_prefix(WRAP) {
                (wraps, written) = (true, rest);
            } else {
                let (letter, rest) = written.split_at(1);
                if row.len() == columns && wraps {
                    above.push(std::mem::take(&mut row));
                } else if row.len() == columns {
                    row.pop();
                }
                row += letter;
                written = rest;
            }
        }
        above.push(row);
        above
    }

    #[test]
    fn a_status_line_is_one_row_on_a_narrow_terminal() {
        let texts = ["merged 1.0 MB of at most 1.2 GB", "merged 2.0 MB"];
        let written: String = texts.map(written_over).concat();
        for columns in [1, 20, 40] {
            let rows = rows(columns, &written);
            assert_eq!(rows.len(), 1, "{columns}: {rows:?}");
        }
        assert_eq!(rows(20, &written), ["merged 2.0 MB"]);
        let more = written + &"-".repeat(20);
        assert_eq!(rows(20, &more).len(), 2, "it wraps again");
    }
}
