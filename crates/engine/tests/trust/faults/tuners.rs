//! Tuners that misbehave.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use lissom::Db;
use lissom::core::observation::Mission;
use lissom::core::tuner::{Question, Trial, TrialId, Tuner};
use lissom::core::{LogicalLevel, RunLimit, RunLimits};

use crate::support::{eventually, key, load, settle, small, value};

/// Answers that nobody should give: limits for levels that there are not, one
/// trial's id for all, other limits each time without a word why, a memory that
/// it does not take back.
struct Absurd(Arc<AtomicU64>);

impl Tuner for Absurd {
    fn name(&self) -> String {
        "\"}\n\0absurd".into()
    }

    fn ask(&mut self, _: &Question<'_>) -> Trial {
        let asked = self.0.fetch_add(1, Relaxed);
        let mut limits = RunLimits::uniform(RunLimit::clamped(u16::MAX));
        for level in 1..1_000 {
            let runs = RunLimit::clamped((asked * 7 + level) as u16 % 13);
            limits.set(LogicalLevel(level as u16), runs);
        }
        Trial::of_limits(TrialId(u64::MAX), limits, Vec::new())
    }

    fn tell(&mut self, _: TrialId, _: &Mission) {}

    fn state(&self) -> serde_json::Value {
        serde_json::json!({"deep": vec![vec![1.0; 1_000]; 10]})
    }

    fn restore(&mut self, _: &serde_json::Value) -> Result<(), String> {
        Err("not mine".into())
    }
}

#[test]
fn absurd_answers_do_no_harm() {
    let place = crate::scratch();
    {
        let db = Db::open(place.path(), small("fixed-2")).expect("opened");
        let asked = Arc::new(AtomicU64::new(0));
        db.autopilot()
            .set_tuner("default", Box::new(Absurd(asked.clone())))
            .expect("set");
        let mut version = 0;
        eventually("twenty answers", || {
            asked.load(Relaxed) >= 20 || {
                load(&db, 0..4_000, 1);
                false
            }
        });
        for number in 0..20_000 {
            version = 2;
            db.put(key(number), value(number, version)).expect("a put");
        }
        settle(&db);
        for number in 0..20_000 {
            assert_eq!(
                db.get(key(number)).expect("a get"),
                Some(value(number, version))
            );
        }
        assert!(db.health().running && db.health().background_error.is_none());
    }
    let db = Db::open(place.path(), small("fixed-2")).expect("reopened");
    settle(&db);
    for number in 0..20_000 {
        assert_eq!(db.get(key(number)).expect("a get"), Some(value(number, 2)));
    }
    let two = RunLimit::clamped(2);
    eventually("the policy's limits", || {
        let statistics = db.statistics().expect("statistics");
        let limits = &statistics.families["default"].limits;
        (1..12).all(|level| limits.get(LogicalLevel(level)) == two)
    });
}
