//! From tokens to a tree. Later lines of the grammar bind more tightly:
//!
//! ```text
//! either     = both ("or" both)*
//! both       = negated ("and" negated)*
//! negated    = "not" negated | comparison
//! comparison = sum (("<" | "<=" | ">" | ">=" | "==" | "!=") sum)*
//! sum        = product (("+" | "-") product)*
//! product    = signed (("*" | "/") signed)*
//! signed     = "-" signed | power
//! power      = atom ("^" signed)?
//! atom       = number | text | name | name "(" arguments ")" | "(" either ")"
//! ```

use std::collections::BTreeSet;

use super::ExpressionError;
use super::token::{Placed, Token, tokens};

/// A part of an expression and where it begins.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Node {
    pub column: usize,
    pub kind: NodeKind,
}

/// What a part is.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum NodeKind {
    Number(f64),
    Truth(bool),
    Text(String),
    Name(String),
    Negate(Box<Node>),
    Not(Box<Node>),
    Arithmetic(Arithmetic, Box<Node>, Box<Node>),
    /// A chain: the first part, then each comparison with the part behind it.
    Compare(Box<Node>, Vec<(Comparison, Node)>),
    All(Vec<Node>),
    Any(Vec<Node>),
    Call(String, Vec<Node>),
}

/// Operators between numbers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Arithmetic {
    Add,
    Subtract,
    Multiply,
    Divide,
    Power,
}

/// Comparisons.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Comparison {
    Less,
    AtMost,
    Greater,
    AtLeast,
    Equal,
    Unequal,
}

/// Names that the language keeps for itself.
pub(super) const RESERVED: [&str; 5] = ["and", "or", "not", "true", "false"];

/// Bounds on the input, so that no text can exhaust the stack.
const MOST_TOKENS: usize = 1_000;
const DEEPEST: usize = 50;

/// The tree of a text.
pub(super) fn parse(text: &str) -> Result<Node, ExpressionError> {
    let tokens = tokens(text)?;
    if tokens.len() > MOST_TOKENS {
        return Err(ExpressionError::new(
            tokens[MOST_TOKENS].column,
            format!("an expression may have {MOST_TOKENS} parts: define parts of it by name"),
        ));
    }
    let end = text.chars().count() + 1;
    let mut parser = Parser {
        tokens,
        at: 0,
        end,
        depth: 0,
    };
    let root = parser.either()?;
    match parser.peek() {
        None => Ok(root),
        Some(_) => Err(parser.unexpected("an operator or the end")),
    }
}

impl Node {
    fn new(column: usize, kind: NodeKind) -> Node {
        Node { column, kind }
    }

    /// Adds the names that occur in this part.
    pub fn collect_names<'a>(&'a self, names: &mut BTreeSet<&'a str>) {
        match &self.kind {
            NodeKind::Number(_) | NodeKind::Truth(_) | NodeKind::Text(_) => {}
            NodeKind::Name(name) => {
                names.insert(name);
            }
            NodeKind::Negate(part) | NodeKind::Not(part) => part.collect_names(names),
            NodeKind::Arithmetic(_, left, right) => {
                left.collect_names(names);
                right.collect_names(names);
            }
            NodeKind::Compare(first, rest) => {
                first.collect_names(names);
                rest.iter().for_each(|(_, part)| part.collect_names(names));
            }
            NodeKind::All(parts) | NodeKind::Any(parts) | NodeKind::Call(_, parts) => {
                parts.iter().for_each(|part| part.collect_names(names));
            }
        }
    }
}

struct Parser {
    tokens: Vec<Placed>,
    at: usize,
    /// The column behind the last character.
    end: usize,
    depth: usize,
}

type Parsed = Result<Node, ExpressionError>;

impl Parser {
    fn peek(&self) -> Option<&Token> {
        self.tokens.get(self.at).map(|placed| &placed.token)
    }

    fn column(&self) -> usize {
        self.tokens.get(self.at).map_or(self.end, |it| it.column)
    }

    fn unexpected(&self, wanted: &str) -> ExpressionError {
        let found = match self.peek() {
            None => "the expression ends".to_owned(),
            Some(Token::Number(number)) => format!("{number} stands"),
            Some(Token::Text(text)) => format!("{text:?} stands"),
            Some(Token::Name(name)) => format!("{name} stands"),
            Some(Token::Symbol(symbol)) => format!("{symbol} stands"),
        };
        ExpressionError::new(
            self.column(),
            format!("{found} where {wanted} should follow"),
        )
    }

    /// Passes the symbol if it is next.
    fn symbol(&mut self, wanted: &str) -> bool {
        let follows = matches!(self.peek(), Some(Token::Symbol(symbol)) if *symbol == wanted);
        self.at += usize::from(follows);
        follows
    }

    /// Passes the reserved word if it is next.
    fn word(&mut self, wanted: &str) -> bool {
        let follows = matches!(self.peek(), Some(Token::Name(name)) if name == wanted);
        self.at += usize::from(follows);
        follows
    }

    /// Parses one level deeper.
    fn deeper(&mut self, part: fn(&mut Parser) -> Parsed) -> Parsed {
        if self.depth == DEEPEST {
            return Err(ExpressionError::new(
                self.column(),
                format!("parts are nested more than {DEEPEST} deep: define some of them by name"),
            ));
        }
        self.depth += 1;
        let parsed = part(self);
        self.depth -= 1;
        parsed
    }

    fn either(&mut self) -> Parsed {
        let column = self.column();
        let mut parts = vec![self.both()?];
        while self.word("or") {
            parts.push(self.both()?);
        }
        Ok(one_or(column, parts, NodeKind::Any))
    }

    fn both(&mut self) -> Parsed {
        let column = self.column();
        let mut parts = vec![self.negated()?];
        while self.word("and") {
            parts.push(self.negated()?);
        }
        Ok(one_or(column, parts, NodeKind::All))
    }

    fn negated(&mut self) -> Parsed {
        let column = self.column();
        if self.word("not") {
            let part = self.deeper(Parser::negated)?;
            return Ok(Node::new(column, NodeKind::Not(Box::new(part))));
        }
        self.comparison()
    }

    fn comparison(&mut self) -> Parsed {
        let column = self.column();
        let first = self.sum()?;
        let mut rest = Vec::new();
        while let Some(comparison) = self.comparison_sign() {
            rest.push((comparison, self.sum()?));
        }
        if rest.is_empty() {
            return Ok(first);
        }
        Ok(Node::new(column, NodeKind::Compare(Box::new(first), rest)))
    }

    fn comparison_sign(&mut self) -> Option<Comparison> {
        let signs = [
            ("<", Comparison::Less),
            ("<=", Comparison::AtMost),
            (">", Comparison::Greater),
            (">=", Comparison::AtLeast),
            ("==", Comparison::Equal),
            ("!=", Comparison::Unequal),
        ];
        signs
            .into_iter()
            .find(|(sign, _)| self.symbol(sign))
            .map(|(_, comparison)| comparison)
    }

    fn sum(&mut self) -> Parsed {
        let signs = [("+", Arithmetic::Add), ("-", Arithmetic::Subtract)];
        self.left_to_right(&signs, Parser::product)
    }

    fn product(&mut self) -> Parsed {
        let signs = [("*", Arithmetic::Multiply), ("/", Arithmetic::Divide)];
        self.left_to_right(&signs, Parser::signed)
    }

    fn left_to_right(
        &mut self,
        signs: &[(&str, Arithmetic)],
        part: fn(&mut Parser) -> Parsed,
    ) -> Parsed {
        let column = self.column();
        let mut left = part(self)?;
        while let Some((_, operator)) = signs.iter().find(|(sign, _)| self.symbol(sign)) {
            let right = part(self)?;
            let kind = NodeKind::Arithmetic(*operator, Box::new(left), Box::new(right));
            left = Node::new(column, kind);
        }
        Ok(left)
    }

    fn signed(&mut self) -> Parsed {
        let column = self.column();
        if self.symbol("-") {
            let part = self.deeper(Parser::signed)?;
            return Ok(Node::new(column, NodeKind::Negate(Box::new(part))));
        }
        self.power()
    }

    fn power(&mut self) -> Parsed {
        let column = self.column();
        let base = self.atom()?;
        if !self.symbol("^") {
            return Ok(base);
        }
        let exponent = self.deeper(Parser::signed)?;
        let kind = NodeKind::Arithmetic(Arithmetic::Power, Box::new(base), Box::new(exponent));
        Ok(Node::new(column, kind))
    }

    fn atom(&mut self) -> Parsed {
        let column = self.column();
        if self.symbol("(") {
            let inner = self.deeper(Parser::either)?;
            return self.closed(inner);
        }
        let kind = match self.peek() {
            Some(Token::Number(number)) => NodeKind::Number(*number),
            Some(Token::Text(text)) => NodeKind::Text(text.clone()),
            Some(Token::Name(name)) if name == "true" => NodeKind::Truth(true),
            Some(Token::Name(name)) if name == "false" => NodeKind::Truth(false),
            Some(Token::Name(name)) if !RESERVED.contains(&name.as_str()) => {
                NodeKind::Name(name.clone())
            }
            _ => return Err(self.unexpected("a number, a name or a parenthesis")),
        };
        self.at += 1;
        match kind {
            NodeKind::Name(name) if self.symbol("(") => self.call(column, name),
            kind => Ok(Node::new(column, kind)),
        }
    }

    fn call(&mut self, column: usize, function: String) -> Parsed {
        let mut arguments = Vec::new();
        if !self.symbol(")") {
            arguments.push(self.deeper(Parser::either)?);
            while self.symbol(",") {
                arguments.push(self.deeper(Parser::either)?);
            }
            if !self.symbol(")") {
                return Err(self.unexpected("a comma or a closing parenthesis"));
            }
        }
        Ok(Node::new(column, NodeKind::Call(function, arguments)))
    }

    fn closed(&mut self, inner: Node) -> Parsed {
        if self.symbol(")") {
            Ok(inner)
        } else {
            Err(self.unexpected("an operator or a closing parenthesis"))
        }
    }
}

/// The only part, or all parts together.
fn one_or(column: usize, mut parts: Vec<Node>, together: fn(Vec<Node>) -> NodeKind) -> Node {
    match parts.pop() {
        Some(only) if parts.is_empty() => only,
        Some(last) => {
            parts.push(last);
            Node::new(column, together(parts))
        }
        None => Node::new(column, together(parts)),
    }
}
