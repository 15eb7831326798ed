//! Keys and values as bytes. A value is determined by its key number and version, so
//! that every read can be verified.

use super::rng::{Rng, mix};
use super::sizes;
use crate::workload::{KeyOrder, Size, Workload};

/// Random bytes from which values take theirs.
const POOL: usize = 1 << 20;
/// Last byte of a key that exists, and of one that never does.
const PRESENT: u8 = b'0';
const ABSENT: u8 = b'x';

/// Makes keys and values for one workload.
#[derive(Debug, Clone)]
pub struct DataShape {
    key_size: usize,
    value_size: Size,
    compressible_share: f64,
    order: KeyOrder,
    pool: std::sync::Arc<[u8]>,
}

impl DataShape {
    /// The shape that `workload` asks for.
    pub fn new(workload: &Workload) -> Self {
        let mut rng = Rng::new(&[0x706f_6f6c]);
        let pool: Vec<u8> = (0..POOL / 8)
            .flat_map(|_| rng.bits().to_le_bytes())
            .collect();
        Self {
            key_size: workload.key_size,
            value_size: workload.value_size,
            compressible_share: workload.compressible_share,
            order: workload.key_order,
            pool: pool.into(),
        }
    }

    /// Writes the key with number `index`.
    pub fn key(&self, index: u64, key: &mut Vec<u8>) {
        self.write_key(index, PRESENT, key);
    }

    /// Writes a key that never exists and lies directly behind key `index`.
    pub fn absent_key(&self, index: u64, key: &mut Vec<u8>) {
        self.write_key(index, ABSENT, key);
    }

    fn write_key(&self, index: u64, last: u8, key: &mut Vec<u8>) {
        let place = match self.order {
            KeyOrder::Hashed => mix(index),
            KeyOrder::Ordered => index,
        };
        key.clear();
        key.resize(self.key_size, PRESENT);
        for (i, digit) in key.iter_mut().take(16).enumerate() {
            *digit = b"0123456789abcdef"[(place >> (60 - 4 * i)) as usize & 15];
        }
        key[self.key_size - 1] = last;
    }

    /// Bytes of the value of key `index` in `version`.
    pub fn value_size(&self, index: u64, version: u8) -> usize {
        match self.value_size {
            Size::Fixed(size) => size as usize,
            drawn => sizes::draw(drawn, &mut Rng::new(&[index, u64::from(version)])) as usize,
        }
    }

    /// Bytes of key and value together.
    pub fn entry_size(&self, index: u64, version: u8) -> u64 {
        (self.key_size + self.value_size(index, version)) as u64
    }

    /// Writes the value of key `index` in `version`.
    pub fn value(&self, index: u64, version: u8, value: &mut Vec<u8>) {
        let size = self.value_size(index, version);
        value.clear();
        value.extend_from_slice(&index.to_le_bytes());
        value.push(version);
        let random = (size as f64 * (1.0 - self.compressible_share)) as usize;
        let mut place = mix(index ^ (u64::from(version) << 56)) as usize % POOL;
        while value.len() < random {
            let part = (random - value.len()).min(POOL - place);
            value.extend_from_slice(&self.pool[place..place + part]);
            place = 0;
        }
        value.resize(size, 0);
    }

    /// Key number and version that a value claims; `None` if it is too short.
    pub fn claim(value: &[u8]) -> Option<(u64, u8)> {
        let index = value.get(..8)?.try_into().ok().map(u64::from_le_bytes)?;
        Some((index, *value.get(8)?))
    }
}
