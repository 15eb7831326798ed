//! Runs that a merge makes: newer files over older ones, cut into the stretches of files.

use super::{Place, SimFile, Stretch};
use crate::content::Density;

/// Files end on a grid coarser than places, so that bounds survive being keys.
const GRID: f64 = (1u64 << 44) as f64;

/// Lays newer files over older ones, stretch by stretch.
pub(super) fn overlay(inputs: &[Vec<SimFile>], bottom: bool, out: &mut Cutter<'_>) {
    let files: Vec<&Stretch> = inputs.iter().flatten().map(|file| &file.stretch).collect();
    let mut bounds: Vec<Place> = files
        .iter()
        .flat_map(|file| [file.low, file.high])
        .collect();
    bounds.sort_by(f64::total_cmp);
    bounds.dedup();
    for pair in bounds.windows(2) {
        let (low, high) = (pair[0], pair[1]);
        let mut content: Option<Vec<Density>> = None;
        for file in files
            .iter()
            .filter(|file| file.low <= low && file.high >= high)
        {
            match &mut content {
                None => content = Some(file.content.clone()),
                Some(newer) => {
                    for (newer, older) in newer.iter_mut().zip(&file.content) {
                        *newer = newer.over(older);
                    }
                }
            }
        }
        if let Some(mut content) = content {
            if bottom {
                content.iter_mut().for_each(|it| *it = it.settled());
            }
            // A file of nothing is not written.
            if content.iter().any(|it| it.entries() > 0.0) {
                out.push(low, high, &content);
            }
        }
    }
}

/// Cuts a run into the stretches of its files.
pub(super) struct Cutter<'a> {
    /// Places where files must end, in order.
    cuts: &'a [Place],
    file_entries: f64,
    pub(super) stretches: Vec<Stretch>,
    /// Whether the last one takes more.
    open: bool,
}

impl<'a> Cutter<'a> {
    pub(super) fn new(cuts: &'a [Place], file_entries: f64) -> Cutter<'a> {
        Cutter {
            file_entries: file_entries.max(1.0),
            cuts,
            stretches: Vec::new(),
            open: false,
        }
    }

    /// Adds a stretch of one content, after all that were added before.
    pub(super) fn push(&mut self, low: Place, high: Place, content: &[Density]) {
        let density: f64 = content.iter().map(Density::entries).sum();
        let mut begin = low;
        while begin < high {
            let cut = self.cuts.partition_point(|cut| *cut <= begin);
            let limit = self.cuts.get(cut).copied().filter(|cut| *cut <= high);
            let room = match self.stretches.last() {
                Some(last) if self.open && last.high == begin => self.file_entries - last.entries(),
                _ => self.file_entries,
            };
            let widest = room.max(0.0) / density.max(1e-300);
            let full = ((begin + widest.max(1.0 / GRID)) * GRID).ceil() / GRID;
            let end = limit.unwrap_or(high).min(full);
            self.append(begin, end, content);
            self.open = end != full && Some(end) != limit;
            begin = end;
        }
    }

    fn append(&mut self, low: Place, high: Place, content: &[Density]) {
        let last = self.stretches.last_mut();
        if let Some(last) = last.filter(|last| self.open && last.high == low) {
            let (old, new) = (last.width(), high - low);
            for (mean, more) in last.content.iter_mut().zip(content) {
                *mean = mean.mean(old, more, new);
            }
            last.high = high;
            return;
        }
        self.stretches.push(Stretch {
            low,
            high,
            content: content.to_vec(),
        });
    }
}
