//! Adopting and detaching in a child process that is killed at random instants.

use lissom::adopt::Detacher;

use super::child::{kill_until_done, task};
use super::instants::Instants;
use super::plain::{Style, contents, make};
use super::round_trip::{adopter, our_levels};

/// What the child does; does nothing in an ordinary run of the tests.
#[test]
fn child() {
    let Some((task, path)) = task() else {
        return;
    };
    match task.as_str() {
        "adopt" => adopter(&path).adopt(&mut |_| ()).map(drop),
        _ => Detacher::new(&path).detach(&mut |_| ()).map(drop),
    }
    .expect("the task is possible");
}

fn round(style: Style, keys: u64, instants: &mut Instants, kills: u32) -> u32 {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path();
    make(path, style, keys);
    let before = contents(path, 7);
    // All keys are compared after each kill.
    let check = |killed: u32| assert_eq!(contents(path, our_levels()), before, "kill {killed}");
    let mut killed = kill_until_done("adopt", path, instants, kills, check);
    assert!(path.join("LISSOM").exists());
    killed += kill_until_done("detach", path, instants, kills, check);
    assert!(!path.join("LISSOM").exists());
    assert_eq!(contents(path, 7), before);
    killed
}

#[test]
fn a_few_kills_lose_nothing() {
    let mut instants = Instants::new(1);
    let killed: u32 = (0..3)
        .map(|_| round(Style::Static, 12_000, &mut instants, 4))
        .sum();
    assert!(killed > 0, "no child was killed in time");
}

#[test]
#[ignore = "about two minutes"]
fn many_kills_lose_nothing() {
    const ENOUGH: u32 = 150;
    let styles = [Style::Dynamic, Style::Static, Style::Universal];
    let mut killed = 0;
    let mut instants = Instants::new(2);
    for style in styles.into_iter().cycle().take(120) {
        killed += round(style, 40_000, &mut instants, 12);
        if killed >= ENOUGH {
            return;
        }
    }
    panic!("only {killed} children were killed in time");
}
