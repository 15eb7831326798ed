//! From characters to tokens.

use super::ExpressionError;
use super::unit;

/// The smallest part of an expression.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum Token {
    /// With its unit multiplied in.
    Number(f64),
    /// In quotes.
    Text(String),
    /// A name or a reserved word.
    Name(String),
    /// One of [`SYMBOLS`].
    Symbol(&'static str),
}

/// A token and where it begins.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Placed {
    pub token: Token,
    pub column: usize,
}

/// Longer ones first, so that `<=` is not read as `<`.
const SYMBOLS: [&str; 14] = [
    "<=", ">=", "==", "!=", "<", ">", "+", "-", "*", "/", "^", "(", ")", ",",
];

/// All tokens of a text.
pub(super) fn tokens(text: &str) -> Result<Vec<Placed>, ExpressionError> {
    let mut reader = Reader::of(text);
    let mut tokens = Vec::new();
    while let Some(token) = reader.next_token()? {
        tokens.push(token);
    }
    Ok(tokens)
}

/// Whether a number of a text has a unit of time, and so is one of seconds.
pub(crate) fn tells_times(text: &str) -> bool {
    let mut reader = Reader::of(text);
    while let Ok(Some(_)) = reader.next_token() {}
    reader.tells_times
}

/// Whether a character may stand in a name, other than at its beginning.
pub(super) fn in_name(character: char) -> bool {
    character.is_ascii_alphanumeric() || character == '_' || character == '.'
}

/// Whether a name may begin with a character.
pub(super) fn begins_name(character: char) -> bool {
    character.is_ascii_alphabetic() || character == '_'
}

struct Reader {
    characters: Vec<char>,
    at: usize,
    /// A number so far had a unit of time.
    tells_times: bool,
}

impl Reader {
    fn of(text: &str) -> Reader {
        Reader {
            characters: text.chars().collect(),
            at: 0,
            tells_times: false,
        }
    }

    fn next_token(&mut self) -> Result<Option<Placed>, ExpressionError> {
        self.take(char::is_whitespace);
        let column = self.at + 1;
        let Some(first) = self.peek(0) else {
            return Ok(None);
        };
        let token = if first.is_ascii_digit() || first == '.' {
            self.number()?
        } else if begins_name(first) {
            Token::Name(self.take(in_name))
        } else if first == '\'' || first == '"' {
            self.quoted(first)?
        } else {
            self.symbol()?
        };
        Ok(Some(Placed { token, column }))
    }

    fn peek(&self, ahead: usize) -> Option<char> {
        self.characters.get(self.at + ahead).copied()
    }

    /// The characters from here on that are accepted.
    fn take(&mut self, accepted: impl Fn(char) -> bool) -> String {
        let from = self.at;
        while self.peek(0).is_some_and(&accepted) {
            self.at += 1;
        }
        self.characters[from..self.at].iter().collect()
    }

    fn number(&mut self) -> Result<Token, ExpressionError> {
        let column = self.at + 1;
        let mut digits = self.take(|it| it.is_ascii_digit() || it == '.');
        digits.push_str(&self.exponent());
        let unit = self.take(|it| it.is_ascii_alphabetic() || it == '%');
        self.tells_times |= unit::is_time(&unit);
        let fault = |problem: String| ExpressionError::new(column, problem);
        let number: f64 = digits
            .parse()
            .map_err(|_| fault(format!("{digits:?} is no number: write it like 0.5")))?;
        let factor = if unit.is_empty() {
            1.0
        } else {
            unit::factor(&unit).map_err(fault)?
        };
        let value = number * factor;
        if value.is_finite() {
            Ok(Token::Number(value))
        } else {
            Err(fault(format!("{digits}{unit} is too large for a number")))
        }
    }

    /// `e6` or `e-3`, if that is what follows; a unit may begin with an e as well.
    fn exponent(&mut self) -> String {
        let signed = matches!(self.peek(1), Some('+' | '-'));
        let digit = self.peek(if signed { 2 } else { 1 });
        let marked = matches!(self.peek(0), Some('e' | 'E'));
        if !marked || !digit.is_some_and(|it| it.is_ascii_digit()) {
            return String::new();
        }
        let from = self.at;
        self.at += if signed { 2 } else { 1 };
        self.take(|it| it.is_ascii_digit());
        self.characters[from..self.at].iter().collect()
    }

    fn quoted(&mut self, quote: char) -> Result<Token, ExpressionError> {
        let column = self.at + 1;
        self.at += 1;
        let text = self.take(|it| it != quote);
        if self.peek(0).is_none() {
            return Err(ExpressionError::new(
                column,
                format!("the text that begins here has no end: close it with {quote}"),
            ));
        }
        self.at += 1;
        Ok(Token::Text(text))
    }

    fn symbol(&mut self) -> Result<Token, ExpressionError> {
        let follows = |symbol: &&str| {
            let mut characters = symbol.chars().enumerate();
            characters.all(|(ahead, character)| self.peek(ahead) == Some(character))
        };
        match SYMBOLS.iter().copied().find(follows) {
            Some(symbol) => {
                self.at += symbol.len();
                Ok(Token::Symbol(symbol))
            }
            None => Err(ExpressionError::new(self.at + 1, self.unknown())),
        }
    }

    fn unknown(&self) -> String {
        let character = self.peek(0).unwrap_or(' ');
        let hint = match character {
            '=' => "write == to compare",
            '&' => "write and",
            '|' => "write or",
            '!' => "write not, or != to compare",
            _ => "use names, numbers, operators and parentheses",
        };
        format!("{character:?} does not belong here: {hint}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn only(text: &str) -> Token {
        let mut all = tokens(text).expect(text);
        assert_eq!(all.len(), 1, "{text}");
        all.remove(0).token
    }

    #[test]
    fn numbers_have_units() {
        for (text, value) in [
            ("12", 12.0),
            (".5", 0.5),
            ("1e6", 1e6),
            ("2.5e-3", 2.5e-3),
            ("64MiB", 67_108_864.0),
            ("4KiB", 4096.0),
            ("100MB", 1e8),
            ("50%", 0.5),
            ("2min", 120.0),
            ("1e3ms", 1.0),
        ] {
            assert_eq!(only(text), Token::Number(value), "{text}");
        }
    }

    #[test]
    fn columns_count_from_one() {
        let all = tokens("a <= 2 and b").expect("tokens");
        let columns: Vec<usize> = all.iter().map(|it| it.column).collect();
        assert_eq!(columns, [1, 3, 6, 8, 12]);
        assert_eq!(all[1].token, Token::Symbol("<="));
    }

    #[test]
    fn wrong_characters_say_what_to_write() {
        for (text, column, says) in [
            ("a = 2", 3, "write == to compare"),
            ("a && b", 3, "write and"),
            ("1.2.3", 1, "is no number"),
            ("64MiBs", 1, "\"MiBs\" is no unit"),
            ("a == 'x", 6, "close it with '"),
            ("a ? b", 3, "does not belong here"),
            ("1e999", 1, "too large"),
        ] {
            let error = tokens(text).expect_err(text);
            assert_eq!(error.column, column, "{text}");
            assert!(error.problem.contains(says), "{error}");
        }
    }
}
