//! Lines of an OPTIONS file, by the rules of RocksDB's parser
//! (options/options_parser.cc, util/string_util.cc).

/// A line without its comment and the blanks around it. A comment begins with `#`;
/// a literal one is written `\#`.
pub(crate) fn content(line: &str) -> &str {
    let comment = line
        .char_indices()
        .find(|(at, letter)| *letter == '#' && !line[..*at].ends_with('\\'));
    line[..comment.map_or(line.len(), |(at, _)| at)].trim()
}

/// `\X` means X, but `\n` and `\r` are line ends.
pub(crate) fn unescape(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        match letter {
            '\\' => plain.extend(letters.next().map(|escaped| match escaped {
                'n' => '\n',
                'r' => '\r',
                other => other,
            })),
            other => plain.push(other),
        }
    }
    plain
}

/// The reverse of [`unescape`].
pub(super) fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '\\' | '#' | ':' => escaped.extend(['\\', letter]),
            '\n' => escaped.push_str("\\n"),
            '\r' => escaped.push_str("\\r"),
            other => escaped.push(other),
        }
    }
    escaped
}

/// The fields of `{name=value;name={...};}`.
///
/// # Errors
/// What is wrong with it: completes "the structure ...".
pub(super) fn fields(text: &str) -> Result<Vec<(&str, &str)>, String> {
    let inner = text
        .strip_prefix('{')
        .and_then(|rest| rest.strip_suffix('}'))
        .ok_or("is written as {name=value;name=value;}")?;
    let mut found = Vec::new();
    let mut rest = inner.trim();
    while !rest.is_empty() {
        let (field, behind) = first_field(rest)?;
        let (name, value) = field
            .split_once('=')
            .ok_or_else(|| format!("has \"{}\", which is no name=value", field.trim()))?;
        found.push((name.trim(), value.trim()));
        rest = behind.trim();
    }
    Ok(found)
}

/// The text up to the first semicolon outside braces, and what follows it.
fn first_field(text: &str) -> Result<(&str, &str), String> {
    let mut depth = 0_u32;
    for (at, letter) in text.char_indices() {
        match letter {
            '{' => depth += 1,
            '}' => {
                depth = depth
                    .checked_sub(1)
                    .ok_or("closes a brace that was not opened")?;
            }
            ';' if depth == 0 => return Ok((&text[..at], &text[at + 1..])),
            _ => {}
        }
    }
    match depth {
        0 => Ok((text, "")),
        _ => Err("opens a brace that is not closed".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_end_a_line_unless_escaped() {
        assert_eq!(content("  a=b # why"), "a=b");
        assert_eq!(content("a=b\\#c#d"), "a=b\\#c");
        assert_eq!(content("# all"), "");
        assert_eq!(content(""), "");
    }

    #[test]
    fn escapes_go_there_and_back() {
        for text in ["", "plain", "a#b:c\\d\ne\rf", "ä"] {
            assert_eq!(unescape(&escape(text)), text);
        }
        assert_eq!(unescape("ends with \\"), "ends with ");
    }

    #[test]
    fn fields_may_hold_structures() {
        assert_eq!(
            fields("{a=1; b={c=2;d=3;};e=;}"),
            Ok(vec![("a", "1"), ("b", "{c=2;d=3;}"), ("e", "")])
        );
        assert_eq!(fields("{}"), Ok(vec![]));
        for (wrong, words) in [
            ("a=1", "is written as"),
            ("{a}", "no name=value"),
            ("{a={1;}", "not closed"),
            ("{a=1};b=}", "not opened"),
        ] {
            let why = fields(wrong).expect_err(wrong);
            assert!(why.contains(words), "{wrong}: {why}");
        }
    }
}
