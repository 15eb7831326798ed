//! Options in lines that fit a terminal.

use lissom::apply::{Row, Section};

/// Columns of a terminal.
const WIDTH: usize = 80;

/// One option of a table.
pub struct Line<'a> {
    pub row: &'a Row,
    pub new: &'a str,
    pub how: String,
    pub why: String,
}

/// Options below the names of their sections.
pub fn table<'a>(lines: impl Iterator<Item = Line<'a>>) -> String {
    let mut text = String::new();
    let mut section: Option<&Section> = None;
    for line in lines {
        if section != Some(&line.row.section) {
            section = Some(&line.row.section);
            text += &format!("{}\n", line.row.section);
        }
        let old = line.row.old.as_deref().unwrap_or("not recorded");
        text += &format!(
            "  {}: {} -> {}, {}\n",
            line.row.name,
            shown(old),
            shown(line.new),
            line.how
        );
        text += &wrap(&line.why, "      ");
    }
    text
}

fn shown(value: &str) -> &str {
    match value {
        "" => "empty",
        other => other,
    }
}

/// Remarks below the options.
pub fn notes(remarks: &[String]) -> String {
    remarks
        .iter()
        .map(|remark| wrap(&format!("note: {remark}"), ""))
        .collect()
}

/// Words in lines that fit a terminal.
fn wrap(text: &str, indent: &str) -> String {
    let mut lines = String::new();
    let mut line = String::new();
    for word in text.split_whitespace() {
        let wider = indent.len() + line.chars().count() + 1 + word.chars().count();
        if !line.is_empty() && wider > WIDTH {
            lines += &format!("{indent}{line}\n");
            line.clear();
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    if !line.is_empty() {
        lines += &format!("{indent}{line}\n");
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_wrapped() {
        let text = "word ".repeat(40);
        let lines = wrap(&text, "    ");
        assert!(lines.lines().count() > 2);
        for line in lines.lines() {
            assert!(
                line.starts_with("    word") && line.len() <= WIDTH,
                "{line}"
            );
        }
        assert_eq!(wrap("", "  "), "");
    }
}
