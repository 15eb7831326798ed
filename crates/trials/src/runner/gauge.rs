//! Samples into metrics over all the running time.

use std::collections::BTreeMap;

use lissom_search::objective::metrics::{
    MEMORY, SESSIONS_VISITED, SPACE_AMPLIFICATION, THROUGHPUT, WRITE_AMPLIFICATION,
};
use lissom_search::search::Sample;

use crate::protocol::Window;

/// What a child that reports ever new names may take.
const MOST_METRICS: usize = 1_000;
/// The weight of a window that seems to take no time.
const LEAST_SECONDS: f64 = 1e-6;
/// So many times the longest time between two samples is silence.
const SILENT: f64 = 2.0;

/// Takes samples. A metric is averaged over time, but of memory and space
/// amplification the most counts, since bounds on them must be kept throughout, and of
/// sessions visited, which only grow. Of write amplification, which everybody counts from
/// the start, and of what is cumulative the last value counts.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Gauge {
    sums: BTreeMap<String, Sum>,
    samples: u64,
    /// Running seconds up to which is accounted for.
    last: f64,
    /// The longest time that a sample let pass since the one before.
    longest: f64,
    series: Vec<Sample>,
    /// The point of the series that is being filled, and the seconds in it.
    filling: Sum,
    /// Seconds of a point of the series.
    grain: f64,
}

#[derive(Clone, Copy, PartialEq, Debug, Default)]
struct Sum {
    weighted: f64,
    seconds: f64,
    most: f64,
    last: f64,
    cumulative: bool,
}

impl Gauge {
    /// A gauge whose series has a point each `grain` seconds at most.
    pub fn new(grain: f64) -> Gauge {
        Gauge {
            sums: BTreeMap::new(),
            samples: 0,
            last: 0.0,
            longest: 0.0,
            series: Vec::new(),
            filling: Sum::default(),
            grain,
        }
    }

    /// Takes a sample that ended after so many running seconds.
    pub fn take(&mut self, window: &Window, second: f64) {
        let seconds = window.seconds.unwrap_or(second - self.last);
        let seconds = seconds.max(LEAST_SECONDS);
        self.longest = self.longest.max(second - self.last);
        self.last = second;
        self.samples += 1;
        for (name, value) in &window.metrics {
            if self.sums.contains_key(name) || self.sums.len() < MOST_METRICS {
                let sum = self.sums.entry(name.clone()).or_default();
                sum.add(*value, seconds);
                sum.cumulative = window.cumulative.contains(name);
            }
        }
        if let Some(throughput) = window.metrics.get(THROUGHPUT) {
            self.filling.add(throughput.max(0.0), seconds);
            if self.filling.seconds >= self.grain {
                self.end_point();
            }
        }
    }

    /// Passes over what lies before so many running seconds.
    pub fn skip(&mut self, second: f64) {
        self.last = second;
    }

    /// Samples that were taken.
    pub fn samples(&self) -> u64 {
        self.samples
    }

    /// Running seconds at the end of the last sample.
    pub fn last(&self) -> f64 {
        self.last
    }

    /// Whether it has been silent for far longer than ever between two samples.
    pub fn is_silent(&self, second: f64) -> bool {
        second - self.last > SILENT * self.longest
    }

    /// Metrics over everything that was taken.
    pub fn metrics(&self) -> BTreeMap<String, f64> {
        let sums = self.sums.iter();
        sums.map(|(name, sum)| (name.clone(), sum.value(name)))
            .collect()
    }

    /// The throughput since this was last asked.
    pub fn series(&mut self) -> Vec<Sample> {
        if self.filling.seconds > 0.0 {
            self.end_point();
        }
        std::mem::take(&mut self.series)
    }

    fn end_point(&mut self) {
        let filled = std::mem::take(&mut self.filling);
        self.series.push(Sample {
            second: self.last,
            throughput: filled.weighted / filled.seconds,
        });
    }
}

impl Sum {
    fn add(&mut self, value: f64, seconds: f64) {
        self.most = if self.seconds > 0.0 {
            self.most.max(value)
        } else {
            value
        };
        self.last = value;
        self.weighted += value * seconds;
        self.seconds += seconds;
    }

    fn value(&self, name: &str) -> f64 {
        match name {
            MEMORY | SPACE_AMPLIFICATION | SESSIONS_VISITED => self.most,
            WRITE_AMPLIFICATION => self.last,
            _ if self.cumulative => self.last,
            _ => self.weighted / self.seconds,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn window(seconds: Option<f64>, metrics: &[(&str, f64)]) -> Window {
        let metrics = metrics.iter();
        Window {
            seconds,
            metrics: metrics
                .map(|(name, value)| ((*name).to_owned(), *value))
                .collect(),
            ..Window::default()
        }
    }

    #[test]
    fn metrics_are_averages_over_time() {
        let mut gauge = Gauge::new(0.0);
        gauge.take(
            &window(None, &[("throughput", 100.0), ("memory_bytes", 9.0)]),
            1.0,
        );
        gauge.take(
            &window(None, &[("throughput", 40.0), ("memory_bytes", 7.0)]),
            3.0,
        );
        // Said to be of one second, whenever it came.
        gauge.take(
            &window(Some(1.0), &[("throughput", 20.0), ("p99_micros", 5.0)]),
            3.0,
        );
        let metrics = gauge.metrics();
        assert_eq!(metrics["throughput"], 50.0);
        assert_eq!(metrics["memory_bytes"], 9.0);
        assert_eq!(metrics["p99_micros"], 5.0);
        assert_eq!((gauge.samples(), gauge.last()), (3, 3.0));
        let seconds: Vec<f64> = gauge.series().iter().map(|it| it.second).collect();
        assert_eq!(seconds, [1.0, 3.0, 3.0]);
        assert!(gauge.series().is_empty());
    }

    #[test]
    fn of_what_is_cumulative_the_last_value_counts() {
        let mut gauge = Gauge::new(0.0);
        for (second, p99, memory) in [(1.0, 10.0, 9.0), (2.0, 50.0, 7.0), (3.0, 20.0, 8.0)] {
            let metrics = [("p99_micros", p99), ("memory_bytes", memory)];
            let mut window = window(None, &metrics);
            window.cumulative = ["p99_micros", "memory_bytes"].map(str::to_owned).into();
            gauge.take(&window, second);
        }
        // Without operations there is none, and the one before holds.
        gauge.take(&window(None, &[("throughput", 0.0)]), 9.0);
        let metrics = gauge.metrics();
        assert_eq!(metrics["p99_micros"], 20.0);
        assert_eq!(metrics["memory_bytes"], 9.0, "a bound holds throughout");
    }

    #[test]
    fn write_amplification_is_what_it_has_come_to() {
        let mut gauge = Gauge::new(0.0);
        for (second, value) in [(10.0, 1.0), (20.0, 3.0), (30.0, 4.5)] {
            gauge.take(&window(None, &[("write_amplification", value)]), second);
        }
        assert_eq!(gauge.metrics()["write_amplification"], 4.5);
    }

    #[test]
    fn what_is_skipped_does_not_count() {
        let mut gauge = Gauge::new(0.0);
        gauge.take(&window(None, &[("throughput", 10.0)]), 1.0);
        gauge.skip(3.0);
        gauge.take(&window(None, &[("throughput", 30.0)]), 4.0);
        assert_eq!(gauge.metrics()["throughput"], 20.0);
    }

    #[test]
    fn the_series_is_thin_and_its_points_are_means() {
        let mut gauge = Gauge::new(1.0);
        for tenth in 1..=25 {
            let second = f64::from(tenth) / 8.0;
            gauge.take(&window(None, &[("throughput", f64::from(tenth))]), second);
        }
        let series = gauge.series();
        let first = series.first().expect("points");
        assert_eq!((first.second, first.throughput), (1.0, 4.5));
        assert_eq!(series.len(), 4, "three of a second, and the rest");
    }

    #[test]
    fn names_without_end_are_bounded() {
        let mut gauge = Gauge::new(1.0);
        for name in 0..3_000 {
            let metric = format!("m{name}");
            gauge.take(&window(None, &[(metric.as_str(), -1.0)]), f64::from(name));
        }
        assert_eq!(gauge.metrics().len(), MOST_METRICS);
        assert_eq!(gauge.metrics()["m0"], -1.0);
        let negative = window(None, &[("throughput", -1.0)]);
        let mut gauge = Gauge::new(0.0);
        gauge.take(&negative, 1.0);
        assert_eq!(gauge.series()[0].throughput, 0.0);
    }
}
