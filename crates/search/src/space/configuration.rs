//! One setting for each parameter of a space.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

use super::Setting;

/// A configuration: parameters by name; in JSON one object.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Configuration(BTreeMap<String, Setting>);

/// A parameter that two configurations set differently.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Difference {
    /// The parameter.
    pub name: String,
    /// What the first configuration sets; absent if nothing.
    pub from: Option<Setting>,
    /// What the second one sets; absent if nothing.
    pub to: Option<Setting>,
}

impl Configuration {
    /// The setting of a parameter.
    pub fn get(&self, name: &str) -> Option<&Setting> {
        self.0.get(name)
    }

    /// Sets a parameter; nothing is checked before
    /// [`Space::check`](super::Space::check) is.
    pub fn set(&mut self, name: impl Into<String>, setting: Setting) {
        self.0.insert(name.into(), setting);
    }

    /// Names and settings, in the order of the alphabet.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Setting)> {
        self.0
            .iter()
            .map(|(name, setting)| (name.as_str(), setting))
    }

    /// What differs in another configuration, in the order of the alphabet.
    pub fn differences(&self, other: &Configuration) -> Vec<Difference> {
        let mut names: Vec<&String> = self.0.keys().chain(other.0.keys()).collect();
        names.sort_unstable();
        names.dedup();
        names
            .into_iter()
            .filter(|name| self.0.get(*name) != other.0.get(*name))
            .map(|name| Difference {
                name: name.clone(),
                from: self.0.get(name).cloned(),
                to: other.0.get(name).cloned(),
            })
            .collect()
    }
}

impl FromIterator<(String, Setting)> for Configuration {
    fn from_iter<I: IntoIterator<Item = (String, Setting)>>(settings: I) -> Configuration {
        Configuration(settings.into_iter().collect())
    }
}

/// `name=value, name=value`; equal for equal configurations.
impl fmt::Display for Configuration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, (name, setting)) in self.0.iter().enumerate() {
            let comma = if at == 0 { "" } else { ", " };
            write!(f, "{comma}{name}={setting}")?;
        }
        Ok(())
    }
}

/// `name from -> to`.
impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = |setting: &Option<Setting>| match setting {
            Some(setting) => setting.to_string(),
            None => "absent".to_owned(),
        };
        let (from, to) = (shown(&self.from), shown(&self.to));
        write!(f, "{} {from} -> {to}", self.name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(settings: &[(&str, i64)]) -> Configuration {
        let settings = settings.iter();
        settings
            .map(|(name, value)| ((*name).to_owned(), Setting::Integer(*value)))
            .collect()
    }

    #[test]
    fn differences_name_both_sides() {
        let (one, other) = (of(&[("a", 1), ("b", 2)]), of(&[("b", 3), ("c", 4)]));
        let lines: Vec<String> = one
            .differences(&other)
            .iter()
            .map(ToString::to_string)
            .collect();
        assert_eq!(lines, ["a 1 -> absent", "b 2 -> 3", "c absent -> 4"]);
        assert!(one.differences(&one).is_empty());
        assert_eq!(one.to_string(), "a=1, b=2");
    }
}
