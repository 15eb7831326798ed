//! Table files from outside: read and copied first, made part of the tree later.

use std::ffi::{CString, c_char};
use std::marker::PhantomData;
use std::path::Path;

use rust_rocksdb::{AsRawPtr, IngestExternalFileOptions};

use super::handle::Handle;
use super::{CfRef, Error, raw};

/// Files that lie in a database's directory and that nobody sees yet. They are removed where
/// this is dropped without a commit.
pub struct PreparedFiles<'a> {
    inner: Handle<raw::Ingestion>,
    /// The column family, which must last as long.
    family: PhantomData<CfRef<'a>>,
}

impl<'a> PreparedFiles<'a> {
    /// Reads the files, and copies or links them, as the options say.
    pub fn new(
        cf: CfRef<'a>,
        options: &IngestExternalFileOptions,
        paths: &[&Path],
    ) -> Result<Self, Error> {
        let paths = paths
            .iter()
            .map(|path| c_path(path))
            .collect::<Result<Vec<CString>, Error>>()?;
        let pointers: Vec<*const c_char> = paths.iter().map(|path| path.as_ptr()).collect();
        // SAFETY: the target is alive (see `CfRef`) as long as what is made; the options and
        // the paths, which end in NUL, are read during the call only. RocksDB locks by itself,
        // and `commit`, which is called once, is the only function that takes the object.
        let inner = unsafe {
            Handle::new(raw::lissom_ingestion_free, |out| {
                raw::lissom_ingestion_prepare(
                    cf.raw(),
                    options.as_raw_ptr(),
                    pointers.as_ptr(),
                    pointers.len(),
                    out,
                )
            })
        }?;
        Ok(Self {
            inner,
            family: PhantomData,
        })
    }

    /// Makes them part of the column family: all, or none where it fails.
    pub fn commit(self) -> Result<(), Error> {
        // SAFETY: the object is alive, and nobody else has it.
        unsafe { Error::check(raw::lissom_ingestion_commit(self.inner.as_ptr())) }
    }
}

fn c_path(path: &Path) -> Result<CString, Error> {
    CString::new(path.as_os_str().as_encoded_bytes())
        .map_err(|_| Error::new(format!("no file is named {}", path.display())))
}
