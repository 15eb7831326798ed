//! What the demo tells of what it has simulated, for the terminal and for its page.

use super::demo_command;
use crate::report::Supplement;
use crate::simulate::{
    Simulation, SimulationPlan, limits_svg, render_limit_changes, render_summary,
};

/// Why it is simulated, and how far it may be believed; in lines as wide as those below other
/// tables.
const WHY: [&str; 7] = [
    "The sessions of the benchmark above are too short to learn from. In five-sessions, as large as",
    "it is shipped, they are not, but it would take these arms more than an hour on the engine, in",
    "three rounds. So it ran in virtual time: the same planner and tuners over a modelled tree.",
    "learned-from-10 is the same learner, begun at ten runs a level. Learners are told times with",
    "noise. Nothing here is measured. By the model's constants, which were fitted to no machine,",
    "merges cost readers less than on the engine, and limits of one run look better than they are:",
    "bench/simulator.md tells how far the simulator lies from the engine.",
];

/// The picture in words.
const PICTURE: &str = "For each learner the run limits of every level over the sessions, and \
                       below them the time of an operation beside that of the best static arm";

/// What stands before [`demo_command`].
const AGAIN: &str = "The same again, with every change of the run limits and their picture";

/// Changes of the run limits that are told of each learner, each in two lines.
const MOST_CHANGES: usize = 6;

/// The simulation as text, to stand behind the tables of the benchmark: times by session, who
/// was ahead, and how the learners changed their run limits.
pub fn render_demo(plan: &SimulationPlan, seen: &Simulation) -> String {
    let mut text = format!("\n{}\n{}\n", heading(seen), indented(WHY));
    text += &render_summary(seen);
    for arm in seen.arms.iter().filter(|arm| arm.learns) {
        text += &render_limit_changes(arm, MOST_CHANGES);
    }
    text + &format!("\n{AGAIN}\n{}", indented(demo_command(plan).lines()))
}

/// The run limits over the simulated sessions, for the page of the benchmark.
pub fn demo_supplement(plan: &SimulationPlan, seen: &Simulation) -> Supplement {
    Supplement {
        heading: heading(seen),
        note: WHY.join(" "),
        picture: limits_svg(seen),
        alternative: PICTURE.into(),
        again: AGAIN.into(),
        command: demo_command(plan),
    }
}

fn heading(seen: &Simulation) -> String {
    format!("Simulated, not measured: the learner on {}", seen.workload)
}

fn indented<'a>(lines: impl IntoIterator<Item = &'a str>) -> String {
    let lines = lines.into_iter();
    lines.map(|line| format!("  {line}\n")).collect()
}
