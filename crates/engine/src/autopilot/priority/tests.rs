use std::sync::atomic::AtomicUsize;
use std::sync::mpsc;
use std::{panic, thread};

use super::*;

thread_local! {
    /// The priority that the calling thread was given last by [`noted`].
    static PRIORITY: std::cell::Cell<CpuPriority> = const { std::cell::Cell::new(CpuPriority::Normal) };
}

/// Notes it in the calling thread, whoever's is meant.
fn noted(_: ThreadId, priority: CpuPriority) -> io::Result<()> {
    PRIORITY.set(priority);
    Ok(())
}

fn forbidden(_: ThreadId, priority: CpuPriority) -> io::Result<()> {
    match priority {
        CpuPriority::Idle => Ok(()),
        CpuPriority::Normal => Err(io::ErrorKind::PermissionDenied.into()),
    }
}

fn idle() -> PriorityOrder {
    PriorityOrder {
        priority: CpuPriority::Idle,
        why: "a test".into(),
    }
}

/// Whether work of the calling thread is done at idle priority; it may be forbidden to all here.
fn gives_way(priorities: &Priorities) -> Option<bool> {
    obstacle::may_come_back().ok()?;
    ThreadId::current()?;
    let at = priorities.during(|| PRIORITY.get());
    assert_eq!(PRIORITY.get(), CpuPriority::Normal);
    Some(at == CpuPriority::Idle)
}

#[test]
fn work_is_done_at_the_priority_that_holds_and_what_follows_is_not() {
    let priorities = Priorities::with(noted, None);
    let Some(at_first) = gives_way(&priorities) else {
        return println!("skipped: no thread may come back from idle priority here");
    };
    assert!(!at_first, "nothing was ordered");
    priorities.set(idle());
    assert_eq!(gives_way(&priorities), Some(true));
    priorities.set(PriorityOrder::normal("a test"));
    assert_eq!(gives_way(&priorities), Some(false));
    assert_eq!(priorities.order().why, "a test");
}

#[test]
fn work_that_panics_leaves_its_thread_at_normal_priority() {
    let priorities = Priorities::with(noted, None);
    priorities.set(idle());
    let work = || priorities.during(|| panic!("on purpose"));
    let result = panic::catch_unwind(panic::AssertUnwindSafe(work));
    assert!(result.is_err());
    assert_eq!(PRIORITY.get(), CpuPriority::Normal);
}

#[test]
fn nothing_gives_way_where_there_is_an_obstacle_nor_once_the_autopilot_ends() {
    let hindered = Priorities::with(noted, Some("it is forbidden".into()));
    hindered.set(idle());
    assert_ne!(gives_way(&hindered), Some(true));
    assert_eq!(hindered.order(), PriorityOrder::normal("it is forbidden"));
    let ended = Priorities::with(noted, None);
    ended.set(idle());
    ended.end();
    assert_ne!(gives_way(&ended), Some(true));
    ended.set(idle());
    assert_ne!(gives_way(&ended), Some(true), "ended is ended");
    assert!(!ended.wait(Duration::from_secs(3600)), "and nobody waits");
}

#[test]
fn who_cannot_come_back_is_the_last_that_goes() {
    let priorities = Priorities::with(forbidden, None);
    priorities.set(idle());
    priorities.during(|| ());
    if obstacle::may_come_back().is_ok() && ThreadId::current().is_some() {
        let why = priorities.order().why;
        assert!(why.contains("open the database anew"), "{why}");
    }
    assert!(priorities.give_way().is_none());
}

/// Calls of [`counted`].
static CALLED_BACK: AtomicUsize = AtomicUsize::new(0);

fn counted(_: ThreadId, priority: CpuPriority) -> io::Result<()> {
    if priority == CpuPriority::Normal {
        CALLED_BACK.fetch_add(1, SeqCst);
    }
    Ok(())
}

#[test]
fn all_workers_are_called_back_whatever_they_do() {
    let priorities = Priorities::with(counted, None);
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
    priorities.set(PriorityOrder::normal("a test"));
    assert_eq!(CALLED_BACK.swap(0, SeqCst), workers);
    priorities.call_back();
    assert_eq!(CALLED_BACK.load(SeqCst), workers);
}
