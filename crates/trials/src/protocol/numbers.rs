//! Numbers that JSON does not have.

/// What programs write for these, as `json.dumps` of Python does.
const NO_NUMBERS: [&str; 3] = ["NaN", "Infinity", "-Infinity"];

/// The line with `null` for each number that is none or is beyond measure. What stands in quotes
/// stays as it is.
pub(super) fn nulled(line: &str) -> String {
    let mut text = String::with_capacity(line.len());
    let mut rest = line;
    while !rest.is_empty() {
        let (token, behind) = rest.split_at(token(rest));
        text.push_str(if is_no_number(token) { "null" } else { token });
        rest = behind;
    }
    text
}

/// The bytes of the first token: what stands in quotes, a number or a word, or a character.
fn token(text: &str) -> usize {
    let in_word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.');
    match text.chars().next() {
        Some('"') => quoted(text),
        Some(c) if in_word(c) => text.find(|c: char| !in_word(c)).unwrap_or(text.len()),
        first => first.map_or(0, char::len_utf8),
    }
}

/// The bytes up to the quote that ends what begins with one, or all.
fn quoted(text: &str) -> usize {
    let mut is_escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            '"' if !is_escaped => return at + 1,
            _ => is_escaped = c == '\\' && !is_escaped,
        }
    }
    text.len()
}

fn is_no_number(token: &str) -> bool {
    let unsigned = token.strip_prefix('-').unwrap_or(token);
    let is_number = unsigned.starts_with(|c: char| c.is_ascii_digit());
    let is_too_large = || token.parse().is_ok_and(f64::is_infinite);
    NO_NUMBERS.contains(&token) || (is_number && is_too_large())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_numbers_that_are_none_are_replaced() {
        for (line, wanted) in [
            (
                r#"{"a": NaN, "b": 1.5e3, "c": [-Infinity, -2]}"#,
                r#"{"a": null, "b": 1.5e3, "c": [null, -2]}"#,
            ),
            (r#"{"a":Infinity,"b":1e999}"#, r#"{"a":null,"b":null}"#),
            (
                r#"{"NaN": "\\\" NaN", "é": -1E+400}"#,
                r#"{"NaN": "\\\" NaN", "é": null}"#,
            ),
            (r#"{"a": "NaN"#, r#"{"a": "NaN"#),
            ("NaNs inf -", "NaNs inf -"),
            ("", ""),
        ] {
            assert_eq!(nulled(line), wanted);
        }
    }
}
