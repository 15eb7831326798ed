//! What a page shows behind its benchmark, and is no part of it.

use serde::Serialize;

/// A picture, what to think of it, and how it is made again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Supplement {
    /// Its heading.
    pub heading: String,
    /// What it shows, why, and what it does not show.
    pub note: String,
    /// The picture, as SVG.
    pub picture: String,
    /// The picture in words.
    pub alternative: String,
    /// What the command makes.
    pub again: String,
    /// The command that makes it again; it may have several lines.
    pub command: String,
}
