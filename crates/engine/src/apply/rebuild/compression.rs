//! How files are compressed, and how a copy of them would be.

use crate::apply::text::{OptionsText, Section};

/// Words of options, names in files, and codes in files of format 7 and later
/// (`CompressionTypeToString`, `enum CompressionType`). LZ4HC is written where LZ4 is
/// asked for, and the other way round, by the level of compression.
const KINDS: [(&str, &str, &str); 8] = [
    ("kNoCompression", "NoCompression", "00"),
    ("kSnappyCompression", "Snappy", "01"),
    ("kZlibCompression", "Zlib", "02"),
    ("kBZip2Compression", "BZip2", "03"),
    ("kLZ4Compression", "LZ4", "04"),
    ("kLZ4HCCompression", "LZ4HC", "05"),
    ("kXpressCompression", "Xpress", "06"),
    ("kZSTD", "ZSTD", "07"),
];

/// The compressions that a column family's options choose, as words of options.
pub(super) fn wanted(options: &OptionsText, family: &str) -> Vec<String> {
    let section = Section::Family(family.to_owned());
    [
        "compression",
        "compression_per_level",
        "bottommost_compression",
    ]
    .iter()
    .filter_map(|option| options.get(&section, option))
    .flat_map(|value| value.trim_matches(['{', '}']).split(':'))
    .map(|word| alike(word.trim()).to_owned())
    .collect()
}

/// Whether a file of this compression keeps it under options that choose these. One
/// without any has nothing to lose.
pub(super) fn stays(file: &str, wanted: &[String]) -> bool {
    of_file(file)
        .iter()
        .all(|kind| kind == "kNoCompression" || wanted.contains(kind))
}

/// What a file's own words come to as words of options.
fn of_file(file: &str) -> Vec<String> {
    let by = |known: &dyn Fn(&(&str, &str, &str)) -> bool, other: &str| {
        let word = KINDS.iter().find(|&it| known(it)).map(|it| it.0);
        alike(word.unwrap_or(other)).to_owned()
    };
    match file.split_once(';') {
        None if file.is_empty() => Vec::new(),
        None => vec![by(&|it| it.1 == file, file)],
        Some((_, codes)) => {
            let codes = codes.split(';').next().unwrap_or_default();
            let codes: Vec<char> = codes.chars().collect();
            let codes = codes.chunks(2).map(|code| code.iter().collect::<String>());
            codes.map(|code| by(&|it| it.2 == code, &code)).collect()
        }
    }
}

fn alike(word: &str) -> &str {
    match word {
        "kLZ4HCCompression" => "kLZ4Compression",
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(lines: &str) -> Vec<String> {
        let text = format!("[CFOptions \"default\"]\n{lines}");
        wanted(&OptionsText::parse(&text).expect(lines), "default")
    }

    #[test]
    fn both_spellings_of_files_are_compared_with_options() {
        let zstd = kinds("compression=kZSTD\n");
        assert_eq!(zstd, ["kZSTD"]);
        for (file, same) in [
            ("ZSTD", true),
            ("BuiltinV2;07;", true),
            ("BuiltinV2;;", true),
            (";;", true),
            ("", true),
            ("NoCompression", true),
            ("LZ4", false),
            ("BuiltinV2;0407;", false),
            ("Mine;80;", false),
        ] {
            assert_eq!(stays(file, &zstd), same, "{file}");
        }
    }

    #[test]
    fn levels_may_differ() {
        let lines = "compression=kNoCompression\n\
                     compression_per_level=kNoCompression:kLZ4HCCompression\n\
                     bottommost_compression=kZSTD\n";
        let kinds = kinds(lines);
        for file in ["LZ4", "LZ4HC", "ZSTD", "BuiltinV2;0407;"] {
            assert!(stays(file, &kinds), "{file} {kinds:?}");
        }
        assert!(!stays("Snappy", &kinds));
    }
}
