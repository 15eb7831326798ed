//! One run, message by message.

use super::*;
use lissom_search::objective::metrics::{MEMORY, THROUGHPUT};

const BOUNDS: Bounds = Bounds {
    memory_bytes: 100 << 20,
    deadline: 10.0,
    setup_deadline: 60.0,
    grain: 0.5,
};
const RUN: u64 = 4;

/// A run that is to run for 2 s; nothing is heard at once, but every time is 1,000 s by
/// the clock of who listens.
struct Wire(Away);

impl Wire {
    fn new(waits: bool) -> Wire {
        Wire(Away::new(RUN, BOUNDS, 2.0, 0.0, waits, 1_000.0))
    }

    /// One that was started and is ready after 3 s.
    fn ready(waits: bool) -> Wire {
        let mut wire = Wire::new(waits);
        wire.fine(News::Started {
            run: RUN,
            place: "10.0.0.7".to_owned(),
        });
        wire.fine(line(3.0, "{\"ready\": true}"));
        wire
    }

    fn hear(&mut self, news: News) -> Step {
        self.0.hear(&news, 1_000.0).expect("it may be so")
    }

    fn fine(&mut self, news: News) {
        assert_eq!(self.hear(news.clone()), Step::Fine, "{news:?}");
    }

    fn samples(&mut self, times: &[f64], throughput: f64) {
        for at in times {
            let text = format!("{{\"throughput\": {throughput}}}");
            self.fine(line(*at, &text));
        }
    }
}

fn line(at: f64, line: &str) -> News {
    News::Line {
        run: RUN,
        at,
        line: line.to_owned(),
    }
}

fn paused(at: f64) -> News {
    News::Paused { run: RUN, at }
}

fn resumed(at: f64) -> News {
    News::Resumed { run: RUN, at }
}

fn weighed(at: f64, mebibytes: u64) -> News {
    News::Weighed {
        run: RUN,
        at,
        memory_bytes: mebibytes << 20,
    }
}

fn ended(killed: bool) -> News {
    News::Ended {
        run: RUN,
        at: 4.0,
        how: "exit status: 7".to_owned(),
        killed,
    }
}

fn measured(step: Step) -> (f64, f64, f64, f64) {
    let Step::Report(Outcome::Measured {
        seconds,
        setup_seconds,
        metrics,
        ..
    }) = step
    else {
        panic!("{step:?}");
    };
    let get = |name| metrics.get(name).expect("reported");
    (seconds, setup_seconds, get(THROUGHPUT), get(MEMORY))
}

#[test]
fn time_is_that_of_the_machine_that_runs_it() {
    let mut wire = Wire::ready(true);
    wire.fine(weighed(3.5, 7));
    wire.samples(&[4.0, 4.5], 50.0);
    assert_eq!(wire.hear(line(5.25, "{\"throughput\": 50}")), Step::Pause);
    // It was on its way before the order was there.
    wire.fine(line(5.375, "{\"throughput\": 50}"));
    let report = measured(wire.hear(paused(5.5)));
    assert_eq!(report, (2.5, 3.0, 50.0, f64::from(7 << 20)));
    wire.0.go_on(4.0, 1_000.0);
    wire.fine(resumed(905.5));
    // The first one spans the pause.
    wire.samples(&[906.0], 1.0);
    wire.samples(&[906.5], 80.0);
    assert_eq!(wire.hear(line(907.25, "{\"throughput\": 80}")), Step::Pause);
    let (seconds, setup_seconds, throughput, _) = measured(wire.hear(paused(907.5)));
    assert_eq!((seconds, setup_seconds), (4.5, 0.0));
    // 2.375 s of 50, 1.25 s of 80.
    let wanted = (2.375 * 50.0 + 1.25 * 80.0) / 3.625;
    assert!((throughput - wanted).abs() < 1e-9, "{throughput}");
}

#[test]
fn one_that_cannot_wait_reports_at_once() {
    let mut wire = Wire::ready(false);
    wire.samples(&[4.0], 50.0);
    let (seconds, ..) = measured(wire.hear(line(5.0, "{\"throughput\": 50}")));
    assert_eq!(seconds, 2.0);
}

#[test]
fn one_that_cannot_wait_goes_on_where_it_is() {
    let mut wire = Wire::ready(false);
    wire.samples(&[4.0], 50.0);
    measured(wire.hear(line(5.0, "{\"throughput\": 50}")));
    assert!(!wire.0.go_on(4.0, 1_000.0), "nobody has paused it");
    // The first one spans what was between.
    wire.samples(&[5.5, 6.0], 80.0);
    let report = measured(wire.hear(line(7.0, "{\"throughput\": 80}")));
    assert_eq!((report.0, report.1), (4.0, 0.0), "without another set-up");
}

#[test]
fn only_what_it_says_itself_makes_it_hang() {
    let mut wire = Wire::ready(true);
    assert_eq!(wire.0.silent_since(1_030.0), Some(30.0));
    wire.fine(weighed(13.0, 1));
    let Step::Failed(cause, detail) = wire.hear(weighed(13.5, 1)) else {
        panic!("it hangs");
    };
    assert_eq!(cause, Cause::Hang);
    assert!(detail.contains("no sample came for 10.5 s"), "{detail}");
    assert!(detail.ends_with("; it ran on 10.0.0.7"), "{detail}");
    let Step::Gone { why, forgiven } = wire.0.is_silent(60.0) else {
        panic!("it is gone");
    };
    assert!(why.contains("nothing was heard of it for 60 s"), "{why}");
    assert_eq!(forgiven, 2);
}

#[test]
fn memory_is_bounded_wherever_it_runs() {
    let mut wire = Wire::ready(true);
    wire.fine(weighed(3.5, 100));
    let Step::Failed(cause, _) = wire.hear(weighed(4.0, 101)) else {
        panic!("too much");
    };
    assert_eq!(cause, Cause::OutOfMemory);
}

#[test]
fn endings_have_their_causes() {
    let Step::Failed(cause, detail) = Wire::ready(true).hear(ended(false)) else {
        panic!("it crashed");
    };
    assert_eq!(cause, Cause::Crash);
    assert!(detail.contains("after 1.0 s of running"), "{detail}");
    assert!(detail.contains("exit status: 7"), "{detail}");
    let Step::Gone { forgiven, .. } = Wire::ready(true).hear(ended(true)) else {
        panic!("it was killed");
    };
    assert_eq!(forgiven, 1);
    let mut waiting = Wire::ready(true);
    waiting.samples(&[4.0], 50.0);
    waiting.hear(line(5.0, "{\"throughput\": 50}"));
    measured(waiting.hear(paused(5.0)));
    assert_eq!(waiting.0.silent_since(9_999.0), None, "it need say nothing");
    let Step::Gone { why, forgiven } = waiting.hear(ended(false)) else {
        panic!("others ended it");
    };
    assert!(why.contains("it was ended while it waited"), "{why}");
    assert_eq!(forgiven, 2);
    let lost = News::Lost {
        run: RUN,
        why: "the machine is gone".to_owned(),
    };
    let Step::Gone { why, .. } = Wire::ready(true).hear(lost) else {
        panic!("it is lost");
    };
    assert_eq!(
        why,
        "the runner lost it: the machine is gone; it ran on 10.0.0.7"
    );
}

#[test]
fn everything_can_stand_still() {
    let mut wire = Wire::new(true);
    assert!(wire.0.may_move() && !wire.0.halt(), "it may have begun");
    wire = Wire::ready(true);
    wire.samples(&[4.0], 50.0);
    assert!(wire.0.halt() && !wire.0.halt());
    assert!(wire.0.is_moving());
    wire.fine(line(4.125, "{\"throughput\": 50}"));
    wire.fine(paused(4.25));
    assert!(!wire.0.may_move() && wire.0.proceed());
    wire.fine(resumed(3_604.25));
    assert_eq!(wire.0.seconds(), 1.25);
    // Told to go on before it said that it had stopped.
    assert!(wire.0.halt() && wire.0.proceed() && !wire.0.proceed());
    wire.fine(paused(3_604.5));
    wire.fine(resumed(3_605.0));
    assert_eq!(wire.0.seconds(), 1.5);
    let late = wire.hear(line(3_605.5, "{\"throughput\": 50}"));
    assert_eq!(late, Step::Pause, "long enough");
    measured(wire.hear(paused(3_605.5)));
    assert!(!wire.0.may_move(), "it waits");
    // It may be the next one whose turn it is.
    assert!(wire.0.go_on(4.0, 3_606.0));
    assert!(wire.0.may_move() && !wire.0.halt());
    wire.fine(resumed(3_607.0));
    assert!(wire.0.halt());
}

#[test]
fn only_an_answer_ends_the_time_for_which_it_was_to_go_on() {
    let mut wire = Wire::ready(true);
    wire.samples(&[4.0], 50.0);
    wire.hear(line(5.0, "{\"throughput\": 50}"));
    measured(wire.hear(paused(5.0)));
    assert_eq!(wire.0.told_since(1_009.0), None, "it waits");
    wire.0.go_on(4.0, 1_000.0);
    wire.0
        .hear(&weighed(5.0, 1), 1_005.0)
        .expect("it may be so");
    assert_eq!(wire.0.told_since(1_009.0), Some(9.0));
    wire.fine(resumed(905.5));
    assert_eq!(wire.0.told_since(1_009.0), None);
    assert!(wire.0.halt() && wire.0.proceed());
    wire.0.listen_anew(1_010.0);
    assert_eq!(wire.0.told_since(1_012.0), Some(2.0));
}

#[test]
fn only_an_answer_ends_the_time_for_which_it_was_to_pause() {
    let mut wire = Wire::ready(true);
    wire.samples(&[4.0], 50.0);
    assert_eq!(wire.0.pausing_since(1_009.0), None, "it runs");
    let late = line(5.0, "{\"throughput\": 50}");
    assert_eq!(wire.hear(late), Step::Pause);
    wire.0
        .hear(&weighed(5.5, 1), 1_005.0)
        .expect("it may be so");
    assert_eq!(wire.0.silent_since(1_009.0), Some(4.0));
    assert_eq!(wire.0.pausing_since(1_009.0), Some(9.0));
    // Nobody has listened meanwhile.
    wire.0.listen_anew(1_010.0);
    assert_eq!(wire.0.pausing_since(1_012.0), Some(2.0));
    let Step::Gone { why, forgiven } = wire.0.is_unpaused(60.0) else {
        panic!("it is gone");
    };
    assert!(why.contains("it was not paused within 60 s"), "{why}");
    assert_eq!(forgiven, 2);
    measured(wire.hear(paused(6.0)));
    assert_eq!(wire.0.pausing_since(1_019.0), None);
}

#[test]
fn what_cannot_be_is_a_sentence() {
    let says = |wire: &mut Wire, news: News| {
        let error = wire.0.hear(&news, 1_000.0).expect_err("impossible");
        error.to_string()
    };
    let mut asked = Wire::new(true);
    assert_eq!(asked.0.asked_since(1_009.0), Some(9.0));
    assert_eq!(
        says(&mut asked, line(1.0, "{}")),
        "the runner says that run 4 printed a line, where it has not started it: mend the runner"
    );
    let mut running = Wire::ready(true);
    assert_eq!(running.0.asked_since(1_009.0), None);
    for news in [
        paused(4.0),
        resumed(4.0),
        News::Stopped {
            run: RUN,
            remark: None,
        },
        News::Started {
            run: RUN,
            place: String::new(),
        },
    ] {
        let error = says(&mut running, news);
        assert!(error.contains("where it lets it run"), "{error}");
    }
}
