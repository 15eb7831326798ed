mod waiting;

use std::cell::Cell;
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
    set_cpu: |_, priority| {
        GIVEN.set((priority, GIVEN.get().1));
        Ok(())
    },
    set_io: |_, place| {
        GIVEN.set((GIVEN.get().0, place == IoPlace::IDLE));
        Ok(())
    },
    may_come_back: || Ok(()),
};

/// A merge that makes room for L0.
const ANY: Which = Which {
    may_at_device: true,
    deep: false,
    awaited: false,
    drain: None,
};
/// One for the bound on space.
const NOT_AT_DEVICE: Which = Which {
    may_at_device: false,
    ..ANY
};

/// Whether the calling thread gives way at the processors, and at the device.
fn given() -> (bool, bool) {
    let (cpu, io) = GIVEN.get();
    (cpu == Priority::Idle, io)
}

fn with(calls: Calls, obstacles: Obstacles) -> Arc<Priorities> {
    Arc::new(Priorities::with(calls, obstacles))
}

/// Where merges of the calling thread give way.
fn gives_way(priorities: &Arc<Priorities>) -> (bool, bool) {
    if priorities.workers.lock().is_empty() {
        priorities.enlist();
    }
    priorities.during(ANY, || {
        assert_eq!(given(), (false, false), "it may take locks yet");
        stages::begins();
        let at = given();
        stages::ends();
        assert_eq!(given(), (false, false), "it may take locks again");
        at
    })
}

#[test]
fn merges_run_at_the_priority_that_holds_and_what_follows_does_not() {
    let priorities = with(NOTED, Obstacles::default());
    assert_eq!(
        gives_way(&priorities),
        (false, false),
        "nothing was ordered"
    );
    priorities.set(PriorityOrder::idle("a test"));
    assert_eq!(gives_way(&priorities), (true, true));
    let urgent = priorities.during(NOT_AT_DEVICE, || {
        stages::begins();
        given()
    });
    assert_eq!(urgent, (true, false), "it may not, at the device");
    priorities.set(PriorityOrder::idle_cpu("a test"));
    assert_eq!(gives_way(&priorities), (true, false));
    priorities.set(PriorityOrder::normal("a test"));
    assert_eq!(gives_way(&priorities), (false, false));
    assert_eq!(priorities.orders().level0.why, "a test");
}

#[test]
fn a_merge_that_panics_leaves_its_thread_at_normal_priority() {
    let priorities = with(NOTED, Obstacles::default());
    priorities.set(PriorityOrder::idle("a test"));
    gives_way(&priorities);
    let merge = || {
        priorities.during(ANY, || {
            stages::begins();
            panic!("on purpose")
        });
    };
    let result = panic::catch_unwind(panic::AssertUnwindSafe(merge));
    assert!(result.is_err());
    assert_eq!(given(), (false, false));
    assert!(!priorities.workers.lock()[0].at_device.load(SeqCst));
}

#[test]
fn nothing_gives_way_where_there_is_an_obstacle_nor_once_the_autopilot_ends() {
    let no = || Some("it is forbidden".to_owned());
    let hindered = with(
        NOTED,
        Obstacles {
            cpu: no(),
            io: no(),
            ..Obstacles::default()
        },
    );
    hindered.set(PriorityOrder::idle("a test"));
    assert_eq!(gives_way(&hindered), (false, false));
    assert_eq!(
        hindered.orders().level0,
        PriorityOrder::normal("it is forbidden")
    );
    let ended = with(NOTED, Obstacles::default());
    ended.set(PriorityOrder::idle("a test"));
    ended.end();
    assert_eq!(gives_way(&ended), (false, false));
    ended.set(PriorityOrder::idle("a test"));
    assert_eq!(gives_way(&ended), (false, false), "ended is ended");
    assert!(!ended.wait(Duration::from_secs(3600)), "and nobody waits");
}

#[test]
fn who_may_not_give_way_at_the_processors_does_at_the_device() {
    let cpu = Some("it is forbidden".to_owned());
    let priorities = with(
        NOTED,
        Obstacles {
            cpu,
            ..Obstacles::default()
        },
    );
    priorities.set(PriorityOrder::idle("a test"));
    assert_eq!(gives_way(&priorities), (false, true));
    let order = priorities.orders().level0;
    assert_eq!((order.cpu, order.io), (Priority::Normal, Priority::Idle));
    assert!(order.why.contains("it is forbidden"), "{}", order.why);
}

#[test]
fn who_cannot_come_back_is_the_last_that_goes() {
    let forbidden = Calls {
        set_cpu: |thread, priority| match priority {
            Priority::Idle => (NOTED.set_cpu)(thread, priority),
            Priority::Normal => Err(io::ErrorKind::PermissionDenied.into()),
        },
        ..NOTED
    };
    let priorities = with(forbidden, Obstacles::default());
    priorities.enlist();
    priorities.set(PriorityOrder::idle("a test"));
    priorities.during(ANY, stages::begins);
    GIVEN.set((Priority::Normal, false));
    priorities.set(PriorityOrder::idle("a test"));
    let at = priorities.during(ANY, || {
        stages::begins();
        given()
    });
    assert_eq!(at, (false, true));
    let why = priorities.orders().level0.why;
    assert!(why.contains("open the database anew"), "{why}");
}

#[test]
fn who_has_lost_the_right_to_come_back_does_not_go() {
    let lost = Calls {
        may_come_back: || Err("it is gone".into()),
        ..NOTED
    };
    let priorities = with(lost, Obstacles::default());
    priorities.set(PriorityOrder::idle("a test"));
    assert_eq!(gives_way(&priorities), (false, true));
    assert!(priorities.orders().level0.why.contains("it is gone"));
}

#[test]
fn nothing_gives_way_while_somebody_waits() {
    let priorities = with(NOTED, Obstacles::default());
    priorities.set(PriorityOrder::idle("a test"));
    let (one, other) = (priorities.urgent(), priorities.urgent());
    assert_eq!(gives_way(&priorities), (false, false));
    drop(one);
    assert_eq!(gives_way(&priorities), (false, false));
    drop(other);
    assert_eq!(gives_way(&priorities), (true, true));
}

/// Whoever calls back between the look at the order and the way to idle priority finds nobody
/// there.
#[test]
fn who_is_called_back_on_the_way_comes_back() {
    thread_local! {
        static MEANWHILE: Cell<Option<Arc<Priorities>>> = const { Cell::new(None) };
    }
    let late = Calls {
        set_io: |thread, place| {
            if let Some(priorities) = MEANWHILE.take() {
                priorities.set(PriorityOrder::normal("a test"));
            }
            (NOTED.set_io)(thread, place)
        },
        ..NOTED
    };
    let priorities = with(late, Obstacles::default());
    priorities.enlist();
    priorities.set(PriorityOrder::idle("a test"));
    MEANWHILE.set(Some(priorities.clone()));
    priorities.during(ANY, || {
        stages::begins();
        assert_eq!(given(), (false, false));
    });
    assert!(MEANWHILE.take().is_none(), "it was called back");
}

#[test]
fn all_give_way_where_the_device_is_known_to_heed_it() {
    let heeds = Obstacles {
        device_heeds_places: true,
        ..Obstacles::default()
    };
    let priorities = with(NOTED, heeds);
    priorities.enlist();
    assert!(!priorities.all_give_way());
    priorities.set(PriorityOrder::idle("a test"));
    assert!(priorities.all_give_way(), "nobody merges");
    let while_merging = |may_at_device| {
        priorities.during(
            Which {
                may_at_device,
                ..ANY
            },
            || {
                stages::begins();
                priorities.all_give_way()
            },
        )
    };
    assert_eq!([true, false].map(while_merging), [true, false]);
    priorities.during(ANY, || {
        stages::begins();
        priorities.call_back();
        assert!(priorities.all_give_way(), "it was needed");
    });
    assert!(priorities.all_give_way());
    priorities.set(PriorityOrder::normal("a test"));
    assert!(!priorities.all_give_way());
    priorities.set(PriorityOrder::normal("a test").called_back());
    assert!(priorities.all_give_way(), "they do again afterwards");
    priorities.lose_processors("a test");
    assert!(!priorities.all_give_way(), "nobody will");
    let unknown = with(NOTED, Obstacles::default());
    unknown.set(PriorityOrder::idle("a test"));
    assert!(!unknown.all_give_way());
}

/// None is sent to idle priority while it merges: one that is needed as it begins is at normal
/// priority for as long as it lasts.
#[test]
fn a_merge_that_was_needed_gives_way_and_one_that_does_not_by_itself_does_not() {
    let heeds = Obstacles {
        device_heeds_places: true,
        ..Obstacles::default()
    };
    let priorities = with(NOTED, heeds);
    priorities.enlist();
    let all_give_way_after = |order: PriorityOrder, may_at_device| {
        priorities.set(order);
        let which = Which {
            may_at_device,
            ..ANY
        };
        priorities.during(which, || {
            stages::begins();
            assert_eq!(given(), (false, false));
            priorities.set(PriorityOrder::idle("a test"));
            assert_eq!(given(), (false, false));
            priorities.all_give_way()
        })
    };
    let normal = || PriorityOrder::normal("a test");
    assert!(!all_give_way_after(normal(), true));
    assert!(all_give_way_after(normal().called_back(), true));
    assert!(!all_give_way_after(normal().called_back(), false));
}

/// The kernel's word for it, of a worker that is in the middle of a merge.
#[test]
fn a_worker_is_called_back_while_it_merges() {
    if let Err(why) = obstacle::may_come_back() {
        assert!(std::env::var_os("LISSOM_NO_SKIP").is_none(), "{why}");
        return println!("skipped: {why}");
    }
    let priorities = with(KERNEL, Obstacles::default());
    let policy = |worker: &Worker| {
        let place = format!("/proc/self/task/{}/stat", worker.thread.number());
        let stat = std::fs::read_to_string(place).expect("a thread");
        let (_, fields) = stat.rsplit_once(") ").expect("a name");
        fields.split_whitespace().nth(41 - 3).map(str::to_owned)
    };
    let (merging, merges) = mpsc::channel();
    let (end, ended) = mpsc::channel();
    thread::scope(|scope| {
        let own = &priorities;
        scope.spawn(move || {
            own.enlist();
            own.set(PriorityOrder::idle("a test"));
            own.during(ANY, || {
                stages::begins();
                merging.send(()).expect("somebody waits");
                ended.recv().expect("somebody ends it");
            });
        });
        merges.recv().expect("a merge");
        let worker = priorities.workers.lock()[0].clone();
        // SCHED_IDLE, and SCHED_OTHER.
        assert_eq!(policy(&worker).as_deref(), Some("5"));
        assert!(worker.at_device.load(SeqCst));
        priorities.set(PriorityOrder::normal("a test"));
        assert_eq!(policy(&worker).as_deref(), Some("0"));
        assert!(!worker.at_device.load(SeqCst));
        end.send(()).expect("it merges");
    });
}
