//! When to restore: the watchdog's decision, without its process.

use std::time::Duration;

use crate::decide::Lease;

/// So long it tries to restore once the agent is gone. Then the state file is
/// what is left.
const PATIENCE: Duration = Duration::from_secs(24 * 3600);

/// The server ends a session of the watchdog's that is silent for longer.
pub(super) const SILENCE: Duration = Duration::from_secs(90);
/// An earlier session of its own holds the watchdog's lock for no longer: whoever does is the
/// watchdog of another agent.
const OWN_SESSION: Duration = SILENCE.saturating_add(Duration::from_secs(30));

/// What is to be done now.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Due {
    /// Nothing: the agent is in control.
    Nothing,
    /// The settings, at once.
    Restore,
    /// The process ends.
    Leave,
}

/// Keeps a lease. Times count from the watchdog's begin.
#[derive(Clone, Debug)]
pub struct Keeper {
    term: Duration,
    lease: Option<Lease>,
    renewed_at: Duration,
    gone_at: Option<Duration>,
    restored: bool,
    released: bool,
    /// Since when another session holds the watchdog's lock.
    barred_at: Option<Duration>,
}

impl Keeper {
    /// A keeper whose agent may be silent for so long.
    pub fn new(term: Duration) -> Keeper {
        Keeper {
            term,
            lease: None,
            renewed_at: Duration::ZERO,
            gone_at: None,
            restored: false,
            released: false,
            barred_at: None,
        }
    }

    /// The lease to restore.
    pub fn lease(&self) -> Option<&Lease> {
        self.lease.as_ref()
    }

    /// The agent hands over a lease.
    pub fn hold(&mut self, lease: Lease, now: Duration) {
        self.lease = Some(lease);
        self.renew(now);
    }

    /// The agent is in control.
    pub fn renew(&mut self, now: Duration) {
        self.renewed_at = now;
        self.restored = false;
    }

    /// The agent has restored everything itself.
    pub fn release(&mut self) {
        self.released = true;
    }

    /// The agent is gone. Whatever was restored while it was silent is looked at
    /// once more: it may have woken up since.
    pub fn lose_agent(&mut self, now: Duration) {
        if self.gone_at.is_none() {
            self.gone_at = Some(now);
            self.restored = false;
        }
    }

    /// Whether the agent is gone.
    pub fn has_lost_agent(&self) -> bool {
        self.gone_at.is_some()
    }

    /// The settings are restored. A silent agent may still wake up and delay, so
    /// they are looked at again until it is heard or gone.
    pub fn restored(&mut self) {
        self.restored = true;
    }

    /// Whether another session holds the watchdog's lock.
    pub fn see_lock(&mut self, is_barred: bool, now: Duration) {
        self.barred_at = is_barred.then(|| self.barred_at.unwrap_or(now));
    }

    /// Another agent has taken the server over, and has a watchdog of its own: what is restored
    /// from now on is that one's.
    fn is_succeeded(&self, now: Duration) -> bool {
        let held = |at: Duration| now.saturating_sub(at) > OWN_SESSION;
        self.barred_at.is_some_and(held)
    }

    /// What is to be done now.
    pub fn due(&self, now: Duration) -> Due {
        let silent = now.saturating_sub(self.renewed_at) > self.term;
        match (&self.lease, self.gone_at) {
            _ if self.released => Due::Leave,
            (None, Some(_)) => Due::Leave,
            (Some(lease), Some(_)) if !lease.may_be_changed() => Due::Leave,
            (None, None) => Due::Nothing,
            (Some(_), Some(_)) if self.restored => Due::Leave,
            (Some(_), None) if self.restored && silent && self.is_succeeded(now) => Due::Leave,
            (Some(_), Some(gone)) if now.saturating_sub(gone) > PATIENCE => Due::Leave,
            (Some(_), Some(_)) => Due::Restore,
            (Some(_), None) if silent => Due::Restore,
            (Some(_), None) => Due::Nothing,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::usual_lease;

    const fn at(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    fn held() -> Keeper {
        let mut keeper = Keeper::new(at(10));
        keeper.hold(usual_lease("here"), at(100));
        keeper
    }

    #[test]
    fn silence_restores_and_a_word_ends_it() {
        let mut keeper = held();
        assert_eq!(keeper.due(at(110)), Due::Nothing);
        assert_eq!(keeper.due(at(111)), Due::Restore);
        keeper.restored();
        assert_eq!(keeper.due(at(112)), Due::Restore, "the agent may wake up");
        keeper.renew(at(113));
        assert_eq!(keeper.due(at(120)), Due::Nothing);
    }

    #[test]
    fn an_agent_that_is_gone_is_restored_for_at_once_and_until_it_is_done() {
        let mut keeper = held();
        keeper.lose_agent(at(101));
        assert_eq!(keeper.due(at(101)), Due::Restore);
        assert_eq!(keeper.due(at(5_000)), Due::Restore);
        keeper.restored();
        assert_eq!(keeper.due(at(5_001)), Due::Leave);
        let mut for_nothing = held();
        for_nothing.lose_agent(at(101));
        assert_eq!(for_nothing.due(at(101) + PATIENCE + at(1)), Due::Leave);
    }

    #[test]
    fn an_early_restoration_does_not_count_after_the_agent_was_heard_again() {
        let mut keeper = held();
        keeper.restored();
        keeper.renew(at(120));
        keeper.lose_agent(at(121));
        assert_eq!(keeper.due(at(121)), Due::Restore);
        let mut silent = held();
        silent.restored();
        silent.lose_agent(at(121));
        assert_eq!(silent.due(at(121)), Due::Restore, "it may have woken up");
    }

    /// Two watchdogs would each take back what the other's agent has set.
    #[test]
    fn where_another_agent_has_taken_over_it_restores_and_leaves() {
        let mut keeper = held();
        keeper.see_lock(true, at(200));
        keeper.restored();
        assert_eq!(keeper.due(at(320)), Due::Restore, "it may be its own");
        assert_eq!(keeper.due(at(321)), Due::Leave);
        keeper.see_lock(true, at(250));
        assert_eq!(keeper.due(at(321)), Due::Leave, "since it was seen first");
        keeper.renew(at(330));
        assert_eq!(keeper.due(at(335)), Due::Nothing, "its agent is in control");
        assert_eq!(
            keeper.due(at(341)),
            Due::Restore,
            "and was not restored since"
        );
        keeper.see_lock(false, at(341));
        keeper.restored();
        assert_eq!(keeper.due(at(600)), Due::Restore);
    }

    #[test]
    fn where_nothing_was_changed_there_is_nothing_to_restore_for() {
        let mut lease = usual_lease("here");
        for leased in lease.families.values_mut() {
            leased.changed = false;
        }
        let mut keeper = Keeper::new(at(10));
        keeper.hold(lease, at(100));
        assert_eq!(keeper.due(at(101)), Due::Nothing);
        keeper.lose_agent(at(101));
        assert_eq!(keeper.due(at(101)), Due::Leave);
    }

    #[test]
    fn without_a_lease_there_is_nothing_to_keep() {
        let mut keeper = Keeper::new(at(10));
        assert_eq!(keeper.due(at(1_000)), Due::Nothing);
        keeper.lose_agent(at(1_001));
        assert_eq!(keeper.due(at(1_001)), Due::Leave);
        let mut released = held();
        released.release();
        assert_eq!(released.due(at(101)), Due::Leave);
    }
}
