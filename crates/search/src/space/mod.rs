//! What may be tried: parameters, rules and fused features, as data.
//!
//! A space is read from TOML by [`SpaceFile`], from a user's file or from one of
//! the [`BuiltIn`] ones, and given the [`Constants`] of a machine and a workload.

mod build;
mod built_in;
mod configuration;
mod constants;
mod file;
mod grid;
mod kind;
mod parameter;
mod ranges;
mod rule;
mod sample;
mod schema;
mod setting;
#[cfg(test)]
mod tests;

pub use built_in::BuiltIn;
pub use configuration::{Configuration, Difference};
pub use constants::Constants;
pub use file::{Constant, SpaceFile};
pub use grid::{Grid, Spacing};
pub use kind::Kind;
pub use parameter::{Change, Parameter, Section};
pub use rule::{Definition, Rule};
pub(crate) use sample::Point;
pub use setting::Setting;

use crate::error::{Result, SearchError};
use crate::expression::{Claim, Value};
use crate::features::Feature;
use crate::fingerprint::Fingerprint;

/// A space whose every expression is known to be computable.
#[derive(Clone, Debug)]
pub struct Space {
    name: String,
    about: String,
    constants: Vec<(String, f64)>,
    parameters: Vec<Parameter>,
    /// When each parameter has any effect, over constants and the parameters before it.
    conditions: Vec<Option<Claim>>,
    definitions: Vec<Definition>,
    rules: Vec<Rule>,
    features: Vec<Feature>,
    /// The place of the feature by which arms choose.
    heuristic: Option<usize>,
}

impl Space {
    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What it is for, in one sentence.
    pub fn about(&self) -> &str {
        &self.about
    }

    /// The constants and their values.
    pub fn constants(&self) -> &[(String, f64)] {
        &self.constants
    }

    /// The parameters, in the file's order; at least one.
    pub fn parameters(&self) -> &[Parameter] {
        &self.parameters
    }

    /// A parameter by its name.
    pub fn parameter(&self, name: &str) -> Option<&Parameter> {
        self.parameters.iter().find(|it| it.name == name)
    }

    /// The definitions, in the file's order.
    pub fn definitions(&self) -> &[Definition] {
        &self.definitions
    }

    /// The rules, in the file's order.
    pub fn rules(&self) -> &[Rule] {
        &self.rules
    }

    /// The fused features, in the file's order.
    pub fn features(&self) -> &[Feature] {
        &self.features
    }

    /// The feature whose smallest value marks the first configuration of an arm
    /// (Dremel, 4.6.1); without one that configuration is drawn.
    pub fn heuristic(&self) -> Option<&Feature> {
        self.heuristic.and_then(|place| self.features.get(place))
    }

    pub(crate) fn heuristic_place(&self) -> Option<usize> {
        self.heuristic
    }

    /// What every parameter is without a search. On a small machine it may break
    /// rules; [`Space::broken_rules`] says which.
    pub fn default_configuration(&self) -> Configuration {
        let parameters = self.parameters.iter();
        parameters
            .map(|it| (it.name.clone(), it.default.clone()))
            .collect()
    }

    /// The same configuration with every parameter that has no effect in it as the default
    /// has it, so that configurations differ by what makes a difference.
    ///
    /// # Errors
    /// A parameter that is missing, unknown or outside its range.
    pub fn canonical(&self, configuration: &Configuration) -> Result<Configuration> {
        let point = self.canonical_point(self.point(configuration)?);
        Ok(self.configuration(&point))
    }

    /// Whether a parameter has any effect in a configuration.
    ///
    /// # Errors
    /// A parameter that is missing, unknown or outside its range.
    pub fn is_active(&self, name: &str, configuration: &Configuration) -> Result<bool> {
        let point = self.canonical_point(self.point(configuration)?);
        let place = self.parameters.iter().position(|it| it.name == name);
        Ok(place.is_some_and(|place| self.is_active_at(place, &point)))
    }

    pub(crate) fn canonical_point(&self, mut point: Point) -> Point {
        for (place, parameter) in self.parameters.iter().enumerate() {
            if self.is_active_at(place, &point) {
                continue;
            }
            if let Some(setting) = point.get_mut(place) {
                setting.clone_from(&parameter.default);
            }
        }
        point
    }

    /// Of a point that is canonical up to this place.
    fn is_active_at(&self, place: usize, point: &[Setting]) -> bool {
        let Some(Some(condition)) = self.conditions.get(place) else {
            return true;
        };
        let constants = self.constants.iter();
        let constants = constants.map(|(_, value)| Value::Number(*value));
        let before = point.iter().take(place).map(Setting::value);
        let values: Vec<Value<'_>> = constants.chain(before).collect();
        condition.holds(&values)
    }

    /// Whether a configuration sets every parameter inside its range, no other, and
    /// satisfies every rule.
    ///
    /// # Errors
    /// The first thing that is wrong, and what to choose.
    pub fn check(&self, configuration: &Configuration) -> Result<()> {
        let broken = self.broken_rules(configuration)?;
        match broken.first() {
            None => Ok(()),
            Some(rule) => Err(SearchError::new(format!(
                "the configuration breaks the rule {rule}: change one of its parameters"
            ))),
        }
    }

    /// The rules that a configuration breaks, whatever its ranges.
    ///
    /// # Errors
    /// A parameter that is missing, unknown or outside its range.
    pub fn broken_rules(&self, configuration: &Configuration) -> Result<Vec<&Rule>> {
        let point = self.point(configuration)?;
        let values = self.values(&point);
        let rules = self.rules.iter();
        Ok(rules.filter(|rule| !rule.claim.holds(&values)).collect())
    }

    /// The value of each feature, in the order of [`Space::features`].
    ///
    /// # Errors
    /// A parameter that is missing, unknown or outside its range; a feature that
    /// comes to no finite number.
    pub fn feature_values(&self, configuration: &Configuration) -> Result<Vec<f64>> {
        let point = self.point(configuration)?;
        self.feature_values_of(&point)
    }

    pub(crate) fn feature_values_of(&self, point: &[Setting]) -> Result<Vec<f64>> {
        let values = self.values(point);
        let features = self.features.iter();
        features
            .map(|feature| match feature.formula.value(&values) {
                value if value.is_finite() => Ok(value),
                value => Err(SearchError::new(format!(
                    "the feature {} of the space {} comes to {value} for {}: change its \
                     expression, or refuse such configurations by a rule",
                    feature.name,
                    self.name,
                    self.configuration(point)
                ))),
            })
            .collect()
    }

    /// Equal for spaces of the same parameters, sections, rules, features and constants,
    /// whatever their names, sources and notes. Without a section an option is not written.
    pub fn fingerprint(&self) -> Fingerprint {
        let mut parts = Vec::new();
        for (name, value) in &self.constants {
            parts.push(format!("constant {name} {value}"));
        }
        for it in &self.parameters {
            let kind = serde_json::to_string(&it.kind).unwrap_or_default();
            let section = &it.section;
            parts.push(format!(
                "parameter {} {kind} {} {section:?}",
                it.name, it.default
            ));
            parts.extend(it.when.iter().map(|when| format!("when {when}")));
        }
        for it in &self.definitions {
            parts.push(format!("definition {} {}", it.name, it.formula));
        }
        parts.extend(self.rules.iter().map(|it| format!("rule {}", it.claim)));
        for it in &self.features {
            parts.push(format!("feature {} {}", it.name, it.formula));
        }
        parts.push(format!("heuristic {:?}", self.heuristic));
        Fingerprint::of(parts)
    }

    /// The settings in the order of the parameters, each in its parameter's kind.
    pub(crate) fn point(&self, configuration: &Configuration) -> Result<Point> {
        if let Some((name, _)) = configuration
            .iter()
            .find(|(name, _)| self.parameter(name).is_none())
        {
            return Err(SearchError::new(format!(
                "the space {} has no parameter {name}: remove it from the configuration",
                self.name
            )));
        }
        let parameters = self.parameters.iter();
        parameters.map(|it| setting_of(it, configuration)).collect()
    }

    pub(crate) fn configuration(&self, point: &[Setting]) -> Configuration {
        let settings = self.parameters.iter().zip(point);
        settings
            .map(|(it, setting)| (it.name.clone(), setting.clone()))
            .collect()
    }

    /// What the names of all expressions stand for, in their order: constants,
    /// parameters, definitions.
    pub(crate) fn values<'a>(&self, point: &'a [Setting]) -> Vec<Value<'a>> {
        let size = self.constants.len() + point.len() + self.definitions.len();
        let mut values: Vec<Value<'a>> = Vec::with_capacity(size);
        let constants = self.constants.iter();
        values.extend(constants.map(|(_, value)| Value::Number(*value)));
        values.extend(point.iter().map(Setting::value));
        for definition in &self.definitions {
            let value = definition.formula.value(&values);
            values.push(Value::Number(value));
        }
        values
    }
}

fn setting_of(parameter: &Parameter, configuration: &Configuration) -> Result<Setting> {
    let name = &parameter.name;
    let Some(given) = configuration.get(name) else {
        return Err(SearchError::new(format!(
            "the configuration does not set {name}: choose {}",
            parameter.kind
        )));
    };
    parameter
        .kind
        .admit(given)
        .ok_or_else(|| SearchError::new(format!("{name} is {given}: choose {}", parameter.kind)))
}
