//! Options and settings that someone wants of the running store, from within or from
//! outside.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use lissom_core::tuner::Policy;

use super::pilot;
use super::shared::{Family, Request, Shared};
use crate::apply::live::Live;
use crate::apply::{Applied, Plan, SettingsText, Wanted};
use crate::control::apply::is_over;
use crate::error::{Error, Result};
use crate::files::application::{self, Answer};
use crate::inspect::read::handle;
use crate::options::compression_options;
use crate::rate_limit::RateLimit;
use crate::settings::{Compression, Settings, check_filters};

pub(super) fn apply(shared: &Shared, wanted: &Wanted) -> Result<Applied> {
    with_live(shared, |live| live.apply(wanted))
}

pub(super) fn plan(shared: &Shared, wanted: &Wanted) -> Result<Plan> {
    with_live(shared, |live| live.plan(wanted))
}

fn with_live<T>(shared: &Shared, act: impl FnOnce(&Live<'_>) -> T) -> T {
    let read = || settings(shared);
    let check_policy =
        |family: &str, policy: &Policy| check_policy(shared, family, policy).map(drop);
    let set_policy = |family: &str, policy: &Policy| set_policy(shared, family, policy);
    let check_reshape = |family: &str, change: &SettingsText| check_reshape(shared, family, change);
    let reshape = |family: &str, change: &SettingsText| reshape(shared, family, change);
    let _alone = shared.applying.lock();
    act(&Live {
        rocks: &shared.db,
        directory: &shared.directory,
        settings: settings(shared),
        read: &read,
        rate_limit: shared.rate_limit.as_deref(),
        check_policy: &check_policy,
        set_policy: &set_policy,
        check_reshape: &check_reshape,
        reshape: &reshape,
    })
}

/// By column family.
fn settings(shared: &Shared) -> BTreeMap<String, Settings> {
    let families = shared.families.read();
    families
        .iter()
        .map(|(name, family)| (name.clone(), settings_of(shared, family)))
        .collect()
}

/// The settings that a column family was opened with, with what can change meanwhile as it
/// is now.
fn settings_of(shared: &Shared, family: &Family) -> Settings {
    let mut settings = family.settings();
    if let Ok(policy) = family.policy().parse() {
        settings.policy = policy;
    }
    let limit = shared.rate_limit.as_deref();
    settings.rate_limit_bytes_per_second = limit.and_then(RateLimit::bounded_to);
    settings
}

/// Whether a column family can take the change. Schedules keep the bound on the files of L0 that
/// they were made with.
fn check_reshape(shared: &Shared, family: &str, change: &SettingsText) -> Result<()> {
    let driven = shared.driven(family)?;
    let wanted = change.over(&driven.settings())?;
    let bounds = [&shared.settings, &driven.hooks.settings].map(Settings::debt_bounds);
    let most = bounds[0].max_level0_files.min(bounds[1].max_level0_files);
    let trigger = wanted.level0_file_num_compaction_trigger;
    if trigger as usize > most {
        return Err(Error::fix(format!(
            "the setting level0_file_num_compaction_trigger is {trigger}: L0 may have {most} files \
             in this store, so choose at most that, or set it at open"
        )));
    }
    Ok(())
}

/// The planner thread is asked for a look, and goes by the change from then on.
fn reshape(shared: &Shared, family: &str, change: &SettingsText) -> Result<()> {
    let driven = shared.driven(family)?;
    let before = driven.settings();
    let wanted = change.over(&before)?;
    if wanted.compression != before.compression {
        compress(shared, family, &wanted.compression)?;
    }
    driven.reshape(wanted);
    driven.ask(Request::Look);
    shared.events.bell().ring();
    Ok(())
}

/// Files that RocksDB begins from now on have this compression.
fn compress(shared: &Shared, family: &str, levels: &[Compression]) -> Result<()> {
    let options = compression_options(levels);
    let pairs: Vec<(&str, &str)> = options
        .iter()
        .map(|(name, value)| (*name, value.as_str()))
        .collect();
    let handle = handle(&shared.db, family)?;
    shared.db.set_options_cf(&handle, &pairs)?;
    Ok(())
}

/// The column family, if it can take the policy.
fn check_policy(shared: &Shared, family: &str, policy: &Policy) -> Result<Arc<Family>> {
    let driven = shared.driven(family)?;
    shared.check_policy(family, policy)?;
    check_filters(policy, driven.hooks.settings.filters)?;
    Ok(driven)
}

/// The planner thread takes it up at its next look.
pub(super) fn set_policy(shared: &Shared, family: &str, policy: &Policy) -> Result<()> {
    let limits = pilot::fixed_limits(policy);
    let driven = check_policy(shared, family, policy)?;
    let settings = &driven.hooks.settings;
    let policy = policy.over(settings.filters);
    let tuner = policy.tuner_within(settings.allowance());
    driven.ask(Request::Tuner(tuner, limits));
    shared.events.bell().ring();
    Ok(())
}

/// Does what someone asks for from outside, and leaves the answer.
pub(super) fn take_up(shared: &Shared) {
    let request = match application::take(&shared.directory) {
        Ok(None) => return,
        Ok(Some(request)) => request,
        Err(error) => return shared.complain("", error.to_string()),
    };
    if is_over(&request) {
        let late = "it came when nobody waited for it any more, by the clock of this machine: nothing \
                    was changed; ask again";
        return answer(shared, request.id, Err(Error::retry(late)));
    }
    // The planner thread must outlive whatever is asked of it.
    let act = AssertUnwindSafe(|| apply(shared, &Wanted::parse(&request.text)?));
    let result = catch_unwind(act)
        .unwrap_or_else(|_| Err(Error::bug("the store panicked while it applied options")));
    if let Ok(applied) = &result {
        let changed = applied.outcomes.len() - applied.left().count();
        shared.journal.note(
            "",
            format!(
                "asked from outside, {changed} of {} options are as wanted",
                applied.outcomes.len()
            ),
        );
    }
    answer(shared, request.id, result);
}

fn answer(shared: &Shared, id: String, result: Result<Applied>) {
    let answer = Answer {
        id,
        result: result.map_err(|error| error.to_string()),
    };
    if let Err(error) = application::answer(&shared.directory, &answer) {
        shared.complain("", error.to_string());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::autopilot::testing::Stopped;
    use crate::files::application::{Request, leave, take_answer};

    #[test]
    fn what_comes_too_late_is_answered_and_changes_nothing() {
        let store = Stopped::new();
        let request = Request {
            id: "late".to_owned(),
            until: 0,
            text: "{\"policy\": \"fixed-4\"}".to_owned(),
        };
        assert!(leave(store.path(), &request).expect("left"));
        take_up(&store.shared);
        let answer = take_answer(store.path(), "late").expect("read");
        let sentence = answer.expect("an answer").result.expect_err("late");
        assert!(sentence.contains("nothing was changed"), "{sentence}");
        let limits = &store.db.statistics().expect("statistics").families["default"].limits;
        assert_eq!(limits.to_string(), "1");
    }
}
