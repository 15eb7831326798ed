//! How much there is to win, as text.

use super::grid::Grid;
use super::labels::Labels;
use super::words::{figure, plain};
use crate::distinct::distinct;
use crate::judge::{
    ArmVerdict, Bound, Figure, Gap, Headroom, Standing, Verdict, Won, Yardstick, by_time, oracle_of,
};

/// Above so many arms a bound tells their number alone.
const NAMED: usize = 6;

/// Why there are two figures for a bound.
const LUCK: &str = "  A minimum over noisy medians is partly luck (the winner's curse). So each session's arm is also
  chosen in the other rounds and timed in this one; that is the mean over rounds, and the best
  static arm is chosen so too. The truth lies between the two.
";

/// Why there is no headroom; `None` where there is one, or nothing is judged yet.
pub(super) fn empty_hull(verdict: &Verdict) -> Option<&'static str> {
    if verdict.headroom.is_some() || verdict.arms.is_empty() {
        return None;
    }
    if !by_time(&verdict.arms) {
        return Some(
            "Nobody is judged by time, for every session but the closing one offers a rate: arms \
             differ in how they met it.",
        );
    }
    let any = verdict.arms.iter().any(|arm| arm.arm.is_static());
    Some(if any {
        "The hull is empty: no static arm stayed within the space bound."
    } else {
        "The hull is empty: there was no static arm to compare with."
    })
}

/// The hull's best arm, the bounds, and the oracle among `all`.
pub(super) fn render_headroom(headroom: &Headroom, all: &[ArmVerdict], labels: &Labels) -> String {
    let mut grid = Grid::new(&["", "s", "headroom", "", ""]);
    grid.row([
        "best static arm".to_string(),
        figure(&headroom.best_static_seconds),
        String::new(),
        String::new(),
        headroom.best_static.to_string(),
    ]);
    let own = headroom.switchable.as_ref();
    if own.is_none_or(|own| own.arms != headroom.all.arms) {
        let whose = "any static arm: no store can switch between all of these";
        add_bound(&mut grid, &headroom.all, whose);
    }
    if let Some(own) = own {
        let whose = format!("{}: one store can switch between these", names(own));
        add_bound(&mut grid, own, &whose);
    }
    if let Some(oracle) = oracle_of(all) {
        let label = labels.of(&oracle.arm);
        add_oracle(&mut grid, headroom, &label, &oracle.total_seconds);
    }
    let luck = if headroom.all.in_other_rounds.is_some() {
        LUCK
    } else {
        ""
    };
    format!("{}{luck}", grid.left_from(4))
}

fn add_bound(grid: &mut Grid, bound: &Bound, whose: &str) {
    let inside = if bound.inside_spread {
        "inside the best static arm's spread: nothing to win"
    } else {
        ""
    };
    let title = ["best of each session", whose];
    add(grid, title, plain(bound.seconds), bound.headroom);
    if let Some(others) = &bound.in_other_rounds {
        let mean = Figure {
            median: others.mean_seconds,
            ..others.seconds.clone()
        };
        let title = ["  chosen in other rounds", inside];
        add(grid, title, figure(&mean), others.headroom);
    }
}

/// What lies between it and the best static arm is told where it is more than spread.
fn add_oracle(grid: &mut Grid, headroom: &Headroom, label: &str, oracle: &Figure) {
    if headroom.oracle_standing() == Some(Standing::Tie) {
        grid.row([
            label.to_string(),
            figure(oracle),
            String::new(),
            String::new(),
            "a real run with perfect knowledge: a tie with the best static arm, nothing to win"
                .to_string(),
        ]);
        return;
    }
    let best = headroom.best_static_seconds.median;
    let gap = Gap {
        seconds: best - oracle.median,
        share: (best - oracle.median) / best.max(1e-9),
    };
    let title = [label, "a real run with perfect knowledge"];
    add(grid, title, figure(oracle), gap);
}

fn add(grid: &mut Grid, [title, text]: [&str; 2], seconds: String, gap: Gap) {
    grid.row([
        title.to_string(),
        seconds,
        plain(gap.seconds),
        format!("{:.1} %", gap.share * 100.0),
        text.to_string(),
    ]);
}

fn names(bound: &Bound) -> String {
    if bound.arms.len() > NAMED {
        return format!("{} arms of Lissom", bound.arms.len());
    }
    let names: Vec<String> = bound.arms.iter().map(ToString::to_string).collect();
    names.join(", ")
}

/// What arms won of the headroom; empty without an arm that could win any.
pub(super) fn render_won(won: &[Won], labels: &Labels) -> String {
    let yardsticks = distinct(won.iter().map(|it| it.yardstick));
    let arms = distinct(won.iter().map(|it| &it.arm));
    if arms.is_empty() {
        return String::new();
    }
    let titles = yardsticks.iter().map(|yardstick| title(*yardstick));
    let mut grid = Grid::new(&std::iter::once("arm").chain(titles).collect::<Vec<_>>());
    for arm in arms {
        let cell = |yardstick: &Yardstick| {
            let mut all = won.iter();
            let found = all.find(|it| it.arm == *arm && it.yardstick == *yardstick);
            found.map_or("-".into(), said)
        };
        grid.row(std::iter::once(labels.of(arm)).chain(yardsticks.iter().map(cell)));
    }
    format!("\nTime over each yardstick, and the share of its headroom that was won\n{grid}")
}

fn title(yardstick: Yardstick) -> &'static str {
    match yardstick {
        Yardstick::Switchable => "best of each session",
        Yardstick::SwitchableInOtherRounds => "chosen in other rounds",
        Yardstick::All => "any static arm",
        Yardstick::AllInOtherRounds => "any, in other rounds",
        Yardstick::Oracle => "perfect knowledge",
    }
}

fn said(won: &Won) -> String {
    let share = won.share.map_or("nothing to win".into(), |share| {
        format!("{:.0} %", share * 100.0)
    });
    format!("{:+.1} %, {share}", won.over * 100.0)
}
