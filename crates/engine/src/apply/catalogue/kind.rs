//! What the values of options look like. They are read here, before RocksDB sees
//! them: it takes `64x` for 64 and -1 for the largest number, and some values that
//! it cannot read end the process.

use super::Known;
use super::filter;
use super::words::COMPRESSION;
use crate::apply::text::lines::unescape;

/// The kind of an option's value.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Kind {
    /// true or false.
    Boolean,
    /// A whole number of 32 bits.
    Int32,
    /// A whole number of 32 bits within bounds that RocksDB does not look at itself.
    Within(i32, i32),
    /// A whole number of 64 bits.
    Int64,
    /// A whole number of 8 bits, not negative.
    Uint8,
    /// A whole number of 32 bits, not negative.
    Uint32,
    /// A whole number of 64 bits, not negative.
    Uint64,
    /// A number.
    Double,
    /// One of several words.
    Word(&'static [&'static str]),
    /// A kind of compression.
    Compression,
    /// Any text. RocksDB writes it escaped, and reads it either way.
    Text,
    /// Values with colons between them.
    List(&'static Kind),
    /// `{name=value;...}`
    Struct(&'static [Known]),
    /// A filter policy.
    Filter,
    /// Another object, by its name.
    Object,
}

/// How RocksDB writes that there is no object.
const NONE: &str = "nullptr";

/// The value of an option.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Value {
    /// What RocksDB is given.
    pub(crate) given: String,
    /// The same for equal values, whichever way they are written.
    pub(crate) canonical: String,
}

impl Value {
    fn plain(text: String) -> Value {
        Value {
            given: text.clone(),
            canonical: text,
        }
    }

    fn read_as(given: &str, canonical: String) -> Value {
        Value {
            given: given.to_owned(),
            canonical,
        }
    }
}

impl Kind {
    /// Reads a value.
    ///
    /// # Errors
    /// What it should be: completes "which is ...".
    pub(crate) fn read(self, text: &str) -> Result<Value, String> {
        match self {
            Kind::Boolean => boolean(text).map(Value::plain),
            Kind::Int32 => integer(text, i32::MIN.into(), i32::MAX.into()).map(Value::plain),
            Kind::Within(least, most) => integer(text, least.into(), most.into()).map(Value::plain),
            Kind::Int64 => integer(text, i64::MIN.into(), i64::MAX.into()).map(Value::plain),
            Kind::Uint8 => integer(text, 0, u8::MAX.into()).map(Value::plain),
            Kind::Uint32 => integer(text, 0, u32::MAX.into()).map(Value::plain),
            Kind::Uint64 => integer(text, 0, u64::MAX.into()).map(Value::plain),
            Kind::Double => double(text).map(|shown| Value::read_as(text, shown)),
            Kind::Word(words) => word(text, words).map(Value::plain),
            Kind::Compression => compression(text).map(Value::plain),
            Kind::List(item) => list(text, *item),
            Kind::Text => Ok(Value::read_as(text, unescape(text))),
            Kind::Struct(_) => Ok(Value::plain(text.to_owned())),
            Kind::Filter => Ok(Value::read_as(text, filter::canonical(text))),
            Kind::Object => Ok(Value::read_as(text, object(text))),
        }
    }

    /// The value of an option that an OPTIONS file does not name: RocksDB writes
    /// no empty ones.
    pub(crate) fn absent(self) -> Option<&'static str> {
        match self {
            Kind::Text | Kind::List(_) => Some(""),
            Kind::Object | Kind::Filter => Some(NONE),
            _ => None,
        }
    }
}

fn boolean(text: &str) -> Result<String, String> {
    match text {
        "true" | "1" => Ok("true".into()),
        "false" | "0" => Ok("false".into()),
        _ => Err("neither true nor false".into()),
    }
}

fn integer(text: &str, least: i128, most: i128) -> Result<String, String> {
    let no_number = || {
        "no whole number: write digits, with K, M, G or T behind them for powers of 1024".to_owned()
    };
    let (digits, shift) = match text.char_indices().next_back() {
        Some((at, 'k' | 'K')) => (&text[..at], 10),
        Some((at, 'm' | 'M')) => (&text[..at], 20),
        Some((at, 'g' | 'G')) => (&text[..at], 30),
        Some((at, 't' | 'T')) => (&text[..at], 40),
        _ => (text, 0),
    };
    if !digits.starts_with(|first: char| first == '-' || first.is_ascii_digit()) {
        return Err(no_number());
    }
    // Anything that a 64-bit number can hold times 2^40 fits in 128 bits.
    let number: i64 = match digits.parse::<u64>() {
        Ok(large) if shift == 0 => return in_range(i128::from(large), least, most),
        _ => digits.parse().map_err(|_| no_number())?,
    };
    in_range(i128::from(number) << shift, least, most)
}

fn in_range(number: i128, least: i128, most: i128) -> Result<String, String> {
    if (least..=most).contains(&number) {
        Ok(number.to_string())
    } else {
        Err(format!("outside its range, {least} to {most}"))
    }
}

/// With six digits, as RocksDB writes it.
fn double(text: &str) -> Result<String, String> {
    match text.parse::<f64>() {
        Ok(number) if number.is_finite() => Ok(format!("{number:.6}")),
        _ => Err("no number".into()),
    }
}

fn word(text: &str, words: &[&str]) -> Result<String, String> {
    if words.contains(&text) {
        Ok(text.to_owned())
    } else {
        Err(format!("none of {}", words.join(", ")))
    }
}

/// Those of custom compression managers are kCustomCompression80 to kCustomCompressionFE.
fn compression(text: &str) -> Result<String, String> {
    let custom = text
        .strip_prefix("kCustomCompression")
        .filter(|digits| digits.len() == 2 && *digits == digits.to_uppercase())
        .and_then(|digits| u8::from_str_radix(digits, 16).ok());
    match custom {
        Some(0x80..=0xfe) => Ok(text.to_owned()),
        _ => word(text, COMPRESSION),
    }
}

fn list(text: &str, item: Kind) -> Result<Value, String> {
    let inner = without_braces(text);
    if inner.is_empty() {
        return Ok(Value::plain(String::new()));
    }
    let items: Result<Vec<String>, String> = inner
        .split(':')
        .map(|part| item.read(part.trim()).map(|value| value.canonical))
        .collect();
    match items {
        Ok(items) => Ok(Value::plain(items.join(":"))),
        Err(why) => Err(format!(
            "no list with colons between its items: one is {why}"
        )),
    }
}

/// `{id=X}` means X; no name, no object; a short name stands for RocksDB's own.
fn object(text: &str) -> String {
    let inner = without_braces(text);
    let name = inner.strip_prefix("id=").unwrap_or(inner);
    let name = name.strip_suffix(';').unwrap_or(name);
    match name {
        "" | NONE => NONE.to_owned(),
        "skip_list" | "skip_list:0" => "SkipListFactory".to_owned(),
        "vector" => "VectorRepFactory".to_owned(),
        _ if name.contains(['=', ';']) => text.to_owned(),
        _ => match name.split_once(':') {
            Some(("skip_list", lookahead)) => format!("SkipListFactory:{lookahead}"),
            Some(("fixed", length)) => format!("rocksdb.FixedPrefix.{length}"),
            Some(("capped", length)) => format!("rocksdb.CappedPrefix.{length}"),
            _ => name.to_owned(),
        },
    }
}

/// The text in a pair of braces around all of it.
pub(super) fn without_braces(text: &str) -> &str {
    let inner = text
        .strip_prefix('{')
        .and_then(|rest| rest.strip_suffix('}'));
    inner.unwrap_or(text).trim()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn canonical(kind: Kind, text: &str) -> Result<String, String> {
        kind.read(text).map(|value| value.canonical)
    }

    fn is(kind: Kind, text: &str, expected: &str) {
        assert_eq!(
            canonical(kind, text).as_deref(),
            Ok(expected),
            "{kind:?} {text}"
        );
    }

    fn refused(kind: Kind, text: &str, words: &str) {
        let why = canonical(kind, text).expect_err(text);
        assert!(why.contains(words), "{kind:?} {text}: {why}");
    }

    #[test]
    fn numbers_have_units_and_bounds() {
        is(Kind::Uint64, "64K", "65536");
        is(Kind::Uint64, "2t", "2199023255552");
        is(Kind::Uint64, "18446744073709551614", "18446744073709551614");
        is(Kind::Int32, "-1", "-1");
        is(Kind::Int32, "1M", "1048576");
        refused(Kind::Int32, "4G", "outside its range");
        is(Kind::Within(-1, 19), "19", "19");
        refused(Kind::Within(-1, 19), "20", "outside its range, -1 to 19");
        refused(Kind::Uint32, "-1", "outside its range, 0 to 4294967295");
        refused(Kind::Uint64, "18446744073709551615T", "no whole number");
        refused(Kind::Int64, "99999999999999999999", "no whole number");
        for wrong in ["", "K", "64x", "1.5", "+1", "1 K", "0x10", "--1", "é"] {
            refused(Kind::Uint64, wrong, "no whole number");
        }
    }

    #[test]
    fn numbers_with_a_fraction_are_compared_as_rocksdb_writes_them() {
        is(Kind::Double, "10", "10.000000");
        is(Kind::Double, "0.1", "0.100000");
        refused(Kind::Double, "NaN", "no number");
        refused(Kind::Double, "ten", "no number");
        let value = Kind::Double.read("0.12345678").expect("a number");
        assert_eq!(value.given, "0.12345678");
    }

    #[test]
    fn words_lists_and_objects() {
        const WORDS: &[&str] = &["kOne", "kTwo"];
        is(Kind::Boolean, "1", "true");
        refused(Kind::Boolean, "yes", "neither true nor false");
        is(Kind::Word(WORDS), "kTwo", "kTwo");
        refused(Kind::Word(WORDS), "two", "none of kOne, kTwo");
        is(Kind::List(&Kind::Word(WORDS)), "{kOne: kTwo}", "kOne:kTwo");
        for kind in ["kZSTD", "kCustomCompression80", "kCustomCompressionFE"] {
            is(Kind::Compression, kind, kind);
        }
        for wrong in [
            "kCustomCompression7F",
            "kCustomCompressionFF",
            "kCustomCompressionfe",
            "kCustomCompression+8",
            "kCustomCompression",
            "kZSTDNotFinalCompression",
        ] {
            refused(Kind::Compression, wrong, "none of kNoCompression");
        }
        is(Kind::Text, "12\\:30-13\\:30", "12:30-13:30");
        is(Kind::Text, "12:30-13:30", "12:30-13:30");
        is(Kind::List(&Kind::Int32), "", "");
        refused(Kind::List(&Kind::Int32), "1:x", "one is no whole number");
        is(Kind::Object, "{id=SkipListFactory;}", "SkipListFactory");
        is(Kind::Object, "", "nullptr");
        is(Kind::Object, "{}", "nullptr");
        is(Kind::Object, "{id=a;b=1;}", "{id=a;b=1;}");
        is(Kind::Object, "fixed:4", "rocksdb.FixedPrefix.4");
        is(Kind::Object, "skip_list", "SkipListFactory");
    }
}
