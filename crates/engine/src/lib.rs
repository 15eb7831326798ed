#[doc(hidden)]
pub mod ffi;
