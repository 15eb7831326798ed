//! The TOML form of a space. Every table refuses unknown fields.

use serde::Deserialize;

use super::{Change, Section};

/// A whole file.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Schema {
    pub name: String,
    pub about: String,
    /// The feature by which the first configuration of each arm is chosen.
    pub heuristic: Option<String>,
    #[serde(default, rename = "constant")]
    pub constants: Vec<ConstantTable>,
    #[serde(default, rename = "parameter")]
    pub parameters: Vec<ParameterTable>,
    #[serde(default, rename = "definition")]
    pub definitions: Vec<FormulaTable>,
    #[serde(default, rename = "rule")]
    pub rules: Vec<RuleTable>,
    #[serde(default, rename = "feature")]
    pub features: Vec<FormulaTable>,
}

/// `[[constant]]`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ConstantTable {
    pub name: String,
    pub about: String,
    pub default: Option<Amount>,
}

/// `[[parameter]]`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ParameterTable {
    pub name: String,
    pub kind: KindName,
    pub range: Option<[Amount; 2]>,
    pub step: Option<Amount>,
    /// So many numbers at even ratios.
    pub log_steps: Option<u64>,
    pub values: Option<Vec<String>>,
    pub default: Literal,
    /// The condition under which it has any effect.
    pub when: Option<String>,
    pub change: Change,
    pub section: Option<Section>,
    pub unit: Option<String>,
    pub note: Option<String>,
    pub source: String,
}

/// `[[definition]]` and `[[feature]]`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct FormulaTable {
    pub name: String,
    pub expression: String,
    pub source: String,
}

/// `[[rule]]`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RuleTable {
    pub rule: String,
    pub source: String,
}

/// The kind of a parameter.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum KindName {
    Integer,
    Float,
    Choice,
    Boolean,
}

/// A number, or an expression over constants.
#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(untagged, expecting = "write a number, or a text such as \"64MiB\"")]
pub(super) enum Amount {
    Number(f64),
    Text(String),
}

/// A setting, or an expression over constants.
#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(
    untagged,
    expecting = "write a number, true, false, or a text such as \"64MiB\""
)]
pub(super) enum Literal {
    Boolean(bool),
    Number(f64),
    Text(String),
}
