//! What looking ahead is for: the load is carried, whatever waits meanwhile.

use lissom_core::schedule::{Burst, DeepOrder, Delay, Level0Order, ScheduleKind};

use super::{fixed, run, scenario, session};
use crate::{Machine, Mix, Offered, Outcome, Rate, Scenario, Session};

const DLC: ScheduleKind = ScheduleKind::Dlc(Delay::Full, Burst::Full);

/// Operations a second, of which a thread alone carries some 9,000; a merge at full speed
/// beside it leaves it some 5,000.
const HIGH: f64 = 7_500.0;
const LOW: f64 = 750.0;
const LOW_SECONDS: f64 = 10.0;

/// L0 files that may wait.
const BOUND: usize = 45;

/// Share of the operations that write: 27 files of L0 in a minute at the high rate.
const WRITES: f64 = 0.45 * 65_536.0 / (HIGH * 1_024.0);

/// So many cycles of high turns of such a length, and low ones of ten seconds.
fn turns(name: &str, cycles: u64, high_seconds: u64) -> Session {
    let cycle = HIGH * high_seconds as f64 + LOW * LOW_SECONDS;
    let mix = Mix {
        get_present: 1.0 - WRITES,
        update: WRITES,
        ..Mix::default()
    };
    let mut turns = session(name, cycles * cycle as u64, mix);
    turns.rate = Some(Rate::Periodic {
        high: HIGH,
        low: LOW,
        high_seconds: high_seconds as f64,
        low_seconds: LOW_SECONDS,
    });
    turns
}

/// One level, so that every merge of L0 rewrites all of it, on a device that serves one at a
/// time. Reads come from it, and fill it nearly by themselves at the high rate; nothing that
/// an operation takes depends on how many files L0 has.
fn loaded(schedule: ScheduleKind, sessions: Vec<Session>) -> Scenario {
    let mut scenario = scenario(fixed(1), sessions);
    scenario.entries = 2_000;
    scenario.schedule = schedule;
    scenario.machine = Machine {
        cores: 8.0,
        device_queue: 1.0,
        block_read: 100e-6,
        byte_read: 1e-7,
        byte_write: 1e-7,
        probe_cpu: 1e-9,
        ..Machine::default()
    };
    let store = &mut scenario.store;
    store.shape.target_file_size_base = 8 << 10;
    store.shape.level0_slowdown_writes_trigger = 60;
    store.level0_stop_writes_trigger = 80;
    store.debt_bounds.max_level0_files = BOUND;
    store.bloom_bits_per_key = 20.0;
    store.memory_budget_bytes = 2e5;
    // What users read of it at the high rate is 29 MB/s.
    store.device_bytes_per_second = Some(30e6);
    scenario
}

fn last(outcome: &Outcome) -> &Offered {
    let session = outcome.sessions.last().expect("a session");
    session.offered.as_ref().expect("a rate was offered")
}

/// The same under three schedules; `look-ahead` learns in the first session, and only the last
/// one is compared.
fn compared(sessions: &[Session]) -> [Outcome; 3] {
    let of = |schedule| run(&loaded(schedule, sessions.to_vec()));
    [
        of(ScheduleKind::Eager),
        of(DLC),
        of(ScheduleKind::LookAhead),
    ]
}

/// No more seconds under 95 % than under either, though the machine has some, and L0 never at
/// its bound, from which on merges would take what they can get.
fn carries_what_is_offered(outcomes: &[Outcome; 3]) {
    let [eager, dlc, look_ahead] = outcomes;
    let dips = [eager, dlc, look_ahead].map(|it| last(it).dips);
    let [of_eager, of_dlc, of_look_ahead] = dips;
    assert!(of_eager > 0, "merges disturb nobody: {:?}", last(eager));
    assert!(of_look_ahead <= of_dlc.min(of_eager), "dips: {dips:?}");
    let at_bound = |it: &&crate::Ordered| it.order.at_bound;
    let bounded = look_ahead.orders.iter().find(at_bound);
    assert_eq!(bounded, None, "{:?}", look_ahead.orders);
}

/// Most files of L0 in the last session.
fn most_files(outcome: &Outcome) -> usize {
    let session = outcome.sessions.last().expect("a session");
    session.peak_level0_files
}

/// Files that come while L0 is merged at an even rate, and a few to spare: far less than a high
/// phase fills.
const SHORT: usize = 15;

/// A high phase fills 22 files.
#[test]
fn with_high_phases_five_times_as_long_l0_stays_short_and_the_rest_waits() {
    // Until the load is forgotten, far more is expected to come in.
    let outcomes = compared(&[turns("learn", 6, 50), turns("known", 3, 50)]);
    carries_what_is_offered(&outcomes);
    let look_ahead = &outcomes[2];
    let waits = look_ahead.orders.iter().any(|it| {
        let order = (it.order.level0, it.order.deep);
        it.session == 1 && order == (Level0Order::Merge, DeepOrder::AtMost(0))
    });
    assert!(waits, "{:?}", look_ahead.orders);
    let most = most_files(look_ahead);
    assert!(most <= SHORT, "{most}");
}

/// A high phase fills 49 files. A low phase that wrote as much as the load could repay nothing: that
/// is forgotten over eight of them.
#[test]
fn with_high_phases_eleven_times_as_long_l0_stays_short() {
    let outcomes = compared(&[turns("learn", 8, 110), turns("known", 2, 110)]);
    carries_what_is_offered(&outcomes);
    let most = most_files(&outcomes[2]);
    assert!(most <= SHORT, "{most}");
}

/// High phases of fifty seconds are known, which fill 22 files; then one of 150 would fill 67.
#[test]
fn in_a_high_phase_thrice_as_long_as_any_before_l0_stays_short() {
    let outcomes = compared(&[turns("learn", 6, 50), turns("thrice", 1, 150)]);
    carries_what_is_offered(&outcomes);
    let most = most_files(&outcomes[2]);
    assert!(most <= SHORT, "{most}");
}
