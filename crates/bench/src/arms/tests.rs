use super::*;

#[test]
fn names_survive_the_round_trip() {
    for name in [
        "rocksdb-leveled",
        "rocksdb-leveled-tuned",
        "rocksdb-leveled-tuned-83886080",
        "rocksdb-leveled-auto-rate",
        "rocksdb-leveled-low-priority",
        "rocksdb-universal",
        "rocksdb-options-mine_2.1",
        "fixed-1",
        "fixed-10",
        "lazy-leveling",
        "thresholds-30-70",
        "lerp",
        "lerp-monkey",
        "learned",
        "learned-from-4",
        "learned-from-4-frozen",
        "learned-from-10",
        "learned-from-10-frozen",
        "lerp-frozen",
        "learned-without-memory+trials",
        "lerp-without-propagation",
        "fixed-4@dlc-part",
        "learned@look-ahead",
        "fixed-4+normal-priority",
        "learned-frozen+normal-priority",
        "learned-without-memory+trials+normal-priority",
        "fixed-4@dlc+normal-priority",
        "switch-lazy:a=fixed-1,b=fixed-10",
        "oracle:ingest=fixed-10,closing=fixed-1",
        "oracle:ingest=lazy-leveling,closing=fixed-1",
    ] {
        assert_eq!(name.parse::<ArmName>().unwrap().to_string(), name);
    }
}

#[test]
fn unknown_names_list_the_arms() {
    for name in [
        "",
        "leveled",
        "fixed-0",
        "fixed-11",
        "fixed-x",
        "thresholds-70-30",
        "thresholds-70",
        "oracle:a=fixed-11",
        "oracle:a=rocksdb-leveled",
        "oracle:a=learned",
        "oracle:",
        "rocksdb-leveled-tuned-1",
        "rocksdb-options-",
        "rocksdb-options-a/b",
        "rocksdb-leveled@dlc",
        "fixed-4@lazy",
        "fixed-4+normal-priority@dlc",
        "fixed-4+normal-priority+normal-priority",
        "rocksdb-leveled+normal-priority",
        "oracle:a=fixed-1+normal-priority",
        "fixed-4-frozen",
    ] {
        let error = name.parse::<ArmName>().unwrap_err().to_string();
        assert!(
            error.contains("rocksdb-universal") && error.contains(name),
            "{error}"
        );
    }
}

#[test]
fn only_arms_that_look_at_the_workload_are_out_of_the_hull() {
    let is_static = |name: &str| name.parse::<ArmName>().unwrap().is_static();
    assert!(is_static("fixed-3") && is_static("lazy-leveling") && is_static("rocksdb-universal"));
    assert!(!is_static("thresholds-30-70") && !is_static("lerp") && !is_static("oracle:a=fixed-1"));
    assert!(!is_static("learned-frozen"));
    assert!(is_static("fixed-3+normal-priority") && !is_static("learned+normal-priority"));
    let switchable = |name: &str| name.parse::<ArmName>().unwrap().is_switchable();
    assert!(switchable("fixed-3") && switchable("lazy-leveling"));
    assert!(!switchable("rocksdb-leveled") && !switchable("fixed-3@dlc") && !switchable("lerp"));
}

#[test]
fn who_never_gives_way_is_otherwise_the_same_arm() {
    let adjusted = |name: &str| {
        let arm: ArmName = name.parse().unwrap();
        let store_of = |arm: &ArmName| {
            let place = tempfile::tempdir().unwrap();
            let store = LissomStore::open(place.path(), arm, &Resources::default()).unwrap();
            store.db().autopilot().schedule()
        };
        (arm.shape().to_string(), store_of(&arm))
    };
    let (load, gives_way) = adjusted("fixed-4@paced");
    let (same_load, never) = adjusted("fixed-4@paced+normal-priority");
    assert_eq!((load.as_str(), same_load.as_str()), ("fixed-4", "fixed-4"));
    assert_eq!(
        (gives_way.schedule.as_str(), never.schedule.as_str()),
        ("paced", "paced")
    );
    let why = "idle_cpu_priority is off, idle_io_priority is off";
    assert_eq!(never.priority.level0.why, why);
    assert_ne!(gives_way.priority.level0.why, why);
}

#[test]
fn a_frozen_learner_is_held_once_sessions_begin() {
    let place = tempfile::tempdir().unwrap();
    let open = |name: &str| {
        let directory = place.path().join(name);
        std::fs::create_dir(&directory).unwrap();
        let store = open_arm(&name.parse().unwrap(), &directory, &Resources::default()).unwrap();
        assert!(!directory.join("LISSOM-PIN").exists());
        store.session_begins("any").unwrap();
        directory.join("LISSOM-PIN").exists()
    };
    assert!(open("learned-frozen") && open("learned-from-10-frozen"));
    assert!(!open("learned") && !open("learned-from-10"));
}

/// Whether these run limits come to hold in ten seconds.
fn comes_to(store: &LissomStore, limits: &str) -> bool {
    let holds = || {
        let glance = store.db().autopilot().glance("default");
        glance.is_some_and(|it| it.limits.to_string() == limits)
    };
    (0..1_000).any(|_| {
        std::thread::sleep(std::time::Duration::from_millis(10));
        holds()
    })
}

#[test]
fn a_learner_may_begin_elsewhere_and_an_oracle_takes_up_any_static_arm() {
    let place = tempfile::tempdir().unwrap();
    let open = |name: &str, number: &str| {
        let directory = place.path().join(number);
        std::fs::create_dir(&directory).unwrap();
        LissomStore::open(&directory, &name.parse().unwrap(), &Resources::default()).unwrap()
    };
    assert!(comes_to(&open("learned-from-10", "one"), "10"));
    assert!(comes_to(&open("learned-from-10-frozen", "two"), "10"));
    let oracle = open("oracle:a=fixed-3,b=lazy-leveling,closing=fixed-2", "three");
    assert!(comes_to(&oracle, "3"));
    oracle.session_begins("b").unwrap();
    oracle.session_begins("closing").unwrap();
    assert!(comes_to(&oracle, "2"));
}

#[test]
fn resources_are_checked() {
    Resources::default().check().unwrap();
    let bad = Resources {
        level0_stop_writes_trigger: 3,
        ..Resources::default()
    };
    assert!(bad.check().unwrap_err().to_string().contains("trigger"));
    let bad = Resources {
        size_ratio: 1,
        ..Resources::default()
    };
    assert!(bad.check().unwrap_err().to_string().contains("size_ratio"));
    for share in ["1.5", "-0.1", "nan"] {
        let bad = Resources::default().with(&format!("exploration={share}"));
        let error = bad.unwrap().check().unwrap_err().to_string();
        assert!(error.contains("exploration must lie in 0..=1"), "{error}");
    }
}

#[test]
fn what_merges_for_reads_may_write_is_bounded_or_not() {
    let bound = |resources: &Resources| {
        let policy = "learned".parse().unwrap();
        crate::arms::settings_of(policy, resources).max_write_amplification
    };
    let set = |text: &str| {
        let assignment = format!("max_write_amplification={text}");
        Resources::default().with(&assignment).unwrap()
    };
    let default = ::lissom::Settings::default().max_write_amplification;
    assert_eq!(bound(&Resources::default()), default);
    for (text, expected) in [("0", Some(0.0)), ("12.5", Some(12.5)), ("inf", None)] {
        let resources = set(text);
        resources.check().unwrap();
        assert_eq!(bound(&resources), expected, "{text}");
        let told = serde_json::to_string(&resources).unwrap();
        let read: Resources = serde_json::from_str(&told).unwrap();
        assert_eq!(read, resources, "{text}");
        let other = resources.with("max_files=200").unwrap();
        assert_eq!(bound(&other), expected, "{text}");
    }
    for text in ["-1", "nan", "-inf"] {
        let error = set(text).check().unwrap_err().to_string();
        assert!(error.contains("must be at least 0"), "{error}");
    }
}

#[test]
fn every_arm_may_run_as_many_compactions() {
    let place = tempfile::tempdir().unwrap();
    let resources = Resources::default()
        .with("background_compactions=3")
        .unwrap();
    let jobs = |name: &str| {
        let directory = place.path().join(name);
        std::fs::create_dir(&directory).unwrap();
        let store = open_arm(&name.parse().unwrap(), &directory, &resources).unwrap();
        let options = std::fs::read_to_string(&store.settings_files()[0]).unwrap();
        let mut lines = options.lines().map(str::trim);
        let jobs = lines.find_map(|line| line.strip_prefix("max_background_jobs="));
        jobs.expect("a number of jobs").to_owned()
    };
    // One flushes; three workers, and one compaction of RocksDB's own.
    for name in [
        "fixed-1",
        "rocksdb-leveled",
        "rocksdb-leveled-tuned",
        "rocksdb-leveled-low-priority",
        "rocksdb-leveled-auto-rate",
        "rocksdb-universal",
    ] {
        assert_eq!(jobs(name), "5", "{name}");
    }
}

#[test]
fn the_auto_tuned_rate_limiter_is_compressed_in_time_as_schedules_are() {
    let refill = |millis: u64| {
        let resources = Resources {
            schedule_interval_millis: millis,
            ..Resources::default()
        };
        super::rocksdb::refill_micros(&resources)
    };
    // RocksDB's default, a quarter of it, and the least and the most that may be set.
    assert_eq!(
        [1_000, 250, 100, 60_000].map(refill),
        [100_000, 25_000, 10_000, 6_000_000]
    );
}

#[test]
fn rocksdb_tells_the_debt_of_levels_alone() {
    let place = tempfile::tempdir().unwrap();
    let debt = |name: &str| {
        let directory = place.path().join(name);
        std::fs::create_dir(&directory).unwrap();
        let store = open_arm(&name.parse().unwrap(), &directory, &Resources::default()).unwrap();
        store.shape().debt_bytes
    };
    assert_eq!(debt("rocksdb-leveled"), Some(0));
    assert_eq!(debt("rocksdb-leveled-auto-rate"), Some(0));
    assert_eq!(debt("rocksdb-universal"), None);
}

#[test]
fn a_share_of_trials_that_is_set_is_the_stores() {
    let exploration = |resources: &Resources| {
        let policy = "learned".parse().unwrap();
        crate::arms::settings_of(policy, resources).exploration
    };
    let none = Resources::default().with("exploration=0").unwrap();
    none.check().unwrap();
    assert_eq!(exploration(&none), 0.0);
    let default = ::lissom::Settings::default().exploration;
    assert_eq!(exploration(&Resources::default()), default);
}

#[test]
fn files_are_deleted_at_the_rate_that_is_set() {
    let rate = |resources: &Resources| {
        let policy = "learned".parse().unwrap();
        crate::arms::settings_of(policy, resources).delete_rate_bytes_per_second
    };
    let set = |text: &str| {
        let assignment = format!("delete_rate_bytes_per_second={text}");
        Resources::default().with(&assignment).unwrap()
    };
    for (text, bytes) in [("0", 0), ("1048576", 1 << 20)] {
        set(text).check().unwrap();
        assert_eq!(rate(&set(text)), bytes);
    }
    let default = ::lissom::Settings::default().delete_rate_bytes_per_second;
    assert_eq!(rate(&Resources::default()), default);
    let error = set("1").check().unwrap_err().to_string();
    assert!(error.contains("must be 0 or at least 1048576"), "{error}");
}

#[test]
fn an_arm_for_monkeys_filters_has_them() {
    use ::lissom::core::filters::FilterAllocation::{Monkey, Uniform};
    let place = tempfile::tempdir().unwrap();
    let resources = Resources::default();
    for (arm, filters) in [("lerp", Uniform), ("lerp-monkey", Monkey)] {
        let settings = crate::arms::settings_of(arm.parse().unwrap(), &resources);
        assert_eq!(settings.filters, filters);
        let directory = place.path().join(arm);
        std::fs::create_dir(&directory).unwrap();
        open_arm(&arm.parse().unwrap(), &directory, &resources).unwrap();
    }
}

#[test]
fn a_drain_is_the_capacity_of_the_last_level_but_one() {
    let resources = Resources::default();
    assert_eq!(resources.level0_bytes(), 8 << 20);
    // A ratio of 7 holds 2 GB in level 3; level 2 holds 392 MiB.
    assert_eq!(resources.drain_bytes(2_000_000_000), 392 << 20);
    assert_eq!(resources.drain_bytes(1_000_000), 8 << 20);
    let fixed = resources.with("level_compaction_dynamic_level_bytes=false");
    // 2 GB lie in the level of 8 GiB; the one above holds 800 MiB.
    assert_eq!(fixed.unwrap().drain_bytes(2_000_000_000), 800 << 20);
}

/// Opens an arm in a new directory, writes, and gives the OPTIONS file that RocksDB left.
fn options_left_by(name: &str, resources: &Resources) -> Result<String> {
    let place = tempfile::tempdir().unwrap();
    let store = open_arm(&name.parse().unwrap(), place.path(), resources)?;
    store.put(b"key", b"value").unwrap();
    let file = store.settings_files().pop().unwrap();
    let text = std::fs::read_to_string(file).unwrap();
    store.close().unwrap();
    Ok(text)
}

/// As they come from a running database: everything that RocksDB writes, with one value changed.
#[test]
fn a_users_options_file_is_an_arm() {
    let mut resources = Resources::default();
    let own = options_left_by("rocksdb-leveled-tuned", &resources).unwrap();
    let base = format!("max_bytes_for_level_base={}\n", resources.level0_bytes());
    let changed = own.replace(&base, "max_bytes_for_level_base=3000000\n");
    assert_ne!(changed, own);
    let unset = "max_background_compactions=-1\n";
    let changed = changed.replace(unset, "max_background_compactions=8\n");
    assert!(!changed.contains(unset));
    resources.options_files.insert("mine".into(), changed);
    resources.background_compactions = 5;
    resources.direct_io = false;
    let used = options_left_by("rocksdb-options-mine", &resources).unwrap();
    let jobs = format!("max_background_jobs={}\n", resources.max_background_jobs());
    for line in [
        "max_bytes_for_level_base=3000000\n",
        &jobs,
        unset,
        "use_direct_reads=false\n",
    ] {
        assert!(used.contains(line), "{line}");
    }
}

#[test]
fn an_options_file_that_no_arm_can_have_is_refused() {
    let refusal = |lines: &str| {
        let mut resources = Resources::default();
        let text = format!("[DBOptions]\n[CFOptions \"default\"]\n{lines}");
        resources.options_files.insert("mine".into(), text);
        options_left_by("rocksdb-options-mine", &resources)
            .unwrap_err()
            .to_string()
    };
    for (lines, sentence) in [
        (
            "write_buffer_size=67108864",
            "leave no cache beside 2 write buffers",
        ),
        ("num_levels", "line 3 of the OPTIONS file"),
        ("write_buffer_size=1048576\nnum_lvls=7", "num_lvls"),
        (
            "write_buffer_size=1048576\ncompaction_style=kCompactionStyleFIFO",
            "drops the oldest",
        ),
    ] {
        let error = refusal(lines);
        assert!(error.starts_with("arm rocksdb-options-mine"), "{error}");
        assert!(error.contains(sentence), "{error}");
    }
    let nothing = options_left_by("rocksdb-options-mine", &Resources::default());
    let error = nothing.unwrap_err().to_string();
    assert!(error.contains("give --options mine=PATH"), "{error}");
}
