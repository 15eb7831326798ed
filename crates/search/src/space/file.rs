//! Reads a space from TOML.

use super::build;
use super::schema::Schema;
use super::{Constants, Space};
use crate::error::{Result, SearchError};

/// A space as it stands in a file, before its constants have values.
///
/// Ranges, steps and defaults are numbers or, in quotes, expressions over the
/// constants; those of an integer are rounded to whole numbers. An integer without
/// `step` and `log_steps` takes every whole number of its range.
///
/// A parameter may have a condition, `when`, over constants and the parameters before it.
/// Where that does not hold the parameter has no effect, and configurations have it as the
/// default has it.
///
/// ```
/// use lissom_search::space::{Constants, SpaceFile};
///
/// let file = SpaceFile::parse(
///     r#"
///     name = "two-knobs"
///     about = "Write buffers against the block cache."
///
///     [[constant]]
///     name = "memory"
///     about = "Bytes for write buffers and cache together."
///     default = "1GiB"
///
///     [[parameter]]
///     name = "write_buffer_size"
///     kind = "integer"
///     range = ["8MiB", "memory / 4"]
///     log_steps = 11
///     default = "64MiB"
///     change = "set-options"
///     source = "an example"
///
///     [[parameter]]
///     name = "block_cache"
///     kind = "integer"
///     range = ["32MiB", "memory"]
///     step = "32MiB"
///     default = "32MiB"
///     change = "reopen"
///     source = "an example"
///
///     [[rule]]
///     rule = "2 * write_buffer_size + block_cache <= memory"
///     source = "an example"
///
///     [[feature]]
///     name = "cached"
///     expression = "block_cache / memory"
///     source = "an example"
///     "#,
/// )?;
/// let space = file.with(&Constants::new().with("memory", 5e8))?;
/// assert_eq!(space.parameters().len(), 2);
/// space.check(&space.default_configuration())?;
/// # Ok::<(), lissom_search::SearchError>(())
/// ```
#[derive(Clone, Debug)]
pub struct SpaceFile {
    schema: Schema,
}

/// A constant that a space wants to know.
#[derive(Clone, PartialEq, Debug)]
pub struct Constant {
    /// Its name in expressions.
    pub name: String,
    /// What it is, with its unit.
    pub about: String,
    /// Whether it must be given.
    pub required: bool,
}

impl SpaceFile {
    /// Reads TOML.
    ///
    /// # Errors
    /// The line, and what is wrong with it.
    pub fn parse(text: &str) -> Result<SpaceFile> {
        let schema = toml::from_str(text).map_err(|error| sentence(text, &error))?;
        Ok(SpaceFile { schema })
    }

    /// The name of the space.
    pub fn name(&self) -> &str {
        &self.schema.name
    }

    /// What the space is for, in one sentence.
    pub fn about(&self) -> &str {
        &self.schema.about
    }

    /// The constants that may or must be given.
    pub fn constants(&self) -> Vec<Constant> {
        let tables = self.schema.constants.iter();
        tables
            .map(|table| Constant {
                name: table.name.clone(),
                about: table.about.clone(),
                required: table.default.is_none(),
            })
            .collect()
    }

    /// The space on a machine and for a workload of these constants. Whether any
    /// configuration satisfies all rules is found out by [`Space::sample`].
    ///
    /// # Errors
    /// The first thing that is wrong, as one sentence: no parameter, a name that is
    /// used twice or unknown, an empty range, a default outside its range, an
    /// expression that does not parse, a constant that is missing or not declared.
    pub fn with(&self, constants: &Constants) -> Result<Space> {
        build::space(&self.schema, constants)
            .map_err(|error| error.at(format!("the space {}", self.schema.name)))
    }
}

/// One sentence instead of a drawing of the line.
fn sentence(text: &str, error: &toml::de::Error) -> SearchError {
    let words: Vec<&str> = error.message().split_whitespace().collect();
    let before = error.span().and_then(|span| text.get(..span.start));
    match before {
        Some(before) => {
            let line = before.matches('\n').count() + 1;
            SearchError::new(format!("line {line} of the space: {}", words.join(" ")))
        }
        None => SearchError::new(format!("the space: {}", words.join(" "))),
    }
}
