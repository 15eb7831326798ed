//! What waits for a merge decides where it gives way.

use lissom_core::planner;
use lissom_core::testing::drawing;

use super::*;

#[test]
fn what_waits_for_a_merge_is_told_by_its_plan() {
    let of = |level: u16| {
        let below = level + 1;
        let seen = drawing::parse(&format!(
            "{level}.13: 0-40:4
             {below}.15: 0-90:16
             drain {level}.13 -> {below}.15"
        ))
        .expect("a drawing");
        let which = Which::of("default", &planner::plan(&seen).plans[0]);
        (which.deep, which.may_at_device)
    };
    assert_eq!([of(1), of(2)], [(false, true), (true, true)]);
    let awaited = |drawing: &str| {
        let seen = drawing::parse(drawing).expect("a drawing");
        let which = Which::of("default", &planner::plan(&seen).plans[0]);
        (which.awaited, which.may_at_device)
    };
    let full = "2.13: 0-40:4\n3.15: 0-90:16\ndrain 2.13 -> 3.15";
    let for_reads = "2.13: 0-40:4\n2.15: 0-90:16\nconsolidating 2.13 -> 2.15";
    assert_eq!(
        [full, for_reads].map(awaited),
        [(false, true), (true, true)]
    );
}

/// L0 fills fast: what it does not wait for gives way all the same.
#[test]
fn merges_go_by_what_waits_for_them() {
    let priorities = with(NOTED, Obstacles::default());
    priorities.enlist();
    let filling = || PriorityOrders {
        level0: PriorityOrder::normal("a test"),
        deep: PriorityOrder::idle("a test"),
        awaited: PriorityOrder::idle("a test"),
    };
    priorities.set(filling());
    let deep = Which { deep: true, ..ANY };
    let begins = |which| {
        priorities.during(which, || {
            stages::begins();
            given()
        })
    };
    assert_eq!(begins(ANY), (false, false));
    assert_eq!(begins(deep.clone()), (true, true));
    // Orders reach those that run, each its own.
    let worker = || priorities.workers.lock()[0].clone();
    priorities.during(deep, || {
        stages::begins();
        priorities.set(filling());
        assert!(worker().at_processors.load(SeqCst));
        priorities.set(PriorityOrder::normal("a test"));
        assert!(!worker().at_processors.load(SeqCst));
    });
    priorities.set(PriorityOrder::idle("a test"));
    priorities.during(ANY, || {
        stages::begins();
        priorities.set(filling());
        assert!(!worker().at_device.load(SeqCst), "it was deep before");
    });
}

/// Those that reads wait for give way at the device while they get on there.
#[test]
fn what_reads_wait_for_comes_back_where_it_crawls() {
    let priorities = with(NOTED, Obstacles::default());
    priorities.enlist();
    let crawling = || PriorityOrders {
        awaited: PriorityOrder::idle_cpu("a test"),
        ..PriorityOrder::idle("a test").into()
    };
    let at_device_after = |orders: PriorityOrders, awaited| {
        priorities.set(PriorityOrder::idle("a test"));
        let which = Which { awaited, ..ANY };
        priorities.during(which, || {
            stages::begins();
            assert_eq!(given(), (true, true));
            priorities.set(orders);
            let worker = priorities.workers.lock()[0].clone();
            assert!(worker.at_processors.load(SeqCst));
            worker.at_device.load(SeqCst)
        })
    };
    assert!(at_device_after(PriorityOrder::idle("a test").into(), true));
    assert!(at_device_after(crawling(), false));
    assert!(!at_device_after(crawling(), true));
    priorities.set(crawling());
    let awaited = Which {
        awaited: true,
        ..ANY
    };
    let begins = priorities.during(awaited, || {
        stages::begins();
        given()
    });
    assert_eq!(begins, (true, false), "nor does the next one go");
}

/// Reads ask for what a piece stands in the way of, or its level fills, while it runs.
#[test]
fn a_merge_that_has_come_to_matter_comes_back() {
    let priorities = with(NOTED, Obstacles::default());
    priorities.enlist();
    priorities.set(PriorityOrders {
        level0: PriorityOrder::normal("a test"),
        deep: PriorityOrder::idle("a test"),
        awaited: PriorityOrder::idle_cpu("a test"),
    });
    let worker = || priorities.workers.lock()[0].clone();
    let after = |family: &str, awaited: &[u64], hurried: &[u64]| {
        let ids = |of: &[u64]| of.iter().copied().map(DrainId).collect();
        let urged = Urged {
            awaited: ids(awaited),
            hurried: ids(hurried),
        };
        let piece = Which {
            deep: true,
            drain: Some(("default".into(), DrainId(3))),
            ..ANY
        };
        priorities.during(piece, || {
            stages::begins();
            priorities.urge(family, &urged);
            let worker = worker();
            let at = |place: &AtomicBool| place.load(SeqCst);
            (at(&worker.at_processors), at(&worker.at_device))
        })
    };
    assert_eq!(after("default", &[1], &[2]), (true, true));
    assert_eq!(after("other", &[3], &[3]), (true, true));
    assert_eq!(after("default", &[3], &[]), (true, false));
    assert_eq!(after("default", &[], &[3]), (false, false));
    assert!(worker().drain.lock().is_none(), "it is over");
}
