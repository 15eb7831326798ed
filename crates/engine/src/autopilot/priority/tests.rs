use std::sync::atomic::AtomicUsize;
use std::sync::mpsc;
use std::{panic, thread};

use super::*;
use crate::events::stages;

thread_local! {
    /// What the calling thread was given last by [`NOTED`].
    static GIVEN: Cell<(Priority, bool)> = const { Cell::new((Priority::Normal, false)) };
}

/// Notes it in the calling thread, whoever's is meant.
const NOTED: Calls = Calls {
    cpu: |_, priority| {
        GIVEN.set((priority, GIVEN.get().1));
        Ok(())
    },
    io: |_, place| {
        GIVEN.set((GIVEN.get().0, place == IoPlace::IDLE));
        Ok(())
    },
};

/// Whether the calling thread gives way at the processors, and at the device.
fn given() -> (bool, bool) {
    let (cpu, io) = GIVEN.get();
    (cpu == Priority::Idle, io)
}

fn with(calls: Calls, obstacles: Obstacles) -> Arc<Priorities> {
    Arc::new(Priorities::with(calls, obstacles))
}

/// Where merges of the calling thread give way; that may be forbidden to all here.
fn gives_way(priorities: &Arc<Priorities>) -> Option<(bool, bool)> {
    obstacle::may_come_back().ok()?;
    ThreadId::current()?;
    if priorities.workers.lock().is_empty() {
        priorities.enlist();
    }
    let at = priorities.during(|| {
        assert_eq!(given(), (false, false), "it may take locks yet");
        stages::begins();
        let at = given();
        stages::ends();
        assert_eq!(given(), (false, false), "it may take locks again");
        at
    });
    assert_eq!(priorities.at_device.load(SeqCst), 0);
    Some(at)
}

const NOT_HERE: &str = "skipped: no thread may come back from idle priority here";

#[test]
fn merges_run_at_the_priority_that_holds_and_what_follows_does_not() {
    let priorities = with(NOTED, Obstacles::default());
    let Some(at_first) = gives_way(&priorities) else {
        return println!("{NOT_HERE}");
    };
    assert_eq!(at_first, (false, false), "nothing was ordered");
    priorities.set(PriorityOrder::idle("a test"));
    assert_eq!(gives_way(&priorities), Some((true, true)));
    priorities.set(PriorityOrder::idle_cpu("a test"));
    assert_eq!(gives_way(&priorities), Some((true, false)));
    priorities.set(PriorityOrder::normal("a test"));
    assert_eq!(gives_way(&priorities), Some((false, false)));
    assert_eq!(priorities.order().why, "a test");
}

#[test]
fn a_merge_that_panics_leaves_its_thread_at_normal_priority() {
    let priorities = with(NOTED, Obstacles::default());
    priorities.set(PriorityOrder::idle("a test"));
    gives_way(&priorities);
    let merge = || {
        priorities.during(|| {
            stages::begins();
            panic!("on purpose")
        });
    };
    let result = panic::catch_unwind(panic::AssertUnwindSafe(merge));
    assert!(result.is_err());
    assert_eq!(given(), (false, false));
    assert_eq!(priorities.at_device.load(SeqCst), 0);
}

#[test]
fn nothing_gives_way_where_there_is_an_obstacle_nor_once_the_autopilot_ends() {
    let no = || Some("it is forbidden".to_owned());
    let hindered = with(
        NOTED,
        Obstacles {
            cpu: no(),
            io: no(),
        },
    );
    hindered.set(PriorityOrder::idle("a test"));
    assert_ne!(gives_way(&hindered), Some((true, true)));
    assert_eq!(hindered.order(), PriorityOrder::normal("it is forbidden"));
    let ended = with(NOTED, Obstacles::default());
    ended.set(PriorityOrder::idle("a test"));
    ended.end();
    assert_ne!(gives_way(&ended), Some((true, true)));
    ended.set(PriorityOrder::idle("a test"));
    assert_ne!(gives_way(&ended), Some((true, true)), "ended is ended");
    assert!(!ended.wait(Duration::from_secs(3600)), "and nobody waits");
}

#[test]
fn who_may_not_give_way_at_the_processors_does_at_the_device() {
    let cpu = Some("it is forbidden".to_owned());
    let priorities = with(NOTED, Obstacles { cpu, io: None });
    priorities.set(PriorityOrder::idle("a test"));
    match gives_way(&priorities) {
        Some(at) => assert_eq!(at, (false, true)),
        None => println!("{NOT_HERE}"),
    }
    let order = priorities.order();
    assert_eq!((order.cpu, order.io), (Priority::Normal, Priority::Idle));
    assert!(order.why.contains("it is forbidden"), "{}", order.why);
}

#[test]
fn who_cannot_come_back_is_the_last_that_goes() {
    let forbidden = Calls {
        cpu: |thread, priority| match priority {
            Priority::Idle => (NOTED.cpu)(thread, priority),
            Priority::Normal => Err(io::ErrorKind::PermissionDenied.into()),
        },
        ..NOTED
    };
    let priorities = with(forbidden, Obstacles::default());
    if obstacle::may_come_back().is_err() || ThreadId::current().is_none() {
        return println!("{NOT_HERE}");
    }
    priorities.enlist();
    priorities.cpu.store(true, SeqCst);
    priorities.during(stages::begins);
    GIVEN.set((Priority::Normal, false));
    let why = priorities.order().why;
    priorities.set(PriorityOrder::idle("a test"));
    assert_eq!(
        priorities.during(|| (stages::begins(), given()).1),
        (false, true)
    );
    let order = priorities.order();
    assert!(
        order.why.contains("open the database anew"),
        "{why} {}",
        order.why
    );
}

/// Calls of [`COUNTED`] that call back: from the processors, and from the device.
static CALLED_BACK: [AtomicUsize; 2] = [AtomicUsize::new(0), AtomicUsize::new(0)];

const COUNTED: Calls = Calls {
    cpu: |_, priority| {
        CALLED_BACK[0].fetch_add(usize::from(priority == Priority::Normal), SeqCst);
        Ok(())
    },
    io: |_, place| {
        CALLED_BACK[1].fetch_add(usize::from(place != IoPlace::IDLE), SeqCst);
        Ok(())
    },
};

#[test]
fn all_workers_are_called_back_whatever_they_do() {
    let priorities = with(COUNTED, Obstacles::default());
    let (done, wait) = mpsc::channel();
    thread::scope(|scope| {
        for _ in 0..3 {
            let done = done.clone();
            let priorities = &priorities;
            scope.spawn(move || {
                priorities.enlist();
                done.send(()).expect("somebody waits");
            });
        }
    });
    assert_eq!(wait.try_iter().count(), 3);
    let workers = priorities.workers.lock().len();
    let called_back = || [0, 1].map(|at: usize| CALLED_BACK[at].swap(0, SeqCst));
    priorities.set(PriorityOrder::idle_cpu("a test"));
    assert_eq!(called_back(), [0, workers]);
    priorities.set(PriorityOrder::normal("a test"));
    assert_eq!(called_back(), [workers; 2]);
    priorities.call_back();
    assert_eq!(called_back(), [workers; 2]);
}
