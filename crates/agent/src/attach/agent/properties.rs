//! What holds whatever the server, the network, the agent's machine and the watchdog do, in
//! whatever order.

use proptest::prelude::*;

use super::history::{History, is_delayed};
use crate::decide::OptionName;

/// The number of cases, unless the environment asks for another.
fn cases(default: u32) -> u32 {
    std::env::var("PROPTEST_CASES")
        .ok()
        .and_then(|text| text.parse().ok())
        .unwrap_or(default)
}

#[derive(Clone, Debug)]
enum Step {
    /// An interval at high or low load; where there is no agent, another one begins if it can.
    Tick(bool),
    /// So many more files in every level 0.
    Flush(u64),
    /// Level 0 is compacted where it may be.
    Compact,
    /// So many settings are answered with OK and not made.
    Lie(u32),
    /// The settings of a column family, or of the rate limiter, are refused.
    Refuse(usize),
    /// Nothing is refused any more.
    Obey,
    /// The connection is lost after so many calls.
    Break(u32),
    Reachable(bool),
    Restart,
    /// The server is replaced by another one.
    Failover,
    /// The server is replaced by one that was.
    FailBack(usize),
    Vanish,
    Appear,
    /// The owner sets an option.
    Own(usize),
    GuardDies,
    GuardBroken(bool),
    /// The agent is killed, and its watchdog with it or not.
    Kill(bool),
    /// Watchdogs that were left try to restore.
    Watchdogs,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        10 => any::<bool>().prop_map(Step::Tick),
        10 => Just(Step::Tick(true)),
        4 => (1u64..12).prop_map(Step::Flush),
        3 => Just(Step::Compact),
        1 => (1u32..5).prop_map(Step::Lie),
        8 => fault(),
        2 => any::<bool>().prop_map(Step::Reachable),
        1 => Just(Step::Vanish),
        1 => Just(Step::Appear),
        1 => any::<usize>().prop_map(Step::Own),
        1 => Just(Step::GuardDies),
        1 => any::<bool>().prop_map(Step::GuardBroken),
    ]
}

/// What may happen to a server, to its address, or to an agent.
fn fault() -> impl Strategy<Value = Step> {
    prop_oneof![
        1 => (0u32..12).prop_map(Step::Break),
        1 => Just(Step::Restart),
        1 => Just(Step::Failover),
        1 => any::<usize>().prop_map(Step::FailBack),
        1 => any::<usize>().prop_map(Step::Refuse),
        1 => Just(Step::Obey),
        1 => any::<bool>().prop_map(Step::Kill),
        1 => Just(Step::Watchdogs),
    ]
}

/// Values that the agent never sets by itself.
const OWNED: [(OptionName, i64); 5] = [
    (OptionName::Level0FileNumCompactionTrigger, 7),
    (OptionName::Level0SlowdownWritesTrigger, 500),
    (OptionName::Level0StopWritesTrigger, 900),
    (OptionName::MaxBytesForLevelBase, 123_456_789),
    (OptionName::DisableAutoCompactions, 1),
];

/// What may be refused, besides the rate limiter.
const FAMILIES: [&str; 3] = ["cf_dynamic", "cf_hot", "default"];

fn apply(history: &mut History, step: &Step) {
    match step {
        Step::Tick(high) => history.tick(*high),
        Step::Failover => history.fail_over(),
        Step::FailBack(which) => history.fail_back(*which),
        Step::Kill(both) => history.kill(*both),
        Step::Watchdogs => history.let_watchdogs_act(),
        Step::GuardDies => history.guard.0.borrow_mut().lease = None,
        Step::GuardBroken(broken) => history.guard.0.borrow_mut().broken = *broken,
        _ => apply_to_server(history, step),
    }
    history.watch();
}

fn apply_to_server(history: &History, step: &Step) {
    let mut world = history.connector.world();
    match step {
        Step::Flush(files) => world
            .families
            .values_mut()
            .for_each(|family| family.level0_files += files),
        Step::Compact => world
            .families
            .iter_mut()
            .filter(|(name, family)| !is_delayed(name, family))
            .for_each(|(_, family)| family.level0_files = 0),
        Step::Lie(count) => world.lies = *count,
        Step::Refuse(which) => {
            let which = which % (FAMILIES.len() + 1);
            world.refusing = FAMILIES.get(which).map(|name| (*name).to_owned());
            world.refuses_rate_limiter = world.refusing.is_none();
        }
        Step::Obey => world.obey(),
        Step::Break(calls) => world.calls_left = Some(*calls),
        Step::Reachable(reachable) => world.reachable = *reachable,
        Step::Restart => world.restart(),
        Step::Vanish => world.drop_family("cf_hot"),
        Step::Appear => {
            if !world.families.contains_key("cf_hot") {
                world.create_family("cf_hot");
            }
        }
        Step::Own(which) => {
            let (option, value) = OWNED[which % OWNED.len()];
            world.own("default", option, value);
        }
        Step::Tick(_)
        | Step::Failover
        | Step::FailBack(_)
        | Step::Kill(_)
        | Step::Watchdogs
        | Step::GuardDies
        | Step::GuardBroken(_) => {}
    }
}

proptest! {
    // Longer: PROPTEST_CASES=5000 cargo test --release -p lissom-agent
    #![proptest_config(ProptestConfig { cases: cases(64), ..ProptestConfig::default() })]

    /// Whatever happens, in whatever order: somebody can always restore, whoever
    /// is delayed at the bound is told to resume, no family is created, and the
    /// last settings of a server that answers are its original ones; a family that is
    /// created anew after the end can be restored, too. What is left of agents that were killed
    /// gives every server its original settings, but for what it refuses, which stays recorded.
    #[test]
    fn no_history_leaves_a_server_delayed(
        steps in prop::collection::vec(step(), 1..80),
        rate_limiter in any::<bool>(),
    ) {
        let mut history = History::new(rate_limiter);
        for step in &steps {
            apply(&mut history, step);
            history.check();
        }
        history.leave();
        history.check();
        apply(&mut history, &Step::Appear);
        history.check();
        history.restore();
    }
}
