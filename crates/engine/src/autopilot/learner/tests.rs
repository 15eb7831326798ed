//! Tuners that break, forget and dawdle.

use lissom_core::tuner::Change;
use lissom_core::{LogicalLevel, RunLimit};

use super::*;
use crate::Settings;

/// A mission in which nothing happened, over an empty tree.
fn nothing() -> Asked {
    Asked {
        shape: Settings::default().shape(),
        tree: Tree::default(),
        limits: RunLimits::uniform(RunLimit::ONE),
        refused: Vec::new(),
        mission: Mission::default(),
    }
}

/// Asks, and waits for what comes of it.
fn answer(learner: &mut Learner) -> Answer {
    learner.ask(nothing(), || {});
    learner.hear_out().expect("it was asked")
}

/// Answers the first question; at the second it waits until it may go on.
struct Hanging(Receiver<()>, u64);

impl Tuner for Hanging {
    fn name(&self) -> String {
        "hanging".into()
    }

    fn ask(&mut self, seen: &Question<'_>) -> Trial {
        self.1 += 1;
        if self.1 > 1 {
            self.0.recv().expect("it may go on");
        }
        Trial::of_limits(TrialId(self.1), seen.limits.clone(), Vec::new())
    }

    fn tell(&mut self, _: TrialId, _: &Mission) {}
}

#[test]
fn a_tuner_that_hangs_is_asked_no_more() {
    let (go_on, held) = mpsc::channel();
    let mut learner = Learner::with_patience(Box::new(Hanging(held, 0)), Duration::from_millis(50));
    assert!(answer(&mut learner).expect("an answer").is_some());
    let sentence = answer(&mut learner).expect_err("no answer");
    assert_eq!(sentence, "the tuner hanging did not answer in 50ms");
    go_on.send(()).expect("it waits still");
    assert_eq!(answer(&mut learner), Ok(None), "it is not asked again");
    assert!(learner.is_broken());
    assert!(learner.state().is_null());
}

/// As by a debugger, or a machine that is moved: the tuner had no time either.
#[test]
fn a_process_that_was_stopped_keeps_its_tuner() {
    let (go_on, held) = mpsc::channel();
    let patience = Duration::from_millis(20);
    let mut learner = Learner::with_patience(Box::new(Hanging(held, 0)), patience);
    assert!(answer(&mut learner).expect("an answer").is_some());
    learner.ask(nothing(), || {});
    for _ in 0..MOST_AT_ONCE - 1 {
        thread::sleep(patience);
        assert!(learner.hear().is_none());
    }
    assert!(!learner.is_broken());
    thread::sleep(patience);
    learner
        .hear()
        .expect("it had its time")
        .expect_err("no answer");
    assert!(learner.is_broken());
    drop(go_on);
}

#[test]
fn nobody_waits_for_an_answer_and_none_is_asked_twice_at_a_time() {
    let (go_on, held) = mpsc::channel();
    let mut learner = Learner::new(Box::new(Hanging(held, 0)));
    assert!(learner.hear().is_none(), "it was asked nothing");
    assert!(answer(&mut learner).expect("an answer").is_some());
    let (rang, rings) = mpsc::channel();
    learner.ask(nothing(), move || rang.send(()).expect("somebody listens"));
    assert!(learner.hear().is_none());
    assert!(learner.is_asked() && !learner.is_broken());
    assert!(!learner.may_be_asked(Duration::MAX));
    assert!(learner.state().is_null(), "it is not waited for");
    go_on.send(()).expect("it waits");
    rings.recv().expect("it rings");
    let answered = learner.hear().expect("no wait").expect("an answer");
    assert_eq!(answered.map(|trial| trial.id), Some(TrialId(2)));
    assert!(!learner.is_asked() && learner.hear().is_none());
    assert!(learner.may_be_asked(Duration::MAX));
}

/// Speaks of a level that no tree has, and has learned something.
struct Absurd;

impl Tuner for Absurd {
    fn name(&self) -> String {
        "absurd".into()
    }

    fn ask(&mut self, seen: &Question<'_>) -> Trial {
        let mut trial = Trial::of_limits(TrialId(1), seen.limits.clone(), Vec::new());
        trial.consolidate.push(Change {
            level: LogicalLevel(99),
            why: "no reason".into(),
        });
        trial
    }

    fn tell(&mut self, _: TrialId, _: &Mission) {}

    fn state(&self) -> serde_json::Value {
        serde_json::json!("a lot")
    }
}

#[test]
fn what_an_absurd_tuner_has_learned_is_kept_and_its_answer_is_not() {
    let mut learner = Learner::new(Box::new(Absurd));
    assert_eq!(learner.state(), "a lot");
    let sentence = answer(&mut learner).expect_err("absurd");
    assert!(
        sentence.starts_with("the tuner absurd gave an answer that cannot be obeyed (it asks")
            && sentence.contains("level 99"),
        "{sentence}"
    );
    assert_eq!(answer(&mut learner), Ok(None));
    assert_eq!(learner.state(), "a lot");
}

/// Wants other limits each time, and does not say why.
struct Silent;

impl Tuner for Silent {
    fn name(&self) -> String {
        "silent".into()
    }

    fn ask(&mut self, _: &Question<'_>) -> Trial {
        let three = RunLimits::uniform(RunLimit::clamped(3));
        Trial::of_limits(TrialId(1), three, Vec::new())
    }

    fn tell(&mut self, _: TrialId, _: &Mission) {}
}

#[test]
fn limits_that_change_without_a_reason_are_not_obeyed() {
    let mut learner = Learner::new(Box::new(Silent));
    let sentence = answer(&mut learner).expect_err("no reason");
    assert!(
        sentence.ends_with("(it changes the limit of level 1 without a reason)"),
        "{sentence}"
    );
}

/// Panics when it is to tell what it has learned.
struct Forgetful;

impl Tuner for Forgetful {
    fn name(&self) -> String {
        "forgetful".into()
    }

    fn ask(&mut self, seen: &Question<'_>) -> Trial {
        Trial::of_limits(TrialId(1), seen.limits.clone(), Vec::new())
    }

    fn tell(&mut self, _: TrialId, _: &Mission) {}

    fn state(&self) -> serde_json::Value {
        panic!("as intended")
    }
}

#[test]
fn a_tuner_that_breaks_between_questions_is_told_of_once() {
    let mut learner = Learner::new(Box::new(Forgetful));
    assert!(learner.state().is_null());
    let sentence = answer(&mut learner).expect_err("broken");
    assert_eq!(sentence, "the tuner forgetful panicked");
    assert_eq!(answer(&mut learner), Ok(None));
}

/// Takes its time for whatever it is called, and counts its questions.
struct Slow(u64);

/// Twice what a tuner has in advance.
const SLOW: Duration = Duration::from_millis(100);

impl Tuner for Slow {
    fn name(&self) -> String {
        "slow".into()
    }

    fn ask(&mut self, seen: &Question<'_>) -> Trial {
        thread::sleep(SLOW);
        self.0 += 1;
        Trial::of_limits(TrialId(self.0), seen.limits.clone(), Vec::new())
    }

    fn tell(&mut self, _: TrialId, _: &Mission) {}

    fn state(&self) -> serde_json::Value {
        thread::sleep(SLOW);
        self.0.into()
    }

    fn restore(&mut self, state: &serde_json::Value) -> Result<(), String> {
        thread::sleep(SLOW);
        self.0 = state.as_u64().ok_or("no number")?;
        Ok(())
    }
}

/// What it tells and takes up costs as its answers do.
#[test]
fn missions_pay_for_all_that_a_tuner_takes() {
    let calls: [fn(&mut Learner); 3] = [
        |learner| assert!(answer(learner).is_ok()),
        |learner| assert_eq!(learner.state(), 0),
        |learner| assert_eq!(learner.restore(&7.into()), Ok(())),
    ];
    for call in calls {
        let mut learner = Learner::new(Box::new(Slow(0)));
        assert!(learner.may_be_asked(Duration::ZERO), "in advance");
        call(&mut learner);
        assert!(!learner.may_be_asked(Duration::from_secs(1)));
        assert!(learner.may_be_asked(Duration::from_secs(1_000)));
        assert!(learner.take_time() >= SLOW);
        assert_eq!(learner.take_time(), Duration::ZERO, "it is told once");
    }
}

#[test]
fn who_is_asked_no_more_owes_nothing() {
    let mut learner = Learner::with_patience(Box::new(Slow(0)), SLOW / 2);
    assert!(answer(&mut learner).is_err());
    assert!(learner.may_be_asked(Duration::ZERO));
}

/// The state changes with questions alone.
#[test]
fn what_was_told_is_not_asked_for_again() {
    let mut learner = Learner::new(Box::new(Slow(0)));
    assert_eq!(learner.state(), 0);
    learner.take_time();
    assert_eq!(learner.state(), 0);
    assert_eq!(learner.take_time(), Duration::ZERO);
    assert!(answer(&mut learner).is_ok());
    assert_eq!(learner.state(), 1);
}

/// Or a tuner that hangs while it tells could stop whoever saves it.
#[test]
fn what_was_learned_comes_with_an_answer_now_and_then() {
    let mut learner = Learner::new(Box::new(Slow(0)));
    assert!(learner.known_state().is_null());
    assert!(answer(&mut learner).is_ok());
    assert_eq!(*learner.known_state(), 1);
    assert!(answer(&mut learner).is_ok());
    assert_eq!(*learner.known_state(), 1, "it was told a moment ago");
    assert_eq!(learner.state(), 2);
    assert_eq!(*learner.known_state(), 2);
}

/// It is another program's, perhaps, and must not pass for what this one has learned.
#[test]
fn what_cannot_be_taken_up_is_not_what_was_learned() {
    let mut learner = Learner::new(Box::new(Slow(0)));
    let refused = learner.restore(&"text".into());
    assert_eq!(refused, Err("no number".into()));
    assert_eq!(learner.state(), 0);
}
