//! User keys, ordered byte by byte.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// A user key. Cloning is cheap; the order is that of RocksDB's bytewise
/// comparator, the only one that Lissom admits.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key(Arc<[u8]>);

impl Key {
    /// The key's bytes.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }
}

impl<T: AsRef<[u8]>> From<T> for Key {
    fn from(bytes: T) -> Self {
        Key(Arc::from(bytes.as_ref()))
    }
}

/// Printable keys are shown as they are, others as hexadecimal.
impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.iter().all(u8::is_ascii_graphic) {
            f.write_str(std::str::from_utf8(&self.0).unwrap_or_default())
        } else {
            write!(f, "0x{}", to_hex(&self.0))
        }
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Serialize for Key {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&to_hex(&self.0))
    }
}

impl<'de> Deserialize<'de> for Key {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        from_hex(&text)
            .map(|bytes| Key(bytes.into()))
            .ok_or_else(|| de::Error::custom(format!("a key must be hexadecimal, not {text:?}")))
    }
}

fn to_hex(bytes: &[u8]) -> String {
    use fmt::Write;
    bytes
        .iter()
        .fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
            let _ = write!(text, "{byte:02x}");
            text
        })
}

fn from_hex(text: &str) -> Option<Vec<u8>> {
    if !text.len().is_multiple_of(2) || !text.is_ascii() {
        return None;
    }
    (0..text.len())
        .step_by(2)
        .map(|at| u8::from_str_radix(&text[at..at + 2], 16).ok())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_survive_json_whatever_their_bytes() {
        for bytes in [&b""[..], b"plain", b"\x00\xff \n"] {
            let key = Key::from(bytes);
            let text = serde_json::to_string(&key).expect("a key is a string");
            assert_eq!(serde_json::from_str::<Key>(&text).expect(&text), key);
        }
        assert!(serde_json::from_str::<Key>("\"0g\"").is_err());
    }
}
