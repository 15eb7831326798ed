//! Debt is spent only as far as the next low phase can repay it, and first where it costs reads
//! least.
//!
//! While the load is high, the schedule foresees how long it will last
//! ([`rhythm`], [`profile`]), what will be owed until then, and what the low phase after it can
//! repay. L0 is merged as it fills, at an even rate, just high enough that no more is left
//! ([`needs`]): what lies deeper waits, and what would be too much of that goes on meanwhile,
//! [paced](super::Paced). When nothing can be foreseen, all goes on at the rate at which merges
//! keep up in the long run. A load that stays high longer than foreseen lets more be merged little
//! by little, so that no burst is needed in the end.
//!
//! Where the users usually leave less than that, L0 waits, too, as far as the low phase can merge it; what
//! is too much is merged by itself. A merge of L0 that runs has all that they leave and counts as
//! done, and beside it what has begun goes on at the rate that brings the debt to what can be
//! repaid.
//!
//! Where merges give way to users at the processors and at the device, they take what is left at
//! any load, moment by moment, and nothing has to wait; what is foreseen counts from where they do
//! so no more.
//!
//! Of the load itself little is known: how much of each quarter of an hour of the day was
//! high, and of each minute of the hour, whatever day and hour it was ([`profile`]), and how
//! long the last 16 phases of each kind lasted ([`rhythm`]). Nothing is known by the day of the
//! week, nor how high a load was; the inflow, what users take at low load, and how fast merges
//! go then are one mean each. Where several foresee an end, the best supported counts by what
//! was seen before, and of those that are supported nearly as well the earliest end.
//!
//! What a low phase can merge is bounded by what the users leave of the device, and by what the
//! workers were seen to move: where the cores run out first, that is far less. L0 has one of them,
//! since no two merges of it run at a time, and costs what it rewrites in level 1
//! ([`Level0Work`](super::Level0Work)). What a byte costs below that the tree tells
//! ([`Waiting`](crate::planner::Waiting)): seen while that waits, it would cost nothing.

mod foreseen;
mod needs;
mod profile;
mod rhythm;
mod scarce;

use std::time::Duration;

use serde::{Deserialize, Serialize};

use self::foreseen::{Foreseen, below_level0, best_supported};
use self::needs::{Ahead, Needs};
use self::profile::{Daily, Hourly};
use self::rhythm::Rhythm;
use super::{
    Debt, DebtBounds, DeepOrder, FLUSHES, FullLoad, Level0Order, Level0Work, Load, LoadModel,
    MergeSpeed, Order, Phase, PhaseLimits, Phases, Schedule, Seen, is_amount, leftover,
};

/// Weight of an interval against all before it.
const NEWEST: f64 = 0.05;

/// From this share of what may wait on, L0 is merged at any rate that the users leave.
const HALF: f64 = 0.5;

/// Share of what may ever wait that does: in L0, from there on nothing is left to wait for, and below
/// it, what is too much is merged at high load, too. The rest is room for what comes in while a merge
/// is under way.
const ROOM: f64 = 0.8;

/// Share of the device under which no rate goes: what is flushed and what has begun come to an end,
/// however little is written.
const LEAST: f64 = 0.01;

/// An interval so many times as long as the one before was late: the process was stopped, or the
/// planner held up.
const LATE: u32 = 10;

/// The schedule.
#[derive(Clone, Debug)]
pub struct LookAhead {
    bounds: DebtBounds,
    full: FullLoad,
    /// The last interval's length.
    interval: Duration,
    phases: Phases,
    rhythm: Rhythm,
    daily: Daily,
    hourly: Hourly,
    /// Bytes a second that are flushed at high load.
    inflow: Option<f64>,
    /// The same at low load.
    calm_inflow: Option<f64>,
    /// Bytes a second that users take of the device at low load.
    calm_client: Option<f64>,
    work: Level0Work,
    /// At low load.
    speed: MergeSpeed,
    /// Bytes of an L0 file.
    file_bytes: Option<f64>,
}

/// What is kept over a restart.
#[derive(Serialize, Deserialize)]
struct Kept {
    rhythm: Rhythm,
    /// Of the day.
    profile: Daily,
    /// Absent in state files that do not tell it.
    #[serde(default)]
    hourly: Hourly,
    inflow: Option<f64>,
    /// Absent in state files that do not tell it.
    #[serde(default)]
    calm_inflow: Option<f64>,
    /// Absent in state files that do not tell it.
    #[serde(default)]
    calm_client: Option<f64>,
    /// Absent in state files that do not tell it.
    #[serde(default)]
    level0_work: Level0Work,
    /// Absent in state files that do not tell it.
    #[serde(default)]
    speed: MergeSpeed,
}

impl Kept {
    /// What [`Schedule::state`] gave.
    fn of(state: &serde_json::Value) -> Result<Kept, String> {
        let kept: Kept = serde_json::from_value(state.clone())
            .map_err(|error| format!("what look-ahead had learned cannot be read: {error}"))?;
        let is_rate = |rate: Option<f64>| rate.is_none_or(is_amount);
        let sound = kept.rhythm.is_sound()
            && kept.profile.is_sound()
            && kept.hourly.is_sound()
            && kept.level0_work.is_sound()
            && kept.speed.is_sound()
            && is_rate(kept.inflow)
            && is_rate(kept.calm_inflow)
            && is_rate(kept.calm_client);
        if sound {
            Ok(kept)
        } else {
            Err("what look-ahead had learned holds numbers that cannot be".into())
        }
    }
}

impl LookAhead {
    /// A schedule that keeps to these bounds by itself.
    pub fn new(bounds: DebtBounds, full: FullLoad) -> LookAhead {
        LookAhead {
            bounds,
            full,
            interval: Duration::ZERO,
            phases: Phases::new(PhaseLimits::default()),
            rhythm: Rhythm::default(),
            daily: Daily::default(),
            hourly: Hourly::default(),
            inflow: None,
            calm_inflow: None,
            calm_client: None,
            work: Level0Work::default(),
            speed: MergeSpeed::default(),
            file_bytes: None,
        }
    }

    /// An interval of a phase has passed. How the load was in all of one that was late is known to
    /// nobody: no profile learns from it, and the rhythm goes on as after a restart.
    fn pass(&mut self, phase: Phase, load: &Load) {
        let before = std::mem::replace(&mut self.interval, load.interval);
        if !before.is_zero() && load.interval > before.saturating_mul(LATE) {
            self.rhythm.look_away();
            self.rhythm.pass(phase, before, load.clock);
            return;
        }
        self.rhythm.pass(phase, load.interval, load.clock);
        self.daily.pass(load.time_of_day, phase, load.interval);
        self.hourly.pass(load.time_of_day, phase, load.interval);
    }

    /// Takes up what an interval shows, if it has a length.
    fn learn(&mut self, seen: &Seen, phase: Phase, client: f64) {
        if seen.load.interval.is_zero() {
            return;
        }
        match phase {
            Phase::High => follow(&mut self.inflow, flushed_now(seen)),
            Phase::Low => {
                follow(&mut self.calm_inflow, flushed_now(seen));
                follow(&mut self.calm_client, client);
                self.learn_speed(seen);
            }
        }
        self.work.learn(&seen.load);
        if seen.debt.level0_files > 0 {
            let mean = seen.debt.level0_bytes as f64 / seen.debt.level0_files as f64;
            follow(&mut self.file_bytes, mean);
        }
    }

    /// Merges that took longer than the low phase has lasted began before it, when they had
    /// cores and a rate to share with a high load.
    fn learn_speed(&mut self, seen: &Seen) {
        let took = seen.load.compacted_micros as f64 / 1e6;
        if took <= self.rhythm.lasted() * seen.conditions.workers as f64 {
            self.speed.learn(&seen.load);
        }
    }

    fn foresee(&self, seen: &Seen) -> Option<Foreseen> {
        let time = seen.load.time_of_day;
        let by_rhythm = self.rhythm.next_low().into_iter();
        let by_hour = self.hourly.next_low(time);
        let all = by_rhythm.chain(by_hour).chain(self.daily.next_low(time));
        best_supported(&all.collect::<Vec<_>>())
    }

    /// Bytes a second that so many workers move at low load.
    fn speed_at_low_load(&self, seen: &Seen, workers: usize) -> f64 {
        let calm = self.calm_client.unwrap_or(0.0);
        let calm = self.full.share_of_bytes(calm, &seen.conditions);
        let left = leftover(seen, calm) as f64;
        let speed = self.speed.of(workers);
        speed.map_or(left, |speed| speed.min(left))
    }

    fn needs(&self, seen: &Seen, foreseen: Option<&Foreseen>) -> Needs {
        let needs = Needs {
            flushed: self.flushed(seen),
            usual: self.usual(),
            level0_per_byte: self.work.per_byte(),
            below_per_byte: seen.debt.below_per_byte,
            delayed: seen.debt.level0_delayed_bytes as f64,
            below_level0: seen.debt.below_level0(),
            is_crowded: seen.debt.crowding >= ROOM,
            phase: None,
        };
        // What is written in the low phase is merged in it, too.
        let speed = self.speed_at_low_load(seen, seen.conditions.workers);
        let calm = self.calm_inflow.unwrap_or(0.0) * (1.0 + needs.per_byte());
        let rate = (speed - calm).max(0.0);
        let phase = foreseen.map(|it| Ahead {
            seconds: it.high.as_secs_f64(),
            repayable: it.low.as_secs_f64() * rate,
        });
        Needs { phase, ..needs }
    }

    /// L0 has half of what may wait there. Files that are being merged are no part of that unless
    /// there is hardly room for more: while a merge keeps up, L0 holds what it takes and as much as
    /// has come since.
    fn is_half_full(&self, debt: &Debt) -> bool {
        let merging = debt.level0_merging_bytes as f64 / debt.level0_bytes.max(1) as f64;
        let from = HALF / (1.0 - merging).max(HALF / ROOM);
        let most = self.bounds.max_delayed_bytes as f64;
        debt.is_filled_to(from) || debt.level0_delayed_bytes as f64 >= from * most
    }

    /// L0 is merged as it fills, where the users leave enough for that, and what lies deeper as far
    /// as it cannot wait.
    fn evenly(&self, seen: &Seen, foreseen: Option<&Foreseen>, left: u64) -> Option<Order> {
        let needs = self.needs(seen, foreseen);
        if needs.usual_rate_of_level0() > left as f64 {
            return None;
        }
        let rate = needs.rate().min(left as f64);
        let (deep, why) = below_level0(&needs, foreseen);
        let (rate, why) = match self.is_half_full(&seen.debt) {
            true => {
                let half = "L0 has half of what may wait there: it has what the users leave";
                (left, format!("{why}; {half}"))
            }
            false => (at_least(seen, rate), why),
        };
        Some(Order {
            deep,
            bytes_per_second: Some(rate),
            ..Order::all(Phase::High, why)
        })
    }

    /// Bytes a second that are flushed at high load. A second of more or fewer writes is neither a
    /// change of the load nor of what is done about it.
    fn usual(&self) -> f64 {
        self.inflow.unwrap_or(0.0)
    }

    /// The same by what users write now if that is more than usual.
    fn flushed(&self, seen: &Seen) -> f64 {
        self.usual().max(flushed_now(seen))
    }

    fn at_high_load(&self, seen: &Seen, left: u64) -> Order {
        let foreseen = self.foresee(seen);
        if let Some(order) = self.evenly(seen, foreseen.as_ref(), left) {
            return order;
        }
        let (level0, rate, why) = self.with_too_little(seen, foreseen, left);
        Order {
            level0,
            deep: DeepOrder::Paced,
            bytes_per_second: Some(rate),
            ..Order::all(Phase::High, why)
        }
    }
}

/// Bytes a second that will be flushed of what is logged now: that happens later, in lumps.
fn flushed_now(seen: &Seen) -> f64 {
    seen.conditions.compressed_share * seen.load.logged_per_second()
}

/// A rate, or the least that there is.
fn at_least(seen: &Seen, rate: f64) -> u64 {
    let least = LEAST * seen.conditions.device_bytes_per_second;
    rate.max(least).max(1.0) as u64
}

fn follow(mean: &mut Option<f64>, value: f64) {
    if !value.is_finite() {
        return;
    }
    *mean = Some(mean.map_or(value, |mean| mean + NEWEST * (value - mean)));
}

impl Schedule for LookAhead {
    fn name(&self) -> String {
        "look-ahead".into()
    }

    fn interval(&self) -> Duration {
        Duration::from_secs(1)
    }

    fn needs_processors(&self) -> bool {
        true
    }

    fn order(&mut self, seen: &Seen) -> Order {
        let model = LoadModel::Scarcest;
        let client = model.client(&seen.load, &seen.conditions);
        let share = self.full.share(model, &seen.load, &seen.conditions);
        let phase = self.phases.after(share);
        self.pass(phase, &seen.load);
        self.learn(seen, phase, client);
        // Of the processors the kernel gives merges what is left; the rate is of bytes.
        let left = leftover(seen, self.full.share_of_bytes(client, &seen.conditions));
        let all = |why: &str| Order {
            bytes_per_second: Some(left),
            ..Order::all(phase, why)
        };
        if phase == Phase::Low {
            return all("the load is low: everything goes on");
        }
        if seen.conditions.merges_give_way {
            let why = "the load is high: merges give way, but for moments in which they are needed";
            return all(why);
        }
        self.at_high_load(seen, left)
    }

    fn state(&self) -> serde_json::Value {
        let kept = Kept {
            rhythm: self.rhythm.clone(),
            profile: self.daily.clone(),
            hourly: self.hourly.clone(),
            inflow: self.inflow,
            calm_inflow: self.calm_inflow,
            calm_client: self.calm_client,
            level0_work: self.work,
            speed: self.speed,
        };
        serde_json::to_value(kept).unwrap_or_default()
    }

    fn restore(&mut self, state: &serde_json::Value) -> Result<(), String> {
        if state.is_null() {
            return Ok(());
        }
        let kept = Kept::of(state)?;
        self.rhythm = kept.rhythm;
        (self.daily, self.hourly) = (kept.profile, kept.hourly);
        self.work = kept.level0_work;
        self.speed = kept.speed;
        (self.inflow, self.calm_inflow) = (kept.inflow, kept.calm_inflow);
        self.calm_client = kept.calm_client;
        Ok(())
    }
}
