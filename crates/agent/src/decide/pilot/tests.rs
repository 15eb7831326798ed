//! Intervals in a row, without a server.

use std::time::Duration;

use super::{Continuity, Decision, Outcome, Pilot, Stage};
use crate::decide::{Change, Counters, Families, Family, Instance, Observation};
use crate::error::Error;
use crate::settings::Settings;
use crate::testing::{usual_family, usual_settings};

const HIGH: u64 = 1_000_000_000;

/// A server in which everything that is decided takes effect.
struct Scene {
    pilot: Pilot,
    seen: Observation,
}

impl Scene {
    fn new(settings: Settings) -> Scene {
        let seen = Observation {
            at: Duration::ZERO,
            waited: Duration::ZERO,
            instance: Instance {
                identity: "here".into(),
                started_at: 100,
                uptime: 5,
            },
            counters: Ok(Counters::default()),
            rate_limiter_bytes_per_sec: 0,
            families: Families::from([("default".into(), usual_family())]),
        };
        Scene {
            pilot: Pilot::new(settings),
            seen,
        }
    }

    /// One interval under a load.
    fn turn(&mut self, load: u64) -> Vec<Decision> {
        self.turn_with(load, None)
    }

    fn turn_with(&mut self, load: u64, forbidden: Option<&str>) -> Vec<Decision> {
        self.seen.at += Duration::from_secs(1);
        self.seen.instance.uptime += 1;
        self.count(load);
        self.pilot.see(&self.seen);
        let decisions = self.pilot.decide(&self.seen, forbidden);
        for decision in &decisions {
            self.apply(&decision.change);
            self.pilot.settle(decision, &Outcome::Applied);
        }
        decisions
    }

    fn count(&mut self, load: u64) {
        if let Ok(counters) = &mut self.seen.counters {
            counters.wal_bytes += load;
        }
    }

    /// One interval in which clients read nearly all that the device carries.
    fn turn_reading(&mut self) {
        if let Ok(counters) = &mut self.seen.counters {
            counters.block_cache_bytes_insert += 330_000_000;
        }
        self.turn(0);
    }

    /// It starts again, with nothing counted.
    fn restart(&mut self) {
        self.seen.at += Duration::from_secs(9);
        self.seen.instance.started_at += 500;
        self.seen.instance.uptime = 3;
        self.seen.counters = Ok(Counters::default());
    }

    fn apply(&mut self, change: &Change) {
        match change {
            Change::Family { column_family, set } => {
                if let Some(family) = self.seen.families.get_mut(column_family) {
                    for it in set {
                        family.options.set(it.option, it.value);
                    }
                }
            }
            Change::RateLimiter { bytes_per_sec } => {
                self.seen.rate_limiter_bytes_per_sec = *bytes_per_sec;
            }
        }
    }

    fn family(&mut self) -> &mut Family {
        self.seen.families.get_mut("default").expect("it is there")
    }

    fn stage(&self) -> Stage {
        self.pilot.stage("default")
    }
}

#[test]
fn whoever_asks_for_the_dictionary_is_told_that_it_is_left_alone() {
    for (asked, told) in [(Vec::new(), 0), (vec!["__system__".to_owned()], 1)] {
        let mut scene = Scene::new(Settings {
            column_families: asked,
            ..usual_settings()
        });
        let families = &mut scene.seen.families;
        families.insert("__system__".into(), usual_family());
        let notes = scene.pilot.see(&scene.seen).notes;
        assert_eq!(notes.len(), told, "{notes:?}");
        scene.pilot.decide(&scene.seen, None);
        assert!(scene.pilot.see(&scene.seen).notes.is_empty(), "once");
    }
}

#[test]
fn a_high_load_delays_and_softness_resumes() {
    let mut scene = Scene::new(usual_settings());
    assert!(scene.turn(HIGH).is_empty(), "the first load is not known");
    let decisions = scene.turn(HIGH);
    assert_eq!(decisions.len(), 1);
    assert!(decisions[0].delays());
    assert!(scene.turn(HIGH).is_empty(), "it is delayed already");
    scene.family().level0_files = 9;
    assert!(scene.turn(0).is_empty());
    assert!(scene.turn(0).is_empty());
    scene.turn(0);
    assert_eq!(scene.stage(), Stage::Draining);
    assert_eq!(
        scene.family().options.level0_file_num_compaction_trigger,
        usual_family().options.level0_file_num_compaction_trigger
    );
    scene.family().level0_files = 0;
    scene.turn(0);
    assert_eq!(scene.stage(), Stage::Original);
    assert_eq!(scene.family().options, usual_family().options);
}

#[test]
fn an_answer_that_comes_late_does_not_make_the_load_high() {
    let mut scene = Scene::new(usual_settings());
    scene.turn(0);
    // 100 MB in each second; the answer of this one comes four seconds after it was counted.
    scene.seen.at += Duration::from_secs(4);
    scene.seen.waited = Duration::from_secs(4);
    assert!(scene.turn(100_000_000).is_empty());
    scene.seen.waited = Duration::ZERO;
    assert!(scene.turn(500_000_000).is_empty());
    assert_eq!(scene.stage(), Stage::Original);
}

#[test]
fn the_bound_resumes_under_high_load_and_delays_again_once_drained() {
    let mut scene = Scene::new(usual_settings());
    scene.turn(HIGH);
    scene.turn(HIGH);
    scene.family().level0_files = 20;
    scene.turn(HIGH);
    assert_eq!(scene.stage(), Stage::Draining);
    scene.family().level0_files = 2;
    scene.turn(HIGH);
    assert_eq!(scene.stage(), Stage::Delayed);
}

#[test]
fn without_counters_the_load_counts_as_low_and_the_bound_holds() {
    let mut scene = Scene::new(usual_settings());
    scene.turn(HIGH);
    scene.turn(HIGH);
    scene.family().level0_files = 20;
    scene.seen.counters = Err(Error::refused("nothing is counted"));
    let notes = scene.pilot.see(&scene.seen).notes;
    assert!(notes[0].contains("nothing is counted"), "{notes:?}");
    scene.turn(HIGH);
    assert_eq!(scene.stage(), Stage::Draining);
    assert!(scene.pilot.see(&scene.seen).notes.is_empty(), "once");
    scene.family().level0_files = 2;
    scene.turn(HIGH);
    assert_eq!(scene.stage(), Stage::Original);
}

#[test]
fn counters_that_stand_still_while_level0_grows_are_said_once() {
    let mut scene = Scene::new(usual_settings());
    let mut notes = Vec::new();
    let mut grow = |scene: &mut Scene, load| {
        scene.family().level0_bytes += 1 << 20;
        scene.seen.at += Duration::from_secs(1);
        scene.count(load);
        notes.extend(scene.pilot.see(&scene.seen).notes);
        scene.pilot.decide(&scene.seen, None);
        notes.len()
    };
    for load in [0, 0, 0, 5, 0, 0] {
        assert_eq!(
            grow(&mut scene, load),
            0,
            "what is flushed was counted before"
        );
    }
    assert_eq!(grow(&mut scene, 0), 1);
    assert_eq!(grow(&mut scene, 0), 1);
    assert!(notes[0].contains("rocksdb_stats_level"), "{notes:?}");
}

#[test]
fn nothing_is_delayed_without_a_guard() {
    let mut scene = Scene::new(usual_settings());
    scene.turn(HIGH);
    assert!(scene.turn_with(HIGH, Some("no watchdog")).is_empty());
    scene.turn(HIGH);
    assert_eq!(scene.stage(), Stage::Delayed);
    scene.turn_with(HIGH, Some("no watchdog"));
    assert_eq!(scene.family().options, usual_family().options);
}

#[test]
fn a_restart_is_noticed_and_its_settings_are_the_original_ones() {
    let mut scene = Scene::new(usual_settings());
    scene.turn(HIGH);
    scene.turn(HIGH);
    let before = scene.pilot.lease().cloned();
    *scene.family() = usual_family();
    scene.family().options.level0_slowdown_writes_trigger = 31;
    // As the agent would set it: somebody has configured it so meanwhile.
    scene.family().options.level0_stop_writes_trigger = 60;
    scene.restart();
    let sight = scene.pilot.see(&scene.seen);
    assert_eq!(sight.continuity, Continuity::Restarted);
    assert_eq!((sight.ended, sight.abandoned), (before, None));
    let lease = scene.pilot.lease().expect("seen").clone();
    assert_eq!((lease.started_at, lease.seen_at), (600, 603));
    let original = lease.families["default"].original;
    assert_eq!(original.level0_slowdown_writes_trigger, 31);
    assert_eq!(original.level0_stop_writes_trigger, 60);
    assert_eq!(
        original.level0_file_num_compaction_trigger,
        usual_family().options.level0_file_num_compaction_trigger
    );
    assert!(scene.turn(HIGH).is_empty(), "the load is not known again");
}

#[test]
fn after_a_failover_the_old_lease_is_kept_apart() {
    let mut scene = Scene::new(usual_settings());
    scene.turn(HIGH);
    scene.turn(HIGH);
    let before = scene.pilot.lease().cloned();
    scene.seen.instance.identity = "there".into();
    let sight = scene.pilot.see(&scene.seen);
    assert_eq!(sight.continuity, Continuity::Other);
    assert_eq!(sight.abandoned, before);
    let lease = scene.pilot.lease().expect("seen");
    assert_eq!(lease.identity, "there");
}

#[test]
fn a_server_of_the_same_name_that_was_up_before_is_not_a_restarted_one() {
    let mut scene = Scene::new(usual_settings());
    scene.turn(HIGH);
    scene.turn(HIGH);
    let before = scene.pilot.lease().cloned();
    *scene.family() = usual_family();
    scene.restart();
    scene.seen.instance.uptime = 4_000;
    let sight = scene.pilot.see(&scene.seen);
    assert_eq!(sight.continuity, Continuity::Other);
    assert_eq!((sight.abandoned, sight.ended), (before, None));
}

#[test]
fn a_clock_that_is_put_back_changes_nothing() {
    let mut scene = Scene::new(usual_settings());
    scene.turn(HIGH);
    scene.turn(HIGH);
    let before = scene.pilot.lease().cloned();
    scene.seen.instance.uptime = 0;
    let sight = scene.pilot.see(&scene.seen);
    assert_eq!(sight.continuity, Continuity::Same);
    assert_eq!(scene.pilot.lease().cloned(), before);
}

#[test]
fn a_family_that_vanishes_is_said_once_and_never_set_again() {
    let mut scene = Scene::new(usual_settings());
    scene.turn(HIGH);
    scene.turn(HIGH);
    scene.seen.families.clear();
    let sight = scene.pilot.see(&scene.seen);
    assert_eq!(sight.notes.len(), 1, "{:?}", sight.notes);
    assert!(scene.pilot.see(&scene.seen).notes.is_empty());
    assert!(scene.pilot.decide(&scene.seen, None).is_empty());
}

#[test]
fn a_family_that_is_created_anew_gets_its_original_options() {
    let mut scene = Scene::new(usual_settings());
    scene.turn(HIGH);
    scene.turn(HIGH);
    let delayed = std::mem::take(&mut scene.seen.families);
    scene.turn(HIGH);
    // MyRocks gives it what was set last.
    scene.seen.families = delayed;
    for _ in 0..3 {
        scene.turn(0);
    }
    assert_eq!(scene.stage(), Stage::Original);
    assert_eq!(scene.family().options, usual_family().options);
}

#[test]
fn a_family_is_noted_as_changed_with_its_first_delay_and_for_good() {
    let mut scene = Scene::new(usual_settings());
    let changed = |scene: &Scene| {
        let lease = scene.pilot.lease().expect("seen");
        lease.families["default"].changed
    };
    scene.turn(0);
    assert!(!changed(&scene));
    for load in [HIGH, 0, 0, 0] {
        scene.turn(load);
        assert!(changed(&scene));
    }
    assert_eq!(scene.stage(), Stage::Original);
}

#[test]
fn three_refusals_are_enough() {
    let mut scene = Scene::new(usual_settings());
    scene.turn(HIGH);
    let mut delays = 0;
    for _ in 0..10 {
        scene.seen.at += Duration::from_secs(1);
        scene.count(HIGH);
        scene.pilot.see(&scene.seen);
        for decision in scene.pilot.decide(&scene.seen, None) {
            delays += u32::from(decision.delays());
            let why = "no".into();
            scene.pilot.settle(&decision, &Outcome::Refused { why });
        }
    }
    assert_eq!(delays, 3);
    assert_eq!(scene.stage(), Stage::Original);
}

#[test]
fn a_dry_run_says_each_step_once() {
    let mut settings = usual_settings();
    settings.dry_run = true;
    let mut scene = Scene::new(settings);
    let mut said = Vec::new();
    for load in [HIGH, HIGH, HIGH, HIGH, 0, 0, 0, 0, 0] {
        scene.seen.at += Duration::from_secs(1);
        scene.count(load);
        scene.pilot.see(&scene.seen);
        let decisions = scene.pilot.decide(&scene.seen, None);
        said.extend(decisions.into_iter().map(|it| it.to));
    }
    assert_eq!(said, [Some(Stage::Delayed), Some(Stage::Original)]);
}

#[test]
fn the_limiter_follows_what_is_left() {
    let mut settings = usual_settings();
    settings.rate_limiter = true;
    let mut scene = Scene::new(settings);
    scene.seen.rate_limiter_bytes_per_sec = 77_000_001;
    scene.turn(0);
    assert_eq!(scene.seen.rate_limiter_bytes_per_sec, 77_000_001);
    scene.turn(0);
    let idle = scene.seen.rate_limiter_bytes_per_sec;
    scene.turn(150_000_000);
    let left = scene.seen.rate_limiter_bytes_per_sec;
    assert!(left < idle && left >= 225_000_000, "flushes fit in {left}");
    scene.turn(HIGH);
    assert_eq!(scene.seen.rate_limiter_bytes_per_sec, 350_000_000);
    let lease = scene.pilot.lease().expect("seen");
    assert_eq!(lease.rate_limiter.map(|it| it.original), Some(77_000_001));
    scene.turn_with(HIGH, Some("no watchdog"));
    assert_eq!(scene.seen.rate_limiter_bytes_per_sec, 77_000_001);
}

#[test]
fn the_limiter_is_lifted_from_the_bound_until_level0_has_caught_up() {
    for (original, lifted) in [(77_000_001, 350_000_000), (999_000_001, 999_000_001)] {
        let mut settings = usual_settings();
        settings.rate_limiter = true;
        let mut scene = Scene::new(settings);
        scene.seen.rate_limiter_bytes_per_sec = original;
        for (level0_files, limit, stage) in [
            (0, original, Stage::Original),
            (19, 43_750_000, Stage::Delayed),
            (20, lifted, Stage::Draining),
            (9, lifted, Stage::Draining),
            (2, 43_750_000, Stage::Delayed),
        ] {
            scene.family().level0_files = level0_files;
            scene.turn_reading();
            assert_eq!(scene.stage(), stage, "{level0_files} files");
            let set = scene.seen.rate_limiter_bytes_per_sec;
            assert_eq!(set, limit, "{level0_files} files");
        }
    }
}

/// A bulk load at low load, or before the agent came.
#[test]
fn the_limiter_stays_lifted_where_nothing_was_delayed() {
    let mut settings = usual_settings();
    settings.rate_limiter = true;
    let mut scene = Scene::new(settings);
    let original = 999_000_001;
    scene.seen.rate_limiter_bytes_per_sec = original;
    scene.turn(0);
    for (level0_files, is_lifted) in [(2, false), (20, true), (9, true), (2, false)] {
        scene.family().level0_files = level0_files;
        scene.turn(0);
        assert_eq!(scene.stage(), Stage::Original);
        let set = scene.seen.rate_limiter_bytes_per_sec;
        assert_eq!(set == original, is_lifted, "{level0_files} files");
    }
}

#[test]
fn what_nothing_brakes_is_left_alone_wherever_it_appears() {
    let mut scene = Scene::new(usual_settings());
    scene.turn(HIGH);
    let dynamic = Family {
        dynamic_level_bytes: true,
        ..usual_family()
    };
    let families = &mut scene.seen.families;
    families.insert("cf_new".into(), dynamic.clone());
    let notes = scene.pilot.see(&scene.seen).notes;
    assert_eq!(notes.len(), 1, "{notes:?}");
    assert!(
        notes[0].contains("family cf_new is left alone"),
        "{notes:?}"
    );
    assert!(scene.pilot.see(&scene.seen).notes.is_empty(), "once");
    scene.turn(HIGH);
    assert_eq!(scene.stage(), Stage::Delayed);
    assert_eq!(scene.seen.families["cf_new"], dynamic);
    // The server starts again, with other options.
    *scene.family() = dynamic.clone();
    scene.restart();
    let notes = scene.pilot.see(&scene.seen).notes;
    assert_eq!(notes.len(), 2, "{notes:?}");
    for _ in 0..3 {
        assert!(scene.turn(HIGH).is_empty());
    }
    assert_eq!(*scene.family(), dynamic);
}

#[test]
fn a_limiter_of_zero_is_left_and_said_once() {
    let mut settings = usual_settings();
    settings.rate_limiter = true;
    let mut scene = Scene::new(settings);
    let sight = scene.pilot.see(&scene.seen);
    assert!(sight.notes[0].contains("above 0"), "{:?}", sight.notes);
    scene.turn(HIGH);
    assert!(scene.pilot.see(&scene.seen).notes.is_empty());
    assert_eq!(scene.seen.rate_limiter_bytes_per_sec, 0);
}
