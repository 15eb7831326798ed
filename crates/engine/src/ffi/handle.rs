//! Objects of the plug-in that Rust owns.

use std::ptr::NonNull;

use rust_rocksdb::Options;
use rust_rocksdb::ffi_raw::rocksdb_options_t;

use super::{Error, layout, raw};

/// An object of the plug-in, released on drop. Any thread may use it.
pub(super) struct Handle<T> {
    object: NonNull<T>,
    free: unsafe extern "C" fn(*mut T),
}

impl<T> Handle<T> {
    /// Runs one plug-in call that makes an object; `None` where it makes none.
    ///
    /// # Safety
    ///
    /// `make` passes the pointer to one plug-in function, as its `out` argument, does
    /// nothing else with it, and returns what that function returned. What the function
    /// makes is owned by nobody else and released by `free`. All functions that take the
    /// object, `free` too, may run on any thread, and all but `free` on several at once.
    pub(super) unsafe fn try_new(
        free: unsafe extern "C" fn(*mut T),
        make: impl FnOnce(*mut *mut T) -> raw::Message,
    ) -> Result<Option<Self>, Error> {
        layout::verify()?;
        let mut object = std::ptr::null_mut();
        let message = make(&raw mut object);
        // SAFETY: the caller promises that the message is that of one plug-in call.
        unsafe { Error::check(message) }?;
        Ok(NonNull::new(object).map(|object| Self { object, free }))
    }

    /// As [`Handle::try_new`], where there always is an object.
    ///
    /// # Safety
    ///
    /// As [`Handle::try_new`].
    pub(super) unsafe fn new(
        free: unsafe extern "C" fn(*mut T),
        make: impl FnOnce(*mut *mut T) -> raw::Message,
    ) -> Result<Self, Error> {
        // SAFETY: the caller promises the same.
        unsafe { Self::try_new(free, make) }?.ok_or_else(|| {
            Error::new("the plug-in made no object; rebuild from a clean target directory")
        })
    }

    /// Puts the object into the options of a database that is to be opened.
    ///
    /// # Safety
    ///
    /// `install` is the plug-in's function for objects of this kind. It reads the object
    /// and changes the options during the call only.
    pub(super) unsafe fn install(
        &self,
        install: unsafe extern "C" fn(*const T, *mut rocksdb_options_t) -> raw::Message,
        options: &mut Options,
    ) -> Result<(), Error> {
        let pointer = layout::pointer(options)?;
        // SAFETY: both objects are alive, and `options` is borrowed exclusively.
        unsafe { Error::check(install(self.as_ptr(), pointer)) }
    }

    /// The object, alive as long as `self`.
    pub(super) fn as_ptr(&self) -> *mut T {
        self.object.as_ptr()
    }
}

// SAFETY: whoever made the handle promised that every function of the object, the one
// that releases it too, may run on any thread.
unsafe impl<T> Send for Handle<T> {}
// SAFETY: and that all others may run on several threads at once.
unsafe impl<T> Sync for Handle<T> {}

impl<T> Drop for Handle<T> {
    fn drop(&mut self) {
        // SAFETY: this is the object's only owner, and `free` is what releases it.
        unsafe { (self.free)(self.object.as_ptr()) };
    }
}
