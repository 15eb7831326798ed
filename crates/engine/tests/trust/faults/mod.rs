//! The world around a store breaks: each time there is a sentence that says what
//! to do, and nothing that was stored is lost.

mod directory;
mod disk;
mod files;
mod tuners;
