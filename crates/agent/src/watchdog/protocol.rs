//! What agent and watchdog say to each other: lines of JSON over two pipes.

use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::connect::Account;
use crate::decide::Lease;
use crate::error::Error;

/// From the agent.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "say")]
pub(super) enum Order {
    /// The first one. The password goes through the pipe only.
    Begin {
        /// How to reach the server.
        account: Box<Account>,
        /// Silence after which the settings are restored.
        term: Duration,
        /// The agent's state file; absent when its path is no text.
        state: Option<PathBuf>,
    },
    /// The settings to restore, from now on.
    Hold {
        /// All of them.
        lease: Box<Lease>,
    },
    /// The agent is in control.
    Renew,
    /// The settings are restored.
    Release,
}

/// From the watchdog.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "say")]
pub(super) enum Answer {
    /// It has a connection of its own.
    Ready,
    /// It holds the lease, and is connected to its server.
    Held,
    /// It has heard the agent, and is connected still.
    Renewed,
    /// It cannot be what it should.
    Failed {
        /// Why.
        why: String,
    },
}

impl Answer {
    /// This answer, unless something is in the way.
    pub(super) fn unless(error: Option<Error>, answer: Answer) -> Answer {
        match error {
            Some(error) => Answer::Failed {
                why: error.to_string(),
            },
            None => answer,
        }
    }
}

/// A message as a line.
pub(super) fn line<T: Serialize>(message: &T) -> String {
    // Names, numbers and texts are always JSON.
    serde_json::to_string(message).unwrap_or_default() + "\n"
}

/// A line as a message; other output of a process is none.
pub(super) fn message<T: for<'a> Deserialize<'a>>(line: &str) -> Option<T> {
    serde_json::from_str(line).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::usual_lease;

    #[test]
    fn what_is_said_is_heard() {
        let lease = Box::new(usual_lease("here"));
        for order in [Order::Hold { lease }, Order::Renew, Order::Release] {
            assert_eq!(message::<Order>(line(&order).trim()), Some(order));
        }
        assert_eq!(message::<Answer>("running 1 test"), None);
        let heard = message::<Answer>(line(&Answer::Held).trim());
        assert_eq!(heard, Some(Answer::Held));
    }

    #[test]
    fn the_first_order_names_the_state_file() {
        let account = Account::resolve("mysql://lissom@db1", None, None).expect("complete");
        let order = Order::Begin {
            account: Box::new(account),
            term: Duration::from_secs(10),
            state: Some("/s/attach-db1-3306.state".into()),
        };
        assert_eq!(message::<Order>(line(&order).trim()), Some(order));
    }
}
