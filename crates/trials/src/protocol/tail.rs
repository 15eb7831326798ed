//! The last words of a child.

use std::collections::VecDeque;
use std::fmt;

/// Lines that are kept.
const LINES: usize = 20;
/// Characters of a line that are kept.
const CHARACTERS: usize = 300;

/// The last lines that were no samples.
#[derive(Clone, PartialEq, Debug, Default)]
pub(crate) struct Tail {
    lines: VecDeque<String>,
}

impl Tail {
    /// Takes a line; empty ones say nothing.
    pub fn push(&mut self, line: &str) {
        let line = clean(line);
        if line.is_empty() {
            return;
        }
        if self.lines.len() == LINES {
            self.lines.pop_front();
        }
        self.lines.push_back(line);
    }
}

/// `its last words: ONE / ANOTHER`, or that it said nothing.
impl fmt::Display for Tail {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.lines.is_empty() {
            return f.write_str("it said nothing");
        }
        f.write_str("its last words: ")?;
        for (at, line) in self.lines.iter().enumerate() {
            let between = if at == 0 { "" } else { " / " };
            write!(f, "{between}{line}")?;
        }
        Ok(())
    }
}

/// One line of bounded length, without characters that a terminal would obey.
pub(crate) fn clean(text: &str) -> String {
    let shown: String = text
        .trim()
        .chars()
        .map(|it| if it.is_control() { ' ' } else { it })
        .take(CHARACTERS)
        .collect();
    if text.trim().chars().count() > CHARACTERS {
        shown + " ..."
    } else {
        shown
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_lines_stay() {
        let mut tail = Tail::default();
        assert_eq!(tail.to_string(), "it said nothing");
        tail.push("  \n");
        for line in 1..=25 {
            tail.push(&format!("line {line}\n"));
        }
        let text = tail.to_string();
        assert!(
            text.starts_with("its last words: line 6 / line 7"),
            "{text}"
        );
        assert!(text.ends_with("line 24 / line 25"), "{text}");
    }

    #[test]
    fn no_line_is_long_or_moves_the_cursor() {
        assert_eq!(clean("\u{1b}[2Jred\tx\n"), " [2Jred x");
        let long = clean(&"é".repeat(1000));
        assert_eq!(long.chars().count(), CHARACTERS + 4);
    }
}
