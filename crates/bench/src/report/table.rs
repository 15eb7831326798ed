//! The result as text: aligned, medians with spreads, losses printed like wins.

use super::convergence::render_convergence;
use super::grid::Grid;
use super::headroom::{empty_hull, render_headroom, render_won};
use super::labels::Labels;
use super::level0::render_level0;
use super::offered::render_offered;
use super::tenths::render_tenths;
use super::words::{bracketed, bytes_figure, count, figure, mebibytes, micros, micros_figure};
use super::work::render_work;
use crate::judge::{ArmVerdict, Figure, SessionVerdict, Verdict};
use crate::run::Results;

/// Arms beside each other in the table of sessions.
const ARMS_ABREAST: usize = 6;

/// What the first table tells.
const HEADROOM: &str = "Headroom: how much there is to win";

/// How to read the tables.
const LEGEND: &str = "
Figures are medians; ± is half the range over the rounds. (max) is the most of any round.
Ranges that meet are a tie. * marks the best of a session, and who shares its rank: whose median
lies within the range of the better one, or whose range meets it with a median within 5 %. So no
rank is better for a wide range of its own. By medians: the mean of the ranks by medians alone.
The closing session has no rank. Arms with perfect knowledge, beside others without, and arms over
the space bound have neither rank nor star. Of several settings of the thresholds only the best by
total has them.
Debt: how long an arm then took to flush and to merge what was due, with nobody beside it; where it
took longer than it was given, the time that it was given. Where that was not timed, as in older
files: what it still wanted to merge, at the speed of its compactions while it was measured.
Write amp: bytes written to files per byte written by the user; in brackets where it spans too
little of the tree's phases for a claim. Read amp: data blocks read from files per get or scan.
Peak space: bytes of all table files over those of existing data, looked at every second, and while
an arm pays its debt as well.
Latencies of closed sessions count from the moment an operation was sent; where a rate is offered
they count from the moment it was due, and stand by session alone. Those of writes are of operations
that read nothing: read-modify-writes stand by session.
";

/// The results as a table for a terminal. Judges anew if the file holds no verdict.
pub fn render_table(results: &Results) -> String {
    let verdict = super::verdict_of(results);
    let labels = Labels::of_plan(&results.parameters.arms);
    let mut text = head(results, &verdict) + &offered(results) + &labels.schedules();
    for caution in &verdict.cautions {
        text += &format!("  ! {}\n", labels.in_sentence(caution));
    }
    for failure in &results.failures {
        let sentence = labels.in_sentence(&failure.sentence);
        text += &format!("  ! {}: {sentence}\n", failure.title());
    }
    if let Some(headroom) = &verdict.headroom {
        let headroom = render_headroom(headroom, &verdict.arms, &labels);
        text += &format!("\n{HEADROOM}\n{headroom}");
        text += &render_won(&verdict.won, &labels);
    }
    if let Some(why) = empty_hull(&verdict) {
        text += &format!("\n{HEADROOM}\n  {why}\n");
    }
    if !verdict.arms.is_empty() {
        text += &section(
            "Time of closed sessions with debt, s",
            &totals_grid(&verdict, &labels),
        );
        for arms in verdict.arms.chunks(ARMS_ABREAST) {
            text += &section(
                "By session: s, or p99.9 where a rate is offered",
                &sessions_grid(arms, &labels),
            );
        }
        if verdict.arms.iter().any(|arm| arm.arm.follows_workload()) {
            for ranked in ranked(&verdict.arms).chunks(ARMS_ABREAST) {
                text += &section("Ranks", &ranks_grid(ranked, &verdict.arms, &labels));
            }
        }
        text += &section("What it cost", &costs_grid(&verdict, &labels));
        text += &section(
            "Latencies of closed sessions",
            &latencies_grid(&verdict, &labels),
        );
        text += &render_offered(results, verdict.complete_rounds, &labels);
        text += &render_level0(results, &labels);
        text += &render_convergence(&verdict.convergence, verdict.complete_rounds);
        text += &render_work(results, &labels);
        text += &render_tenths(results, &labels);
        text += LEGEND;
    }
    text
}

fn section(title: &str, grid: &Grid) -> String {
    format!("\n{title}\n{grid}")
}

fn head(results: &Results, verdict: &Verdict) -> String {
    let parameters = &results.parameters;
    let (workload, machine) = (&parameters.workload, &results.machine);
    let resources = &parameters.resources;
    format!(
        "{}: {}\n{} entries, {} round{}, {} thread{}, seed {}; write buffer {}, cache {}, {} bits per key{}\n{}, {} cores, {}{}{}\n",
        workload.name,
        workload.about,
        count(workload.entries),
        verdict.complete_rounds,
        if verdict.complete_rounds == 1 {
            ""
        } else {
            "s"
        },
        parameters.threads,
        if parameters.threads == 1 { "" } else { "s" },
        parameters.seed,
        mebibytes(resources.write_buffer_size as f64),
        mebibytes(resources.block_cache_size as f64),
        resources.filter_bits_per_key,
        if resources.direct_io {
            ", direct I/O"
        } else {
            ""
        },
        machine.processor,
        machine.cores,
        machine.system,
        device(results),
        programs(results),
    )
}

/// What the offered rates are a share of, where they are one.
fn offered(results: &Results) -> String {
    let Some(offer) = &results.parameters.offered else {
        return String::new();
    };
    let of = offer.of.as_ref();
    let whose = of.map_or("the slowest arm measured".to_string(), ToString::to_string);
    format!(
        "The highest rate is {:.0} % of the {} operations a second that {whose} carried in a \
         closed loop\n",
        100.0 * offer.share,
        count(offer.maximum as u64)
    )
}

/// What schedules went by, where it was measured or given.
fn device(results: &Results) -> String {
    let given = results.parameters.resources.device_bytes_per_second;
    let rate = given.or(results.machine.device_bytes_per_second);
    rate.map_or(String::new(), |rate| {
        format!("; schedules go by a device of {} MB/s", rate / 1_000_000)
    })
}

/// Who made the runs, where they tell.
fn programs(results: &Results) -> String {
    let programs = results.programs();
    programs
        .iter()
        .map(|program| format!("; {program}"))
        .collect()
}

fn totals_grid(verdict: &Verdict, labels: &Labels) -> Grid {
    let mut grid = Grid::new(&[
        "arm",
        "total",
        "of it debt",
        "to best static",
        "mean rank",
        "by medians",
        "",
    ]);
    let best = verdict
        .headroom
        .as_ref()
        .map(|headroom| headroom.best_static_seconds.median);
    let mut arms: Vec<&ArmVerdict> = verdict.arms.iter().collect();
    arms.sort_by(|a, b| a.total_seconds.median.total_cmp(&b.total_seconds.median));
    for arm in arms {
        let ratio = best
            .filter(|best| *best > 0.0)
            .map(|best| arm.total_seconds.median / best);
        let is_best = verdict
            .headroom
            .as_ref()
            .is_some_and(|h| h.best_static == arm.arm);
        let standing = if is_best {
            "best static"
        } else if arm.over_space_bound {
            "over the space bound"
        } else {
            arm.standing.map_or("", |standing| standing.word())
        };
        grid.row([
            labels.of(&arm.arm),
            figure(&arm.total_seconds),
            arm.debt_seconds.as_ref().map_or("-".into(), figure),
            ratio.map_or(String::new(), |ratio| {
                format!("{:+.1} %", (ratio - 1.0) * 100.0)
            }),
            mean(arm.mean_rank(&verdict.arms), ""),
            mean(arm.mean_rank_by_medians(&verdict.arms), ""),
            standing.to_string(),
        ]);
    }
    grid.left_from(6)
}

/// A mean of ranks, or what stands for none.
fn mean(rank: Option<f64>, none: &str) -> String {
    rank.map_or(none.to_string(), |rank| format!("{rank:.1}"))
}

/// Sessions as rows, arms as columns; a star marks the best, and who ties with it.
fn sessions_grid(arms: &[ArmVerdict], labels: &Labels) -> Grid {
    let names: Vec<String> = arms.iter().map(|arm| labels.of(&arm.arm)).collect();
    let mut titles = vec!["session"];
    titles.extend(names.iter().map(String::as_str));
    let mut grid = Grid::new(&titles);
    for i in 0..arms[0].sessions.len() {
        let cells: Vec<&SessionVerdict> =
            arms.iter().filter_map(|arm| arm.sessions.get(i)).collect();
        let mut row = vec![cells[0].name.clone()];
        row.extend(cells.into_iter().map(session_cell));
        grid.row(row);
    }
    grid
}

fn session_cell(session: &SessionVerdict) -> String {
    let text = if session.open {
        micros_figure(session.judged())
    } else {
        figure(session.judged())
    };
    text + if session.best { "*" } else { " " }
}

/// An arm with its ranks by session.
type Ranked<'a> = (&'a ArmVerdict, Vec<(&'a str, usize)>);

/// Those that have a rank.
fn ranked(all: &[ArmVerdict]) -> Vec<Ranked<'_>> {
    all.iter()
        .map(|arm| (arm, arm.ranks(all)))
        .filter(|(_, ranks)| !ranks.is_empty())
        .collect()
}

/// Sessions as rows, `ranked` as columns, and the means with ties and without; ranks are
/// among `all`.
fn ranks_grid(ranked: &[Ranked<'_>], all: &[ArmVerdict], labels: &Labels) -> Grid {
    let names: Vec<String> = ranked.iter().map(|(arm, _)| labels.of(&arm.arm)).collect();
    let mut titles = vec!["session"];
    titles.extend(names.iter().map(String::as_str));
    let mut grid = Grid::new(&titles);
    let sessions = ranked.first().map_or(&[][..], |(_, ranks)| &ranks[..]);
    for (at, (session, _)) in sessions.iter().enumerate() {
        let of = |(_, ranks): &Ranked<'_>| {
            ranks
                .get(at)
                .map_or("-".into(), |(_, rank)| rank.to_string())
        };
        let cells = ranked.iter().map(of);
        grid.row(std::iter::once(session.to_string()).chain(cells));
    }
    let means = ranked.iter().map(|(arm, _)| mean(arm.mean_rank(all), "-"));
    grid.row(std::iter::once("mean".to_string()).chain(means));
    let by_medians = ranked.iter().map(|(arm, _)| arm.mean_rank_by_medians(all));
    let by_medians = by_medians.map(|rank| mean(rank, "-"));
    grid.row(std::iter::once("by medians".to_string()).chain(by_medians));
    grid
}

fn costs_grid(verdict: &Verdict, labels: &Labels) -> Grid {
    let mut grid = Grid::new(&[
        "arm",
        "write amp",
        "read amp",
        "peak space",
        "end space",
        "stalled, s",
        "largest merge (max)",
        "memory",
    ]);
    for arm in &verdict.arms {
        grid.row([
            labels.of(&arm.arm),
            arm.write_amplification.as_ref().map_or("-".into(), |it| {
                bracketed(figure(it), verdict.write_shortfall.is_some())
            }),
            arm.read_amplification.as_ref().map_or("-".into(), figure),
            figure(&arm.peak_space_amplification),
            figure(&arm.end_space_amplification),
            figure(&arm.stall_seconds),
            mebibytes(arm.largest_piece_bytes.max),
            bytes_figure(&arm.memory_bytes),
        ]);
    }
    grid
}

fn latencies_grid(verdict: &Verdict, labels: &Labels) -> Grid {
    let mut grid = Grid::new(&[
        "arm",
        "p99.9 write",
        "p99.9 read",
        "p99.9 scan",
        "longest write (max)",
        "longest operation (max)",
    ]);
    let tail = |figure: &Option<Figure>| figure.as_ref().map_or("-".into(), micros_figure);
    for arm in &verdict.arms {
        let longest_write = arm.longest_write.as_ref();
        grid.row([
            labels.of(&arm.arm),
            tail(&arm.write_p999),
            tail(&arm.read_p999),
            tail(&arm.scan_p999),
            longest_write.map_or("-".into(), |longest| micros(longest.max)),
            micros(arm.longest_operation.max),
        ]);
    }
    grid
}
