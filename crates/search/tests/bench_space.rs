//! The space in which `bench/dremel` searches Lissom's settings.

use lissom_search::Random;
use lissom_search::space::{BuiltIn, Constants, Setting, Space, SpaceFile};

const TEXT: &str = include_str!("../../../bench/experiments/dremel/lissom.toml");

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

#[test]
fn its_parameters_and_rules_are_those_of_the_built_in_space() {
    let built_in = BuiltIn::Lissom.file().expect("reads");
    let built_in = built_in.with(&Constants::new()).expect("is legal");
    let own = space();
    for parameter in own.parameters() {
        let name = &parameter.name;
        assert!(built_in.parameter(name).is_some(), "{name}");
    }
    let texts = |space: &Space| -> Vec<String> {
        let rules = space.rules().iter().map(ToString::to_string);
        let features = space.features().iter();
        rules
            .chain(features.map(|it| format!("{} = {}", it.name, it.formula)))
            .collect()
    };
    assert_eq!(texts(&own), texts(&built_in));
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
