//! A small language for rules, features and objectives.
//!
//! ```text
//! write_buffer_size * max_write_buffer_number <= memory / 4
//! 4 <= level0_file_num_compaction_trigger < level0_slowdown_writes_trigger
//! compression == 'kZSTD' or block_size >= 16KiB
//! throughput / max(1, memory_bytes)
//! ```
//!
//! - Numbers: `12`, `0.5`, `1e6`, with a unit directly behind: `B kB MB GB TB`
//!   (powers of 1000), `KiB MiB GiB TiB` (powers of 1024), `us ms s min h`
//!   (seconds), `%`.
//! - Names of numbers, of booleans and of choices; letters, digits, `_` and `.`.
//! - `+ - * / ^` and the functions `min max log ln exp sqrt floor ceil round abs
//!   clamp if`; `log(x, base)`, `clamp(x, least, most)`, `if(condition, then, else)`.
//! - `< <= > >= == !=`, which may stand in a chain: `a < b < c`.
//! - `and or not`, `true`, `false`.
//! - A choice is compared with a text in quotes by `==` and `!=`.
//!
//! An [`Expression`] is text that parses. Bound to [`Names`] it becomes a
//! [`Quantity`] (a number) or a [`Claim`] (true or false), whose evaluation cannot
//! fail: every name and every kind was checked. A quantity may still come to no
//! number (0 / 0); a comparison with that is false.

mod bind;
mod evaluate;
mod function;
mod names;
mod parse;
#[cfg(test)]
mod tests;
mod token;
mod unit;

use std::collections::BTreeSet;
use std::fmt;

pub use bind::{Claim, Quantity};
pub use names::{NameKind, Names, Value, is_name};
pub(crate) use token::tells_times;

use parse::Node;

/// An expression that parses; its names are not looked up yet.
#[derive(Clone, PartialEq, Debug)]
pub struct Expression {
    text: String,
    root: Node,
}

impl Expression {
    /// Parses an expression.
    ///
    /// # Errors
    /// What is wrong, and in which column.
    pub fn parse(text: &str) -> Result<Expression, ExpressionError> {
        Ok(Expression {
            text: text.trim().to_owned(),
            root: parse::parse(text)?,
        })
    }

    /// The text, without spaces at its ends.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The names that occur, each once.
    pub fn names(&self) -> BTreeSet<&str> {
        let mut names = BTreeSet::new();
        self.root.collect_names(&mut names);
        names
    }

    /// The expression as a number over these names.
    ///
    /// # Errors
    /// An unknown name, a part of the wrong kind, or an expression that is true or
    /// false; with the column.
    pub fn quantity(&self, names: &Names) -> Result<Quantity, ExpressionError> {
        Quantity::bind(&self.text, &self.root, names)
    }

    /// The expression as something true or false over these names.
    ///
    /// # Errors
    /// An unknown name, a part of the wrong kind, or an expression that is a
    /// number; with the column.
    pub fn claim(&self, names: &Names) -> Result<Claim, ExpressionError> {
        Claim::bind(&self.text, &self.root, names)
    }
}

impl fmt::Display for Expression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// Why a text is no expression, and where.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ExpressionError {
    /// The character at fault, counted from 1.
    pub column: usize,
    /// What is wrong and what to write; a sentence without a full stop.
    pub problem: String,
}

impl ExpressionError {
    pub(crate) fn new(column: usize, problem: impl Into<String>) -> ExpressionError {
        ExpressionError {
            column,
            problem: problem.into(),
        }
    }
}

impl fmt::Display for ExpressionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "column {}: {}", self.column, self.problem)
    }
}

impl std::error::Error for ExpressionError {}
