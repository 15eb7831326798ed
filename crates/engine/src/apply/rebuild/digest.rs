//! A hash of entries in their order: FNV-1a, 128 bits (Fowler, Noll, Vo), over the
//! lengths and bytes of keys and values.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

const OFFSET: u128 = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d;
const PRIME: u128 = 0x0000_0000_0100_0000_0000_0000_0000_013b;

/// The hash so far.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Digest(u128);

impl Default for Digest {
    fn default() -> Digest {
        Digest(OFFSET)
    }
}

impl Digest {
    /// The hash with more behind it.
    #[must_use]
    pub(super) fn with(self, bytes: &[u8]) -> Digest {
        Digest(bytes.iter().fold(self.0, |hash, byte| {
            (hash ^ u128::from(*byte)).wrapping_mul(PRIME)
        }))
    }

    /// The hash with a text behind it and its length, so that no two lists of texts
    /// have one hash.
    #[must_use]
    pub(super) fn with_text(self, text: &[u8]) -> Digest {
        self.with(&(text.len() as u64).to_le_bytes()).with(text)
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}

impl Serialize for Digest {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Digest {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Digest, D::Error> {
        let text = String::deserialize(deserializer)?;
        u128::from_str_radix(&text, 16)
            .map(Digest)
            .map_err(de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn published_values() {
        let hash = |bytes| Digest::default().with(bytes).to_string();
        assert_eq!(hash(b""), "6c62272e07bb014262b821756295c58d");
        assert_eq!(hash(b"a"), "d228cb696f1a8caf78912b704e4a8964");
        assert_eq!(hash(b"foobar"), "343e1662793c64bf6f0d3597ba446f18");
    }

    #[test]
    fn pieces_make_no_difference() {
        let whole = Digest::default().with(b"foobar");
        assert_eq!(Digest::default().with(b"foo").with(b"bar"), whole);
        assert_ne!(Digest::default().with(b"bar").with(b"foo"), whole);
    }

    #[test]
    fn texts_are_told_apart_by_where_they_end() {
        let pair = |a: &[u8], b: &[u8]| Digest::default().with_text(a).with_text(b);
        assert_ne!(pair(b"foo", b"bar"), pair(b"foob", b"ar"));
        assert_ne!(pair(b"", b"foo"), pair(b"foo", b""));
    }
}
