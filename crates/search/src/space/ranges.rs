//! Ranges and defaults, with the constants put in.

use super::build::{fail, sourced};
use super::schema::{Amount, KindName, Literal, ParameterTable};
use super::{Grid, Kind, Parameter, Setting, Spacing};
use crate::error::{Result, SearchError};
use crate::expression::{Expression, Names, Value};

/// Whole numbers beyond this are not exact as floating-point numbers (2^53).
const LARGEST_INTEGER: f64 = 9_007_199_254_740_992.0;

/// More words or steps than this are a mistake.
const MOST_VALUES: u64 = 1 << 40;

/// Constants that have their values.
pub(super) struct Fixed<'a> {
    names: &'a Names,
    values: Vec<Value<'static>>,
}

impl<'a> Fixed<'a> {
    /// Constants, and the same names in the same order.
    pub fn new(constants: &[(String, f64)], names: &'a Names) -> Fixed<'a> {
        let values = constants.iter().map(|(_, value)| Value::Number(*value));
        Fixed {
            names,
            values: values.collect(),
        }
    }

    /// The value of an amount of this kind.
    pub fn amount(&self, amount: &Amount, kind: KindName) -> Result<f64> {
        match amount {
            Amount::Number(number) => finite(*number, &number.to_string()),
            Amount::Text(text) => self.evaluated(text, kind),
        }
    }

    /// The value of an expression; that of a whole number is rounded, since a share
    /// of a machine's memory seldom is one.
    fn evaluated(&self, text: &str, kind: KindName) -> Result<f64> {
        let value = Expression::parse(text)
            .and_then(|expression| expression.quantity(self.names))
            .map_err(|error| SearchError::new(format!("{text:?}, {error}")))?
            .value(&self.values);
        let value = finite(value, text)?;
        Ok(match kind {
            KindName::Integer => value.round(),
            _ => value,
        })
    }
}

fn finite(value: f64, text: &str) -> Result<f64> {
    if value.is_finite() {
        Ok(value)
    } else {
        fail(format!("{text:?} comes to {value}: write a number"))
    }
}

/// The parameter of a table.
pub(super) fn parameter(table: &ParameterTable, fixed: &Fixed<'_>) -> Result<Parameter> {
    let kind = kind(table, fixed)?;
    Ok(Parameter {
        name: table.name.clone(),
        default: default(table, &kind, fixed)?,
        kind,
        when: table.when.clone(),
        change: table.change,
        section: table.section,
        unit: table.unit.clone(),
        note: table.note.clone(),
        source: sourced(&table.source, "it")?,
    })
}

fn kind(table: &ParameterTable, fixed: &Fixed<'_>) -> Result<Kind> {
    let numeric = matches!(table.kind, KindName::Integer | KindName::Float);
    let with_range = table.range.is_some() || table.step.is_some() || table.log_steps.is_some();
    if !numeric && with_range {
        return fail("range, step and log_steps are for numbers: leave them out");
    }
    if table.kind != KindName::Choice && table.values.is_some() {
        return fail("values are for a choice: leave them out");
    }
    match table.kind {
        KindName::Integer => whole(table, grid(table, fixed)?),
        KindName::Float => Ok(Kind::Float(grid(table, fixed)?)),
        KindName::Choice => choice(table),
        KindName::Boolean => Ok(Kind::Boolean),
    }
}

fn choice(table: &ParameterTable) -> Result<Kind> {
    let words = table.values.clone().unwrap_or_default();
    if words.is_empty() {
        return fail("it has no values: write values = [\"one\", \"another\"]");
    }
    let twice = |(at, word): &(usize, &String)| words[..*at].contains(*word);
    if let Some((_, word)) = words.iter().enumerate().find(twice) {
        return fail(format!("its value {word:?} stands twice: remove one"));
    }
    Ok(Kind::Choice(words))
}

fn whole(table: &ParameterTable, grid: Grid) -> Result<Kind> {
    let ends = [grid.min, grid.max];
    let exact = |end: &f64| end.fract() == 0.0 && end.abs() <= LARGEST_INTEGER;
    if let Some(end) = ends.iter().find(|end| !exact(end)) {
        return fail(format!("its range ends at {end}: write a whole number"));
    }
    match grid.spacing {
        Spacing::Linear(step) if step.fract() != 0.0 => fail(format!(
            "its step is {step}: write a whole number, or kind = \"float\" for {}",
            table.name
        )),
        _ => Ok(Kind::Integer(grid)),
    }
}

fn grid(table: &ParameterTable, fixed: &Fixed<'_>) -> Result<Grid> {
    let Some([min, max]) = &table.range else {
        return fail("it has no range: write range = [least, most]");
    };
    let min = fixed.amount(min, table.kind)?;
    let max = fixed.amount(max, table.kind)?;
    if min > max {
        return fail(format!(
            "its range from {min} to {max} is empty: write the smaller number first"
        ));
    }
    let spacing = spacing(table, min, max, fixed)?;
    let grid = Grid { min, max, spacing };
    if grid.count() > MOST_VALUES {
        return fail("its steps are too many: write a larger step");
    }
    Ok(grid)
}

fn spacing(table: &ParameterTable, min: f64, max: f64, fixed: &Fixed<'_>) -> Result<Spacing> {
    match (&table.step, table.log_steps) {
        (Some(_), Some(_)) => fail("it has both step and log_steps: write one of them"),
        (None, None) if table.kind == KindName::Integer => Ok(Spacing::Linear(1.0)),
        (None, None) => fail("it has neither step nor log_steps: write one of them"),
        (Some(step), None) => match fixed.amount(step, table.kind)? {
            step if step > 0.0 => Ok(Spacing::Linear(step)),
            step => fail(format!("its step is {step}: write a number above 0")),
        },
        (None, Some(steps)) if steps < 2 && min < max => fail(format!(
            "its log_steps is {steps}: write at least 2, so that both ends are among them"
        )),
        (None, Some(_)) if min <= 0.0 => fail(format!(
            "its range begins at {min}, which has no logarithm: write a number above 0, or step"
        )),
        (None, Some(steps)) => Ok(Spacing::Log(steps)),
    }
}

fn default(table: &ParameterTable, kind: &Kind, fixed: &Fixed<'_>) -> Result<Setting> {
    let given = match (&table.default, kind) {
        (Literal::Boolean(value), _) => Setting::Boolean(*value),
        (Literal::Number(number), _) => Setting::Float(*number),
        (Literal::Text(text), Kind::Integer(_) | Kind::Float(_)) => {
            Setting::Float(fixed.evaluated(text, table.kind)?)
        }
        (Literal::Text(text), _) => Setting::Choice(text.clone()),
    };
    kind.admit(&given)
        .ok_or_else(|| SearchError::new(format!("its default is {given}: write {kind}")))
}
