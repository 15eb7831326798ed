//! The filter policy, which is one option of RocksDB and up to three parameters here.

use super::settings::Settings;
use crate::error::{Result, SearchError};

/// What filters a configuration asks for.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum Filter {
    /// None.
    None,
    /// Bloom filters.
    Bloom {
        /// Bits per key.
        bits: f64,
    },
    /// Ribbon filters.
    Ribbon {
        /// Bits per key of a Bloom filter of the same rate.
        bits: f64,
        /// Levels above this one get Bloom filters.
        before: f64,
    },
}

impl Filter {
    /// Takes `bloom_bits` (the published space), or `filter_policy` with
    /// `bits_per_key` and `bloom_before_level`. `None` where the space has neither, or
    /// spells whole policies such as `bloomfilter:10:false`.
    ///
    /// # Errors
    /// A policy without bits.
    pub(super) fn take(settings: &mut Settings<'_>) -> Result<Option<Filter>> {
        if let Some(bits) = settings.number("bloom_bits") {
            return Ok(Some(Filter::bloom(bits)));
        }
        let words = [
            ("none", "none"),
            ("bloomfilter", "bloom"),
            ("ribbonfilter", "ribbon"),
        ];
        let Some(kind) = settings.word("filter_policy", &words) else {
            return Ok(None);
        };
        let bits = settings.number("bits_per_key");
        let before = settings.number("bloom_before_level").unwrap_or(0.0);
        match (kind.as_str(), bits) {
            ("none", _) => Ok(Some(Filter::None)),
            ("bloom", Some(bits)) => Ok(Some(Filter::bloom(bits))),
            (_, Some(bits)) => Ok(Some(Filter::Ribbon { bits, before })),
            (_, None) => Err(SearchError::new(
                "filter_policy asks for filters and nothing says how large: give the space a \
                 parameter bits_per_key, or words such as bloomfilter:10:false",
            )),
        }
    }

    /// RocksDB takes fewer bits than half of one as none.
    fn bloom(bits: f64) -> Filter {
        if bits < 0.5 {
            Filter::None
        } else {
            Filter::Bloom { bits }
        }
    }

    /// As RocksDB's option strings spell it.
    pub(super) fn policy(self) -> String {
        match self {
            Filter::None => "nullptr".to_owned(),
            Filter::Bloom { bits } => format!("bloomfilter:{bits}:false"),
            Filter::Ribbon { bits, before } => format!("ribbonfilter:{bits}:{before}"),
        }
    }

    /// Bits per key of a Bloom filter of the same rate; 0 without filters.
    pub(super) fn bits(self) -> f64 {
        match self {
            Filter::None => 0.0,
            Filter::Bloom { bits } | Filter::Ribbon { bits, .. } => bits,
        }
    }

    /// How a setting of it reads in remarks.
    pub(super) fn words(self) -> String {
        format!("filter_policy = {}", self.policy())
    }
}
