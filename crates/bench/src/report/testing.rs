//! Printed tables, as tests compare them.

/// The words of a text, one blank apart, however wide its columns are.
pub(crate) fn single_spaced(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
