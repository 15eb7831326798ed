//! Applying a configuration to a closed directory.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use rust_rocksdb::Options;

use super::directory::{Directory, recorded_options};
use super::lock::lock;
use super::outcome::{Applied, Outcome, Rebuilt, side_effects};
use super::plan::{Host, How, Plan, Present, Row, decide, remarks, strangers};
use super::rebuild::{self, COPY_IS_IN_PLACE, Job, Place, Settled, Watch};
use super::reopen::{merged, read_back, reopen};
use super::settings::{SettingsText, Store};
use super::wanted::Wanted;
use super::{recorded, safety, settings};
use crate::adopt::drive::Customise;
use crate::error::{Error, ErrorKind, Result};
use crate::places::is_copy;

/// Who opens a directory of RocksDB's reads its OPTIONS file only if he wants to.
const READ_BY_WHO_LOADS_IT: &str = "a program that opens the database with options of its own, \
                                    instead of loading its OPTIONS file, goes by its own";

/// Applies a configuration to a directory that nobody has open.
pub struct Applier {
    directory: PathBuf,
    wanted: Wanted,
    rewrite: bool,
    customise: Arc<Customise>,
}

/// A directory that was looked at.
struct Seen {
    path: PathBuf,
    directory: Directory,
    host: Host,
    plan: Plan,
    /// Whether there is something to rewrite.
    rewrite: bool,
}

impl Applier {
    /// Applies `wanted` to a directory.
    pub fn new(directory: impl AsRef<Path>, wanted: impl Into<Wanted>) -> Applier {
        Applier {
            directory: directory.as_ref().to_owned(),
            wanted: wanted.into(),
            rewrite: false,
            customise: Arc::new(|_, _| ()),
        }
    }

    /// Whether all data are written anew, with the wanted options, into a directory
    /// beside it, which then takes its place. Needed by options that the stored files
    /// do not fit; of use for those that hold for new files only.
    ///
    /// Default: false. The old directory stays beside it until [`finish`](super::finish)
    /// removes it; [`undo`](super::undo) takes it back. What is not copied: sequence
    /// numbers and the database's identity, so that replication by the log and
    /// incremental backups begin anew; and the numbers of column families, by which a
    /// `WriteBatch` that was kept outside names them.
    pub fn rewrite(mut self, rewrite: bool) -> Applier {
        self.rewrite = rewrite;
        self
    }

    /// Sets merge operators and other objects that only the application has; see
    /// [`Opening::customise`](crate::db::Opening::customise). They must be those that
    /// the directory was last opened with.
    pub fn customise(
        mut self,
        change: impl Fn(&str, &mut Options) + Send + Sync + 'static,
    ) -> Applier {
        self.customise = Arc::new(change);
        self
    }

    /// What each option takes. Changes nothing.
    ///
    /// # Errors
    /// When there is no database, or one that cannot be opened here; when a column
    /// family is wanted that there is not; when a rebuild was asked for and is not
    /// possible.
    pub fn plan(&self) -> Result<Plan> {
        let place = Place::of(&self.directory)?;
        place.check_settled()?;
        self.look(&place, self.rewrite).map(|seen| seen.plan)
    }

    fn look(&self, place: &Place, rewrite: bool) -> Result<Seen> {
        let path = place.path.clone();
        let directory = Directory::look(&path)?;
        let host = match directory.is_lissoms(&path) {
            true => Host::Lissom,
            false => Host::Plain,
        };
        let rows = self.rows(&path, &directory, host)?;
        let mut plan = Plan {
            directory: path.display().to_string(),
            host,
            remarks: self.remarks(&directory, host, &rows),
            rows,
            rebuild: None,
        };
        // The same command again, after all was done.
        let is_rebuilt = !plan.can_change() && place.was_rebuilt(&self.wanted_id())?;
        let rewrite = rewrite && !is_rebuilt;
        if is_rebuilt {
            plan.remarks.push(format!(
                "the directory was rebuilt, and the one from before is {}",
                place.before.display()
            ));
        }
        if rewrite {
            let job = self.job(place, &directory, host, &plan.rows)?;
            plan.rebuild = Some(job.forecast()?);
            plan.remarks.extend(job.unreckoned()?);
        }
        Ok(Seen {
            path,
            directory,
            host,
            plan,
            rewrite,
        })
    }

    /// What is asked for, in one number; of settings, by which nothing is rewritten, the empty
    /// text.
    fn wanted_id(&self) -> String {
        match &self.wanted {
            Wanted::Options(wanted) => rebuild::id_of(wanted),
            Wanted::Settings(_) => String::new(),
        }
    }

    fn rows(&self, path: &Path, directory: &Directory, host: Host) -> Result<Vec<Row>> {
        if host == Host::Lissom {
            check_closed(path)?;
        }
        match (&self.wanted, host) {
            (Wanted::Options(wanted), host) => {
                let mistakes = strangers(&directory.families(), wanted);
                if !mistakes.is_empty() {
                    return Err(Error::fix(mistakes.join("\n")));
                }
                let deepest = match host {
                    Host::Plain => {
                        safety::check(&directory.options, path)?;
                        directory.deepest(path, &*self.customise)?
                    }
                    Host::Lissom | Host::Running => Default::default(),
                };
                let present = Present {
                    host,
                    options: &directory.options,
                    deepest: &deepest,
                };
                Ok(decide(&present, wanted))
            }
            (Wanted::Settings(wanted), Host::Lissom | Host::Running) => {
                settings_rows(path, directory, wanted)
            }
            (Wanted::Settings(_), Host::Plain) => Err(Error::fix(format!(
                "{} is a directory of plain RocksDB, and a JSON object names settings of Lissom's: \
                 give an OPTIONS file, or adopt the directory first, with `lissom adopt`",
                path.display()
            ))),
        }
    }

    fn remarks(&self, directory: &Directory, host: Host, rows: &[Row]) -> Vec<String> {
        let (Wanted::Options(wanted), Host::Plain) = (&self.wanted, host) else {
            return Vec::new();
        };
        let named = wanted.families();
        let others: Vec<&str> = directory
            .names
            .iter()
            .map(String::as_str)
            .filter(|name| !named.is_empty() && !named.contains(name))
            .collect();
        let mut all = vec![READ_BY_WHO_LOADS_IT.to_owned()];
        if !others.is_empty() {
            all.push(format!(
                "the text does not name the column families {}, which keep their options",
                others.join(", ")
            ));
        }
        all.extend(remarks(rows));
        let unread = safety::unread(&directory.mistakes);
        all.extend(unread.map(|why| format!("nothing can be changed here, since {why}")));
        all
    }

    fn job(&self, place: &Place, directory: &Directory, host: Host, rows: &[Row]) -> Result<Job> {
        let Wanted::Options(wanted) = &self.wanted else {
            return Err(rebuild_refused(place));
        };
        if host == Host::Lissom {
            return Err(rebuild_refused(place));
        }
        let takes = |row: &Row| matches!(row.how, How::Reopening | How::Rebuild);
        Ok(Job {
            place: place.clone(),
            names: directory.names.clone(),
            present: directory.options.clone(),
            mistakes: directory.mistakes.clone(),
            target: merged(&directory.options, wanted, rows, takes),
            wanted: self.wanted_id(),
            customise: self.customise.clone(),
        })
    }

    /// Applies what can be applied, or goes on with a rebuild that was interrupted.
    ///
    /// # Errors
    /// As [`Applier::plan`]; when the directory is open elsewhere, or another call is at
    /// work on a database in the same directory; when RocksDB refuses the options, or the
    /// disk fails. No data is lost, and the same call goes on. Options that were left as
    /// they are stand in the outcomes.
    pub fn apply(&self, watch: &mut Watch<'_>) -> Result<Applied> {
        let place = Place::of(&self.directory)?;
        let _turn = place.turn()?;
        // An exchange that was interrupted comes behind the whole copy, which may be that of
        // another call.
        let exchanged = place.settle()? == Settled::Exchanged;
        let is_done = exchanged && place.was_rebuilt(&self.wanted_id())?;
        let seen = self.look(&place, self.rewrite && !is_done)?;
        if !seen.rewrite {
            return self.conclude(seen, None);
        }
        let job = self.job(&place, &seen.directory, seen.host, &seen.plan.rows)?;
        let rebuilt = rebuild::run(&job, watch)?;
        self.conclude(seen, Some(rebuilt))
            .map_err(|error| error.within(COPY_IS_IN_PLACE))
    }

    fn conclude(&self, seen: Seen, rebuilt: Option<Rebuilt>) -> Result<Applied> {
        let outcomes = self.carry_out(&seen)?;
        let mut remarks = seen.plan.remarks;
        if seen.host == Host::Plain {
            let now = recorded_options(&seen.path)?;
            let before = &seen.directory.options;
            remarks.extend(side_effects(before, &now, &seen.plan.rows));
        }
        Ok(Applied {
            directory: seen.plan.directory,
            outcomes,
            remarks,
            rebuilt,
        })
    }

    fn carry_out(&self, seen: &Seen) -> Result<Vec<Outcome>> {
        let rows = seen.plan.rows.clone();
        match (&self.wanted, seen.host) {
            (Wanted::Options(_), Host::Plain) if seen.rewrite => {
                read_back(&seen.path, rows, |_| true)
            }
            (Wanted::Options(wanted), Host::Plain) => {
                reopen(&seen.path, &seen.directory, wanted, rows, &*self.customise)
            }
            (Wanted::Options(_), _) => Ok(rows
                .into_iter()
                .map(|row| {
                    Outcome::settled(&row).unwrap_or_else(|| {
                        let why = row.why.clone();
                        Outcome::left(row, why)
                    })
                })
                .collect()),
            (Wanted::Settings(wanted), _) => {
                recorded::record(&seen.path, &seen.directory, wanted, rows, &*self.customise)
            }
        }
    }
}

/// What each setting takes; they must go together.
fn settings_rows(path: &Path, directory: &Directory, wanted: &SettingsText) -> Result<Vec<Row>> {
    let recorded = recorded::settings(path, directory)?;
    recorded::changed(&recorded, wanted)?;
    let store = Store {
        host: Host::Lissom,
        settings: &recorded,
        has_rate_limit: false,
    };
    Ok(settings::decide(&store, wanted))
}

/// A running store of Lissom's is asked, not taken. Who may not take its lock for another reason,
/// as on a file system that is read-only, may look all the same. No file LOCK is made, which would
/// tell that a copy had been opened.
fn check_closed(path: &Path) -> Result<()> {
    if is_copy(path) {
        return Ok(());
    }
    match lock(path) {
        Err(error) if error.kind() == ErrorKind::Retry => Err(Error::retry(format!(
            "{} is open in this or another process: close it there, or ask that process with \
             `lissom apply --running`",
            path.display()
        ))),
        _ => Ok(()),
    }
}

fn rebuild_refused(place: &Place) -> Error {
    Error::fix(format!(
        "{} is Lissom's, which rewrites files as it merges them: `lissom compact` merges them all \
         at once",
        place.path.display()
    ))
}
