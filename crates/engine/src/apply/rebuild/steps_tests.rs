//! Kills between any two steps.

use super::*;

/// Directories by name: which one it is, and its mark.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct World {
    names: [Option<(Which, State)>; 4],
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Which {
    Old,
    New,
    Stranger,
}

fn index(name: Name) -> usize {
    match name {
        Name::Path => 0,
        Name::Rebuild => 1,
        Name::Before => 2,
        Name::Undone => 3,
    }
}

impl World {
    fn copied() -> World {
        World {
            names: [
                Some((Which::Old, State::Bare)),
                Some((Which::New, State::Verified)),
                None,
                None,
            ],
        }
    }

    fn seen(&self) -> Seen {
        let state = |at: usize| self.names[at].map_or(State::Absent, |(_, state)| state);
        Seen {
            path: state(0),
            rebuild: state(1),
            before: state(2),
            undone: state(3),
        }
    }

    fn rename(&mut self, from: Name, to: Name) {
        assert_eq!(self.names[index(to)], None, "{from:?} over {to:?}");
        self.names[index(to)] = self.names[index(from)].take();
        assert!(self.names[index(to)].is_some(), "no {from:?}");
    }

    fn exchange(&mut self, a: Name, b: Name) {
        self.names.swap(index(a), index(b));
    }

    fn mark(&mut self, name: Name, state: State) {
        let (_, mark) = self.names[index(name)].as_mut().expect("a directory");
        *mark = state;
    }

    fn which(&self, name: Name) -> Option<Which> {
        self.names[index(name)].map(|(which, _)| which)
    }

    fn step(&mut self, step: Step) {
        match step {
            Step::Rename(from, to) => self.rename(from, to),
            Step::MarkBefore(name) => self.mark(name, State::Before),
            Step::MarkUndone => self.mark(Name::Undone, State::Undone),
            Step::Unmark => self.mark(Name::Path, State::Bare),
            Step::Settled | Step::Refuse(_) => panic!("{step:?} in {self:?}"),
        }
    }

    /// Every state that a kill may leave on the way to a settled one.
    fn settle(mut self, atomic: bool) -> World {
        for _ in 0..10 {
            match next(self.seen()) {
                Step::Settled => return self,
                step => self.step(step),
            }
            if atomic {
                assert!(self.which(Name::Path).is_some(), "{self:?}");
            }
        }
        panic!("it does not settle: {self:?}");
    }
}

fn is_rebuilt(world: World) {
    assert_eq!(world.which(Name::Path), Some(Which::New), "{world:?}");
    assert_eq!(
        world.names[2],
        Some((Which::Old, State::Before)),
        "{world:?}"
    );
    assert_eq!(world.names[0], Some((Which::New, State::Bare)), "{world:?}");
    assert_eq!((world.names[1], world.names[3]), (None, None), "{world:?}");
}

fn is_undone(world: World) {
    assert_eq!(world.names[0], Some((Which::Old, State::Bare)), "{world:?}");
    assert_eq!(
        world.names[3],
        Some((Which::New, State::Undone)),
        "{world:?}"
    );
    assert_eq!((world.names[1], world.names[2]), (None, None), "{world:?}");
}

/// Before the exchange there is nothing to settle, and the old directory is there.
#[test]
fn a_copy_alone_changes_nothing() {
    for state in [State::Copying, State::Verified] {
        let mut world = World::copied();
        world.mark(Name::Rebuild, state);
        assert_eq!(next(world.seen()), Step::Settled);
    }
}

#[test]
fn an_atomic_exchange_is_completed() {
    let mut world = World::copied();
    world.exchange(Name::Path, Name::Rebuild);
    is_rebuilt(world.settle(true));
}

#[test]
fn an_exchange_of_two_renames_is_completed() {
    let mut world = World::copied();
    world.mark(Name::Path, State::Leaving);
    assert_eq!(world.settle(true), World::copied(), "it never came");
    world.rename(Name::Path, Name::Before);
    is_rebuilt(world.settle(false));
    world.rename(Name::Rebuild, Name::Path);
    is_rebuilt(world.settle(true));
}

/// A program that starts between two renames may make a directory.
#[test]
fn a_directory_that_somebody_made_in_between_is_refused() {
    let mut world = World::copied();
    world.mark(Name::Path, State::Leaving);
    world.rename(Name::Path, Name::Before);
    world.names[0] = Some((Which::Stranger, State::Bare));
    assert!(matches!(next(world.seen()), Step::Refuse(_)), "{world:?}");
    world.names[0] = None;
    let mut rebuilt = world.settle(false);
    is_rebuilt(rebuilt);

    rebuilt.mark(Name::Path, State::Undoing);
    rebuilt.rename(Name::Path, Name::Undone);
    rebuilt.names[0] = Some((Which::Stranger, State::Bare));
    assert!(
        matches!(next(rebuilt.seen()), Step::Refuse(_)),
        "{rebuilt:?}"
    );
    rebuilt.names[0] = None;
    is_undone(rebuilt.settle(false));
}

/// The old directory is brought back where its copy is lost.
#[test]
fn without_its_copy_an_exchange_is_taken_back() {
    let mut world = World::copied();
    world.mark(Name::Path, State::Leaving);
    world.rename(Name::Path, Name::Before);
    world.names[1] = None;
    let world = world.settle(false);
    assert_eq!(world.names[0], Some((Which::Old, State::Bare)), "{world:?}");
    assert_eq!(world.names[2], None, "{world:?}");
}

/// A rebuild after one that was taken back leaves three directories.
#[test]
fn what_is_settled_is_not_taken_for_an_exchange() {
    let mut world = World::copied();
    world.names[1] = None;
    world.names[2] = Some((Which::Old, State::Before));
    world.names[3] = Some((Which::New, State::Undone));
    assert_eq!(next(world.seen()), Step::Settled);
}

#[test]
fn taking_back_is_completed() {
    let mut world = World::copied();
    world.exchange(Name::Path, Name::Rebuild);
    let rebuilt = world.settle(true);

    let mut atomic = rebuilt;
    atomic.mark(Name::Path, State::Undoing);
    let given_up = atomic.settle(true);
    is_rebuilt(given_up);
    atomic.exchange(Name::Path, Name::Before);
    is_undone(atomic.settle(true));

    let mut renames = rebuilt;
    renames.mark(Name::Path, State::Undoing);
    renames.rename(Name::Path, Name::Undone);
    is_undone(renames.settle(false));
    renames.rename(Name::Before, Name::Path);
    is_undone(renames.settle(true));
}

/// From anything at all, a few steps lead to an end.
#[test]
fn every_state_settles_or_is_refused() {
    let states = [
        State::Absent,
        State::Bare,
        State::Copying,
        State::Verified,
        State::Leaving,
        State::Before,
        State::Undoing,
        State::Undone,
    ];
    for path in states {
        for rebuild in states {
            for before in states {
                for undone in states {
                    let directory = |which, state| match state {
                        State::Absent => None,
                        other => Some((which, other)),
                    };
                    let mut world = World {
                        names: [
                            directory(Which::Old, path),
                            directory(Which::New, rebuild),
                            directory(Which::New, before),
                            directory(Which::New, undone),
                        ],
                    };
                    let mut left = 10;
                    loop {
                        match next(world.seen()) {
                            Step::Settled => {
                                assert!(world.which(Name::Path).is_some());
                                break;
                            }
                            Step::Refuse(_) => break,
                            // Nothing is renamed over something: `rename` sees to it.
                            step => world.step(step),
                        }
                        left -= 1;
                        assert!(left > 0, "no end: {world:?}");
                    }
                }
            }
        }
    }
}
