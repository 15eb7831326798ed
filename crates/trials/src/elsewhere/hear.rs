//! What follows from what the runner says, and from its silence.

use lissom_search::search::{Measurement, Outcome, TrialId};

use super::away::{Away, Step};
use super::message::{News, Order};
use super::{Elsewhere, MOST_MESSAGES, UNHEARD_SECONDS};
use crate::error::{Result, TrialsError};
use crate::protocol::clean;
use crate::runner::admission::tells_of_full_disk;
use crate::session::Trials;

impl Elsewhere {
    /// Takes what has come.
    pub(super) fn listen(&mut self) -> Result<()> {
        let now = self.seconds();
        if now - self.listened > UNHEARD_SECONDS {
            self.listen_anew(now);
        }
        self.listened = now;
        for _ in 0..MOST_MESSAGES {
            let Some(news) = self.link.news()? else {
                break;
            };
            self.heard = now;
            self.take(&news)?;
        }
        Ok(())
    }

    fn take(&mut self, news: &News) -> Result<()> {
        match news {
            News::Beat => return Ok(()),
            News::Hello(_) => {
                return Err(TrialsError::new(
                    "the runner says hello a second time: mend the runner",
                ));
            }
            News::Failed { why } => {
                return Err(TrialsError::new(format!(
                    "the runner cannot go on: {}",
                    clean(why)
                )));
            }
            _ => {}
        }
        let run = news.run().unwrap_or_default();
        if run == 0 || run > self.run {
            return Err(TrialsError::new(format!(
                "the runner speaks of run {run}, which nobody has started: mend the runner"
            )));
        }
        let now = self.seconds();
        let mut known = self.trials.iter_mut();
        let found = known.find_map(|(trial, known)| {
            let away = known.away.as_mut().filter(|it| it.run == run)?;
            Some((*trial, away))
        });
        let Some((trial, away)) = found else {
            // It was stopped, and this came late.
            if let News::Stopped { remark, .. } = news {
                self.remarks.extend(remark.as_deref().map(clean));
            }
            return Ok(());
        };
        let step = away.hear(news, now)?;
        self.carry_out(trial, step)
    }

    fn carry_out(&mut self, trial: TrialId, step: Step) -> Result<()> {
        match step {
            Step::Fine => Ok(()),
            Step::Pause => self.order(trial, |run| Order::Pause { run }),
            Step::Report(outcome) => {
                self.report(trial, outcome);
                Ok(())
            }
            Step::Failed(_, detail) if tells_of_full_disk(&detail) => {
                self.stop(trial);
                Err(TrialsError::new(format!(
                    "the disk of a machine that runs trials is full, or a quota on it is used \
                     up, which no configuration is to blame for: {detail}; make room there"
                )))
            }
            Step::Failed(cause, detail) => {
                self.stop(trial);
                let outcome = Outcome::Failed { cause, detail };
                self.reports.push(Measurement { trial, outcome });
                Ok(())
            }
            Step::Gone { why, forgiven } => {
                let label = self
                    .trials
                    .get(&trial)
                    .map_or("", |it| it.job.label.as_str());
                let outcome = self.losses.count(label, why, forgiven);
                self.stop(trial);
                self.reports.push(Measurement { trial, outcome });
                Ok(())
            }
        }
    }

    /// Reports a trial that has run as long as it was told to.
    fn report(&mut self, trial: TrialId, outcome: Outcome) {
        if !matches!(outcome, Outcome::Measured { .. }) {
            self.stop(trial);
        } else if let Some(known) = self.trials.get_mut(&trial) {
            known.reported = known.away.as_ref().map_or(known.reported, Away::seconds);
        }
        self.reports.push(Measurement { trial, outcome });
    }

    /// Whether whoever should speak is silent.
    pub(super) fn look_at_clock(&mut self) -> Result<()> {
        let now = self.seconds();
        let most = self.patience.silence;
        if now - self.heard > most {
            return Err(TrialsError::new(format!(
                "the runner has said nothing for {most:.0} s: look what it waits for; {}",
                self.link.words()
            )));
        }
        self.look_at_orders(now)?;
        self.lose(|away| {
            let is_silent = away.silent_since(now)? > most;
            is_silent.then(|| away.is_silent(most))
        })?;
        let unpaused = self.lose(|away| {
            let is_unpaused = away.pausing_since(now)? > most;
            is_unpaused.then(|| away.is_unpaused(most))
        })?;
        if unpaused > 0 {
            self.remark_once(format!(
                "the runner did not pause a trial within {most:.0} s: such trials are lost and \
                 begin anew, so look why it does not answer"
            ));
        }
        Ok(())
    }

    /// Loses the trials of which something tells that they are; how many.
    fn lose(&mut self, tells: impl Fn(&Away) -> Option<Step>) -> Result<usize> {
        let known = self.trials.iter();
        let lost = known.filter_map(|(trial, known)| Some((*trial, tells(known.away.as_ref()?)?)));
        let lost: Vec<(TrialId, Step)> = lost.collect();
        let count = lost.len();
        for (trial, step) in lost {
            self.carry_out(trial, step)?;
        }
        Ok(count)
    }

    fn remark_once(&mut self, sentence: String) {
        if !self.remarks.contains(&sentence) {
            self.remarks.push(sentence);
        }
    }

    /// Whether trials run that were told to long ago. A worker may be taken by another trial's
    /// whole run; one that is to go on has to wait for its own, by as many runs as are before it.
    fn look_at_orders(&mut self, now: f64) -> Result<()> {
        let mut moving = false;
        self.each(|away| moving |= away.is_moving());
        if moving {
            self.moved = now;
        }
        let known = self.trials.values();
        let mut known = known.filter_map(|it| Some((it.job.label.as_str(), it.away.as_ref()?)));
        known.try_for_each(|(label, away)| self.look_at_order(label, away, now))
    }

    fn look_at_order(&self, label: &str, away: &Away, now: f64) -> Result<()> {
        let most = self.settings.setup_deadline_seconds + self.settings.longest_seconds;
        if away.asked_since(now).is_some_and(|it| it > most) {
            return Err(TrialsError::new(format!(
                "the runner did not start {label} within {most:.0} s: look whether its machines \
                 are taken, or give fewer --workers"
            )));
        }
        let still = now - self.moved;
        if away.told_since(now).is_some_and(|it| it.min(still) > most) {
            return Err(TrialsError::new(format!(
                "the runner did not let {label} go on within {most:.0} s in which nothing else \
                 ran: look what it waits for; {}",
                self.link.words()
            )));
        }
        Ok(())
    }

    /// Silence counts from here on.
    pub(super) fn listen_anew(&mut self, now: f64) {
        self.heard = now;
        self.each(|away| away.listen_anew(now));
    }
}
