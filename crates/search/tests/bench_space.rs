//! The space in which `bench/dremel` searches Lissom's settings.

use std::collections::BTreeSet;
use std::mem::discriminant;

use lissom_search::Random;
use lissom_search::space::{BuiltIn, Constants, Kind, Parameter, Setting, Space, SpaceFile};

const TEXT: &str = include_str!("../../../bench/experiments/dremel/lissom.toml");

/// What `lissom bench` has alike in all arms.
const LEFT_OUT: [&str; 5] = [
    "compaction_readahead_size",
    "filters",
    "max_space_amplification",
    "tombstone_share",
    "writable_file_max_buffer_size",
];

const MIB: f64 = 1_048_576.0;

fn space() -> Space {
    let constants = Constants::new()
        .with("memory", 36.0 * MIB)
        .with("entries", 2e6)
        .with("entry_bytes", 1024.0)
        .with("cores", 2.0);
    let file = SpaceFile::parse(TEXT).expect("reads");
    file.with(&constants).expect("is legal")
}

fn built_in() -> Space {
    let file = BuiltIn::Lissom.file().expect("reads");
    file.with(&Constants::new()).expect("is legal")
}

fn words(parameter: &Parameter) -> Vec<&str> {
    match &parameter.kind {
        Kind::Choice(words) => words.iter().map(String::as_str).collect(),
        _ => Vec::new(),
    }
}

#[test]
fn its_parameters_are_those_of_the_built_in_space() {
    let (own, built_in) = (space(), built_in());
    let names = |space: &Space| -> BTreeSet<String> {
        let parameters = space.parameters().iter();
        parameters.map(|it| it.name.clone()).collect()
    };
    let left_out = BTreeSet::from(LEFT_OUT.map(str::to_owned));
    assert!(left_out.is_subset(&names(&built_in)));
    assert_eq!(names(&own), &names(&built_in) - &left_out);
    for parameter in own.parameters() {
        let name = parameter.name.as_str();
        let known = built_in.parameter(name).expect(name);
        let kinds = [&parameter.kind, &known.kind].map(discriminant);
        assert_eq!(kinds[0], kinds[1], "{name}");
        assert_eq!(parameter.when, known.when, "{name}");
        assert_eq!(parameter.change, known.change, "{name}");
        match name {
            // All measurements are without.
            "compression" => assert_eq!(words(parameter), ["none"]),
            _ => assert_eq!(words(parameter), words(known), "{name}"),
        }
    }
}

#[test]
fn its_rules_and_features_are_those_of_the_built_in_space() {
    let texts = |space: &Space| -> Vec<String> {
        let rules = space.rules().iter().map(ToString::to_string);
        let features = space.features().iter();
        rules
            .chain(features.map(|it| format!("{} = {}", it.name, it.formula)))
            .collect()
    };
    assert_eq!(texts(&space()), texts(&built_in()));
}

#[test]
fn its_default_is_the_benchs_and_others_satisfy_its_rules() {
    let space = space();
    let default = space.default_configuration();
    space.check(&default).expect("a legal default");
    for (name, bytes) in [
        ("write_buffer_size", 2.0 * MIB),
        ("target_file_size_base", 4.0 * MIB),
    ] {
        let setting = default.get(name).and_then(Setting::number);
        assert_eq!(setting, Some(bytes), "{name}");
    }
    let mut random = Random::new(1);
    let sample = space.sample(100, &mut random).expect("satisfiable");
    assert_eq!(sample.len(), 100);
    for configuration in &sample {
        space.feature_values(configuration).expect("finite");
    }
}
