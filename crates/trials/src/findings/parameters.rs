//! The best against the default, parameter by parameter.

use serde::Serialize;

use lissom_search::space::{Parameter, Setting, Space};

use super::Best;

/// A parameter.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct ParameterRow {
    /// Its name.
    pub name: String,
    /// What it is without a search.
    pub default: Setting,
    /// What the best sets; absent without one.
    pub best: Option<Setting>,
    /// Whether the two differ.
    pub differs: bool,
    /// The unit; absent if it has none.
    pub unit: Option<String>,
    /// What it takes to change it in a database that exists.
    pub change: String,
    /// What one should know before changing it.
    pub note: Option<String>,
}

/// All parameters, those that differ first.
pub(super) fn rows(space: &Space, best: Option<&Best>) -> Vec<ParameterRow> {
    let parameters = space.parameters().iter();
    let mut rows: Vec<ParameterRow> = parameters.map(|it| row(it, best)).collect();
    rows.sort_by_key(|it| !it.differs);
    rows
}

fn row(parameter: &Parameter, best: Option<&Best>) -> ParameterRow {
    let best = best.and_then(|it| it.configuration.get(&parameter.name).cloned());
    ParameterRow {
        name: parameter.name.clone(),
        differs: best.as_ref().is_some_and(|it| *it != parameter.default),
        default: parameter.default.clone(),
        best,
        unit: parameter.unit.clone(),
        change: parameter.change.to_string(),
        note: parameter.note.clone(),
    }
}
