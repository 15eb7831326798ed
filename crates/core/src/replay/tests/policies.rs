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
    let decided = replayed(&entries, "default", |_| Box::new(Counting(0)));
    let asked = decided.iter().map(|it| it.replayed.deeper.get());
    assert_eq!(asked.collect::<Vec<_>>(), [1, 2, 1, 3, 1, 1, 2, 2]);
}
