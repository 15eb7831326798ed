//! Leases: what is taken back, and from whom.

use super::*;
use crate::decide::manage;
use crate::testing::{usual_family, usual_settings};

fn lease() -> Lease {
    let mut leased = manage("default", &usual_family(), &usual_settings()).expect("managed");
    leased.changed = true;
    Lease {
        identity: "here".into(),
        started_at: 1_000,
        seen_at: 1_005,
        families: BTreeMap::from([("default".into(), leased)]),
        rate_limiter: Some(LeasedRateLimiter {
            original: 77,
            step: 10,
        }),
    }
}

fn in_force(stage: Stage) -> OptionsByFamily {
    let options = lease().families["default"].options(stage);
    OptionsByFamily::from([("default".into(), options)])
}

#[test]
fn a_server_of_the_same_name_is_told_from_the_leases_own() {
    let instance = |identity: &str, started_at| Instance {
        identity: identity.into(),
        started_at,
        uptime: 50,
    };
    for (answers, standing) in [
        (instance("here", 1_000), Standing::InForce),
        (instance("here", 1_002), Standing::InForce),
        (instance("there", 1_000), Standing::Foreign),
        (instance("here", 1_006), Standing::Ended),
        (instance("here", 1_004), Standing::Foreign),
        (instance("here", 500), Standing::Foreign),
    ] {
        assert_eq!(lease().standing(&answers), standing, "{answers:?}");
    }
    let mut later = lease();
    later.started_at = 1_006;
    assert!(!later.is_of_same_run(&lease()));
    assert!(lease().is_of_same_run(&lease()));
}

#[test]
fn a_stage_is_told_by_the_options_in_force() {
    let leased = lease().families["default"];
    for stage in [Stage::Original, Stage::Delayed, Stage::Draining] {
        assert_eq!(leased.stage_of(&leased.options(stage)), stage);
    }
    let mut partly = leased.options(Stage::Draining);
    partly.max_bytes_for_level_base = leased.delayed.max_bytes_for_level_base;
    assert_eq!(leased.stage_of(&partly), Stage::Delayed);
}

#[test]
fn every_stage_is_taken_back() {
    for stage in [Stage::Original, Stage::Delayed, Stage::Draining] {
        let mut options = in_force(stage);
        let changes = lease().restoration(&options, 77);
        assert_eq!(changes.is_empty(), stage == Stage::Original, "{stage:?}");
        for change in &changes {
            let Change::Family { set, .. } = change else {
                panic!("no limiter was touched");
            };
            let family = options.get_mut("default").expect("it is there");
            for it in set {
                family.set(it.option, it.value);
            }
        }
        assert_eq!(options["default"], usual_family().options);
    }
}

#[test]
fn what_somebody_else_set_meanwhile_stays() {
    let mut options = in_force(Stage::Delayed);
    let family = options.get_mut("default").expect("it is there");
    family.level0_stop_writes_trigger = 500;
    let changes = lease().restoration(&options, 33);
    let [Change::Family { set, .. }] = &changes[..] else {
        panic!("one change, of the family: {changes:?}");
    };
    assert!(
        set.iter()
            .all(|it| it.option != OptionName::Level0StopWritesTrigger)
    );
    assert_eq!(set.len(), 3);
}

#[test]
fn a_vanished_family_is_not_named() {
    assert!(lease().restoration(&OptionsByFamily::new(), 77).is_empty());
}

#[test]
fn what_is_absent_is_left_of_a_lease() {
    let leased = lease().families["default"];
    let mut both = lease();
    both.families.insert("cf_hot".into(), leased);
    let there = in_force(Stage::Original);
    let left = both.absent_from(&there).expect("cf_hot is not there");
    assert!(left.families.keys().eq(["cf_hot"]) && left.rate_limiter.is_none());
    assert_eq!(lease().absent_from(&there), None);
    assert_eq!(both.without(&both, Some(&left)), Some(left.clone()));
    assert_eq!(both.without(&lease(), None), Some(left.clone()));
    assert_eq!(both.without(&left, None), Some(lease()));
    assert_eq!(both.without(&both, None), None);
    assert_eq!(lease().with(&left), both);
    assert_eq!(both.only("cf_hot"), left);
    assert_eq!(Lease::join(Some(lease()), Some(left.clone())), Some(both));
    assert_eq!(Lease::join(None, Some(left.clone())), Some(left.clone()));
    let mut later = lease();
    later.started_at += 500;
    assert_eq!(later.clone().with(&left), later);
}

#[test]
fn a_lease_that_is_settled_part_by_part_is_settled() {
    let mut both = lease();
    both.families
        .insert("cf_hot".into(), both.families["default"]);
    let mut empty = lease();
    empty.families.clear();
    empty.rate_limiter = None;
    for (whole, count) in [(both, 3), (lease(), 2), (empty, 1)] {
        let parts = whole.parts();
        assert_eq!(parts.len(), count);
        let mut left = Some(whole);
        for part in &parts {
            left = left.and_then(|left| left.without(part, None));
        }
        assert_eq!(left, None, "{parts:?}");
    }
}

#[test]
fn what_was_never_changed_is_not_left() {
    let mut untouched = lease();
    for leased in untouched.families.values_mut() {
        leased.changed = false;
    }
    assert_eq!(untouched.absent_from(&OptionsByFamily::new()), None);
    assert!(lease().absent_from(&OptionsByFamily::new()).is_some());
    assert_eq!(untouched.with(&lease()), lease(), "by an earlier one");
}

#[test]
fn the_limiter_is_taken_back_from_the_agents_steps_only() {
    let options = in_force(Stage::Original);
    let changes = lease().restoration(&options, 30);
    assert_eq!(changes, [Change::RateLimiter { bytes_per_sec: 77 }]);
    assert!(lease().restoration(&options, 35).is_empty());
}

#[test]
fn what_was_never_changed_needs_no_restoring() {
    let mut lease = lease();
    assert!(lease.may_be_changed());
    for leased in lease.families.values_mut() {
        leased.changed = false;
    }
    assert!(lease.may_be_changed(), "the limiter is not noted");
    lease.rate_limiter = None;
    assert!(!lease.may_be_changed());
}
