//! In which portions sessions take turns.

use crate::trial::rota::{Portion, Rota};
use crate::workload::{Workload, load_workload};

fn sized(name: &str, entries: u64) -> Workload {
    let workload = load_workload(name).unwrap();
    workload.sized(Some(entries), 1.0).unwrap()
}

/// Operations of each session in so many portions.
fn done(workload: &Workload, portions: impl Iterator<Item = Portion>) -> Vec<u64> {
    let mut done = vec![0; workload.sessions.len()];
    for portion in portions {
        assert_eq!(portion.from, done[portion.session], "nothing is left out");
        done[portion.session] += portion.operations;
    }
    done
}

/// All portions of so many rounds.
fn rounds(workload: &Workload, rounds: u64) -> Vec<Portion> {
    let mut begun = 0;
    let portions = Rota::new(workload).take_while(|it| {
        begun += u64::from(it.session == 0);
        begun <= rounds
    });
    portions.collect()
}

#[test]
fn every_round_holds_the_mix() {
    let workload = sized("mixed-sessions", 2_000_000);
    let bursts = 5;
    assert_eq!(workload.sessions[bursts].name, "ingest-bursts");
    let first = done(&workload, rounds(&workload, 1).into_iter());
    for (session, (operations, it)) in first.iter().zip(&workload.sessions).enumerate() {
        let hundredth = it.length(workload.entries) / 100;
        let wanted = if session == bursts { 0 } else { hundredth };
        assert_eq!(*operations, wanted, "{}", it.name);
    }
    let all = done(&workload, rounds(&workload, 100).into_iter());
    for (session, (operations, it)) in all.iter().zip(&workload.sessions).enumerate() {
        if session != bursts {
            assert_eq!(*operations, it.length(workload.entries), "{}", it.name);
        }
    }
}

#[test]
fn bursts_come_in_whole_periods() {
    let workload = sized("mixed-sessions", 2_000_000);
    let portions = rounds(&workload, 100);
    let bursts = portions.iter().filter(|it| it.session == 5);
    let bursts: Vec<u64> = bursts.map(|it| it.operations).collect();
    // Two seconds of 20,000 and two of 2,000: a period is 22 % of the session.
    assert_eq!(bursts.len(), 5, "{bursts:?}");
    assert!(
        bursts.iter().all(|it| it.abs_diff(44_000) <= 1),
        "{bursts:?}"
    );
    let first = portions.iter().position(|it| it.session == 5);
    assert!(first.is_some_and(|it| it < 11 * 10), "{first:?}");
}

#[test]
fn small_workloads_and_single_sessions_are_not_cut() {
    let small = sized("mixed-sessions", 2_000);
    let first = done(&small, Rota::new(&small).take(3));
    assert_eq!(first[0], small.sessions[0].length(2_000));
    let single = sized("ycsb-a", 2_000_000);
    let mut portions = Rota::new(&single);
    let whole = |from| {
        Some(Portion {
            session: 0,
            from,
            operations: 2_000_000,
        })
    };
    assert_eq!(portions.next(), whole(0));
    assert_eq!(portions.next(), whole(2_000_000));
}

#[test]
fn threads_share_a_portion_by_number() {
    for (from, operations) in [(0, 7), (5, 7), (4, 1), (9, 0), (3, 2)] {
        let portion = Portion {
            session: 0,
            from,
            operations,
        };
        for threads in 1..=4 {
            for thread in 0..threads {
                let own: Vec<u64> = (from..from + operations)
                    .filter(|number| number % threads == thread)
                    .collect();
                let (skipped, count) = portion.share(thread, threads);
                assert_eq!(count, own.len() as u64, "{portion:?} {thread} of {threads}");
                if let Some(first) = own.first() {
                    assert_eq!(from + skipped, *first, "{portion:?} {thread} of {threads}");
                }
            }
        }
    }
}
