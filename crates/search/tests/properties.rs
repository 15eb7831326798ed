//! What holds for every space, seed and order of reports.

use lissom_search::objective::metrics::THROUGHPUT;
use lissom_search::record::{Begin, Event, Log, Target, encode, resume};
use lissom_search::search::{Cause, Decision, Search, Setup, TimePoints};
use lissom_search::space::{BuiltIn, Configuration, Constants, Space};
use lissom_search::testing::{Answer, Lab};
use proptest::prelude::*;

/// The default number of cases, unless the environment asks for another.
#[expect(clippy::disallowed_methods, reason = "it is the tests that ask")]
fn cases(default: u32) -> u32 {
    std::env::var("PROPTEST_CASES")
        .ok()
        .and_then(|text| text.parse().ok())
        .unwrap_or(default)
}

fn built_in() -> impl Strategy<Value = BuiltIn> {
    prop::sample::select(BuiltIn::ALL.to_vec())
}

fn space(which: BuiltIn, memory_mib: u32) -> Space {
    let memory = f64::from(memory_mib) * 1_048_576.0;
    let constants = Constants::new().with("memory", memory).with("entries", 1e6);
    let file = which.file().expect("reads");
    file.with(&constants).expect("is legal")
}

fn setup(seed: u64, workers: usize) -> Setup {
    let mut setup = Setup::new("throughput".parse().expect("an objective"), 3_000.0);
    setup.seed = seed;
    setup.method.samples = 100;
    setup.method.workers = workers;
    setup.method.points = TimePoints::settled_within(60.0);
    setup
}

/// A throughput, or a failure of one in eight, by the configuration's own letters.
fn arbitrary_surface(configuration: &Configuration) -> Answer {
    let letters = configuration.to_string();
    let hash = letters.bytes().fold(7u64, |hash, byte| {
        hash.wrapping_mul(1_099_511_628_211)
            .wrapping_add(u64::from(byte))
    });
    if hash >> 61 == 0 {
        return Err(Cause::Hang);
    }
    let throughput = 1.0 + (hash % 1_000) as f64;
    Ok([(THROUGHPUT.to_owned(), throughput)].into())
}

/// All events of a whole search.
fn run(space: &Space, setup: Setup, noise: f64) -> Vec<Event> {
    let mut search = Search::new(space, setup.clone(), &[]).expect("legal");
    let mut lab = Lab::new(&arbitrary_surface);
    lab.workers = setup.method.workers;
    lab.noise = noise;
    let mut events = Vec::new();
    lab.run(&mut search, |event| events.push(event.clone()))
        .expect("reports are taken");
    events
}

fn target() -> Target {
    Target::new("a test", ["a test"])
}

proptest! {
    // Longer: PROPTEST_CASES=500 cargo test --release -p lissom-search
    #![proptest_config(ProptestConfig { cases: cases(24), ..ProptestConfig::default() })]

    /// Whatever is asked satisfies every range and every rule, has never been asked
    /// before, and comes with a reason; the search ends.
    #[test]
    fn every_asked_configuration_is_legal_and_new(
        which in built_in(),
        memory_mib in 512u32..8_192,
        seed in any::<u64>(),
        workers in 1usize..5,
        noise in 0.0..0.5f64,
    ) {
        let space = space(which, memory_mib);
        let events = run(&space, setup(seed, workers), noise);
        let mut seen: Vec<Configuration> = Vec::new();
        for event in &events {
            let Event::Decision { decision, .. } = event else { continue };
            prop_assert!(!decision.reason().is_empty());
            if let Decision::Start { configuration, .. } = decision {
                prop_assert_eq!(space.check(configuration), Ok(()));
                prop_assert!(!seen.contains(configuration));
                seen.push(configuration.clone());
            }
        }
        let ended = matches!(
            events.last(),
            Some(Event::Decision { decision: Decision::Done { .. }, .. })
        );
        prop_assert!(ended);
    }

    /// The same seed and the same measurements give the same decisions.
    #[test]
    fn alike_from_alike(
        which in built_in(),
        seed in any::<u64>(),
        workers in 1usize..4,
    ) {
        let space = space(which, 1_024);
        let one = run(&space, setup(seed, workers), 0.1);
        let other = run(&space, setup(seed, workers), 0.1);
        prop_assert_eq!(one, other);
    }

    /// A log that was cut anywhere resumes, and then decides what it would have.
    #[test]
    fn a_log_that_is_cut_anywhere_resumes(
        seed in any::<u64>(),
        workers in 1usize..4,
        cut in 0.0..1.0f64,
    ) {
        let space = space(BuiltIn::Lissom, 1_024);
        let setup = setup(seed, workers);
        let search = Search::new(&space, setup.clone(), &[]).expect("legal");
        let begin = Event::Begin(Box::new(Begin::of(&search, target())));
        let events = run(&space, setup, 0.1);
        let mut text = encode(&begin).expect("plain data");
        let whole = text.len();
        for event in &events {
            text += &encode(event).expect("numbers");
        }
        // Any byte behind the first line may be the last one written.
        let end = whole + ((text.len() - whole) as f64 * cut) as usize;
        let torn = text.get(..end).unwrap_or(&text);
        let log = Log::parse(torn).expect("a torn line is tolerated");
        let (mut resumed, _) = resume(&log, &space, &target()).expect("the same search");
        for event in events.iter().skip(log.searches[0].events.len()) {
            match event {
                Event::Decision { at, decision } => {
                    prop_assert_eq!(&resumed.ask(*at), decision);
                }
                Event::Measurement { measurement, .. } => {
                    prop_assert_eq!(resumed.tell(measurement.clone()), Ok(()));
                }
                _ => panic!("one search, and nothing behind it"),
            }
        }
    }
}
