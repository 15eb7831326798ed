//! The built-in spaces, and one sentence for each mistake.

use super::*;
use crate::random::Random;

const GIB: f64 = 1_073_741_824.0;

fn built_in(which: BuiltIn, memory: f64) -> Space {
    let file = which.file().expect("reads");
    let constants = Constants::new().with("memory", memory);
    file.with(&constants).expect("is legal")
}

/// A legal space of one parameter, with these lines behind it.
fn read(lines: &str) -> Result<Space> {
    let text = format!(
        "name = \"small\"\nabout = \"A test.\"\n\
         [[constant]]\nname = \"memory\"\nabout = \"bytes\"\ndefault = \"1MiB\"\n\
         [[parameter]]\nname = \"a\"\nkind = \"integer\"\nrange = [1, 9]\ndefault = 4\n\
         change = \"reopen\"\nsource = \"a test\"\n{lines}"
    );
    SpaceFile::parse(&text)?.with(&Constants::new())
}

fn refused(lines: &str) -> String {
    read(lines).expect_err(lines).to_string()
}

/// A second parameter with these fields.
fn parameter(fields: &str) -> String {
    format!("[[parameter]]\nname = \"b\"\nchange = \"reopen\"\nsource = \"a test\"\n{fields}\n")
}

#[test]
fn the_published_space_is_table_1() {
    let space = built_in(BuiltIn::Dremel, GIB);
    let mib = |number: f64| number * 1_048_576.0;
    for (name, min, max, default) in [
        ("level0_file_num_compaction_trigger", 2.0, 16.0, 4.0),
        ("level0_slowdown_writes_trigger", 6.0, 20.0, 8.0),
        ("level0_stop_writes_trigger", 10.0, 24.0, 16.0),
        ("max_bytes_for_level_multiplier", 4.0, 16.0, 10.0),
        (
            "max_bytes_for_level_base",
            mib(64.0),
            mib(2048.0),
            mib(256.0),
        ),
        ("target_file_size_multiplier", 1.0, 8.0, 1.0),
        ("target_file_size_base", mib(32.0), mib(128.0), mib(64.0)),
        ("num_levels", 2.0, 10.0, 10.0),
        ("max_write_buffer_number", 2.0, 8.0, 6.0),
        ("write_buffer_size", mib(32.0), mib(80.0), mib(64.0)),
        ("min_write_buffer_number_to_merge", 1.0, 4.0, 2.0),
        ("bloom_bits", 10.0, 10.0, 10.0),
        ("cache_size", mib(384.0), mib(1024.0), mib(616.0)),
        ("block_size", 2048.0, 16384.0, 4096.0),
        ("max_background_compactions", 1.0, 8.0, 1.0),
        ("max_background_flushes", 1.0, 4.0, 1.0),
    ] {
        let parameter = space.parameter(name).expect(name);
        let Kind::Integer(grid) = parameter.kind else {
            panic!("{name} is an integer");
        };
        assert_eq!((grid.min, grid.max), (min, max), "{name}");
        assert_eq!(parameter.default.number(), Some(default), "{name}");
    }
    assert_eq!(space.parameters().len(), 16);
}

#[test]
fn every_built_in_space_holds_its_default_and_samples() {
    for which in BuiltIn::ALL {
        assert_eq!(which.to_string().parse::<BuiltIn>(), Ok(which));
        let space = built_in(which, GIB);
        space
            .check(&space.default_configuration())
            .expect("a legal default");
        assert!(space.heuristic().is_some(), "{which}");
        assert_eq!(space.features().len(), 4, "{which}");
        let mut random = Random::new(1);
        let sample = space.sample(100, &mut random).expect("satisfiable");
        assert_eq!(sample.len(), 100, "{which}");
        for configuration in &sample {
            space.check(configuration).expect("legal");
            space.feature_values(configuration).expect("finite");
        }
    }
}

#[test]
fn a_default_may_be_too_large_for_a_small_machine() {
    let space = built_in(BuiltIn::RocksDb, 100.0 * 1_048_576.0);
    let broken = space.broken_rules(&space.default_configuration());
    let broken = broken.expect("in range");
    assert_eq!(broken.len(), 1);
    assert!(broken[0].claim.text().ends_with("<= memory"));
    assert!(space.sample(10, &mut Random::new(1)).is_ok());
}

#[test]
fn fingerprints_tell_spaces_apart() {
    let one = built_in(BuiltIn::Dremel, GIB);
    assert_eq!(
        one.fingerprint(),
        built_in(BuiltIn::Dremel, GIB).fingerprint()
    );
    assert_ne!(
        one.fingerprint(),
        built_in(BuiltIn::Dremel, 2.0 * GIB).fingerprint()
    );
    assert_ne!(
        one.fingerprint(),
        built_in(BuiltIn::Lissom, GIB).fingerprint()
    );
    let plain = read("").expect("legal");
    let ruled = read("[[rule]]\nrule = \"a < 9\"\nsource = \"a test\"\n").expect("legal");
    assert_ne!(plain.fingerprint(), ruled.fingerprint());
    // What follows the parameter a belongs to it.
    let written = read("section = \"db\"\n").expect("legal");
    assert_ne!(plain.fingerprint(), written.fingerprint());
}

#[test]
fn a_small_space_is_gone_through() {
    let rule = "[[rule]]\nrule = \"a >= 7\"\nsource = \"a test\"\n";
    let space = read(rule).expect("legal");
    let none = space.sample(0, &mut Random::new(1));
    assert_eq!(none, Ok(Vec::new()), "none were asked for");
    let sample = space.sample(50, &mut Random::new(1)).expect("three");
    let mut values: Vec<String> = sample.iter().map(ToString::to_string).collect();
    values.sort();
    assert_eq!(values, ["a=7", "a=8", "a=9"]);
}

/// `b` from 1 to 9 where `a` is at least 8, and `c` where `b` is 9.
fn conditional() -> Space {
    let b = "kind = \"integer\"\nrange = [1, 9]\ndefault = 5\nwhen = \"a >= 8\"";
    let c = "kind = \"boolean\"\ndefault = true\nwhen = \"b == 9\"";
    let c = parameter(c).replace("\"b\"\n", "\"c\"\n");
    read(&format!("{}{c}", parameter(b))).expect("legal")
}

#[test]
fn what_has_no_effect_is_as_the_default_has_it() {
    let space = conditional();
    let of = |a: i64, b: i64, c: bool| -> Configuration {
        let settings = [
            ("a", Setting::Integer(a)),
            ("b", Setting::Integer(b)),
            ("c", Setting::Boolean(c)),
        ];
        let settings = settings.into_iter();
        settings.map(|(name, it)| (name.to_owned(), it)).collect()
    };
    for (given, wanted) in [
        (of(3, 9, false), of(3, 5, true)),
        (of(8, 7, false), of(8, 7, true)),
        (of(8, 9, false), of(8, 9, false)),
    ] {
        assert_eq!(space.canonical(&given), Ok(wanted), "{given}");
    }
    assert_eq!(space.is_active("b", &of(3, 9, true)), Ok(false));
    assert_eq!(space.is_active("c", &of(3, 9, true)), Ok(false), "with b");
    assert_eq!(space.is_active("c", &of(8, 9, true)), Ok(true));
    // 7 without b; twice 8 without c, and 2 with it.
    let all = space.sample(500, &mut Random::new(1)).expect("satisfiable");
    assert_eq!(all.len(), 7 + 2 * (8 + 2));
    let drawn = space.sample(20, &mut Random::new(1)).expect("satisfiable");
    for it in all.iter().chain(&drawn) {
        assert_eq!(space.canonical(it).as_ref(), Ok(it));
    }
    let plain = parameter("kind = \"integer\"\nrange = [1, 9]\ndefault = 5");
    let bound = parameter("kind = \"integer\"\nrange = [1, 9]\ndefault = 5\nwhen = \"a > 3\"");
    let prints = [plain, bound].map(|it| read(&it).expect("legal").fingerprint());
    assert_ne!(prints[0], prints[1]);
}

#[test]
fn a_condition_sees_what_stands_before_it() {
    let when = |text: &str| {
        let fields = format!("kind = \"boolean\"\ndefault = true\nwhen = \"{text}\"");
        refused(&parameter(&fields))
    };
    assert_eq!(
        when("b"),
        "the space small: the parameter b: its condition \"b\", column 1: b is unknown: known are \
         a, memory"
    );
    assert!(when("a + 1").contains("write a condition"));
}

#[test]
fn contradictory_rules_name_the_worst() {
    let rules = "[[rule]]\nrule = \"a > 3\"\nsource = \"first\"\n\
                 [[rule]]\nrule = \"a < 2\"\nsource = \"second\"\n";
    let space = read(rules).expect("each rule alone is legal");
    let error = space
        .sample(10, &mut Random::new(1))
        .expect_err("contradictory");
    let text = error.to_string();
    assert!(
        text.contains("no configuration of the space small"),
        "{text}"
    );
    assert!(text.contains("\"a < 2 (second)\" alone refuses"), "{text}");
}

#[test]
fn wrong_files_name_the_line() {
    let text = "name = \"x\"\nabout = \"y\"\ncolour = \"red\"\n";
    let error = SpaceFile::parse(text)
        .expect_err("unknown field")
        .to_string();
    assert!(
        error.starts_with("line 3 of the space: unknown field `colour`"),
        "{error}"
    );
    let error = SpaceFile::parse("name = ")
        .expect_err("no value")
        .to_string();
    assert!(error.contains("the space: "), "{error}");
    let empty = SpaceFile::parse("name = \"x\"\nabout = \"y\"\n").expect("reads");
    let error = empty
        .with(&Constants::new())
        .expect_err("empty")
        .to_string();
    assert_eq!(
        error,
        "the space x: it has no parameter: add at least one [[parameter]]"
    );
}

#[test]
fn wrong_parameters_say_what_to_write() {
    let kind = |fields: &str| refused(&parameter(fields));
    for (fields, says) in [
        ("kind = \"integer\"\ndefault = 1", "no range"),
        (
            "kind = \"integer\"\nrange = [5, 2]\ndefault = 5",
            "from 5 to 2 is empty",
        ),
        (
            "kind = \"integer\"\nrange = [1, 2.5]\ndefault = 1",
            "ends at 2.5",
        ),
        (
            "kind = \"integer\"\nrange = [1, 9]\ndefault = 10",
            "its default is 10: write a whole",
        ),
        (
            "kind = \"integer\"\nrange = [1, \"memori\"]\ndefault = 1",
            "did you mean memory?",
        ),
        (
            "kind = \"integer\"\nrange = [1, \"a\"]\ndefault = 1",
            "a is unknown",
        ),
        (
            "kind = \"float\"\nrange = [0, 1]\ndefault = 0",
            "neither step nor log_steps",
        ),
        (
            "kind = \"float\"\nrange = [0, 1]\nlog_steps = 4\ndefault = 0",
            "has no logarithm",
        ),
        (
            "kind = \"float\"\nrange = [0, 1]\nstep = 0\ndefault = 0",
            "its step is 0",
        ),
        (
            "kind = \"float\"\nrange = [0.0, 1e30]\nstep = 1\ndefault = 0",
            "its steps are too many",
        ),
        ("kind = \"choice\"\ndefault = \"x\"", "it has no values"),
        (
            "kind = \"choice\"\nvalues = [\"x\", \"x\"]\ndefault = \"x\"",
            "stands twice",
        ),
        (
            "kind = \"choice\"\nvalues = [\"x\"]\ndefault = \"y\"",
            "its default is y: write one of x",
        ),
        (
            "kind = \"boolean\"\nrange = [0, 1]\ndefault = true",
            "are for numbers",
        ),
        (
            "kind = \"boolean\"\ndefault = 1",
            "its default is 1: write true or false",
        ),
    ] {
        let error = kind(fields);
        assert!(error.contains(says), "{fields}: {error}");
        assert!(
            error.starts_with("the space small: the parameter b: "),
            "{error}"
        );
    }
}

#[test]
fn wrong_names_rules_and_features_say_what_to_write() {
    let legal = "kind = \"boolean\"\ndefault = true";
    let twice = parameter(legal).replace("\"b\"", "\"a\"");
    assert!(refused(&twice).ends_with("the name a is used twice: rename one of them"));
    let bad = parameter(legal).replace("\"b\"", "\"b c\"");
    assert!(refused(&bad).contains("\"b c\" cannot be a name"));
    let rule = |text: &str| format!("[[rule]]\nrule = \"{text}\"\nsource = \"a test\"\n");
    let error = refused(&rule("a + < 3"));
    assert!(
        error.contains("the rule \"a + < 3\", column 5: < stands"),
        "{error}"
    );
    let error = refused(&rule("a + 3"));
    assert!(error.contains("write a condition"), "{error}");
    let error = refused("[[rule]]\nrule = \"a < 3\"\nsource = \" \"\n");
    assert!(
        error.contains("has no source: say where it comes from"),
        "{error}"
    );
    let error = refused("heuristic = \"x\"\n");
    assert!(error.contains("unknown field"), "behind a table: {error}");
    let feature = "[[feature]]\nname = \"f\"\nexpression = \"a\"\nsource = \"a test\"\n";
    let error = refused(&format!("{feature}{feature}"));
    assert!(error.contains("the feature f stands twice"), "{error}");
}

#[test]
fn constants_are_given_and_declared() {
    let file = BuiltIn::Dremel.file().expect("reads");
    let error = file
        .with(&Constants::new().with("memroy", 1.0))
        .expect_err("a typing error");
    assert_eq!(
        error.to_string(),
        "the space dremel: it has no constant memroy: it has memory, entries, entry_bytes"
    );
    let nan = Constants::new().with("memory", f64::NAN);
    assert!(
        file.with(&nan)
            .expect_err("no number")
            .to_string()
            .contains("is NaN")
    );
    assert!(
        file.constants()
            .iter()
            .all(|it| !it.required && !it.about.is_empty())
    );
    let text = "name = \"x\"\nabout = \"y\"\n[[constant]]\nname = \"m\"\nabout = \"bytes\"\n\
                [[parameter]]\nname = \"a\"\nkind = \"boolean\"\ndefault = true\n\
                change = \"reopen\"\nsource = \"a test\"\n";
    let file = SpaceFile::parse(text).expect("reads");
    let error = file
        .with(&Constants::new())
        .expect_err("missing")
        .to_string();
    assert_eq!(
        error,
        "the space x: the constant m is missing: give it (bytes)"
    );
}

#[test]
fn configurations_are_checked_against_the_space() {
    let space = read(&parameter("kind = \"boolean\"\ndefault = true")).expect("legal");
    let with = |name: &str, setting: Setting| {
        let mut configuration = space.default_configuration();
        configuration.set(name, setting);
        space
            .check(&configuration)
            .map_err(|error| error.to_string())
    };
    assert_eq!(with("a", Setting::Integer(9)), Ok(()));
    assert_eq!(
        with("a", Setting::Float(3.0)),
        Ok(()),
        "JSON of other programs"
    );
    assert_eq!(
        with("a", Setting::Integer(10)),
        Err("a is 10: choose a whole number from 1 to 9".to_owned())
    );
    assert_eq!(
        with("c", Setting::Integer(1)),
        Err("the space small has no parameter c: remove it from the configuration".to_owned())
    );
    let error = space
        .check(&Configuration::default())
        .expect_err("empty")
        .to_string();
    assert!(
        error.contains("does not set a: choose a whole number"),
        "{error}"
    );
}
