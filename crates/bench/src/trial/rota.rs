//! In which portions the sessions of a workload take turns, so that the first seconds of
//! a trial already hold the whole mix.

use crate::generate::DueTimes;
use crate::workload::{Session, Workload};

/// A pass through the workload is cut into so many rounds.
const MOST_ROUNDS: u64 = 100;

/// A round has at least so many operations, or beginning a portion would weigh on it.
const LEAST_OF_A_ROUND: u64 = 10_000;

/// Operations of a session that are done in one go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Portion {
    /// The session's place in the workload.
    pub(super) session: usize,
    /// The number of its first operation; counts on from pass to pass.
    pub(super) from: u64,
    /// How many there are, at least 1.
    pub(super) operations: u64,
}

impl Portion {
    /// Where the operations of `thread` begin, counted from the first one, and how many
    /// there are: thread t takes every operation whose number is t modulo `threads`.
    pub(super) fn share(&self, thread: u64, threads: u64) -> (u64, u64) {
        let skipped = (thread + threads - self.from % threads) % threads;
        let own = self.operations.saturating_sub(skipped).div_ceil(threads);
        (skipped, own)
    }
}

/// Portions without end. A round holds a hundredth of each session in a closed loop or
/// of a constant rate. Of other rates only whole periods are done, which come as often
/// as their share of the pass allows.
#[derive(Debug, Clone)]
pub(super) struct Rota {
    rounds: u64,
    /// The present round, from 1.
    round: u64,
    /// The session whose turn it is.
    turn: usize,
    accounts: Vec<Account>,
}

/// What is owed to one session.
#[derive(Debug, Clone)]
struct Account {
    length: u64,
    /// Only whole multiples are done.
    quantum: u64,
    done: u64,
}

impl Rota {
    /// Of a workload with at least one session.
    pub(super) fn new(workload: &Workload) -> Self {
        let sessions = workload.sessions.iter();
        let accounts: Vec<Account> = sessions
            .map(|session| {
                let length = session.length(workload.entries);
                Account {
                    length,
                    quantum: quantum(session, length),
                    done: 0,
                }
            })
            .collect();
        let total = accounts.iter().map(|it| it.length);
        let total = total.fold(0, u64::saturating_add);
        let rounds = match accounts.len() {
            1 => 1,
            _ => (total / LEAST_OF_A_ROUND).clamp(1, MOST_ROUNDS),
        };
        Self {
            rounds,
            round: 1,
            turn: 0,
            accounts,
        }
    }
}

impl Iterator for Rota {
    type Item = Portion;

    fn next(&mut self) -> Option<Portion> {
        if self.accounts.is_empty() {
            return None;
        }
        loop {
            let session = self.turn;
            let Some(account) = self.accounts.get_mut(session) else {
                self.turn = 0;
                self.round += 1;
                continue;
            };
            self.turn += 1;
            let from = account.done;
            let operations = account.draw(self.round, self.rounds);
            if operations > 0 {
                return Some(Portion {
                    session,
                    from,
                    operations,
                });
            }
        }
    }
}

impl Account {
    /// What is to be done in this round.
    fn draw(&mut self, round: u64, rounds: u64) -> u64 {
        let due = u128::from(self.length) * u128::from(round) / u128::from(rounds);
        let quantum = u128::from(self.quantum);
        // Rounded, so that a long period comes first when half of it is due.
        let whole = (due + quantum / 2) / quantum * quantum;
        let whole = u64::try_from(whole).unwrap_or(u64::MAX);
        let operations = whole.saturating_sub(self.done);
        self.done += operations;
        operations
    }
}

/// Operations of a period of the session's rate; 1 where there is none.
fn quantum(session: &Session, length: u64) -> u64 {
    let Some(seconds) = session.rate.period() else {
        return 1;
    };
    // A billionth of a second decides nothing, as in the session's length.
    let due = DueTimes::new(session.rate).take(length as usize);
    let within = due.take_while(|due| *due + 1e-9 < seconds).count();
    (within as u64).max(1)
}
