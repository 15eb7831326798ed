//! Drawn trees: text in, plans out.
//!
//! ```text
//! limits 4,1                      run limits, as a policy spells them
//! size_ratio 10                   shape fields by name
//! L0: 0-90 5-70                   newest first; LOW-HIGH, or LOW-HIGH:BYTES
//! landing: 0-50                   RocksDB's own compaction of L0
//! 1.15: 0-40:900 41-99:900 d80    level.slot; dN: N % tombstones
//! drain 1.12 -> 2.15              a drain under way
//! consolidating 1.12 -> 2.15      one for the reads' sake
//! draining-full 2.14 -> 3.15      one of a level that was full
//! abandon 1                       the level's consolidation is given up
//! busy 3                          a file in a running compaction (by number)
//! unreadable 3
//! workers 1
//! elsewhere 1                     pieces of drains of other column families
//! order apart                     what the schedule lets L0 do: merge, apart, wait
//! compact all
//! moves rewrite                   as under a compaction filter
//! ```
//! Files are numbered from 1 in the order of the drawing.

use std::fmt::Write;

use crate::key::Key;
use crate::layout::{LogicalLevel, PhysicalLevel, Slot};
use crate::observation::{InFlight, Observation};
use crate::plan::{PlanKind, Reason};
use crate::planner::Planned;
use crate::schedule::Level0Order;
use crate::shape::{RunLimit, RunLimits, Shape, Transition};
use crate::state::{Drain, DrainId, TreeState};
use crate::testing::small_shape;
use crate::tree::{File, Tree};
use crate::tuner::Policy;

/// Reads a drawing.
///
/// # Errors
/// A sentence that names the line which makes no sense.
pub fn parse(text: &str) -> Result<Observation, String> {
    let mut drawing = Drawing {
        shape: small_shape(),
        state: TreeState::new(RunLimits::uniform(RunLimit::ONE)),
        levels: Vec::new(),
        busy: Vec::new(),
        unreadable: Vec::new(),
        workers: 2,
        elsewhere: 0,
        order: Level0Order::Merge,
        moves_rewrite: false,
        files: 0,
    };
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
        if !line.starts_with('#') {
            drawing
                .line(line)
                .ok_or_else(|| format!("the drawing's line {line:?} makes no sense"))?;
        }
    }
    drawing.observation()
}

struct Drawing {
    shape: Shape,
    state: TreeState,
    levels: Vec<Vec<File>>,
    busy: Vec<u64>,
    unreadable: Vec<u64>,
    workers: usize,
    elsewhere: usize,
    order: Level0Order,
    moves_rewrite: bool,
    files: u64,
}

impl Drawing {
    fn line(&mut self, line: &str) -> Option<()> {
        if let Some((place, files)) = line.split_once(": ") {
            let level = self.place(place)?;
            for file in files.split_whitespace() {
                self.file(level, file)?;
            }
            return Some(());
        }
        let (word, rest) = line.split_once(' ')?;
        match word {
            "limits" => {
                let policy: Policy = format!("fixed-{rest}").parse().ok()?;
                self.state.limits = policy.first_limits();
            }
            "drain" => self.drain(rest, |_| Reason::Manual)?,
            "consolidating" => self.drain(rest, |level| Reason::Consolidate { level })?,
            "draining-full" => self.drain(rest, |level| Reason::LevelFull {
                level,
                bytes: 0,
                capacity: 0,
            })?,
            "abandon" => self.state.abandon.push(LogicalLevel(rest.parse().ok()?)),
            "busy" => self.busy.push(rest.parse().ok()?),
            "unreadable" => self.unreadable.push(rest.parse().ok()?),
            "workers" => self.workers = rest.parse().ok()?,
            "elsewhere" => self.elsewhere = rest.parse().ok()?,
            "compact" => self.state.compact_all = true,
            "moves" => self.moves_rewrite = true,
            "order" => {
                self.order = match rest {
                    "merge" => Level0Order::Merge,
                    "apart" => Level0Order::MergeApart,
                    "wait" => Level0Order::Wait,
                    _ => return None,
                };
            }
            "size_ratio" => self.shape.size_ratio = rest.parse().ok()?,
            "max_space_amplification" => self.shape.max_space_amplification = rest.parse().ok()?,
            "target_file_size_base" => self.shape.target_file_size_base = rest.parse().ok()?,
            "compression" => {
                self.shape.compression_classes = rest
                    .split(',')
                    .map(|class| class.parse().ok())
                    .collect::<Option<_>>()?;
            }
            "transition" => {
                self.shape.transition = match rest {
                    "flexible" => Transition::Flexible,
                    "lazy" => Transition::Lazy,
                    "greedy" => Transition::Greedy,
                    "file-granular" => Transition::FileGranular,
                    _ => return None,
                };
            }
            _ => return None,
        }
        Some(())
    }

    fn place(&self, text: &str) -> Option<PhysicalLevel> {
        match text {
            "L0" => Some(PhysicalLevel::L0),
            "landing" => Some(PhysicalLevel::LANDING),
            _ => {
                let (level, slot) = text.split_once('.')?;
                let level = LogicalLevel(level.parse().ok()?);
                let slot = Slot(slot.parse().ok()?);
                self.shape.layout.physical(level, slot)
            }
        }
    }

    fn file(&mut self, level: PhysicalLevel, text: &str) -> Option<()> {
        let at = usize::from(level.0);
        if self.levels.len() <= at {
            self.levels.resize(at + 1, Vec::new());
        }
        if let Some(percent) = text.strip_prefix('d') {
            let file = self.levels[at].last_mut()?;
            file.deletions = file.entries * percent.parse::<u64>().ok()? / 100;
            return Some(());
        }
        let (keys, bytes) = text.split_once(':').unwrap_or((text, "100"));
        let (low, high) = keys.split_once('-')?;
        self.files += 1;
        let size = bytes.parse().ok()?;
        self.levels[at].push(File {
            number: self.files,
            size,
            smallest: key(low)?,
            largest: key(high)?,
            entries: size,
            deletions: 0,
        });
        Some(())
    }

    fn drain(&mut self, text: &str, reason: impl Fn(LogicalLevel) -> Reason) -> Option<()> {
        let (top, target) = text.split_once(" -> ")?;
        let top = self.place(top)?;
        let (level, _) = self.shape.layout.logical(top)?;
        let drain = Drain {
            id: DrainId(self.state.next_drain),
            top,
            target: self.place(target)?,
            range: None,
            begins_run: false,
            reason: reason(level),
        };
        self.state.next_drain += 1;
        self.state.drains.push(drain);
        Some(())
    }

    fn observation(self) -> Result<Observation, String> {
        let tree = Tree::new(self.levels).map_err(|error| error.to_string())?;
        let in_flight = tree
            .iter()
            .filter(|(_, file)| self.busy.contains(&file.number))
            .map(|(level, file)| InFlight {
                files: [file.number].into(),
                top: level,
                output: level,
                range: (file.smallest.clone(), file.largest.clone()),
                drain: self.state.drain_at(level).map(|drain| drain.id),
                foreign: false,
            })
            .collect();
        Ok(Observation {
            shape: self.shape,
            tree,
            state: self.state,
            in_flight,
            unreadable: self.unreadable.into_iter().collect(),
            workers: self.workers,
            drains_elsewhere: self.elsewhere,
            level0: self.order,
            at_bound: false,
            deep: Default::default(),
            pinned: false,
            drains_begin: true,
            moves_rewrite: self.moves_rewrite,
        })
    }
}

fn key(text: &str) -> Option<Key> {
    let number: u32 = text.parse().ok()?;
    Some(Key::from(format!("{number:05}")))
}

/// Writes down what the planner wants.
pub fn show(seen: &Observation, planned: &Planned) -> String {
    let mut text = String::new();
    let known = |drain: &&Drain| !seen.state.drains.contains(drain);
    for drain in planned.state.drains.iter().filter(known) {
        let _ = writeln!(
            text,
            "begin {} -> {}{}: {}",
            place(seen, drain.top),
            place(seen, drain.target),
            drain
                .range
                .as_ref()
                .map_or_else(String::new, |(low, high)| format!(", keys {low}..{high}")),
            drain.reason
        );
    }
    for drain in &seen.state.drains {
        if !planned.state.drains.contains(drain) {
            let (top, target) = (place(seen, drain.top), place(seen, drain.target));
            let _ = writeln!(text, "end {top} -> {target}");
        }
    }
    for plan in &planned.plans {
        let verb = match plan.kind {
            PlanKind::Merge => "merge",
            PlanKind::Move => "move",
        };
        let inputs: Vec<String> = plan
            .inputs
            .iter()
            .map(|input| format!("{}{:?}", place(seen, input.level), input.files))
            .collect();
        let excess = plan.excess.map_or_else(String::new, |excess| {
            format!(", over the bound: {excess:?}")
        });
        let _ = writeln!(
            text,
            "{verb} {} -> {} ({} bytes{excess}): {}",
            inputs.join(" + "),
            place(seen, plan.output),
            plan.input_bytes,
            plan.reason
        );
    }
    if text.is_empty() {
        text.push_str("nothing\n");
    }
    text
}

fn place(seen: &Observation, physical: PhysicalLevel) -> String {
    match seen.shape.layout.logical(physical) {
        Some((level, slot)) => format!("{}.{}", level.0, slot.0),
        None if physical == PhysicalLevel::L0 => "L0".into(),
        None => "landing".into(),
    }
}
