//! Breaking sentences into lines.

use super::WIDTH;

/// The words of `text` in lines of at most [`WIDTH`] columns; the first begins
/// with `first`, the others with as many spaces.
pub(crate) fn hang(first: &str, text: &str) -> String {
    let indent = " ".repeat(first.chars().count());
    let mut lines = String::new();
    let mut line = first.to_owned();
    let mut empty = true;
    for word in text.split_whitespace() {
        let needed = line.chars().count() + usize::from(!empty) + word.chars().count();
        if !empty && needed > WIDTH {
            lines += line.trim_end();
            lines.push('\n');
            line.clone_from(&indent);
            empty = true;
        }
        if !empty {
            line.push(' ');
        }
        line += word;
        empty = false;
    }
    lines += line.trim_end();
    lines.push('\n');
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_sentences_hang_under_their_first_word() {
        let text = hang("  #1  ", &"word ".repeat(40));
        for line in text.lines() {
            assert!(line.chars().count() <= WIDTH);
        }
        assert!(text.starts_with("  #1  word"));
        assert!(
            text.lines()
                .nth(1)
                .expect("two lines")
                .starts_with("      word")
        );
    }
}
