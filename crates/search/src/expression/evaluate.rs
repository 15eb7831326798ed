//! Values of bound expressions.

use std::cmp::Ordering;

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
            let chosen = if truth(condition, values) {
                then
            } else {
                otherwise
            };
            number(chosen, values)
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

pub(super) fn truth(part: &Truth, values: &[Value<'_>]) -> bool {
    match part {
        Truth::Constant(value) => *value,
        Truth::Place(place) => matches!(values.get(*place), Some(Value::Truth(true))),
        Truth::Not(part) => !truth(part, values),
        Truth::All(parts) => parts.iter().all(|it| truth(it, values)),
        Truth::Any(parts) => parts.iter().any(|it| truth(it, values)),
        Truth::Compare(comparison, left, right) => {
            compare(*comparison, number(left, values), number(right, values))
        }
        Truth::Alike(alike, left, right) => (word(left, values) == word(right, values)) == *alike,
    }
}

/// False where either side is no number, `!=` included: a rule that cannot be
/// computed is not kept.
fn compare(comparison: Comparison, left: f64, right: f64) -> bool {
    match comparison {
        Comparison::Less => left < right,
        Comparison::AtMost => left <= right,
        Comparison::Greater => left > right,
        Comparison::AtLeast => left >= right,
        Comparison::Equal => left == right,
        Comparison::Unequal => left.partial_cmp(&right).is_some_and(Ordering::is_ne),
    }
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
