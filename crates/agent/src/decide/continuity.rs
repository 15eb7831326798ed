//! Is it still the same server, and has it been up all the time?

use serde::{Deserialize, Serialize};

use super::observation::Instance;

/// Two readings of one server's start may differ by the rounding of two clocks,
/// in seconds.
const SLACK: u64 = 2;

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

/// Compares two sights of a server.
pub fn continuity(before: Option<&Instance>, now: &Instance) -> Continuity {
    match before {
        None => Continuity::First,
        Some(before) if before.identity != now.identity => Continuity::Other,
        Some(before)
            if now.uptime < before.uptime || now.started_at.abs_diff(before.started_at) > SLACK =>
        {
            Continuity::Restarted
        }
        Some(_) => Continuity::Same,
    }
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
        for (now, expected) in [
            (instance("a", 1_000, 50), Continuity::Same),
            (instance("a", 1_002, 51), Continuity::Same),
            (instance("a", 1_000, 49), Continuity::Restarted),
            // It was away for so long that it is up longer than it was then.
            (instance("a", 1_100, 90), Continuity::Restarted),
            (instance("b", 1_000, 51), Continuity::Other),
        ] {
            assert_eq!(continuity(Some(&before), &now), expected, "{now:?}");
        }
    }
}
