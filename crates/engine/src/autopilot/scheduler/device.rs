//! What the device of a directory can do: as the settings give it, as it was measured once,
//! or unknown. It is measured again where the directory lies on another device than then, and
//! where somebody has asked for it.

use lissom_core::schedule::ScheduleKind;

use super::super::memory::Memory;
use super::super::shared::Shared;
use super::probe;
use crate::error::Result;
use crate::files::probe as file;
use crate::files::state::{self, Stored};

/// What schedules go by where the device is not known: DLC's disk. Nothing is estimated by
/// it.
pub(super) const UNKNOWN: f64 = 350e6;

/// Keeps what the settings give for the device, or that they give nothing, for whoever looks
/// at the directory. An open does without: it goes by its own settings.
pub(in super::super) fn keep_given(shared: &Shared, stored: &mut Stored) {
    let given = shared.settings.device_bytes_per_second;
    if stored.schedule.given_device_bytes_per_second == given {
        return;
    }
    stored.schedule.given_device_bytes_per_second = given;
    if let Err(error) = state::save(&shared.directory, stored) {
        shared.complain("", error.to_string());
    }
}

/// Bytes a second that the device reads and writes together: as given or known, or as
/// measured now. `None` where it cannot be measured, and under `eager`, which is not worth
/// a measurement.
pub(super) fn bytes_per_second(
    shared: &Shared,
    memory: &mut Memory,
    kind: ScheduleKind,
) -> Option<f64> {
    if let Err(error) = forget_if_asked(shared, memory) {
        shared.complain("", error.to_string());
    }
    let id = file::device_id(&shared.directory);
    if let Some(known) = memory.schedule().device(id) {
        return Some(known as f64);
    }
    if kind == ScheduleKind::Eager {
        return None;
    }
    measured(shared, memory, id).map(|rate| rate as f64)
}

/// Forgets what was measured, where the file of a measurement lies: an open before this one
/// was killed while it measured, or somebody has left it.
fn forget_if_asked(shared: &Shared, memory: &mut Memory) -> Result<()> {
    if file::take(&shared.directory)? {
        memory.keep_device(None, None)?;
    }
    Ok(())
}

/// Measures the device, and keeps and tells what came of it.
fn measured(shared: &Shared, memory: &mut Memory, id: Option<u64>) -> Option<u64> {
    let measured = probe::bytes_per_second(&shared.directory);
    let text = match &measured {
        Ok(rate) => match memory.keep_device(Some(*rate), id) {
            Ok(()) => format!("the device does {} MB/s", rate / 1_000_000),
            Err(error) => error.to_string(),
        },
        Err(error) => format!(
            "the device's speed cannot be measured ({error}); it is held for {} MB/s: set \
             device_bytes_per_second",
            UNKNOWN / 1e6
        ),
    };
    shared.journal.note("", text);
    measured.ok()
}
