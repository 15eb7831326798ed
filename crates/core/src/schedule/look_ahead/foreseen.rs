//! What can be expected of the load.

use std::time::Duration;

use super::DeepOrder;
use super::needs::Needs;

/// What is supported by so much of the best support counts as much.
const NEARLY: f64 = 0.75;

/// What can be expected of the present high phase and of the low one after it.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Foreseen {
    /// How long the one goes on.
    pub high: Duration,
    /// How long the other lasts.
    pub low: Duration,
    /// How far what was seen before speaks for it, from 0 to 1.
    pub support: f64,
}

/// What counts of several: short pauses come sooner than the night, so that it is the
/// earliest end that is supported nearly as well as the best.
pub(super) fn best_supported(all: &[Foreseen]) -> Option<Foreseen> {
    let best = all.iter().map(|it| it.support).fold(0.0, f64::max);
    let good = all.iter().filter(|it| it.support >= NEARLY * best);
    good.min_by_key(|it| (it.high, it.low)).copied()
}

/// In words: how long the load stays high.
fn lasts(foreseen: &Foreseen) -> String {
    let seconds = foreseen.high.as_secs_f64();
    format!("the load stays high for some {seconds:.0} s")
}

/// In words: the bytes that L0 will have, those that can be merged then and those that may be
/// there.
pub(super) fn figures(foreseen: &Foreseen, bytes: [f64; 3], is_merging: bool) -> String {
    let [expected, mergeable, most] = bytes.map(|bytes| bytes / 1e6);
    let besides = is_merging.then_some(" besides what is being merged");
    let bounded = match most < mergeable {
        true => format!(", but no more than {most:.0} MB may wait"),
        false => String::new(),
    };
    format!(
        "{}; L0 will have {expected:.0} MB{}, the {:.0} s of low load after it can merge \
         {mergeable:.0} MB{}",
        lasts(foreseen),
        besides.unwrap_or_default(),
        foreseen.low.as_secs_f64(),
        bounded
    )
}

/// What may go on below L0, and why.
pub(super) fn below_level0(needs: &Needs, foreseen: Option<&Foreseen>) -> (DeepOrder, String) {
    let Some((foreseen, ahead)) = foreseen.zip(needs.phase) else {
        let why = "the load is high and its end cannot be foreseen: all is merged at the rate that \
                   it takes in the long run";
        return (DeepOrder::Paced, why.into());
    };
    let figures = format!(
        "{}; merges will then owe {:.0} MB, the {:.0} s of low load after it can repay {:.0} MB",
        lasts(foreseen),
        needs.owed() / 1e6,
        foreseen.low.as_secs_f64(),
        ahead.repayable / 1e6,
    );
    if needs.can_wait() {
        let why = format!("{figures}: L0 is merged as it fills, and the rest waits");
        return (DeepOrder::AtMost(0), why);
    }
    let why = match needs.is_crowded {
        true => "a level below L0 holds nearly as much as it may: merges go on there",
        false => "what is too much is merged meanwhile",
    };
    (DeepOrder::Paced, format!("{figures}: {why}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_earliest_end_counts_that_is_supported_as_well_as_the_best() {
        let of = |seconds: u64, support: f64| Foreseen {
            high: Duration::from_secs(seconds),
            low: Duration::from_secs(1),
            support,
        };
        let (pause, night, hour) = (of(10, 0.7), of(9_000, 0.8), of(5, 0.3));
        assert_eq!(best_supported(&[night, pause, hour]), Some(pause));
        let unlike = of(10, 0.4);
        assert_eq!(best_supported(&[unlike, night]), Some(night));
        assert_eq!(best_supported(&[unlike]), Some(unlike), "better than none");
        assert_eq!(best_supported(&[of(7, 0.0)]), Some(of(7, 0.0)));
        assert_eq!(best_supported(&[]), None);
    }
}
