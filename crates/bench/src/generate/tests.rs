use super::*;
use crate::drive::OpKind;
use crate::generate::sizes::draw;
use crate::workload::{
    DrawnSize, Fill, FillOrder, Keys, Periodic, Rate, SHIPPED, Session, Size, Workload,
    load_workload,
};

fn small(name: &str) -> Workload {
    load_workload(name).unwrap().sized(Some(2000), 1.0).unwrap()
}

fn shares(keys: Keys, n: u64, draws: u64) -> Vec<f64> {
    let chooser = Chooser::new(keys);
    let mut rng = Rng::new(&[7]);
    let mut counts = vec![0u64; n as usize];
    for _ in 0..draws {
        counts[chooser.draw(&mut rng, n) as usize] += 1;
    }
    counts
        .iter()
        .map(|count| *count as f64 / draws as f64)
        .collect()
}

#[test]
fn uniform_gives_each_key_its_share() {
    for share in shares(Keys::Uniform, 10, 100_000) {
        assert!((share - 0.1).abs() < 0.01, "{share}");
    }
}

#[test]
fn zipf_ranks_follow_the_power_law() {
    for theta in [0.5, 0.99, 1.0, 1.5] {
        let mut rng = Rng::new(&[3]);
        let mut counts = [0u64; 100];
        for _ in 0..200_000 {
            counts[zipf_rank(&mut rng, 100, theta) as usize] += 1;
        }
        let norm: f64 = (1..=100).map(|k| (k as f64).powf(-theta)).sum();
        for rank in [0, 1, 4, 20] {
            let expected = (rank as f64 + 1.0).powf(-theta) / norm;
            let seen = counts[rank] as f64 / 200_000.0;
            assert!(
                (seen - expected).abs() < 0.1 * expected + 0.001,
                "{theta} {rank}: {seen} {expected}"
            );
        }
    }
}

#[test]
fn zipf_of_one_key_is_that_key() {
    assert_eq!(zipf_rank(&mut Rng::new(&[1]), 1, 0.99), 0);
}

#[test]
fn latest_prefers_the_newest_and_hot_set_its_share() {
    let latest = shares(Keys::Latest { theta: 0.99 }, 100, 50_000);
    assert!(latest[99] > latest[98] && latest[98] > latest[50] && latest[99] > 0.15);
    let hot = shares(
        Keys::HotSet {
            fraction: 0.1,
            share: 0.8,
        },
        1000,
        100_000,
    );
    let share: f64 = hot[..100].iter().sum();
    assert!((share - 0.8).abs() < 0.01, "{share}");
}

#[test]
fn mixgraph_concentrates_requests_in_few_ranges_and_keys() {
    let workload = load_workload("mixgraph").unwrap();
    let share = shares(workload.sessions[0].keys, 30_000, 200_000);
    let mut ranges: Vec<f64> = share.chunks(1000).map(|range| range.iter().sum()).collect();
    ranges.sort_by(|a, b| b.total_cmp(a));
    let Keys::Mixgraph(model) = workload.sessions[0].keys else {
        panic!("mixgraph has its model")
    };
    let mut weights = range_weights(&model);
    weights.sort_by(|a, b| b.total_cmp(a));
    let expected = weights[0] / weights.iter().sum::<f64>();
    assert!(
        (ranges[0] - expected).abs() < 0.02,
        "{} {expected}",
        ranges[0]
    );
    let mut keys = share;
    keys.sort_by(|a, b| b.total_cmp(a));
    assert!(keys[..3000].iter().sum::<f64>() > 0.3);
}

#[test]
fn pareto_sizes_have_the_published_mean() {
    // The mean of the distribution is theta + sigma / (1 - k); rounding up adds 0.5,
    // and raising small sizes to 10 adds a little more.
    let size = Size::Drawn(DrawnSize::Pareto {
        theta: 0.0,
        k: 0.2615,
        sigma: 25.45,
        min: 1,
        max: 1 << 20,
    });
    let mut rng = Rng::new(&[5]);
    let mean = (0..200_000)
        .map(|_| draw(size, &mut rng) as f64)
        .sum::<f64>()
        / 200_000.0;
    assert!(
        (mean - (25.45 / (1.0 - 0.2615) + 0.5)).abs() < 0.7,
        "{mean}"
    );
    assert!((pareto(1.0, 3.0, 0.2, 10.0) - 3.0).abs() < 1e-12);
    assert!((pareto(0.5, 0.0, 0.0, 1.0) - 2f64.ln()).abs() < 1e-12);
}

/// Renders everything that a store is given in a session.
fn bytes(workload: &Workload, threads: u64, thread: u64, seed: u64) -> Vec<u8> {
    let data = DataShape::new(workload);
    let mut partition = Partition::loaded(thread, threads, workload.entries, &data);
    let (mut out, mut buffer) = (Vec::new(), Vec::new());
    for (number, session) in workload.measured_sessions().iter().enumerate() {
        let mut stream = OpStream::new(session, number, thread, seed);
        for _ in 0..session.length(workload.entries) / threads {
            let op = stream.next(&mut partition, &data).unwrap();
            out.extend_from_slice(format!("{op:?}").as_bytes());
            if let Op::Put { index } | Op::GetAbsent { index } | Op::Update { index, .. } = op {
                data.key(index, &mut buffer);
                out.extend_from_slice(&buffer);
                data.value(index, 1, &mut buffer);
                out.extend_from_slice(&buffer);
            }
        }
    }
    out
}

#[test]
fn streams_depend_on_seed_and_thread_only() {
    for (name, _) in SHIPPED {
        let workload = small(name).sized(None, 0.01).unwrap();
        assert_eq!(
            bytes(&workload, 2, 0, 1),
            bytes(&workload, 2, 0, 1),
            "{name}"
        );
        assert_ne!(
            bytes(&workload, 2, 0, 1),
            bytes(&workload, 2, 0, 2),
            "{name}"
        );
        assert_ne!(
            bytes(&workload, 2, 0, 1),
            bytes(&workload, 2, 1, 1),
            "{name}"
        );
    }
}

/// The sequence itself is frozen: results of different versions must be comparable.
#[test]
fn streams_do_not_change_between_versions() {
    let workload = small("mixed-sessions").sized(None, 0.1).unwrap();
    assert_eq!(
        crate::workload::sha256_hex(&bytes(&workload, 2, 1, 42)),
        "608af2213d91cc064323780e26fdfbad2d9dd1568f456759a6a6322b87308d29"
    );
}

#[test]
fn mixes_are_met() {
    let workload = small("five-sessions");
    let data = DataShape::new(&workload);
    let mut partition = Partition::loaded(0, 1, 2000, &data);
    let mut stream = OpStream::new(&workload.sessions[0], 0, 0, 1);
    let ops: Vec<Op> = (0..20_000)
        .map(|_| stream.next(&mut partition, &data).unwrap())
        .collect();
    let updates = ops.iter().filter(|op| op.kind() == OpKind::Update).count();
    assert!((1800..2200).contains(&updates), "{updates}");
}

#[test]
fn deletes_leave_only_existing_keys_to_be_read() {
    let workload = small("mixed-sessions");
    let session: &Session = workload
        .sessions
        .iter()
        .find(|s| s.name == "deletes")
        .unwrap();
    let data = DataShape::new(&workload);
    let mut partition = Partition::loaded(1, 2, 2000, &data);
    let mut stream = OpStream::new(session, 6, 1, 1);
    let mut gone = std::collections::HashSet::new();
    for _ in 0..500 {
        match stream.next(&mut partition, &data).unwrap() {
            Op::Delete { index } => assert!(gone.insert(index), "deleted twice"),
            Op::GetPresent { index, .. } => assert!(!gone.contains(&index)),
            Op::Put { index } => assert_eq!(index % 2, 1, "a thread writes only its own keys"),
            other => panic!("{other:?} is not in the mix"),
        }
    }
    assert!(gone.len() > 300);
    let live: u64 = (0..partition.made())
        .filter(|own| partition.version(*own).is_some())
        .count() as u64;
    assert_eq!(partition.live(), live);
    assert_eq!(partition.live_bytes(), live * 1024);
}

#[test]
fn partitions_share_all_entries_without_overlap() {
    let workload = small("ycsb-a");
    let data = DataShape::new(&workload);
    let mut all: Vec<u64> = (0..3)
        .flat_map(|t| {
            let partition = Partition::loaded(t, 3, 1000, &data);
            (0..partition.made())
                .map(move |own| own * 3 + t)
                .collect::<Vec<_>>()
        })
        .collect();
    all.sort_unstable();
    assert_eq!(all, (0..1000).collect::<Vec<_>>());
}

#[test]
fn keys_that_were_not_loaded_come_into_being_by_the_first_update() {
    let mut workload = small("ycsb-a");
    workload.fill.share = 0.01;
    assert_eq!(workload.loaded_entries(), 20);
    let data = DataShape::new(&workload);
    let mut partitions = Partition::all(2, &workload, &data);
    let partition = &mut partitions[1];
    assert_eq!((partition.made(), partition.live()), (1000, 10));
    let mut stream = OpStream::new(&workload.sessions[0], 0, 1, 1);
    let mut there: std::collections::HashSet<u64> = (0..10).map(|own| own * 2 + 1).collect();
    let mut missed = 0;
    for _ in 0..5000 {
        match stream.next(partition, &data).unwrap() {
            Op::Put { index } => assert!(there.insert(index), "made twice"),
            Op::Update { index, .. } | Op::GetPresent { index, .. } => {
                assert!(there.contains(&index));
            }
            Op::GetAbsent { index } => {
                assert!(!there.contains(&index));
                missed += 1;
            }
            other => panic!("{other:?} is not in the mix"),
        }
    }
    assert!(missed > 0);
    assert_eq!(partition.made(), 1000, "the key space does not grow");
    assert_eq!(partition.live(), there.len() as u64);
    assert_eq!(partition.live_bytes(), partition.live() * 1024);
}

#[test]
fn scans_of_a_part_begin_at_a_key_that_exists() {
    let mut workload = small("ycsb-e");
    workload.fill.share = 0.01;
    let data = DataShape::new(&workload);
    let mut partition = Partition::all(1, &workload, &data).remove(0);
    let mut stream = OpStream::new(&workload.sessions[0], 0, 0, 1);
    for _ in 0..200 {
        if let Op::Scan { index, .. } = stream.next(&mut partition, &data).unwrap() {
            assert!(partition.version(index).is_some());
        }
    }
}

#[test]
fn load_order_visits_every_key_once() {
    for order in [FillOrder::Random, FillOrder::Numbered] {
        let fill = Fill {
            order,
            ..Fill::default()
        };
        let mut seen: Vec<u64> = load_order(&fill, 10_007, 3).collect();
        assert_eq!(seen.is_sorted(), order == FillOrder::Numbered);
        seen.sort_unstable();
        assert_eq!(seen, (0..10_007).collect::<Vec<_>>());
    }
}

#[test]
fn rounds_start_at_different_phases() {
    let fill = Fill {
        random_phase: 0.5,
        ..Fill::default()
    };
    let updates: Vec<u64> = (0..5)
        .map(|round| phase_updates(&fill, 1000, 1, round))
        .collect();
    assert!(updates.windows(2).all(|pair| pair[0] != pair[1]) && updates.iter().all(|n| *n < 500));
}

#[test]
fn keys_keep_their_order_and_absent_keys_lie_between() {
    let mut workload = small("mixgraph");
    let data = DataShape::new(&workload);
    let key = |data: &DataShape, i| {
        let mut key = Vec::new();
        data.key(i, &mut key);
        key
    };
    assert!(key(&data, 9) < key(&data, 10) && key(&data, 255) < key(&data, 256));
    let mut absent = Vec::new();
    data.absent_key(9, &mut absent);
    assert!(key(&data, 9) < absent && absent < key(&data, 10));
    assert_eq!(absent.len(), 48);
    workload.key_order = crate::workload::KeyOrder::Hashed;
    let hashed = DataShape::new(&workload);
    assert!((0..50).any(|i| key(&hashed, i) > key(&hashed, i + 1)));
}

#[test]
fn values_tell_their_key_and_are_half_compressible() {
    let data = DataShape::new(&small("five-sessions"));
    let (mut one, mut two) = (Vec::new(), Vec::new());
    data.value(77, 3, &mut one);
    data.value(77, 4, &mut two);
    assert_eq!(DataShape::claim(&one), Some((77, 3)));
    assert_ne!(one, two);
    assert_eq!(one.len(), 1000);
    assert_eq!(
        one.iter().rev().take_while(|byte| **byte == 0).count() / 10,
        50
    );
    assert_eq!(DataShape::claim(&one[..8]), None);
}

#[test]
fn due_times_follow_the_rate() {
    let constant: Vec<f64> = DueTimes::new(Rate::Constant { per_second: 4.0 })
        .take(5)
        .collect();
    assert_eq!(constant, [0.0, 0.25, 0.5, 0.75, 1.0]);
    let periodic = Rate::Periodic(Periodic {
        high: 100.0,
        low: 10.0,
        seconds: 1.0,
        low_seconds: None,
    });
    assert_eq!(due_count(periodic, 1.0), 100);
    assert!((110..=111).contains(&due_count(periodic, 2.0)));
    let sine = Rate::Sine {
        a: 50.0,
        b: std::f64::consts::TAU,
        c: 0.0,
        d: 100.0,
    };
    assert!((995..=1005).contains(&due_count(sine, 10.0)));
}
