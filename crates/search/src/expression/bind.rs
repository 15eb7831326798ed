//! Names and kinds are looked up once, so that evaluation cannot fail.

use std::fmt;

use super::function::Function;
use super::names::{NameKind, Names, Value};
use super::parse::{Arithmetic, Comparison, Node, NodeKind};
use super::{ExpressionError, evaluate};

/// An expression that is a number.
#[derive(Clone, PartialEq, Debug)]
pub struct Quantity {
    text: String,
    root: Number,
}

/// An expression that is true or false.
#[derive(Clone, PartialEq, Debug)]
pub struct Claim {
    text: String,
    root: Truth,
}

/// A part that is a number.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum Number {
    Constant(f64),
    /// The place of a name's value.
    Place(usize),
    Negate(Box<Number>),
    Arithmetic(Arithmetic, Box<Number>, Box<Number>),
    Call(Function, Vec<Number>),
    If(Box<Truth>, Box<Number>, Box<Number>),
}

/// A part that is true or false.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum Truth {
    Constant(bool),
    /// The place of a name's value.
    Place(usize),
    Not(Box<Truth>),
    All(Vec<Truth>),
    Any(Vec<Truth>),
    Compare(Comparison, Number, Number),
    /// Whether two words are alike, or for `false` whether they differ.
    Alike(bool, Word, Word),
}

/// A part that is a word.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum Word {
    Constant(String),
    Place(usize),
}

type Bound<T> = Result<T, ExpressionError>;

impl Quantity {
    pub(super) fn bind(text: &str, root: &Node, names: &Names) -> Bound<Quantity> {
        Ok(Quantity {
            text: text.to_owned(),
            root: number(root, names)?,
        })
    }

    /// The number, from the values of the names in their order. Not finite where
    /// the arithmetic is not: 1 / 0, the logarithm of -1.
    pub fn value(&self, values: &[Value<'_>]) -> f64 {
        evaluate::number(&self.root, values)
    }

    /// The text of the expression.
    pub fn text(&self) -> &str {
        &self.text
    }
}

impl Claim {
    pub(super) fn bind(text: &str, root: &Node, names: &Names) -> Bound<Claim> {
        Ok(Claim {
            text: text.to_owned(),
            root: truth(root, names)?,
        })
    }

    /// Whether it holds, from the values of the names in their order. What cannot be computed,
    /// as 0 / 0 > 1, does not, nor does its negation.
    pub fn holds(&self, values: &[Value<'_>]) -> bool {
        evaluate::truth(&self.root, values).unwrap_or(false)
    }

    /// The text of the expression.
    pub fn text(&self) -> &str {
        &self.text
    }
}

impl fmt::Display for Quantity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl fmt::Display for Claim {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

fn look_up<'a>(name: &str, column: usize, names: &'a Names) -> Bound<(usize, &'a NameKind)> {
    names.find(name).ok_or_else(|| {
        let problem = format!("{name} is unknown: {}", names.suggestion(name));
        ExpressionError::new(column, problem)
    })
}

fn wrong(node: &Node, found: &str, wanted: &str) -> ExpressionError {
    ExpressionError::new(node.column, format!("here stands {found}: write {wanted}"))
}

fn number(node: &Node, names: &Names) -> Bound<Number> {
    let boxed = |part: &Node| number(part, names).map(Box::new);
    Ok(match &node.kind {
        NodeKind::Number(value) => Number::Constant(*value),
        NodeKind::Name(name) => match look_up(name, node.column, names)? {
            (place, NameKind::Number) => Number::Place(place),
            (_, kind) => return Err(wrong(node, kind.words(), "a number")),
        },
        NodeKind::Negate(part) => Number::Negate(boxed(part)?),
        NodeKind::Arithmetic(operator, left, right) => {
            Number::Arithmetic(*operator, boxed(left)?, boxed(right)?)
        }
        NodeKind::Call(function, arguments) => call(node, function, arguments, names)?,
        NodeKind::Text(_) => return Err(wrong(node, "a text", "a number")),
        _ => return Err(wrong(node, "a condition", "a number")),
    })
}

fn call(node: &Node, name: &str, arguments: &[Node], names: &Names) -> Bound<Number> {
    if name == "if" {
        return conditional(node, arguments, names);
    }
    let function = Function::find(name, arguments.len())
        .map_err(|problem| ExpressionError::new(node.column, problem))?;
    let arguments = arguments.iter().map(|part| number(part, names));
    Ok(Number::Call(function, arguments.collect::<Bound<_>>()?))
}

fn conditional(node: &Node, arguments: &[Node], names: &Names) -> Bound<Number> {
    let [condition, then, otherwise] = arguments else {
        return Err(ExpressionError::new(
            node.column,
            "if takes a condition, a number if it holds, and a number if not",
        ));
    };
    Ok(Number::If(
        Box::new(truth(condition, names)?),
        Box::new(number(then, names)?),
        Box::new(number(otherwise, names)?),
    ))
}

fn truth(node: &Node, names: &Names) -> Bound<Truth> {
    let all = |parts: &[Node]| -> Bound<Vec<Truth>> {
        parts.iter().map(|part| truth(part, names)).collect()
    };
    Ok(match &node.kind {
        NodeKind::Truth(value) => Truth::Constant(*value),
        NodeKind::Name(name) => match look_up(name, node.column, names)? {
            (place, NameKind::Truth) => Truth::Place(place),
            (_, kind) => return Err(wrong(node, kind.words(), "a condition")),
        },
        NodeKind::Not(part) => Truth::Not(Box::new(truth(part, names)?)),
        NodeKind::All(parts) => Truth::All(all(parts)?),
        NodeKind::Any(parts) => Truth::Any(all(parts)?),
        NodeKind::Compare(first, rest) => chain(first, rest, names)?,
        NodeKind::Text(_) => return Err(wrong(node, "a text", "a condition")),
        _ => return Err(wrong(node, "a number", "a condition")),
    })
}

/// `a < b < c` is `a < b and b < c`.
fn chain(first: &Node, rest: &[(Comparison, Node)], names: &Names) -> Bound<Truth> {
    let mut left = first;
    let mut links = Vec::new();
    for (comparison, right) in rest {
        links.push(compare(*comparison, left, right, names)?);
        left = right;
    }
    Ok(Truth::All(links))
}

fn compare(comparison: Comparison, left: &Node, right: &Node, names: &Names) -> Bound<Truth> {
    match (choices(left, names), choices(right, names)) {
        (None, None) => Ok(Truth::Compare(
            comparison,
            number(left, names)?,
            number(right, names)?,
        )),
        (left_choices, right_choices) => {
            let left_word = word(left, right_choices, names)?;
            let right_word = word(right, left_choices, names)?;
            let alike = match comparison {
                Comparison::Equal => true,
                Comparison::Unequal => false,
                _ => return Err(wrong(left, "a choice or a text", "== or != behind it")),
            };
            Ok(Truth::Alike(alike, left_word, right_word))
        }
    }
}

/// The words that a part may be: those of a choice, none in particular of a text;
/// `None` if it is neither.
fn choices<'a>(node: &Node, names: &'a Names) -> Option<&'a [String]> {
    match &node.kind {
        NodeKind::Text(_) => Some(&[]),
        NodeKind::Name(name) => match names.find(name)? {
            (_, NameKind::Word(words)) => Some(words.as_slice()),
            _ => None,
        },
        _ => None,
    }
}

/// A word that is compared with something of these choices.
fn word(node: &Node, others: Option<&[String]>, names: &Names) -> Bound<Word> {
    match &node.kind {
        NodeKind::Text(text) => {
            let others = others.unwrap_or(&[]);
            if others.is_empty() || others.contains(text) {
                return Ok(Word::Constant(text.clone()));
            }
            let problem = format!("{text:?} is no choice here: write {}", others.join(", "));
            Err(ExpressionError::new(node.column, problem))
        }
        NodeKind::Name(name) => match look_up(name, node.column, names)? {
            (place, NameKind::Word(_)) => Ok(Word::Place(place)),
            (_, kind) => Err(wrong(node, kind.words(), "a choice or a text in quotes")),
        },
        _ => Err(wrong(node, "a number", "a choice or a text in quotes")),
    }
}
