//! What all trials of a search have beside their configurations, for the file of what was
//! found: without it the file would be of another store than the one that was measured.

use lissom_search::space::{Change, Grid, Kind, Parameter, Section, Setting, Spacing};

use super::plan::{Limits, System};

/// Every setting that limits come to, as the system's files name it; a base file's
/// own options are left out.
pub fn shared(system: System, limits: &Limits) -> Vec<Parameter> {
    let direct = Setting::Boolean(limits.direct_io);
    let mut all = vec![
        of(system, "use_direct_reads", direct.clone()),
        of(system, "use_direct_io_for_flush_and_compaction", direct),
    ];
    let rate = match system {
        System::RocksDb => "rate_limiter_bytes_per_sec",
        System::Lissom => "rate_limit_bytes_per_second",
    };
    all.extend(limits.rate_limit.map(|it| of(system, rate, whole(it))));
    // Of stock RocksDB it is no option: the cache gets what write buffers leave.
    let budget = limits.memory.filter(|_| system == System::Lissom);
    all.extend(budget.map(|it| of(system, "memory_budget_bytes", whole(it))));
    all
}

fn whole(number: u64) -> Setting {
    Setting::Integer(i64::try_from(number).unwrap_or(i64::MAX))
}

/// A parameter of which nothing else is tried.
fn of(system: System, name: &str, setting: Setting) -> Parameter {
    Parameter {
        name: name.to_owned(),
        kind: match setting.number() {
            None => Kind::Boolean,
            Some(only) => Kind::Integer(Grid {
                min: only,
                max: only,
                spacing: Spacing::Linear(1.0),
            }),
        },
        default: setting,
        when: None,
        change: Change::Reopen,
        section: (system == System::RocksDb).then_some(Section::Db),
        unit: None,
        note: None,
        source: "what all trials share".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: Limits = Limits {
        direct_io: true,
        rate_limit: Some(1 << 20),
        memory: Some(256 << 20),
        base: None,
    };

    fn shown(system: System, limits: &Limits) -> Vec<String> {
        let all = shared(system, limits);
        all.iter()
            .map(|it| format!("{}={}", it.name, it.default))
            .collect()
    }

    #[test]
    fn each_system_has_its_own_names() {
        assert_eq!(
            shown(System::RocksDb, &LIMITS),
            [
                "use_direct_reads=true",
                "use_direct_io_for_flush_and_compaction=true",
                "rate_limiter_bytes_per_sec=1048576"
            ]
        );
        assert_eq!(
            shown(System::Lissom, &LIMITS),
            [
                "use_direct_reads=true",
                "use_direct_io_for_flush_and_compaction=true",
                "rate_limit_bytes_per_second=1048576",
                "memory_budget_bytes=268435456"
            ]
        );
        let buffered = Limits {
            direct_io: false,
            rate_limit: None,
            memory: None,
            base: None,
        };
        assert_eq!(
            shown(System::Lissom, &buffered),
            [
                "use_direct_reads=false",
                "use_direct_io_for_flush_and_compaction=false"
            ]
        );
    }
}
