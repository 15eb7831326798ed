//! Which directory is which, and what to do next: pure decisions over four names.
//!
//! ```text
//! PATH                the database
//! PATH.rebuild        the copy while it is made; for a moment the old directory
//! PATH.before-apply   the old directory, until `finish` removes it
//! PATH.undone         a copy that `undo` took away again, until `finish` removes it
//! ```
//!
//! A mark in a directory says what it is; the database itself has none while nothing
//! is going on. The exchange of two directories is one atomic step, or, where the file
//! system has none, two renames between which PATH does not exist. Before the first of
//! them the directory that leaves is marked as that: a program that starts just then may
//! make an empty database in its place. Whatever a kill leaves, [`next`] leads from there
//! to a settled state, and each step is one rename or one small file.

/// What lies under a name.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(super) enum State {
    /// Nothing.
    Absent,
    /// A directory without a mark.
    Bare,
    /// A copy that is being made.
    Copying,
    /// A copy that was compared with the original.
    Verified,
    /// The database, on its way to PATH.before-apply.
    Leaving,
    /// The directory from before a rebuild.
    Before,
    /// A copy in the database's place, on its way to PATH.undone.
    Undoing,
    /// A copy that was taken away again.
    Undone,
}

/// What lies under the four names.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(super) struct Seen {
    pub(super) path: State,
    pub(super) rebuild: State,
    pub(super) before: State,
    pub(super) undone: State,
}

/// One of the four names.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(super) enum Name {
    Path,
    Rebuild,
    Before,
    Undone,
}

/// A step, which is done or not done.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Step {
    /// Nothing is left to do.
    Settled,
    /// The directory is given another name.
    Rename(Name, Name),
    /// The old directory is marked as that.
    MarkBefore(Name),
    /// The copy that was taken away is marked as that.
    MarkUndone,
    /// The database's mark is removed.
    Unmark,
    /// Nothing can be done: completes "PATH ...".
    Refuse(&'static str),
}

/// The next step towards a settled state.
pub(super) fn next(seen: Seen) -> Step {
    match seen.path {
        State::Bare => with_database(seen),
        State::Absent => without_database(seen),
        State::Verified => after_exchange(seen),
        State::Before => after_undoing(seen),
        // The exchange never came, or somebody has brought it back: what is there stays.
        State::Leaving | State::Undoing | State::Undone => Step::Unmark,
        State::Copying => Step::Refuse(
            "is an unfinished copy: give the name of the database that it was made from",
        ),
    }
}

/// Directories of other names that are on their way were PATH a moment ago.
fn with_database(seen: Seen) -> Step {
    match (seen.before, seen.undone) {
        (State::Leaving, _) | (_, State::Undoing) => Step::Refuse(
            "was made by a program that started while the directories were being exchanged, and \
             the database itself still lies beside it: end that program, move this directory \
             away, and give the same command again",
        ),
        _ => Step::Settled,
    }
}

/// Between the two renames of an exchange.
fn without_database(seen: Seen) -> Step {
    match (seen.rebuild, seen.before, seen.undone) {
        (State::Verified, State::Leaving, _) => Step::Rename(Name::Rebuild, Name::Path),
        (_, State::Leaving, _) | (_, State::Before, State::Undoing) => {
            Step::Rename(Name::Before, Name::Path)
        }
        _ => Step::Refuse("does not exist: give the path of a database"),
    }
}

const STRANGE: &str = "has taken the place of another directory, and what lies beside it is not \
                       what that leaves: move the directories that you made away";

/// The copy is in its place; the old directory still has another name or no mark.
fn after_exchange(seen: Seen) -> Step {
    match (seen.rebuild, seen.before) {
        (State::Bare, State::Absent) => Step::MarkBefore(Name::Rebuild),
        (State::Before, State::Absent) => Step::Rename(Name::Rebuild, Name::Before),
        (State::Absent, State::Leaving) => Step::MarkBefore(Name::Before),
        (State::Absent, State::Before | State::Absent) => Step::Unmark,
        _ => Step::Refuse(STRANGE),
    }
}

/// The old directory is back in its place.
fn after_undoing(seen: Seen) -> Step {
    match (seen.before, seen.undone) {
        (State::Undoing, State::Absent) => Step::Rename(Name::Before, Name::Undone),
        (State::Undoing, _) => Step::Refuse(STRANGE),
        (_, State::Undoing) => Step::MarkUndone,
        _ => Step::Unmark,
    }
}

#[cfg(test)]
#[path = "steps_tests.rs"]
mod tests;
