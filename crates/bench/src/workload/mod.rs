//! Workloads as data: a TOML schema, the shipped files, and random ones.

mod check;
mod random;
mod rate;
mod schema;
mod shipped;
#[cfg(test)]
mod tests;

use std::fs::File;
use std::path::Path;

use sha2::{Digest, Sha256};

use crate::drive::OpKind;
use crate::error::{BenchError, Place, Result};
use crate::generate::{DueTimes, due_count};

pub use random::random_workload;
pub use rate::{Periodic, Rate};
pub use schema::{
    DrawnSize, Fill, FillOrder, KeyOrder, Keys, Mix, MixgraphKeys, Session, Size, Workload,
};
pub use shipped::{SHIPPED, shipped_hashes};

/// Name of the session that the harness adds to every workload.
pub const CLOSING_SESSION: &str = "closing";
/// Operations of the closing session for each loaded entry.
const CLOSING_OPERATIONS_PER_ENTRY: f64 = 0.02;
/// More of them show nothing more.
const MOST_CLOSING_OPERATIONS: u64 = 10_000_000;

/// Reads a shipped workload by name, `random:SEED`, or a file by its path.
pub fn load_workload(name_or_path: &str) -> Result<Workload> {
    if let Some(seed) = name_or_path.strip_prefix("random:") {
        let seed = seed
            .parse()
            .place(format!("workload \"{name_or_path}\": the seed"))?;
        return Ok(random_workload(seed));
    }
    if let Some((name, text)) = SHIPPED.iter().find(|(name, _)| *name == name_or_path) {
        return parse_workload(text, &format!("workloads/{name}.toml"));
    }
    if !Path::new(name_or_path).exists() {
        let names: Vec<&str> = SHIPPED.iter().map(|(name, _)| *name).collect();
        return Err(BenchError::new(format!(
            "workload \"{name_or_path}\" is neither a file nor shipped; the shipped ones are {}, \
             and random:SEED makes one",
            names.join(", ")
        )));
    }
    let text = std::fs::read_to_string(name_or_path).place(name_or_path)?;
    parse_workload(&text, name_or_path)
}

/// Parses and checks a workload; `file` is named in errors.
pub fn parse_workload(text: &str, file: &str) -> Result<Workload> {
    let deserializer = toml::Deserializer::parse(text).map_err(|e| {
        BenchError::new(format!(
            "{file}: this is not TOML: {}",
            e.to_string().trim()
        ))
    })?;
    let workload: Workload = serde_path_to_error::deserialize(deserializer).map_err(|e| {
        let field = e.path().to_string();
        BenchError::new(format!(
            "{file}: field {field}: {}",
            e.inner().to_string().trim()
        ))
    })?;
    check::check(&workload).map_err(|e| e.at(file))?;
    Ok(workload)
}

impl Workload {
    /// Checks that it can be run, and not only simulated.
    ///
    /// # Errors
    /// More entries than the harness can keep book of.
    pub fn check_driven(&self) -> Result<()> {
        check::check_driven(self).map_err(|e| e.at(format!("workload {}", self.name)))
    }

    /// The same workload with another number of entries and `scale` times the
    /// operations in every session.
    pub fn sized(&self, entries: Option<u64>, scale: f64) -> Result<Self> {
        if !(scale.is_finite() && scale > 0.0) {
            return Err(BenchError::new(format!(
                "--scale {scale}: it must be above 0"
            )));
        }
        let mut sized = self.clone();
        sized.entries = entries.unwrap_or(self.entries);
        for session in &mut sized.sessions {
            session.operations_per_entry = session.operations_per_entry.map(|n| n * scale);
            session.operations = session
                .operations
                .map(|n| ((n as f64 * scale) as u64).max(1));
            session.seconds = session.seconds.map(|s| s * scale);
        }
        check::check(&sized).map_err(|e| e.at(format!("workload {}", self.name)))?;
        Ok(sized)
    }

    /// The same workload with its sessions gone through `times` times; those of a later
    /// turn have its number behind their names.
    ///
    /// # Errors
    /// When a name with a number is another session's.
    pub fn repeated(&self, times: u32) -> Result<Self> {
        let turns = (1..=times).flat_map(|turn| {
            self.sessions.iter().cloned().map(move |mut session| {
                if turn > 1 {
                    session.name = format!("{}-{turn}", session.name);
                }
                session
            })
        });
        let repeated = Self {
            sessions: turns.collect(),
            ..self.clone()
        };
        check::check(&repeated).map_err(|e| e.at(format!("workload {}", self.name)))?;
        Ok(repeated)
    }

    /// The same workload in closed loops: each session has the operations that it would
    /// be offered, and no due times.
    pub fn closed(&self) -> Self {
        let mut closed = self.clone();
        closed.name = format!("{}-closed", self.name);
        for session in closed
            .sessions
            .iter_mut()
            .filter(|session| session.is_open())
        {
            session.operations = Some(session.length(self.entries));
            session.operations_per_entry = None;
            session.seconds = None;
            session.rate = Rate::Closed;
        }
        closed
    }

    /// The same workload with all offered rates in the same proportion, the highest of
    /// them `highest` operations per second.
    ///
    /// # Errors
    /// No session has an offered rate, or the rate is not above 0.
    pub fn offering(&self, highest: f64) -> Result<Self> {
        let own = self.sessions.iter().filter_map(|it| it.rate.highest());
        let own = own.max_by(f64::total_cmp).ok_or_else(|| {
            BenchError::new(format!(
                "workload {}: no session has an offered rate to scale",
                self.name
            ))
        })?;
        let mut offering = self.clone();
        for session in &mut offering.sessions {
            session.rate = session.rate.times(highest / own);
        }
        check::check(&offering).map_err(|e| e.at(format!("workload {}", self.name)))?;
        Ok(offering)
    }

    /// All measured sessions: those of the file and then the closing one, in which
    /// what an arm left undone must be paid by reads.
    pub fn measured_sessions(&self) -> Vec<Session> {
        let mut sessions = self.sessions.clone();
        sessions.push(closing_session(self.entries));
        sessions
    }

    /// Entries that the load writes; at least one.
    pub fn loaded_entries(&self) -> u64 {
        if self.fill.share >= 1.0 {
            return self.entries;
        }
        // The conversion saturates.
        ((self.entries as f64 * self.fill.share).ceil() as u64).clamp(1, self.entries.max(1))
    }

    /// Bytes of a key and its value, on average.
    pub fn entry_bytes(&self) -> f64 {
        self.key_size as f64 + self.value_size.mean()
    }

    /// Fingerprint of everything in the workload, as hexadecimal SHA-256.
    pub fn fingerprint(&self) -> String {
        let text = serde_json::to_string(self).expect("a workload holds only numbers and strings");
        sha256_hex(text.as_bytes())
    }
}

impl Size {
    /// The mean of what is drawn.
    pub fn mean(self) -> f64 {
        match self {
            Size::Fixed(size) => size as f64,
            Size::Drawn(DrawnSize::Uniform { min, max }) => f64::midpoint(min as f64, max as f64),
            // theta + sigma / (1 - k), as far as the mean exists.
            Size::Drawn(DrawnSize::Pareto {
                theta,
                k,
                sigma,
                min,
                max,
            }) => {
                let mean = if k < 1.0 {
                    theta + sigma / (1.0 - k)
                } else {
                    max as f64
                };
                mean.clamp(min as f64, max as f64)
            }
        }
    }
}

impl Session {
    /// Operations of this session when `entries` were loaded; the same for every arm.
    pub fn length(&self, entries: u64) -> u64 {
        if let Some(operations) = self.operations {
            return operations;
        }
        if let Some(per_entry) = self.operations_per_entry {
            return ((per_entry * entries as f64).round() as u64).max(1);
        }
        due_count(self.rate, self.seconds.unwrap_or(0.0)).max(1)
    }

    /// Seconds in which operations become due; `None` in a closed loop.
    pub fn offered_seconds(&self, entries: u64) -> Option<f64> {
        if !self.is_open() {
            return None;
        }
        let last = || DueTimes::new(self.rate).nth(self.length(entries) as usize);
        self.seconds.or_else(last)
    }

    /// Whether operations have a due time.
    pub fn is_open(&self) -> bool {
        self.rate != Rate::Closed
    }
}

impl Mix {
    /// Weights in the order of [`OpKind::ALL`].
    pub fn weights(&self) -> [f64; OpKind::ALL.len()] {
        [
            self.get_present,
            self.get_absent,
            self.put,
            self.update,
            self.delete,
            self.scan,
            self.read_modify_write,
        ]
    }
}

fn closing_session(entries: u64) -> Session {
    let operations = entries as f64 * CLOSING_OPERATIONS_PER_ENTRY;
    let too_many = operations > MOST_CLOSING_OPERATIONS as f64;
    Session {
        name: CLOSING_SESSION.to_string(),
        operations_per_entry: (!too_many).then_some(CLOSING_OPERATIONS_PER_ENTRY),
        operations: too_many.then_some(MOST_CLOSING_OPERATIONS),
        seconds: None,
        rate: Rate::Closed,
        keys: Keys::Uniform,
        scan_length: schema::default_scan_length(),
        mix: Mix {
            get_present: 50.0,
            scan: 50.0,
            ..Mix::default()
        },
    }
}

pub(crate) fn sha256_hex(bytes: &[u8]) -> String {
    hexadecimal(&Sha256::digest(bytes))
}

/// The SHA-256 of a file, in hexadecimal digits.
///
/// # Errors
/// It cannot be read.
pub fn sha256_of_file(path: &Path) -> Result<String> {
    let mut hash = Sha256::new();
    let mut file = File::open(path).place(path.display())?;
    std::io::copy(&mut file, &mut hash).place(path.display())?;
    Ok(hexadecimal(&hash.finalize()))
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
