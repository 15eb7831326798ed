//! What of a mission the store tells, which times one read in many and looks at its blocks
//! and filters. Every write is timed.

use lissom_core::observation::{Latency, LevelMission, Mission};

use crate::noise::Noise;

/// The mission as it is told where one read in so many, on average, is timed.
pub(crate) fn sampled(noise: &mut Noise, mission: Mission, one_in: u64) -> Mission {
    if one_in <= 1 {
        return mission;
    }
    let get = timed(noise, &mission.get, one_in);
    let seek = timed(noise, &mission.seek, one_in);
    let levels = mission.levels.iter();
    let levels = levels.map(|level| looked_at(noise, level, one_in));
    Mission {
        get,
        seek,
        levels: levels.collect(),
        ..mission
    }
}

/// Times of one kind are taken to spread as widely as they are long.
fn timed(noise: &mut Noise, of_all: &Latency, one_in: u64) -> Latency {
    let count = noise.poisson(of_all.count as f64 / one_in as f64);
    let mean = if count > 0 {
        of_all.mean.mul_f64(noise.mean_of_times(count))
    } else {
        Default::default()
    };
    Latency {
        count,
        mean,
        p50: mean,
        p99: mean,
    }
}

fn looked_at(noise: &mut Noise, of_all: &LevelMission, one_in: u64) -> LevelMission {
    let mut told = |all: u64| noise.poisson(all as f64 / one_in as f64) * one_in;
    let read_ios = told(of_all.read_ios);
    let true_positive = told(of_all.filter_true_positive);
    let block = of_all.read_bytes.checked_div(of_all.read_ios).unwrap_or(0);
    LevelMission {
        read_ios,
        read_bytes: read_ios * block,
        filter_useful: told(of_all.filter_useful),
        filter_positive: true_positive + told(of_all.filter_false_positive()),
        filter_true_positive: true_positive,
        ..*of_all
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn mission() -> Mission {
        let latency = |count| Latency {
            count,
            mean: Duration::from_micros(100),
            ..Latency::default()
        };
        let level = LevelMission {
            read_ios: 5_000,
            read_bytes: 5_000 * 4_096,
            filter_useful: 10_000,
            filter_positive: 6_400,
            filter_true_positive: 6_272,
            ..LevelMission::default()
        };
        Mission {
            get: latency(6_400),
            put: latency(3_600),
            levels: vec![level],
            ..Mission::default()
        }
    }

    #[test]
    fn who_times_everything_tells_everything() {
        let mut noise = Noise::new(1, 0.0, 0.0);
        assert_eq!(sampled(&mut noise, mission(), 1), mission());
    }

    /// Fifty of 6,400 gets, and one look at a false positive.
    #[test]
    fn what_is_sampled_is_right_on_average_and_spreads() {
        let mut noise = Noise::new(1, 0.0, 0.0);
        let told: Vec<Mission> = (0..2_000)
            .map(|_| sampled(&mut noise, mission(), 128))
            .collect();
        let mean_of =
            |of: &dyn Fn(&Mission) -> f64| told.iter().map(of).sum::<f64>() / told.len() as f64;
        let spread_of = |of: &dyn Fn(&Mission) -> f64| {
            let mean = mean_of(of);
            mean_of(&|it| (of(it) - mean).powi(2)).sqrt() / mean
        };
        let near = |found: f64, expected: f64| (found / expected - 1.0).abs() < 0.1;
        let get = |it: &Mission| it.get.mean.as_secs_f64() * 1e6;
        assert!(near(mean_of(&get), 100.0) && near(spread_of(&get), 0.141));
        assert!(near(mean_of(&|it| it.get.count as f64), 50.0));
        let wrong = |it: &Mission| it.levels[0].filter_false_positive() as f64;
        assert!(near(mean_of(&wrong), 128.0) && near(spread_of(&wrong), 1.0));
        let useful = |it: &Mission| it.levels[0].filter_useful as f64;
        assert!(near(mean_of(&useful), 10_000.0) && near(spread_of(&useful), 0.113));
        assert!(told.iter().all(|it| it.put == mission().put));
        assert!(
            told.iter()
                .all(|it| it.levels[0].read_bytes == 4_096 * it.levels[0].read_ios)
        );
    }

    #[test]
    fn of_few_reads_none_may_be_timed() {
        let mut few = mission();
        few.get.count = 12;
        let mut noise = Noise::new(1, 0.0, 0.0);
        let told = (0..1_000).map(|_| sampled(&mut noise, few.clone(), 128).get);
        let none = told.filter(|get| get.count == 0 && get.mean.is_zero());
        let none = none.count();
        assert!((880..940).contains(&none), "{none}");
    }
}
