//! From a file and constants to a space, with one sentence for each mistake.

use super::ranges::{self, Fixed};
use super::schema::{ConstantTable, FormulaTable, KindName, ParameterTable, RuleTable, Schema};
use super::{Constants, Definition, Parameter, Rule, Space};
use crate::error::{Result, SearchError};
use crate::expression::{Claim, Expression, NameKind, Names, Quantity, is_name};
use crate::features::Feature;

/// The space of a file.
pub(super) fn space(schema: &Schema, given: &Constants) -> Result<Space> {
    if schema.parameters.is_empty() {
        return fail("it has no parameter: add at least one [[parameter]]");
    }
    let mut names = Names::default();
    let constants = constants(schema, given, &mut names)?;
    let fixed = Fixed::new(&constants, &names);
    let parameters = parameters(&schema.parameters, &fixed)?;
    let mut conditions = Vec::new();
    for parameter in &parameters {
        // It sees what stands before it, so that one pass tells what has an effect.
        conditions.push(condition(parameter, &names)?);
        declare(&mut names, &parameter.name, parameter.kind.name_kind())?;
    }
    let definitions = definitions(&schema.definitions, &mut names)?;
    let rules = rules(&schema.rules, &names)?;
    let features = features(&schema.features, &names)?;
    Ok(Space {
        name: schema.name.clone(),
        about: schema.about.clone(),
        heuristic: heuristic(schema, &features)?,
        constants,
        parameters,
        conditions,
        definitions,
        rules,
        features,
    })
}

pub(super) fn fail<T>(sentence: impl Into<String>) -> Result<T> {
    Err(SearchError::new(sentence))
}

fn declare(names: &mut Names, name: &str, kind: NameKind) -> Result<()> {
    if !is_name(name) {
        return fail(format!(
            "{name:?} cannot be a name: use letters, digits, _ and ., beginning with a letter"
        ));
    }
    if !names.add(name, kind) {
        return fail(format!("the name {name} is used twice: rename one of them"));
    }
    Ok(())
}

fn constants(schema: &Schema, given: &Constants, names: &mut Names) -> Result<Vec<(String, f64)>> {
    refuse_undeclared(schema, given)?;
    let mut constants: Vec<(String, f64)> = Vec::new();
    for table in &schema.constants {
        let value = constant(table, given, &Fixed::new(&constants, names))?;
        declare(names, &table.name, NameKind::Number)?;
        constants.push((table.name.clone(), value));
    }
    Ok(constants)
}

fn refuse_undeclared(schema: &Schema, given: &Constants) -> Result<()> {
    let declared: Vec<&str> = schema.constants.iter().map(|it| it.name.as_str()).collect();
    let Some((name, _)) = given.iter().find(|(name, _)| !declared.contains(name)) else {
        return Ok(());
    };
    let declared = if declared.is_empty() {
        "none".to_owned()
    } else {
        declared.join(", ")
    };
    fail(format!("it has no constant {name}: it has {declared}"))
}

/// The value that is given, or the default, which may use earlier constants.
fn constant(table: &ConstantTable, given: &Constants, earlier: &Fixed<'_>) -> Result<f64> {
    let name = &table.name;
    let value = match (given.get(name), &table.default) {
        (Some(value), _) => value,
        (None, Some(default)) => earlier
            .amount(default, KindName::Float)
            .map_err(|error| error.at(format!("the constant {name}")))?,
        (None, None) => {
            return fail(format!(
                "the constant {name} is missing: give it ({})",
                table.about
            ));
        }
    };
    if !value.is_finite() {
        return fail(format!("the constant {name} is {value}: give a number"));
    }
    Ok(value)
}

fn parameters(tables: &[ParameterTable], fixed: &Fixed<'_>) -> Result<Vec<Parameter>> {
    tables
        .iter()
        .map(|table| {
            ranges::parameter(table, fixed)
                .map_err(|error| error.at(format!("the parameter {}", table.name)))
        })
        .collect()
}

fn condition(parameter: &Parameter, names: &Names) -> Result<Option<Claim>> {
    let Some(text) = &parameter.when else {
        return Ok(None);
    };
    let claim = Expression::parse(text).and_then(|expression| expression.claim(names));
    claim.map(Some).map_err(|error| {
        SearchError::new(format!(
            "the parameter {}: its condition {text:?}, {error}",
            parameter.name
        ))
    })
}

fn definitions(tables: &[FormulaTable], names: &mut Names) -> Result<Vec<Definition>> {
    let mut definitions = Vec::new();
    for table in tables {
        let place = format!("the definition {}", table.name);
        let formula = formula(table, names).map_err(|error| error.at(place))?;
        declare(names, &table.name, NameKind::Number)?;
        definitions.push(Definition {
            name: table.name.clone(),
            formula,
            source: table.source.clone(),
        });
    }
    Ok(definitions)
}

fn rules(tables: &[RuleTable], names: &Names) -> Result<Vec<Rule>> {
    tables
        .iter()
        .map(|table| {
            let parsed = Expression::parse(&table.rule);
            let claim = parsed.and_then(|expression| expression.claim(names));
            let claim = claim
                .map_err(|error| SearchError::new(format!("the rule {:?}, {error}", table.rule)))?;
            Ok(Rule {
                claim,
                source: sourced(&table.source, &format!("the rule {:?}", table.rule))?,
            })
        })
        .collect()
}

fn features(tables: &[FormulaTable], names: &Names) -> Result<Vec<Feature>> {
    let mut features: Vec<Feature> = Vec::new();
    for table in tables {
        let place = format!("the feature {}", table.name);
        if features.iter().any(|other| other.name == table.name) {
            return fail(format!("{place} stands twice: rename one of them"));
        }
        features.push(Feature {
            name: table.name.clone(),
            formula: formula(table, names).map_err(|error| error.at(place))?,
            source: table.source.clone(),
        });
    }
    Ok(features)
}

fn formula(table: &FormulaTable, names: &Names) -> Result<Quantity> {
    sourced(&table.source, "it")?;
    Expression::parse(&table.expression)
        .and_then(|expression| expression.quantity(names))
        .map_err(|error| SearchError::new(format!("{:?}, {error}", table.expression)))
}

/// The source, which must not be empty.
pub(super) fn sourced(source: &str, what: &str) -> Result<String> {
    if source.trim().is_empty() {
        return fail(format!("{what} has no source: say where it comes from"));
    }
    Ok(source.to_owned())
}

fn heuristic(schema: &Schema, features: &[Feature]) -> Result<Option<usize>> {
    let Some(wanted) = &schema.heuristic else {
        return Ok(None);
    };
    let place = features.iter().position(|feature| feature.name == *wanted);
    match place {
        Some(place) => Ok(Some(place)),
        None => fail(format!(
            "the heuristic {wanted} is no feature: name one of its features"
        )),
    }
}
