//! What expressions mean, and what is said of wrong ones.

use super::*;

fn names() -> Names {
    let mut names = Names::default();
    let words = ["none", "lz4", "zstd"].map(str::to_owned).to_vec();
    assert!(names.add("buffers", NameKind::Number));
    assert!(names.add("size", NameKind::Number));
    assert!(names.add("cached", NameKind::Truth));
    assert!(names.add("compression", NameKind::Word(words)));
    names
}

const VALUES: [Value<'static>; 4] = [
    Value::Number(4.0),
    Value::Number(64.0),
    Value::Truth(true),
    Value::Word("lz4"),
];

fn number(text: &str) -> f64 {
    let expression = Expression::parse(text).expect(text);
    expression.quantity(&names()).expect(text).value(&VALUES)
}

fn holds(text: &str) -> bool {
    let expression = Expression::parse(text).expect(text);
    expression.claim(&names()).expect(text).holds(&VALUES)
}

#[test]
fn arithmetic_binds_as_usual() {
    for (text, value) in [
        ("1 + 2 * 3", 7.0),
        ("(1 + 2) * 3", 9.0),
        ("10 - 4 - 3", 3.0),
        ("16 / 4 / 2", 2.0),
        ("2 ^ 3 ^ 2", 512.0),
        ("-2 ^ 2", -4.0),
        ("2 ^ -1", 0.5),
        ("buffers * size", 256.0),
        ("min(buffers, size, 3)", 3.0),
        ("max(buffers, size)", 64.0),
        ("log(size, buffers)", 3.0),
        ("clamp(size, 1, 10) + clamp(-1, 0, 10)", 10.0),
        ("if(cached and size > 1, 5, 6)", 5.0),
        ("floor(2.7) + ceil(2.1) + round(2.5) + abs(-1)", 9.0),
        ("sqrt(size) + exp(0) + ln(1)", 9.0),
    ] {
        assert!((number(text) - value).abs() < 1e-12, "{text}: {value}");
    }
}

#[test]
fn conditions() {
    for (text, value) in [
        ("buffers < size", true),
        ("1 < buffers < size <= 64", true),
        ("1 < buffers < 3", false),
        ("buffers >= 4 and buffers != 5 and buffers == 4", true),
        ("buffers > 4 or cached", true),
        ("not cached or buffers == 5", false),
        ("not (cached and false)", true),
        ("compression == 'lz4'", true),
        ("\"zstd\" != compression", true),
        ("compression == compression", true),
    ] {
        assert_eq!(holds(text), value, "{text}");
    }
}

#[test]
fn what_is_no_number_satisfies_nothing() {
    for text in [
        "0 / 0 == 0 / 0",
        "0 / 0 != 1",
        "ln(-1) < 1",
        "ln(-1) >= 1",
        "not (0 / 0 > 1)",
        "not (1 < 2 and 0 / 0 > 1)",
        "not (1 > 2 or 0 / 0 > 1)",
    ] {
        assert!(!holds(text), "{text}");
    }
    assert!(number("min(1, 0 / 0)").is_nan());
    assert!(number("clamp(0 / 0, 1, 2)").is_nan());
    assert_eq!(number("1 / 0"), f64::INFINITY);
}

#[test]
fn wrong_expressions_name_the_column() {
    for (text, column, says) in [
        ("", 1, "the expression ends"),
        ("1 +", 4, "the expression ends"),
        (
            "1 2",
            3,
            "2 stands where an operator or the end should follow",
        ),
        ("(1 + 2", 7, "a closing parenthesis"),
        ("min(1 2)", 7, "a comma or a closing parenthesis"),
        ("and 1", 1, "and stands"),
        (") + 1", 1, ") stands"),
    ] {
        let error = Expression::parse(text).expect_err(text);
        assert_eq!(error.column, column, "{text}: {error}");
        assert!(error.problem.contains(says), "{text}: {error}");
    }
}

#[test]
fn wrong_names_and_kinds_name_the_column() {
    for (text, column, says) in [
        ("1 + sise < 2", 5, "sise is unknown: did you mean size?"),
        ("size + cached < 1", 8, "here stands true or false"),
        ("size", 1, "here stands a number: write a condition"),
        ("compression < 3", 15, "here stands a number"),
        ("compression < 'lz4'", 1, "write == or != behind it"),
        ("compression == 'lzma'", 16, "write none, lz4, zstd"),
        ("min(1) < 2", 1, "min has 1 arguments: give it at least 2"),
        ("sinus(1) < 2", 1, "there is no function sinus"),
        ("if(size, 1, 2) < 2", 4, "write a condition"),
        ("if(cached, 1) < 2", 1, "if takes a condition"),
        ("'lz4'", 1, "here stands a text"),
    ] {
        let parsed = Expression::parse(text).expect(text);
        let error = parsed.claim(&names()).expect_err(text);
        assert_eq!(error.column, column, "{text}: {error}");
        assert!(error.problem.contains(says), "{text}: {error}");
    }
    let condition = Expression::parse("1 < 2").expect("a condition");
    assert!(condition.quantity(&names()).is_err());
}

#[test]
fn no_text_exhausts_the_stack() {
    let deep = format!("{}1{}", "(".repeat(10_000), ")".repeat(10_000));
    let error = Expression::parse(&deep).expect_err("too many parts");
    assert!(error.problem.contains("1000 parts"), "{error}");
    let deep = format!("{}1{}", "(".repeat(100), ")".repeat(100));
    let error = Expression::parse(&deep).expect_err("too deep");
    assert!(error.problem.contains("nested more than 50"), "{error}");
    assert!((number(&format!("1{}", " + 1".repeat(400))) - 401.0).abs() < 1e-9);
}

#[test]
fn names_are_collected() {
    let parsed = Expression::parse("a * min(b, a) < 3 or not c.d").expect("parses");
    assert_eq!(
        parsed.names().into_iter().collect::<Vec<_>>(),
        ["a", "b", "c.d"]
    );
}
