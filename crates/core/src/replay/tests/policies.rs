//! Policies that are set one after another.

use super::*;

/// Wants as many runs as it was asked, which it remembers.
struct Counting(u16);

impl Tuner for Counting {
    fn name(&self) -> String {
        "counting".into()
    }

    fn ask(&mut self, seen: &Question<'_>) -> Trial {
        self.0 += 1;
        Trial::of_limits(TrialId(seen.mission.number), uniform(self.0), Vec::new())
    }

    fn tell(&mut self, _: TrialId, _: &Mission) {}

    fn state(&self) -> serde_json::Value {
        self.0.into()
    }

    fn restore(&mut self, state: &serde_json::Value) -> Result<(), String> {
        let asked = state.as_u64().ok_or("no number")?;
        self.0 = asked as u16;
        Ok(())
    }
}

#[test]
fn a_tuner_goes_on_from_where_a_policy_of_its_name_was_left() {
    let set = |number, policy: &str, goes_on| Entry {
        event: Event::Policy {
            policy: policy.into(),
            allowance: Allowance::exploring(0.5),
            goes_on,
        },
        ..mission(number, 10)
    };
    let opened = |number, policy| begin(number, policy, uniform(3), Allowance::exploring(0.5));
    let entries = [
        opened(1, "counting"),
        mission(2, 10),
        mission(3, 10),
        set(4, "fixed-3", false),
        mission(5, 10),
        set(6, "counting", true),
        mission(7, 10),
        set(8, "fixed-3", false),
        mission(9, 10),
        // As an older version did.
        set(10, "counting", false),
        mission(11, 10),
        opened(12, "fixed-3"),
        mission(13, 10),
        opened(14, "counting"),
        mission(15, 10),
    ];
    assert_eq!(asked(&reopened(entries)), [1, 2, 1, 3, 1, 1, 2, 2]);
}

/// How often [`Counting`] was asked, each time that it is.
fn asked(entries: &[Entry]) -> Vec<u16> {
    let decided = replayed(entries, "default", |_| Box::new(Counting(0)));
    decided.iter().map(|it| it.replayed.deeper.get()).collect()
}

/// A column family that was dropped or released, and came again while the store was open.
#[test]
fn a_tuner_begins_anew_where_its_column_family_went_and_came() {
    let opened = |number, opening, policy| Entry {
        opening,
        ..begin(number, policy, uniform(3), Allowance::exploring(0.5))
    };
    let decides = |number, opening| Entry {
        opening,
        ..mission(number, 10)
    };
    let again = [
        opened(1, 1, "counting"),
        decides(2, 1),
        decides(3, 1),
        opened(4, 1, "counting"),
        decides(5, 1),
        opened(6, 2, "counting"),
        decides(7, 2),
    ];
    assert_eq!(asked(&again), [1, 2, 1, 2]);
    assert_eq!(asked(&again[2..]), [1, 1, 2], "rotated");
    // An older version does not tell the opening.
    let older = again.map(|entry| Entry {
        opening: 0,
        ..entry
    });
    assert_eq!(asked(&older), [1, 2, 3, 4]);
}

#[test]
fn what_another_policy_let_sleep_goes_with_its_column_family() {
    let set = Entry {
        event: Event::Policy {
            policy: "fixed-3".into(),
            allowance: Allowance::exploring(0.5),
            goes_on: false,
        },
        ..mission(4, 10)
    };
    let opened = |number, opening, policy| Entry {
        opening,
        ..begin(number, policy, uniform(3), Allowance::exploring(0.5))
    };
    let entries = [
        opened(1, 1, "counting"),
        mission(2, 10),
        mission(3, 10),
        set,
        mission(5, 10),
        opened(6, 1, "fixed-3"),
        mission(7, 10),
        opened(8, 2, "counting"),
        mission(9, 10),
    ];
    assert_eq!(asked(&entries), [1, 2, 1, 1, 2]);
}
