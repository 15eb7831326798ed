//! What tuners have learned that do not decide now.

use std::collections::BTreeMap;

use serde_json::Value;

use super::super::learner::Learner;
use crate::files::state::StoredFamily;

/// Tuners of which something is kept.
const MOST: usize = 16;

/// What tuners have learned, by their names.
#[derive(Default)]
pub(super) struct Shelf(BTreeMap<String, Value>);

/// The name under which stands what a tuner of this name could not take up.
fn refused(name: &str) -> String {
    format!("{name}, refused")
}

impl Shelf {
    /// Everything that was learned for a column family.
    pub(super) fn of(stored: &StoredFamily) -> Shelf {
        let mut shelf = Shelf(stored.others.clone());
        shelf.put(stored.policy.clone(), stored.tuner.clone());
        shelf
    }

    /// Puts something up, in place of what stood there under the name. Where that is too
    /// much, something goes.
    pub(super) fn put(&mut self, name: String, state: Value) {
        if state.is_null() {
            return;
        }
        if self.0.len() >= MOST && !self.0.contains_key(&name) {
            self.0.pop_first();
        }
        self.0.insert(name, state);
    }

    /// Gives a tuner what one of its name had learned. What it cannot take up stays, and is
    /// tried again where there is nothing better. Returns why.
    pub(super) fn hand_over(&mut self, learner: &mut Learner) -> Option<String> {
        let name = learner.name().to_owned();
        let (own, aside) = (self.0.remove(&name), self.0.remove(&refused(&name)));
        let (mut taken, mut left, mut why) = (false, None, None);
        for state in own.into_iter().chain(aside) {
            if !taken {
                match learner.restore(&state) {
                    Ok(()) => {
                        taken = true;
                        continue;
                    }
                    Err(error) => why = why.or(Some(error)),
                }
            }
            left = left.or(Some(state));
        }
        self.put(refused(&name), left.unwrap_or_default());
        why
    }

    pub(super) fn states(&self) -> &BTreeMap<String, Value> {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use lissom_core::Mission;
    use lissom_core::tuner::{Question, Trial, TrialId, Tuner};
    use serde_json::json;

    use super::*;
    use crate::Settings;

    /// Takes up texts that begin with its letter.
    struct Reader(char, String);

    impl Tuner for Reader {
        fn name(&self) -> String {
            "reader".into()
        }

        fn ask(&mut self, seen: &Question<'_>) -> Trial {
            Trial::of_limits(TrialId(1), seen.limits.clone(), Vec::new())
        }

        fn tell(&mut self, _: TrialId, _: &Mission) {}

        fn state(&self) -> Value {
            json!(self.1)
        }

        fn restore(&mut self, state: &Value) -> Result<(), String> {
            let text = state.as_str().filter(|text| text.starts_with(self.0));
            self.1 = text.ok_or("another program's")?.to_owned();
            Ok(())
        }
    }

    fn stored(policy: &str, tuner: Value, others: &[(&str, Value)]) -> StoredFamily {
        let others = others.iter();
        StoredFamily {
            policy: policy.into(),
            tuner,
            others: others
                .map(|(name, state)| ((*name).into(), state.clone()))
                .collect(),
            ..StoredFamily::of(&Settings::default())
        }
    }

    /// What a reader of a letter has taken up, what is left, and the remark.
    fn opened(letter: char, stored: &StoredFamily) -> (Value, Value, Option<String>) {
        let mut learner = Learner::new(Box::new(Reader(letter, String::new())));
        let mut shelf = Shelf::of(stored);
        let why = shelf.hand_over(&mut learner);
        (learner.state(), json!(shelf.states()), why)
    }

    #[test]
    fn what_a_tuner_learned_waits_while_another_one_decides() {
        let away = stored("other", json!(1), &[("reader", json!("a one"))]);
        let (state, left, why) = opened('a', &away);
        assert_eq!((state, left), (json!("a one"), json!({"other": 1})));
        assert_eq!(why, None);
        let back = stored("reader", json!("a two"), &[("other", json!(1))]);
        let (state, left, _) = opened('a', &back);
        assert_eq!((state, left), (json!("a two"), json!({"other": 1})));
    }

    #[test]
    fn what_is_refused_is_kept_until_somebody_can_read_it() {
        let written = stored("reader", json!("a one"), &[]);
        let (state, left, why) = opened('b', &written);
        assert_eq!(
            (state, left),
            (json!(""), json!({"reader, refused": "a one"}))
        );
        assert_eq!(why.as_deref(), Some("another program's"));
        let aside = [("reader, refused", json!("a one"))];
        // Who reads its own leaves the other where it is.
        let (state, left, why) = opened('b', &stored("reader", json!("b one"), &aside));
        assert_eq!((state, why), (json!("b one"), None));
        assert_eq!(left, json!({"reader, refused": "a one"}));
        let (state, left, why) = opened('a', &stored("reader", json!("b one"), &aside));
        assert_eq!(state, "a one");
        assert_eq!(left, json!({"reader, refused": "b one"}));
        assert!(why.is_some());
    }

    #[test]
    fn the_shelf_has_an_end_and_nothing_takes_no_room() {
        let mut shelf = Shelf::default();
        shelf.put("none".into(), Value::Null);
        assert!(shelf.states().is_empty());
        for number in 0..3 * MOST {
            let name = format!("tuner {number}");
            shelf.put(name.clone(), json!(number));
            assert_eq!(shelf.0[&name], json!(number));
        }
        assert_eq!(shelf.states().len(), MOST);
    }
}
