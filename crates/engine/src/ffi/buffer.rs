//! Reading the flat buffers that the plug-in fills.
//!
//! Integers and doubles are 8 bytes in the machine's order; a string is its
//! length followed by its bytes.

use super::{Error, raw};

/// Memory that the plug-in handed over; released on drop.
pub(super) struct Owned(raw::Buffer);

impl Owned {
    /// Runs one plug-in call that fills a buffer.
    ///
    /// # Safety
    ///
    /// `call` passes the pointer to one plug-in function, as its `out` argument,
    /// does nothing else with it, and returns what that function returned.
    pub(super) unsafe fn fill(
        call: impl FnOnce(*mut raw::Buffer) -> raw::Message,
    ) -> Result<Self, Error> {
        let mut owned = Self(raw::Buffer {
            data: std::ptr::null_mut(),
            size: 0,
        });
        let message = call(&raw mut owned.0);
        // SAFETY: the caller promises that the message is that of one plug-in call.
        unsafe { Error::check(message) }?;
        Ok(owned)
    }

    pub(super) fn reader(&self) -> Reader<'_> {
        Reader { rest: self.bytes() }
    }

    pub(super) fn bytes(&self) -> &[u8] {
        if self.0.data.is_null() {
            return &[];
        }
        // SAFETY: the plug-in allocated `size` bytes at `data` and keeps no
        // pointer to them; they live until `self` is dropped.
        unsafe { std::slice::from_raw_parts(self.0.data, self.0.size) }
    }
}

impl Drop for Owned {
    fn drop(&mut self) {
        // SAFETY: `data` is null or came from the plug-in's malloc, and is
        // released nowhere else.
        unsafe { raw::lissom_free(self.0.data.cast()) };
    }
}

/// Byte strings in one piece, for the plug-in to read, and where each ends.
pub(super) fn joined<K: AsRef<[u8]>>(parts: &[K]) -> (Vec<u8>, Vec<usize>) {
    let mut bytes = Vec::with_capacity(parts.iter().map(|part| part.as_ref().len()).sum());
    let mut ends = Vec::with_capacity(parts.len());
    for part in parts {
        bytes.extend_from_slice(part.as_ref());
        ends.push(bytes.len());
    }
    (bytes, ends)
}

/// Walks over a buffer. Running out of bytes means that the two sides disagree
/// on the encoding, and is reported, not guessed at.
pub(super) struct Reader<'a> {
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    #[cfg(test)]
    pub(super) fn new(rest: &'a [u8]) -> Self {
        Self { rest }
    }

    pub(super) fn u64(&mut self) -> Result<u64, Error> {
        let (value, rest) = self.rest.split_first_chunk().ok_or_else(short)?;
        self.rest = rest;
        Ok(u64::from_ne_bytes(*value))
    }

    pub(super) fn u32(&mut self) -> Result<u32, Error> {
        u32::try_from(self.u64()?).map_err(|_| short())
    }

    pub(super) fn u8(&mut self) -> Result<u8, Error> {
        u8::try_from(self.u64()?).map_err(|_| short())
    }

    pub(super) fn i64(&mut self) -> Result<i64, Error> {
        Ok(self.u64()?.cast_signed())
    }

    pub(super) fn bool(&mut self) -> Result<bool, Error> {
        Ok(self.u64()? != 0)
    }

    pub(super) fn f64(&mut self) -> Result<f64, Error> {
        Ok(f64::from_bits(self.u64()?))
    }

    pub(super) fn bytes(&mut self) -> Result<&'a [u8], Error> {
        let size = usize::try_from(self.u64()?).map_err(|_| short())?;
        let (bytes, rest) = self.rest.split_at_checked(size).ok_or_else(short)?;
        self.rest = rest;
        Ok(bytes)
    }

    pub(super) fn string(&mut self) -> Result<String, Error> {
        Ok(String::from_utf8_lossy(self.bytes()?).into_owned())
    }

    /// The name of an object that may be absent.
    pub(super) fn name(&mut self) -> Result<Option<String>, Error> {
        Ok(Some(self.string()?).filter(|name| !name.is_empty()))
    }

    /// A count of items that take at least `item` bytes each: a bound on what
    /// may be reserved for them.
    pub(super) fn count(&mut self, item: usize) -> Result<usize, Error> {
        let count = usize::try_from(self.u64()?).map_err(|_| short())?;
        if count > self.rest.len() / item {
            return Err(short());
        }
        Ok(count)
    }

    /// Bytes that are left.
    pub(super) fn left(&self) -> usize {
        self.rest.len()
    }

    pub(super) fn finish(self) -> Result<(), Error> {
        if self.rest.is_empty() {
            Ok(())
        } else {
            Err(short())
        }
    }
}

fn short() -> Error {
    Error::new(
        "the plug-in's answer does not have the expected form; rebuild from a clean target directory",
    )
}

#[cfg(test)]
mod tests {
    use super::Reader;

    #[test]
    fn a_cut_buffer_is_an_error_at_every_length() {
        let mut bytes = 7u64.to_ne_bytes().to_vec();
        bytes.extend(3u64.to_ne_bytes());
        bytes.extend(b"abc");
        for cut in 0..bytes.len() {
            let mut reader = Reader::new(&bytes[..cut]);
            assert!(
                reader.u64().is_err() || reader.bytes().is_err(),
                "cut {cut}"
            );
        }
        let mut reader = Reader::new(&bytes);
        assert_eq!(reader.u64(), Ok(7));
        assert_eq!(reader.bytes(), Ok(&b"abc"[..]));
        assert_eq!(reader.finish(), Ok(()));
    }

    #[test]
    fn a_count_above_the_bytes_left_is_an_error() {
        let mut bytes = 2u64.to_ne_bytes().to_vec();
        bytes.extend([0; 15]);
        assert!(Reader::new(&bytes).count(8).is_err());
        bytes.push(0);
        assert_eq!(Reader::new(&bytes).count(8), Ok(2));
    }

    #[test]
    fn bytes_left_over_are_an_error() {
        assert!(Reader::new(&[1]).finish().is_err());
    }
}
