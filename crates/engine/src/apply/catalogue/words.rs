//! The words of options that take one of several.
//!
//! Source: RocksDB 11.12, options/options_helper.cc and the files of the options.

pub(super) const CACHE_TIER: &[&str] = &[
    "kVolatileTier",
    "kVolatileCompressedTier",
    "kNonVolatileBlockTier",
];

pub(super) const CHECKSUM: &[&str] = &["kNoChecksum", "kCRC32c", "kxxHash", "kxxHash64", "kXXH3"];

pub(super) const COMMON_PREFIX: &[&str] = &["kDisabled", "kIfFastSeek", "kEnabled"];

/// Without those of custom compression managers.
pub(super) const COMPRESSION: &[&str] = &[
    "kNoCompression",
    "kSnappyCompression",
    "kZlibCompression",
    "kBZip2Compression",
    "kLZ4Compression",
    "kLZ4HCCompression",
    "kXpressCompression",
    "kZSTD",
    "kDisableCompressionOption",
];

pub(super) const DATA_BLOCK_INDEX: &[&str] = &["kDataBlockBinarySearch", "kDataBlockBinaryAndHash"];

pub(super) const INDEX: &[&str] = &[
    "kBinarySearch",
    "kHashSearch",
    "kTwoLevelIndexSearch",
    "kBinarySearchWithFirstKey",
];

pub(super) const INDEX_MODE: &[&str] = &[
    "kStandardOnly",
    "kStandardDefault",
    "kCustomDefault",
    "kCustomOnly",
    "kStandardRequired",
];

pub(super) const INDEX_SEARCH: &[&str] = &["kBinary", "kInterpolation", "kAuto"];

pub(super) const INDEX_SHORTENING: &[&str] = &[
    "kNoShortening",
    "kShortenSeparators",
    "kShortenSeparatorsAndSuccessor",
];

pub(super) const LOG_LEVEL: &[&str] = &[
    "DEBUG_LEVEL",
    "INFO_LEVEL",
    "WARN_LEVEL",
    "ERROR_LEVEL",
    "FATAL_LEVEL",
    "HEADER_LEVEL",
];

pub(super) const PINNING: &[&str] = &["kFallback", "kNone", "kFlushedAndSimilar", "kAll"];

pub(super) const PREPOPULATE_BLOBS: &[&str] = &["kDisable", "kFlushOnly"];

pub(super) const PREPOPULATE_BLOCKS: &[&str] = &["kDisable", "kFlushOnly", "kFlushAndCompaction"];

pub(super) const PRIORITY: &[&str] = &[
    "kByCompensatedSize",
    "kOldestLargestSeqFirst",
    "kOldestSmallestSeqFirst",
    "kMinOverlappingRatio",
    "kRoundRobin",
];

pub(super) const STOP_STYLE: &[&str] = &[
    "kCompactionStopStyleSimilarSize",
    "kCompactionStopStyleTotalSize",
];

pub(super) const STYLE: &[&str] = &[
    "kCompactionStyleLevel",
    "kCompactionStyleUniversal",
    "kCompactionStyleFIFO",
    "kCompactionStyleNone",
];

pub(super) const TEMPERATURE: &[&str] = &["kUnknown", "kHot", "kWarm", "kCool", "kCold", "kIce"];

pub(super) const WAL_RECOVERY: &[&str] = &[
    "kTolerateCorruptedTailRecords",
    "kAbsoluteConsistency",
    "kPointInTimeRecovery",
    "kSkipAnyCorruptedRecords",
];
