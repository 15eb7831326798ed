//! The value of one parameter.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::expression::Value;

/// What a parameter is set to; in JSON a boolean, a number or a text.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Setting {
    /// On or off.
    Boolean(bool),
    /// A whole number.
    Integer(i64),
    /// A number.
    Float(f64),
    /// One of several words.
    Choice(String),
}

impl Setting {
    /// The value for expressions.
    pub fn value(&self) -> Value<'_> {
        match self {
            Setting::Boolean(value) => Value::Truth(*value),
            Setting::Integer(value) => Value::Number(*value as f64),
            Setting::Float(value) => Value::Number(*value),
            Setting::Choice(word) => Value::Word(word),
        }
    }

    /// The setting as a number; `None` of a boolean or a choice.
    pub fn number(&self) -> Option<f64> {
        match self {
            Setting::Integer(value) => Some(*value as f64),
            Setting::Float(value) => Some(*value),
            Setting::Boolean(_) | Setting::Choice(_) => None,
        }
    }
}

/// As RocksDB's option strings spell it.
impl fmt::Display for Setting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Setting::Boolean(value) => write!(f, "{value}"),
            Setting::Integer(value) => write!(f, "{value}"),
            Setting::Float(value) => write!(f, "{value}"),
            Setting::Choice(word) => f.write_str(word),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_keeps_the_kind() {
        for setting in [
            Setting::Boolean(true),
            Setting::Integer(-3),
            Setting::Float(10.0),
            Setting::Float(0.1),
            Setting::Choice("kZSTD".to_owned()),
        ] {
            let text = serde_json::to_string(&setting).expect("plain data");
            let read: Setting = serde_json::from_str(&text).expect(&text);
            assert_eq!(read, setting, "{text}");
        }
    }
}
