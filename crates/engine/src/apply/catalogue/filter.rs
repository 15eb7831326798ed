//! Filter policies are written in several ways.

use super::kind::without_braces;

/// One way to write a filter policy: `bloomfilter:10:false`, `ribbonfilter:10:0`.
/// RocksDB keeps thousandths of a bit. Unknown policies stay as they are.
pub(super) fn canonical(text: &str) -> String {
    let inner = without_braces(text);
    let field = |name: &str| {
        inner
            .split(';')
            .find_map(|part| part.trim().strip_prefix(name)?.strip_prefix('='))
    };
    let id = field("id").unwrap_or(inner);
    if matches!(id, "" | "nullptr") {
        return "nullptr".to_owned();
    }
    let mut parts = id.split(':');
    let name = match parts.next() {
        Some("rocksdb.BloomFilter") => "bloomfilter",
        Some("rocksdb.RibbonFilter") => "ribbonfilter",
        Some(name) => name,
        None => return text.to_owned(),
    };
    let bits = parts.next().and_then(|bits| bits.parse::<f64>().ok());
    let (Some(bits), last) = (bits, parts.next()) else {
        return id.to_owned();
    };
    let bits = (bits * 1_000.0).round() / 1_000.0;
    match name {
        // The third part named a kind of Bloom filter that is gone.
        "bloomfilter" => format!("bloomfilter:{bits}:false"),
        "ribbonfilter" => {
            let level = field("bloom_before_level").or(last).unwrap_or("0");
            format!("ribbonfilter:{bits}:{level}")
        }
        _ => id.to_owned(),
    }
}

/// Whether a policy was written without its bits per key, as RocksDB's C interface
/// makes it: RocksDB then loads none.
pub(crate) fn lacks_bits(canonical: &str) -> bool {
    matches!(
        canonical,
        "bloomfilter" | "ribbonfilter" | "rocksdb.BloomFilter" | "rocksdb.RibbonFilter"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_policies_are_equal_texts() {
        for (written, read) in [
            ("nullptr", "nullptr"),
            ("", "nullptr"),
            ("bloomfilter:10", "bloomfilter:10:false"),
            ("bloomfilter:10.0:true", "bloomfilter:10:false"),
            ("rocksdb.BloomFilter:9.5:false", "bloomfilter:9.5:false"),
            ("ribbonfilter:10", "ribbonfilter:10:0"),
            (
                "{id=ribbonfilter:10:0;bloom_before_level=2;}",
                "ribbonfilter:10:2",
            ),
            ("mine:1:2:3", "mine:1:2:3"),
            ("lissom.LevelBloom:10x194", "lissom.LevelBloom:10x194"),
            ("bloomfilter", "bloomfilter"),
        ] {
            assert_eq!(canonical(written), read, "{written}");
        }
        assert!(lacks_bits(&canonical("bloomfilter")));
        assert!(!lacks_bits(&canonical("bloomfilter:10")));
    }
}
