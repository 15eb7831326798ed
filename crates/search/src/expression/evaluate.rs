//! Values of bound expressions.

use super::bind::{Number, Truth, Word};
use super::names::Value;
use super::parse::{Arithmetic, Comparison};

pub(super) fn number(part: &Number, values: &[Value<'_>]) -> f64 {
    match part {
        Number::Constant(value) => *value,
        Number::Place(place) => match values.get(*place) {
            Some(Value::Number(value)) => *value,
            // Only values of another list than the one bound to get here.
            _ => f64::NAN,
        },
        Number::Negate(part) => -number(part, values),
        Number::Arithmetic(operator, left, right) => {
            calculate(*operator, number(left, values), number(right, values))
        }
        Number::Call(function, arguments) => {
            let arguments: Vec<f64> = arguments.iter().map(|it| number(it, values)).collect();
            function.of(&arguments)
        }
        Number::If(condition, then, otherwise) => {
            let chosen = truth(condition, values).map(|it| if it { then } else { otherwise });
            chosen.map_or(f64::NAN, |it| number(it, values))
        }
    }
}

fn calculate(operator: Arithmetic, left: f64, right: f64) -> f64 {
    match operator {
        Arithmetic::Add => left + right,
        Arithmetic::Subtract => left - right,
        Arithmetic::Multiply => left * right,
        Arithmetic::Divide => left / right,
        Arithmetic::Power => left.powf(right),
    }
}

/// `None` where it cannot be computed, which negation does not turn into a truth.
pub(super) fn truth(part: &Truth, values: &[Value<'_>]) -> Option<bool> {
    match part {
        Truth::Constant(value) => Some(*value),
        Truth::Place(place) => Some(matches!(values.get(*place), Some(Value::Truth(true)))),
        Truth::Not(part) => truth(part, values).map(|it| !it),
        Truth::All(parts) => unless_any(false, parts, values),
        Truth::Any(parts) => unless_any(true, parts, values),
        Truth::Compare(comparison, left, right) => {
            compare(*comparison, number(left, values), number(right, values))
        }
        Truth::Alike(alike, left, right) => {
            Some((word(left, values) == word(right, values)) == *alike)
        }
    }
}

/// What `decides` where any part says it, else its opposite, if all can be computed.
fn unless_any(decides: bool, parts: &[Truth], values: &[Value<'_>]) -> Option<bool> {
    let mut all = Some(!decides);
    for part in parts {
        match truth(part, values) {
            Some(it) if it == decides => return Some(decides),
            Some(_) => {}
            None => all = None,
        }
    }
    all
}

/// `None` where either side is no number.
fn compare(comparison: Comparison, left: f64, right: f64) -> Option<bool> {
    let order = left.partial_cmp(&right)?;
    Some(match comparison {
        Comparison::Less => order.is_lt(),
        Comparison::AtMost => order.is_le(),
        Comparison::Greater => order.is_gt(),
        Comparison::AtLeast => order.is_ge(),
        Comparison::Equal => order.is_eq(),
        Comparison::Unequal => order.is_ne(),
    })
}

fn word<'a>(part: &'a Word, values: &[Value<'a>]) -> Option<&'a str> {
    match part {
        Word::Constant(word) => Some(word.as_str()),
        Word::Place(place) => match values.get(*place) {
            Some(Value::Word(word)) => Some(*word),
            _ => None,
        },
    }
}
