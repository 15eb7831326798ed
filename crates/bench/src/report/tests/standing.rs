//! Who is best, what there is to win, and what was won.

use super::*;
use crate::arms::ArmName;

/// Seconds of sessions, which take turns: the learner is the first in each.
const LEARNED_FIRST: [(&str, [f64; 2]); 3] = [
    ("fixed-1", [2.0, 4.0]),
    ("fixed-10", [4.0, 1.0]),
    ("learned", [1.0, 1.0]),
];

#[test]
fn the_best_of_a_session_and_who_ties_with_it_are_marked_though_the_table_is_cut() {
    let names = [
        "mock-a", "mock-b", "mock-c", "mock-d", "mock-e", "mock-f", "mock-g",
    ];
    // 10, 9 ... 4 s with a range of 0.4 s each, and one of 2 s.
    let stars = |rounds, widest: usize| {
        let mut results = results(&names, rounds);
        for run in &mut results.runs {
            let place = names.iter().position(|name| *name == run.arm.to_string());
            let wide = if place == Some(widest) { 5.0 } else { 1.0 };
            let closing = run.sessions.last_mut().unwrap();
            closing.seconds =
                10.0 - place.unwrap() as f64 + wide * 0.2 * (f64::from(run.round) - 1.0);
        }
        results.verdict = None;
        let text = render_table(&results);
        let rows: Vec<&str> = text
            .lines()
            .filter(|line| line.trim_start().starts_with("closing "))
            .collect();
        assert!(rows.len() >= 2, "{text}");
        let starred: Vec<String> = rows
            .iter()
            .flat_map(|row| row.split_whitespace())
            .filter(|cell| cell.ends_with('*'))
            .map(str::to_owned)
            .collect();
        starred
    };
    let both = ["±0.20*", "±1.00*"];
    assert_eq!(stars(3, 6), both, "5.0 lies within 4.0 ±1.0");
    let best = ["±0.20*"];
    assert_eq!(stars(3, 5), best, "5.0 ±1.0 meets 4.0 ±0.2 by its width");
    assert_eq!(stars(2, 6), [""; 0], "two rounds are no comparison");
}

/// Results of these arms with so many seconds in every even and odd closed session.
pub(super) fn timed(arms: [(&str, [f64; 2]); 3]) -> Results {
    let mut results = results(&["mock-a", "mock-b", "mock-c"], 3);
    let mocks = results.parameters.arms.clone();
    let named = arms.map(|(name, _)| name.parse::<ArmName>().unwrap());
    for run in &mut results.runs {
        let place = mocks.iter().position(|mock| *mock == run.arm).unwrap();
        run.arm = named[place].clone();
        run.totals.settle_seconds = Some(0.0);
        for (number, session) in run.sessions.iter_mut().enumerate() {
            session.seconds = arms[place].1[number % 2];
        }
    }
    results.parameters.arms = named.to_vec();
    results.verdict = None;
    results
}

#[test]
fn headroom_is_told_over_all_arms_and_over_those_of_one_store() {
    // Five closed sessions of either kind; quiet is open.
    let arms = [
        ("fixed-1", [2.0, 4.0]),
        ("rocksdb-leveled-tuned", [1.0, 5.0]),
        ("fixed-10", [4.0, 3.0]),
    ];
    let told = |results: &Results| {
        let text = render_table(results);
        let (_, rest) = text.split_once("Headroom").expect("a table");
        let (told, _) = rest.split_once("Time of closed").expect("the next one");
        single_spaced(told)
    };
    let text = told(&timed(arms));
    for words in [
        "best static arm 30.0 ±0.0 fixed-1",
        "best of each session 20.0 10.0 33.3 % any static arm: no store",
        "chosen in other rounds 20.0 ±0.0 10.0 33.3 %",
        "best of each session 25.0 5.00 16.7 % fixed-1, fixed-10: one store can switch",
        "chosen in other rounds 25.0 ±0.0 5.00 16.7 %",
        "winner's curse",
    ] {
        assert!(text.contains(words), "no {words} in {text}");
    }
    let mut own = arms;
    own[1].0 = "fixed-4";
    let text = told(&timed(own));
    assert!(
        !text.contains("any static arm"),
        "both are the same: {text}"
    );
    assert!(
        text.contains("fixed-1, fixed-4, fixed-10: one store"),
        "{text}"
    );
}

#[test]
fn what_arms_won_and_their_ranks_are_told() {
    let arms = [
        ("fixed-1", [2.0, 4.0]),
        ("fixed-10", [4.0, 1.0]),
        ("learned", [2.0, 1.5]),
    ];
    let text = render_table(&timed(arms));
    let rows: Vec<String> = text.lines().map(single_spaced).collect();
    // Five closed sessions of either kind: 30, 25, and 17.5 s; the bound is 15.
    for row in [
        "arm best of each session chosen in other rounds",
        "learned +16.7 %, 75 % +16.7 %, 75 %",
        "session fixed-1 fixed-10 learned",
    ] {
        assert!(rows.iter().any(|it| it == row), "no {row} in {text}");
    }
    let ranks = text.split("\nRanks\n").nth(1).expect("a table");
    let mut ranks = ranks.lines().filter(|line| !line.contains("closing"));
    let mean = ranks.find(|line| line.trim_start().starts_with("mean"));
    let mean: Vec<&str> = mean.expect("means").split_whitespace().collect();
    assert_eq!(mean.len(), 4, "{text}");
    // Four ranked sessions of the even kind, five of the odd one.
    let by_medians = "by medians 2.1 1.9 1.6";
    assert!(rows.iter().any(|row| row == by_medians), "{text}");
    let static_arms = [
        ("fixed-1", [2.0, 4.0]),
        ("fixed-4", [3.0, 3.0]),
        ("fixed-10", [4.0, 1.0]),
    ];
    let text = render_table(&timed(static_arms));
    assert!(
        !text.contains("\nRanks\n") && !text.contains("was won"),
        "{text}"
    );
}

#[test]
fn an_empty_hull_is_told_with_its_cause() {
    let static_arms = LEARNED_FIRST;
    let mut others = static_arms;
    (others[0].0, others[1].0) = ("thresholds-30-70", "lerp");
    let told = |arms, amplification: f64| {
        let mut results = timed(arms);
        for run in &mut results.runs {
            run.totals.peak_space_amplification = amplification;
        }
        let page = report_html(&results);
        assert!(page.contains("data.empty_hull"), "the page looks at it");
        let on_page = data_of(&page)["empty_hull"].as_str().map(str::to_owned);
        let text = render_table(&results);
        let (_, after) = text.split_once("Headroom: how much there is to win\n")?;
        let line = after.lines().next()?.trim().to_owned();
        assert_eq!(on_page.is_some(), line.starts_with("The hull"), "{text}");
        assert!(on_page.is_none_or(|sentence| sentence == line), "{text}");
        Some(line)
    };
    let over = "The hull is empty: no static arm stayed within the space bound.";
    assert_eq!(told(static_arms, 9.0).as_deref(), Some(over));
    let none = "The hull is empty: there was no static arm to compare with.";
    for amplification in [1.0, 9.0] {
        assert_eq!(told(others, amplification).as_deref(), Some(none));
    }
    // The titles of a table.
    assert_eq!(told(static_arms, 1.0).as_deref(), Some("s   headroom"));
}

#[test]
fn where_every_session_offers_a_rate_a_sentence_stands_in_place_of_headroom() {
    let mut results = timed(LEARNED_FIRST);
    for run in &mut results.runs {
        let (_, own) = run.sessions.split_last_mut().unwrap();
        own.iter_mut().for_each(|session| session.open = true);
    }
    let text = render_table(&results);
    let (_, after) = text.split_once("how much there is to win\n").unwrap();
    let told = after.lines().next().unwrap().trim();
    assert!(told.starts_with("Nobody is judged by time"), "{text}");
    let data = data_of(&report_html(&results));
    assert_eq!(data["empty_hull"].as_str(), Some(told));
    assert!(data["verdict"]["headroom"].is_null());
}

#[test]
fn an_arm_over_the_space_bound_is_told_and_has_no_rank() {
    let mut results = timed(LEARNED_FIRST);
    for run in &mut results.runs {
        if run.arm == results.parameters.arms[2] {
            run.totals.peak_space_amplification = 9.0;
        }
    }
    let text = render_table(&results);
    let rows: Vec<String> = text.lines().map(single_spaced).collect();
    let told = |row: &String| {
        row.starts_with("learned 10.0") && row.ends_with("-60.0 % over the space bound")
    };
    assert!(rows.iter().any(told), "{text}");
    let ranked = rows.iter().any(|row| row == "session fixed-1 fixed-10");
    assert!(ranked, "{text}");
}
