//! Running time: from the end of the set-up on, without pauses.

/// Counts the seconds that a trial runs. All times are seconds of one clock, and
/// come in order.
#[derive(Clone, PartialEq, Debug, Default)]
pub(super) struct Stopwatch {
    began: Option<f64>,
    paused_at: Option<f64>,
    paused: f64,
}

impl Stopwatch {
    /// The set-up is over.
    pub fn begin(&mut self, now: f64) {
        self.began.get_or_insert(now);
    }

    /// When the set-up was over.
    pub fn began(&self) -> Option<f64> {
        self.began
    }

    /// Whether the set-up is over.
    pub fn has_begun(&self) -> bool {
        self.began.is_some()
    }

    /// Time stands still.
    pub fn pause(&mut self, now: f64) {
        self.paused_at.get_or_insert(now);
    }

    /// Whether time stands still.
    pub fn is_paused(&self) -> bool {
        self.paused_at.is_some()
    }

    /// Time goes on.
    pub fn resume(&mut self, now: f64) {
        if let Some(since) = self.paused_at.take() {
            self.paused += (now - since).max(0.0);
        }
    }

    /// Seconds of running until `now`; 0 before the set-up is over.
    pub fn seconds(&self, now: f64) -> f64 {
        let Some(began) = self.began else {
            return 0.0;
        };
        let now = self.paused_at.map_or(now, |since| now.min(since));
        (now - began - self.paused).max(0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_do_not_count() {
        let mut watch = Stopwatch::default();
        assert_eq!((watch.has_begun(), watch.seconds(5.0)), (false, 0.0));
        watch.begin(10.0);
        watch.begin(11.0);
        assert_eq!(watch.seconds(12.0), 2.0);
        watch.pause(13.0);
        watch.pause(14.0);
        assert!(watch.is_paused());
        assert_eq!(watch.seconds(100.0), 3.0);
        watch.resume(100.0);
        watch.resume(101.0);
        assert_eq!(watch.seconds(100.0), 3.0);
        assert_eq!(watch.seconds(104.5), 7.5);
        watch.pause(105.0);
        watch.resume(205.0);
        assert_eq!(watch.seconds(206.0), 9.0);
    }
}
