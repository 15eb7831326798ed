//! Is it still the same server, and has it been up all the time?

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::observation::Instance;

/// Two readings of one server's start may differ by the rounding of two clocks,
/// in seconds.
const SLACK: u64 = 2;
/// An answer may come so late, in seconds: what it tells is as old as the question.
const LATE: u64 = 20;

/// How a server follows upon the one that was seen last.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Continuity {
    /// It is the first one.
    First,
    /// It is the same one, and has been up since.
    Same,
    /// It is the same one after a restart: it has its configured settings.
    Restarted,
    /// It is another one, as after a failover.
    Other,
}

/// Compares two sights of a server, the first of which is so long ago.
///
/// Only the start tells whether it was restarted: a clock that is put back makes the
/// uptime less. Whoever was up longer ago than the first sight, from another start, is
/// another server, whatever it calls itself.
pub fn continuity(before: Option<(&Instance, Duration)>, now: &Instance) -> Continuity {
    match before {
        None => Continuity::First,
        Some((before, _)) if before.identity != now.identity => Continuity::Other,
        Some((before, _)) if is_same_start(before.started_at, now.started_at) => Continuity::Same,
        Some((_, since)) if now.uptime > since.as_secs().saturating_add(LATE) => Continuity::Other,
        Some(_) => Continuity::Restarted,
    }
}

/// Whether two readings may be of one start.
pub(super) fn is_same_start(one: u64, other: u64) -> bool {
    one.abs_diff(other) <= SLACK
}

#[cfg(test)]
mod tests {
    use super::*;

    fn instance(identity: &str, started_at: u64, uptime: u64) -> Instance {
        Instance {
            identity: identity.into(),
            started_at,
            uptime,
        }
    }

    #[test]
    fn the_table() {
        let before = instance("a", 1_000, 50);
        assert_eq!(continuity(None, &before), Continuity::First);
        for (since, now, expected) in [
            (1, instance("a", 1_000, 51), Continuity::Same),
            (1, instance("a", 1_002, 49), Continuity::Same),
            // Its clock was put back by an hour, and then forward by two.
            (1, instance("a", 1_000, 0), Continuity::Same),
            (1, instance("a", 1_000, 7_251), Continuity::Same),
            // It was put back to before the start.
            (1, instance("a", 1_000, u64::MAX - 99), Continuity::Same),
            (9, instance("a", 1_055, 3), Continuity::Restarted),
            // It was away for so long that it is up longer than it was then.
            (150, instance("a", 1_100, 90), Continuity::Restarted),
            (9, instance("a", 1_055, 29), Continuity::Restarted),
            // These were up when the first one was seen.
            (9, instance("a", 1_010, 49), Continuity::Other),
            (9, instance("a", 200, 859), Continuity::Other),
            (1, instance("b", 1_000, 51), Continuity::Other),
        ] {
            let before = Some((&before, Duration::from_secs(since)));
            assert_eq!(continuity(before, &now), expected, "{now:?}");
        }
    }
}
