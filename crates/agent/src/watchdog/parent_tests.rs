//! The agent's side, with a shell that plays the watchdog.

use super::*;
use crate::testing::usual_lease;

/// A watchdog that does what a script says.
fn watchdog(script: &str) -> Watchdog {
    let launch = Launch {
        program: "/bin/sh".into(),
        arguments: vec!["-c".into(), script.into()],
        environment: Vec::new(),
    };
    let account = Account::resolve("mysql://lissom@db1", None, None).expect("complete");
    Watchdog::new(launch, account, Duration::from_secs(60), Path::new("state"))
}

/// Holds a lease, and then says this to the first word of the agent.
fn answering(answer: &Answer) -> Watchdog {
    let say = |answer: &Answer| format!("read -r order; echo '{}'", line(answer).trim());
    let script = [&Answer::Ready, &Answer::Held, answer].map(say).join("; ");
    // It ends with its pipe.
    let mut watchdog = watchdog(&format!("{script}; cat > /dev/null"));
    watchdog.hold(&usual_lease("here")).expect("held");
    watchdog.check().expect("nothing was said since");
    watchdog.renew();
    watchdog
}

/// Looks until its answer has come.
fn heard(watchdog: &mut Watchdog) -> Result<()> {
    let is_due = |it: &Watchdog| it.running.as_ref().is_some_and(|it| it.asked_at.is_some());
    let deadline = Instant::now() + Duration::from_secs(10);
    loop {
        watchdog.check()?;
        if !is_due(watchdog) {
            return Ok(());
        }
        assert!(Instant::now() < deadline, "no answer");
        thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn a_watchdog_that_could_not_restore_is_none() {
    let mut watchdog = answering(&Answer::Failed {
        why: "another server answers".into(),
    });
    let error = heard(&mut watchdog).expect_err("it says so");
    let sentence = error.to_string();
    assert!(sentence.contains("cannot work: another server"), "{error}");
    assert!(watchdog.running.is_none(), "it is left alone");
    heard(&mut answering(&Answer::Renewed)).expect("a good answer");
}

#[test]
fn a_watchdog_that_ends_at_once_is_not_said_to_be_slow() {
    let error = watchdog("exit 3").hold(&usual_lease("here"));
    let sentence = error.expect_err("it has ended").to_string();
    assert!(sentence.starts_with("the watchdog ended"), "{sentence}");
    assert!(sentence.contains("before it answered"), "{sentence}");
}
