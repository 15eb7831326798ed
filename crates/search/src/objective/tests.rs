//! Objectives, constraints and the order of trials.

use super::*;

fn measured(metrics: &[(&str, f64)]) -> Metrics {
    let pairs = metrics.iter();
    let metrics = pairs.map(|(name, value)| ((*name).to_owned(), *value));
    Metrics::new(metrics.collect()).expect("finite")
}

fn objective(text: &str) -> Objective {
    text.parse().expect(text)
}

#[test]
fn objectives_parse_and_print_alike() {
    for text in [
        "throughput",
        "p99",
        "p99-get",
        "p99-put",
        "both",
        "both-get",
        "both-put",
        "maximise throughput / memory_bytes",
        "minimise get_p99_micros + put_p99_micros",
    ] {
        assert_eq!(objective(text).to_string(), text);
    }
    let error = "speed"
        .parse::<Objective>()
        .expect_err("unknown")
        .to_string();
    assert!(error.contains("choose throughput, p99"), "{error}");
    let error = "maximise 1 +"
        .parse::<Objective>()
        .expect_err("no end")
        .to_string();
    assert!(
        error.starts_with("the expression \"1 +\", column 4"),
        "{error}"
    );
    let error = "maximise 3"
        .parse::<Objective>()
        .expect_err("no metric")
        .to_string();
    assert!(error.contains("names no metric"), "{error}");
    let error = "maximise throughput / max(get_p99_micros, 1ms)"
        .parse::<Objective>()
        .expect_err("seconds and microseconds")
        .to_string();
    assert!(
        error.contains("get_p99_micros is in microseconds"),
        "{error}"
    );
}

#[test]
fn times_are_seconds_where_no_latency_is_in_microseconds() {
    let bound: Constraint = "startup_seconds <= 2min".parse().expect("a bound");
    assert_eq!(bound.at_most(), 120.0);
}

#[test]
fn values_come_from_metrics() {
    let metrics = measured(&[("throughput", 100.0), ("get_p99_micros", 50.0)]);
    let of = |text: &str| objective(text).values(&metrics);
    assert_eq!(of("throughput"), Ok(vec![100.0]));
    assert_eq!(of("both-get"), Ok(vec![100.0, 50.0]));
    assert_eq!(of("minimise get_p99_micros / throughput"), Ok(vec![0.5]));
    let error = of("p99-put").expect_err("missing").to_string();
    assert!(
        error.contains("no metric put_p99_micros, but get_p99_micros, throughput"),
        "{error}"
    );
    let error = of("maximise ln(0 - throughput)")
        .expect_err("no number")
        .to_string();
    assert!(error.contains("comes to NaN"), "{error}");
}

#[test]
fn metrics_are_finite() {
    let nan = [("throughput".to_owned(), f64::NAN)];
    let error = Metrics::new(nan.into()).expect_err("no number").to_string();
    assert!(error.contains("the metric throughput is NaN"), "{error}");
    assert!(serde_json::from_str::<Metrics>("{\"throughput\": 1}").is_ok());
    assert!(serde_json::from_str::<Metrics>("{\"throughput\": null}").is_err());
}

#[test]
fn constraints_have_units_and_an_excess() {
    let bound: Constraint = "memory_bytes <= 1KiB".parse().expect("a bound");
    assert_eq!(bound.to_string(), "memory_bytes <= 1024");
    let excess = |bytes| bound.excess(&measured(&[("memory_bytes", bytes)]));
    assert_eq!(excess(1000.0), Ok(0.0));
    assert_eq!(excess(1536.0), Ok(0.5));
    assert!(bound.excess(&Metrics::default()).is_err());
    for (text, says) in [
        ("memory_bytes < 3", "write a metric, <= and a number"),
        ("memory_bytes <= ", "the expression ends"),
        ("memory_bytes <= 0", "write a number above 0"),
        ("3 <= 4", "cannot be a metric"),
        ("p99_micros <= 2ms", "write microseconds without a unit"),
    ] {
        let error = text.parse::<Constraint>().expect_err(text).to_string();
        assert!(error.contains(says), "{error}");
    }
}

#[test]
fn bounds_come_before_goals_and_failures_last() {
    let standings = [
        Standing::Exceeded(0.5),
        Standing::Kept(vec![1.0]),
        Standing::Failed,
        Standing::Kept(vec![3.0]),
        Standing::Exceeded(0.1),
    ];
    let ranking = Ranking::of(&standings);
    assert_eq!(ranking.order, [3, 1, 4, 0, 2]);
    assert_eq!(ranking.scores, [1.0, 1.0, 1.0, 3.0, 1.0]);
    let none = Ranking::of(&[Standing::Failed, Standing::Failed]);
    assert_eq!((none.order, none.scores), (vec![0, 1], vec![0.0, 0.0]));
    let nobody = [
        Standing::Exceeded(0.5),
        Standing::Failed,
        Standing::Exceeded(0.25),
    ];
    let towards = Ranking::of(&nobody);
    assert_eq!(towards.order, [2, 0, 1]);
    assert_eq!(towards.scores, [-0.5, -0.5, -0.25], "the nearest leads");
}

#[test]
fn of_two_goals_the_worse_rank_counts() {
    // Ranks: (1, 4), (2, 2), (3, 1), (4, 3).
    let standings = [
        Standing::Kept(vec![9.0, -9.0]),
        Standing::Kept(vec![8.0, -3.0]),
        Standing::Kept(vec![7.0, -1.0]),
        Standing::Kept(vec![1.0, -5.0]),
    ];
    let ranking = Ranking::of(&standings);
    assert_eq!(ranking.order, [1, 2, 0, 3]);
    assert_eq!(ranking.scores, [-4.0, -2.0, -3.0, -4.0]);
    assert_eq!(front(&standings), [0, 1, 2]);
}

#[test]
fn a_judgement_needs_all_metrics() {
    let bounds: [Constraint; 1] = ["space_amplification <= 2".parse().expect("a bound")];
    let of = |metrics: &[(&str, f64)]| judge(&objective("p99"), &bounds, &measured(metrics));
    let kept = of(&[("p99_micros", 5.0), ("space_amplification", 1.5)]);
    assert_eq!(kept, Ok(Standing::Kept(vec![-5.0])));
    let exceeded = of(&[("p99_micros", 5.0), ("space_amplification", 3.0)]);
    assert_eq!(exceeded, Ok(Standing::Exceeded(0.5)));
    assert!(of(&[("p99_micros", 5.0)]).is_err());
}

#[test]
fn gains_are_shares() {
    assert_eq!(Direction::Maximise.gain(150.0, 100.0), 0.5);
    assert_eq!(Direction::Minimise.gain(50.0, 100.0), 0.5);
    assert_eq!(Direction::Minimise.gain(1.0, 0.0), 0.0);
}
