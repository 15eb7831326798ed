//! What readers see of arms: short labels, and what these stand for.

use std::cmp::Reverse;

use serde::Serialize;

use crate::arms::ArmName;

/// Most columns of a line that tells a schedule.
const WIDTH: usize = 100;

/// A label for each arm of a plan, no two the same: its name, or, where that spells a schedule
/// by sessions, what stands before it. Files and command lines have names.
#[derive(Serialize)]
#[serde(transparent)]
pub(super) struct Labels {
    shortened: Vec<Shortened>,
}

/// An arm whose label is not its name.
#[derive(Serialize)]
struct Shortened {
    arm: ArmName,
    label: String,
    /// Each as `SESSION=ARM`.
    sessions: Vec<String>,
}

impl Labels {
    /// Of arms that would share a label, the second one has a 2 behind it, and so on.
    pub fn of_plan(arms: &[ArmName]) -> Self {
        let all = arms.iter().enumerate();
        let shortened = all.filter_map(|(at, arm)| Shortened::of(arm, &arms[..at]));
        Self {
            shortened: shortened.collect(),
        }
    }

    /// The label of an arm.
    pub fn of(&self, arm: &ArmName) -> String {
        let own = self.shortened.iter().find(|it| it.arm == *arm);
        own.map_or_else(|| arm.to_string(), |it| it.label.clone())
    }

    /// A sentence with labels for names. A name may begin with another one, so long ones are
    /// replaced first.
    pub fn in_sentence(&self, sentence: &str) -> String {
        let named = |it: &Shortened| (it.arm.to_string(), it.label.clone());
        let mut names: Vec<(String, String)> = self.shortened.iter().map(named).collect();
        names.sort_by_key(|(name, _)| Reverse(name.len()));
        let mut text = sentence.to_string();
        for (name, label) in &names {
            text = text.replace(name.as_str(), label);
        }
        text
    }

    /// What every label stands for, in lines: `oracle: ingest=fixed-4, closing=fixed-1`.
    pub fn schedules(&self) -> String {
        self.shortened.iter().map(Shortened::lines).collect()
    }
}

impl Shortened {
    /// `None` for an arm without a schedule by sessions; `before` are the plan's arms above it.
    fn of(arm: &ArmName, before: &[ArmName]) -> Option<Self> {
        let schedule = arm.schedule()?.iter();
        let label = arm.label();
        let alike = before.iter().filter(|it| it.label() == label).count();
        Some(Self {
            arm: arm.clone(),
            label: if alike == 0 {
                label
            } else {
                format!("{label}-{}", alike + 1)
            },
            sessions: schedule
                .map(|(session, arm)| format!("{session}={arm}"))
                .collect(),
        })
    }

    /// Lines end between two sessions; all of them begin under the first session.
    fn lines(&self) -> String {
        let mut text = format!("{}:", self.label);
        let indent = text.chars().count();
        let mut column = indent;
        for (at, session) in self.sessions.iter().enumerate() {
            let is_last = at + 1 == self.sessions.len();
            let word = format!(" {session}{}", if is_last { "" } else { "," });
            let width = word.chars().count();
            if column > indent && column + width > WIDTH {
                text += &format!("\n{:indent$}", "");
                column = indent;
            }
            text += &word;
            column += width;
        }
        text + "\n"
    }
}
