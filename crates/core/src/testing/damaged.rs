//! States of which something is damaged, as those of a state file may be.

use std::collections::VecDeque;

use serde_json::{Value, json};

/// Parts of a state that are damaged, with those that lie in others: more would take long.
pub(super) const MOST_PARTS: usize = 128;

/// Where a part lies: names and places in lists, from the outside.
type Path = Vec<String>;

/// States of which one part is away or something else, for the first so many.
pub(super) fn damaged(state: &Value, most: usize) -> Vec<Value> {
    let wrong = [
        json!(null),
        json!(-1),
        json!(1e300),
        json!(u64::MAX),
        json!("x"),
        json!([]),
        json!({}),
    ];
    let mut damaged = Vec::new();
    for path in parts(state, most) {
        damaged.extend(without(state, &path));
        for wrong in &wrong {
            let mut other = state.clone();
            if let Some(part) = part_mut(&mut other, &path) {
                *part = wrong.clone();
                damaged.push(other);
            }
        }
    }
    damaged
}

/// The first so many parts of a state, however deep they lie: the outer ones come first.
fn parts(state: &Value, most: usize) -> Vec<Path> {
    let mut parts: Vec<Path> = Vec::new();
    let mut whole = VecDeque::from([(Path::new(), state)]);
    while let Some((path, value)) = whole.pop_front() {
        for (name, part) in parts_of(value) {
            if parts.len() == most {
                return parts;
            }
            let path = [&path[..], &[name]].concat();
            parts.push(path.clone());
            whole.push_back((path, part));
        }
    }
    parts
}

/// What lies directly in a value; of a list, whose parts are alike, the first and the last.
fn parts_of(value: &Value) -> Vec<(String, &Value)> {
    match value {
        Value::Object(parts) => parts
            .iter()
            .map(|(name, part)| (name.clone(), part))
            .collect(),
        Value::Array(parts) => {
            let last = parts.len().saturating_sub(1);
            let all = parts.iter().enumerate();
            let ends = all.filter(|(at, _)| *at == 0 || *at == last);
            ends.map(|(at, part)| (at.to_string(), part)).collect()
        }
        _ => Vec::new(),
    }
}

fn part_mut<'a>(state: &'a mut Value, path: &[String]) -> Option<&'a mut Value> {
    path.iter().try_fold(state, |whole, name| match whole {
        Value::Object(parts) => parts.get_mut(name),
        Value::Array(parts) => parts.get_mut(name.parse::<usize>().ok()?),
        _ => None,
    })
}

/// The state without one of its parts.
fn without(state: &Value, path: &[String]) -> Option<Value> {
    let (name, whole) = path.split_last()?;
    let mut state = state.clone();
    match part_mut(&mut state, whole)? {
        Value::Object(parts) => {
            parts.remove(name)?;
        }
        Value::Array(parts) => {
            parts.remove(name.parse().ok()?);
        }
        _ => return None,
    }
    Some(state)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_damaged_however_deep_they_lie_the_outer_ones_first() {
        let state = json!({"a": [1, 2, [3]], "b": null});
        let paths: Vec<String> = parts(&state, 9).iter().map(|it| it.join(".")).collect();
        assert_eq!(paths, ["a", "b", "a.0", "a.2", "a.2.0"]);
        let damaged = |most: usize| damaged(&state, most);
        assert_eq!((damaged(2).len(), damaged(9).len()), (2 * 8, 5 * 8));
        for expected in [
            json!({"a": [1, 2, [3]]}),
            json!({"a": [2, [3]], "b": null}),
            json!({"a": [1, 2, [1e300]], "b": null}),
            json!({"a": [1, 2, []], "b": null}),
        ] {
            assert!(damaged(9).contains(&expected), "{expected}");
        }
    }
}
