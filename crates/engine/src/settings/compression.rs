//! The compression of table files.

use rust_rocksdb::DBCompressionType;

/// How the blocks of a level's files are compressed.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Compression {
    /// Not at all.
    None,
    /// LZ4: fast.
    #[default]
    Lz4,
    /// Zstandard: small.
    Zstd,
}

impl Compression {
    /// A number that is equal for equal compressions.
    pub(crate) fn class(self) -> u8 {
        self as u8
    }

    /// As an OPTIONS file spells it.
    pub(crate) fn option(self) -> &'static str {
        match self {
            Compression::None => "kNoCompression",
            Compression::Lz4 => "kLZ4Compression",
            Compression::Zstd => "kZSTD",
        }
    }

    pub(crate) fn rocksdb(self) -> DBCompressionType {
        match self {
            Compression::None => DBCompressionType::None,
            Compression::Lz4 => DBCompressionType::Lz4,
            Compression::Zstd => DBCompressionType::Zstd,
        }
    }
}
