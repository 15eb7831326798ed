//! Reading the JSON object.

use std::collections::{BTreeMap, btree_map::Entry};
use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::Value;

use super::Given;
use super::known::{keeper, names};

/// Names and values in their order: a name that comes twice must not win in
/// silence.
struct Pairs(Vec<(String, Value)>);

impl<'de> Deserialize<'de> for Pairs {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Pairs, D::Error> {
        deserializer.deserialize_map(PairsVisitor)
    }
}

struct PairsVisitor;

impl<'de> Visitor<'de> for PairsVisitor {
    type Value = Pairs;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON object of settings, such as {\"policy\": \"fixed-4\"}")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Pairs, A::Error> {
        let mut pairs = Vec::new();
        while let Some(pair) = map.next_entry()? {
            pairs.push(pair);
        }
        Ok(Pairs(pairs))
    }
}

/// The settings, or a sentence for each mistake.
pub(super) fn read(text: &str) -> Result<BTreeMap<String, Given>, Vec<String>> {
    let Pairs(pairs) =
        serde_json::from_str(text).map_err(|error| vec![format!("the settings: {error}")])?;
    let mut settings = BTreeMap::new();
    let mut mistakes = Vec::new();
    let mut lines = Lines { text, from: 0 };
    for (name, value) in pairs {
        let line = lines.of(&name);
        if keeper(&name).is_none() {
            mistakes.push(format!(
                "line {line}: there is no setting {name} that can be applied; there are {}",
                names()
            ));
            continue;
        }
        match settings.entry(name) {
            Entry::Vacant(place) => {
                place.insert(Given { value, line });
            }
            Entry::Occupied(place) => mistakes.push(format!(
                "line {line}: {} is given twice: keep one of the two",
                place.key()
            )),
        }
    }
    match mistakes.is_empty() {
        true => Ok(settings),
        false => Err(mistakes),
    }
}

/// Finds the lines of names, which come in the order of the text.
struct Lines<'a> {
    text: &'a str,
    from: usize,
}

impl Lines<'_> {
    fn of(&mut self, name: &str) -> usize {
        let quoted = format!("\"{name}\"");
        let rest = self.text.get(self.from..).unwrap_or_default();
        // A name that is written with escapes is not found: then the last line stands.
        if let Some(at) = rest.find(&quoted) {
            self.from += at + quoted.len();
        }
        let before = self.text.get(..self.from).unwrap_or_default();
        before.matches('\n').count() + 1
    }
}

#[cfg(test)]
mod tests {
    use crate::apply::SettingsText;

    fn mistakes(text: &str) -> String {
        SettingsText::parse(text).expect_err(text).to_string()
    }

    #[test]
    fn settings_are_read_with_their_lines() {
        let text = "{\n  \"policy\": \"fixed-4\",\n\n  \"compression\": [\"lz4\", \"zstd\"]\n}\n";
        let settings = SettingsText::parse(text).expect("well-formed");
        let lines: Vec<_> = settings
            .iter()
            .map(|(name, wanted)| (name, wanted.line))
            .collect();
        assert_eq!(lines, [("compression", 4), ("policy", 2)]);
        assert!(settings.sets("policy") && !settings.sets("workers"));
    }

    #[test]
    fn every_mistake_has_its_line() {
        for (text, words) in [
            ("", "the settings: EOF"),
            ("[1]", "a JSON object of settings"),
            ("{}", "no setting is set"),
            ("{\n\"speed\": 1}", "line 2: there is no setting speed"),
            (
                "{\"policy\": \"fixed-1\",\n\"policy\": \"fixed-2\"}",
                "line 2: policy is given twice",
            ),
            (
                "{\"policy\": \"best\"}",
                "line 1: policy is \"best\", which is no policy",
            ),
            (
                "{\"size_ratio\": 1}",
                "line 1: the setting size_ratio is 1: choose from 2 to 100",
            ),
            ("{\"size_ratio\": 2.5}", "no whole number"),
            ("{\"size_ratio\": -2}", "no whole number"),
            ("{\"workers\": \"two\"}", "no whole number"),
            (
                "{\"schedule\": \"late\"}",
                "line 1: schedule is \"late\", which is no schedule",
            ),
            (
                "{\"filters\": \"bloom\"}",
                "neither \"uniform\" nor \"monkey\"",
            ),
            (
                "{\"compression\": \"snappy\"}",
                "none of \"none\", \"lz4\", \"zstd\"",
            ),
            ("{\"compression\": []}", "compression is empty"),
        ] {
            let said = mistakes(text);
            assert!(said.contains(words), "{text}: {said}");
        }
    }
}
