//! The best with one parameter at a time set back.

use super::*;

#[test]
fn what_loses_its_effect_is_set_back_with_its_cause() {
    let file = BuiltIn::RocksDb.file().expect("reads");
    let space = file.with(&Constants::new()).expect("is legal");
    let default = space.default_configuration();
    let mut best = default.clone();
    best.set("filter_policy", Setting::Choice("bloomfilter".to_owned()));
    best.set("bits_per_key", Setting::Float(14.0));
    let found = ablations(&space, &default, &best).expect("of the space");
    let run = |name: &str| {
        let mut runs = found.runs.iter();
        let run = runs.find(|it| it.difference.name == name).expect(name);
        run.configuration.clone()
    };
    assert_eq!(
        run("filter_policy"),
        default,
        "there are no bits without it"
    );
    let bits = run("bits_per_key");
    assert_eq!(bits.get("bits_per_key"), Some(&Setting::Float(10.0)));
    assert_eq!(bits.get("filter_policy"), best.get("filter_policy"));
    assert_eq!(found.runs.len(), 2);
}

#[test]
fn parameters_are_set_back_one_at_a_time() {
    let space = space();
    let default = space.default_configuration();
    let mut best = default.clone();
    for (name, value) in [
        ("level0_slowdown_writes_trigger", 12),
        ("level0_stop_writes_trigger", 13),
        ("max_background_compactions", 4),
    ] {
        best.set(name, Setting::Integer(value));
    }
    let mut tight = best.clone();
    tight.set("level0_file_num_compaction_trigger", Setting::Integer(8));
    tight.set("min_write_buffer_number_to_merge", Setting::Integer(1));
    space.check(&tight).expect("legal");
    let plan = ablations(&space, &default, &tight).expect("of the space");
    let runs: Vec<String> = plan
        .runs
        .iter()
        .map(|it| it.difference.to_string())
        .collect();
    assert_eq!(
        runs,
        [
            "level0_file_num_compaction_trigger 4 -> 8",
            "level0_stop_writes_trigger 16 -> 13",
            "max_background_compactions 1 -> 4",
        ]
    );
    for run in &plan.runs {
        space.check(&run.configuration).expect("legal");
        assert_eq!(run.configuration.differences(&tight).len(), 1);
    }
    let bound: Vec<&str> = plan.bound.iter().map(|(it, _)| it.name.as_str()).collect();
    assert_eq!(
        bound,
        [
            "level0_slowdown_writes_trigger",
            "min_write_buffer_number_to_merge"
        ]
    );
    let gains = contribution(
        &Objective::Throughput,
        &throughput(120.0),
        &throughput(100.0),
    );
    assert_eq!(gains, Ok(vec![0.2]));
}
