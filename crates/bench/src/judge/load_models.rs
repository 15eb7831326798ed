//! The load models against the kernel's counters.
//!
//! What users moved is what the kernel counted to and from the device, without what
//! flushes and compactions moved. The write-ahead log is in it, as it is in the store's
//! own model. What users took of the processors is what the kernel counted of the process,
//! without its threads in the background; the model that looks at them counts others' time in
//! user mode too.

use std::time::Duration;

use lissom::core::schedule::{Conditions, Load, LoadModel};

use super::intervals::{Interval, Intervals};
use crate::run::ArmRun;
use crate::store::UserLoad;

/// The models of bytes, with their names. `scarcest` estimates bytes as the first does, and
/// looks at the processors besides.
pub const MODELS: [(&str, LoadModel); 3] = [
    ("cache-additions", LoadModel::CacheAdditions),
    ("operations", LoadModel::Operations),
    ("weighted", LoadModel::Weighted),
];

/// Intervals that are compared together: the arm counts at other moments than the
/// kernel is asked, and compactions and reads of one second are told apart badly.
const WINDOW: usize = 10;

/// How far one model was from the kernel's counters in a session.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct ModelError {
    /// All bytes by the model over all bytes by the kernel, less 1: which way it errs.
    pub bias: f64,
    /// Mean distance of a window from the kernel's count, over the mean of that count.
    pub error: f64,
    /// The same after the constant factor that makes it least: whether the model rises and
    /// falls with the load, whatever unit its weights are in.
    pub scaled_error: f64,
}

impl ModelError {
    /// Of estimates and counts by window, of which the counts have a sum above 0.
    fn of(windows: &[(f64, f64)]) -> Self {
        let sum = |of: &dyn Fn(&(f64, f64)) -> f64| windows.iter().map(of).sum::<f64>();
        let kernel = sum(&|(_, kernel)| *kernel);
        let error = |factor: f64| {
            let distance = |(estimated, kernel): &(f64, f64)| (factor * estimated - kernel).abs();
            sum(&distance) / kernel
        };
        Self {
            bias: sum(&|(estimated, _)| *estimated) / kernel - 1.0,
            error: error(1.0),
            scaled_error: error(best_factor(windows)),
        }
    }
}

/// The factor of the estimates that makes the sum of their distances from the counts least:
/// the median of the factors that the windows ask for, each with its estimate as its
/// weight. 0 where nothing was estimated.
fn best_factor(windows: &[(f64, f64)]) -> f64 {
    let mut factors: Vec<(f64, f64)> = windows
        .iter()
        .filter(|(estimated, _)| *estimated > 0.0)
        .map(|(estimated, kernel)| (kernel / estimated, *estimated))
        .collect();
    factors.sort_by(|one, other| one.0.total_cmp(&other.0));
    let half = factors.iter().map(|(_, weight)| weight).sum::<f64>() / 2.0;
    let mut sum = 0.0;
    let middle = factors.iter().find(|(_, weight)| {
        sum += weight;
        sum >= half
    });
    middle.map_or(0.0, |(factor, _)| *factor)
}

/// What the kernel counted, and how far each model was from it.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelErrors {
    /// Absent where the kernel counted no bytes, as where all reads come from its cache.
    pub bytes: Option<Bytes>,
    /// Absent for an arm whose schedule does not look at the processors.
    pub processors: Option<Processors>,
}

/// Bytes, and how far each of [`MODELS`] was from them.
#[derive(Debug, Clone, PartialEq)]
pub struct Bytes {
    /// Bytes per second that users moved, by the kernel.
    pub kernel: f64,
    /// In the order of [`MODELS`].
    pub models: [ModelError; MODELS.len()],
}

/// Processors, and how far the model was from them that looks at them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Processors {
    /// Share of the processors that users kept busy, by the kernel.
    pub kernel: f64,
    /// Of the model.
    pub model: ModelError,
}

/// Compares the models in session number `session`, on so many processors. `None` for an
/// arm that counts no load, a session without a whole window, and where the kernel counted
/// nothing.
pub fn judge_load_models(run: &ArmRun, session: usize, cores: usize) -> Option<ModelErrors> {
    let intervals = Intervals::of(run, session);
    let ends: Vec<&Interval<'_>> = intervals.all().iter().step_by(WINDOW).collect();
    let windows: Vec<Window> = ends
        .windows(2)
        .filter_map(|pair| Window::between(pair[0], pair[1]))
        .collect();
    let errors = ModelErrors {
        bytes: bytes(&windows),
        processors: processors(&windows, cores),
    };
    (errors.bytes.is_some() || errors.processors.is_some()).then_some(errors)
}

fn bytes(windows: &[Window]) -> Option<Bytes> {
    let kernel: f64 = windows.iter().map(|it| it.kernel).sum();
    let seconds: f64 = windows.iter().map(|it| it.seconds).sum();
    (kernel > 0.0).then(|| Bytes {
        kernel: kernel / seconds,
        models: std::array::from_fn(|model| {
            let pairs = windows.iter().map(|it| (it.models[model], it.kernel));
            ModelError::of(&pairs.collect::<Vec<_>>())
        }),
    })
}

fn processors(windows: &[Window], cores: usize) -> Option<Processors> {
    let cores = cores.max(1) as f64;
    let told = windows.iter().filter_map(|it| {
        let estimated = it.user_cpu? * it.seconds * cores;
        Some((it.seconds, (estimated, it.kernel_cpu_seconds)))
    });
    let (seconds, pairs): (Vec<f64>, Vec<(f64, f64)>) = told.unzip();
    let kernel: f64 = pairs.iter().map(|(_, kernel)| kernel).sum();
    (kernel > 0.0).then(|| Processors {
        kernel: kernel / (seconds.iter().sum::<f64>() * cores),
        model: ModelError::of(&pairs),
    })
}

/// What users did in some seconds.
struct Window {
    seconds: f64,
    /// Bytes that they moved.
    kernel: f64,
    models: [f64; MODELS.len()],
    /// Share of the processors that they kept busy, where the arm looked at them.
    user_cpu: Option<f64>,
    /// Seconds of processors that they took.
    kernel_cpu_seconds: f64,
}

impl Window {
    fn between(from: &Interval<'_>, to: &Interval<'_>) -> Option<Self> {
        let (before, after) = (from.sample.user_load?, to.sample.user_load?);
        let seconds = to.to - from.to;
        let counted = after.seconds - before.seconds;
        // An arm that has not looked since tells nothing.
        if !(seconds > 0.0 && counted > 0.0) {
            return None;
        }
        let load = load(&before, &after, counted)?;
        let conditions = Conditions {
            compressed_share: after.compressed_share,
            entry_bytes: after.entry_bytes,
            ..Conditions::default()
        };
        let estimate = |model: LoadModel| model.client(&load, &conditions) * seconds;
        Some(Self {
            seconds,
            kernel: moved_by_users(from, to),
            models: MODELS.map(|(_, model)| estimate(model)),
            user_cpu: busy_share(&before, &after, counted),
            kernel_cpu_seconds: users_cpu_micros(from, to) as f64 / 1e6,
        })
    }
}

fn load(before: &UserLoad, after: &UserLoad, seconds: f64) -> Option<Load> {
    Some(Load {
        interval: Duration::try_from_secs_f64(seconds).ok()?,
        gets: after.gets.saturating_sub(before.gets),
        scans: after.scans.saturating_sub(before.scans),
        writes: after.writes.saturating_sub(before.writes),
        cached_bytes: after.cached_bytes.saturating_sub(before.cached_bytes),
        logged_bytes: after.logged_bytes.saturating_sub(before.logged_bytes),
        ..Load::default()
    })
}

/// The mean share of some seconds, from those until either of their ends.
fn busy_share(before: &UserLoad, after: &UserLoad, seconds: f64) -> Option<f64> {
    let until = |load: &UserLoad| Some(load.user_cpu? * load.seconds);
    Some((until(after)? - until(before)?) / seconds)
}

fn users_cpu_micros(from: &Interval<'_>, to: &Interval<'_>) -> u64 {
    let taken = |it: &Interval<'_>| it.sample.process.user_cpu_micros();
    taken(to).saturating_sub(taken(from))
}

fn moved_by_users(from: &Interval<'_>, to: &Interval<'_>) -> f64 {
    let device = |it: &Interval<'_>| {
        let process = it.sample.process;
        process.device_read_bytes + process.device_written_bytes
    };
    let background = |it: &Interval<'_>| it.sample.background.moved_bytes();
    let grown = |of: &dyn Fn(&Interval<'_>) -> u64| of(to).saturating_sub(of(from)) as f64;
    (grown(&device) - grown(&background)).max(0.0)
}
