//! A server that can be made to fail, for the tests of this crate.

mod guard;
mod server;

pub(crate) use guard::MockGuard;
pub(crate) use server::{MockConnector, World};

use std::collections::BTreeMap;

use crate::decide::{Family, FamilyOptions, Lease, manage};
use crate::settings::Settings;

/// RocksDB's defaults, but for a small base.
pub(crate) fn usual_options() -> FamilyOptions {
    FamilyOptions {
        disable_auto_compactions: false,
        level0_file_num_compaction_trigger: 4,
        level0_slowdown_writes_trigger: 20,
        level0_stop_writes_trigger: 36,
        max_bytes_for_level_base: 8 << 20,
    }
}

pub(crate) fn usual_family() -> Family {
    Family {
        options: usual_options(),
        dynamic_level_bytes: false,
        compaction_style: "kCompactionStyleLevel".into(),
        level0_files: 0,
        level0_bytes: 0,
    }
}

pub(crate) fn usual_settings() -> Settings {
    Settings::new(350_000_000)
}

/// A lease on one family, `default`, which may have been changed.
pub(crate) fn usual_lease(identity: &str) -> Lease {
    let mut leased = manage("default", &usual_family(), &usual_settings()).expect("managed");
    leased.changed = true;
    Lease {
        identity: identity.into(),
        started_at: 1_000,
        seen_at: 1_000,
        families: BTreeMap::from([("default".into(), leased)]),
        rate_limiter: None,
    }
}
