//! What a user may choose. Names, units and defaults are RocksDB's where it has
//! them.

mod check;
mod compression;
mod expected;
mod memory;
mod tree;
mod workers;

pub(crate) use check::{
    check_exploration, check_filters, check_rate_limit, check_write_amplification,
};
pub use compression::Compression;
pub(crate) use expected::filter_bits;
pub(crate) use workers::workers_under;

use std::time::Duration;

use lissom_core::Transition;
use lissom_core::filters::FilterAllocation;
use lissom_core::schedule::{DebtBounds, ScheduleKind};
use lissom_core::shape::{RunLimit, RunLimits};
use lissom_core::tuner::{Allowance, EXPLORATION, MAX_WRITE_AMPLIFICATION, Policy};
use rust_rocksdb::statistics::StatsLevel;

const KIB: u64 = 1 << 10;
const MIB: u64 = 1 << 20;

/// Settings of a database and of its column families.
///
/// A column family may have settings of its own
/// ([`Opening::family`](crate::db::Opening::family)). These hold for the database as a
/// whole, by the settings that it is opened with: `create_if_missing`,
/// `memory_budget_bytes`, `workers`, `idle_cpu_priority`, `idle_io_priority`,
/// `max_subcompactions`, `compaction_readahead_size`, `writable_file_max_buffer_size`,
/// `delete_rate_bytes_per_second`, `schedule` with its bounds and interval,
/// `device_bytes_per_second`, `full_load_bytes_per_second`, `rate_limit_bytes_per_second`, direct I/O, missions,
/// `statistics`, `max_journal_bytes`.
///
/// [`Db::open`](crate::Db::open) goes by what it is given; what the directory records is
/// for the commands on closed directories. [`Settings::check`] refuses what is outside the
/// ranges below.
///
/// ```
/// use lissom::Settings;
///
/// let settings = Settings {
///     policy: "fixed-4".parse()?,
///     ..Settings::default()
/// };
/// settings.check()?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Debug)]
pub struct Settings {
    /// Whether [`Db::open`](crate::Db::open) makes a new database where there
    /// is none.
    ///
    /// Default: true. Dynamically changeable: no.
    pub create_if_missing: bool,

    /// Who chooses the run limits: `fixed-K`, `lazy-leveling`,
    /// `thresholds-LOW-HIGH`, `learned`, `lerp` ([`Policy`] has their variants).
    /// `learned` and `lerp` learn from latencies, which only [`Db`](crate::Db) measures:
    /// [`Autopilot::attach`](crate::Autopilot::attach) refuses them. `lerp` propagates by
    /// `filters`; `lerp-monkey` is refused unless they are Monkey's.
    ///
    /// Default: `fixed-1`, which is leveling. Dynamically changeable: yes, by
    /// [`Db::set_policy`](crate::Db::set_policy).
    pub policy: Policy,

    /// Share of the missions that `learned` may spend on limits that its model does not ask
    /// for, from 0 to 1; with 0 it tries nothing. A trial is one step in one level, lasts
    /// twelve missions, and is undone unless it was clearly better. Limits that the model
    /// does ask for are no trial: they are gone to whatever is set here, by one run a
    /// mission, and left again where they prove worse. `lerp` explores by noise that decays,
    /// whatever share is set here; with 0 it has none, learns nothing and holds the limits
    /// that it finds.
    ///
    /// Default: 0.1. Dynamically changeable: no.
    pub exploration: f64,

    /// Bytes that flushes and compactions may have written for each that users wrote when
    /// `learned` begins a merge for the reads' sake, these merges included; at least 0. With 0
    /// none begins at all; absent means no bound. It bounds such merges alone: what limits and
    /// full levels ask for is written whatever is set here, and a merge that has begun goes on.
    /// Where flushes and what limits ask for write as much by themselves, as under 1 nearly
    /// everywhere, none begins.
    ///
    /// What is not used is saved up, to what a merge of all levels writes that goes level by level,
    /// little more than a rewrite of the tree; a store begins with one rewrite, and again when it
    /// is opened with another bound. Where nobody writes nothing is added: once that is used up,
    /// merges wait until somebody writes. Files that are ingested bring nothing.
    ///
    /// Default: 30. Dynamically changeable: no.
    pub max_write_amplification: Option<f64>,

    /// What a change of limits does to the runs that exist: flexible rewrites nothing
    /// ([`Transition`]).
    ///
    /// Default: flexible. Dynamically changeable: no.
    pub transition: Transition,

    /// Capacity of a level over the capacity of the level above (T), 2 to 100; the most of
    /// it under `level_compaction_dynamic_level_bytes`.
    ///
    /// Default: 10. Dynamically changeable: yes, by [`Db::apply`](crate::Db::apply). The tree
    /// converges to it: levels that hold too much by a lower ratio are merged down; under a
    /// higher one data stay where they are until enough come in above them.
    pub size_ratio: u32,

    /// Whether the size ratio follows the data: the lowest under which they fit into as many
    /// levels as they need with `size_ratio`
    /// ([`Shape::fitted`](lissom_core::Shape::fitted)), so that the deepest level is full
    /// whatever the data are. RocksDB's option of this name lowers the ratio between
    /// the first two levels alone. A run limit over the present ratio makes no more runs
    /// than the ratio.
    ///
    /// Default: true. Dynamically changeable: yes, by [`Db::apply`](crate::Db::apply). The
    /// tree converges to it, as to another `size_ratio`.
    pub level_compaction_dynamic_level_bytes: bool,

    /// Size of a memtable, bytes, 64 KiB to 64 GiB.
    ///
    /// Default: 64 MiB. Dynamically changeable: no.
    pub write_buffer_size: u64,

    /// Memtables of a column family, the active one included, 2 to 1,000.
    ///
    /// Default: 2. Dynamically changeable: no.
    pub max_write_buffer_number: u32,

    /// Memory for write buffers, cached blocks, indexes and filters together,
    /// bytes.
    ///
    /// One block cache of this size holds data, index and filter blocks, and
    /// the write buffers are charged to it:
    ///
    /// budget = `max_write_buffer_number` · `write_buffer_size` + blocks.
    ///
    /// The write buffers of all column families share the first part. At least
    /// 1 MiB must be left for blocks, and 2^63 - 1 bytes are the most. What lies outside the
    /// budget, merges' buffers above all, and how much that may be:
    /// [`Settings::memory_bound_bytes`].
    ///
    /// Default: 512 MiB. Dynamically changeable: no.
    pub memory_budget_bytes: u64,

    /// L0 files at which the autopilot merges them into level 1; at least 1. What so many hold is
    /// what the capacities of all levels are multiples of.
    ///
    /// Default: 4. Dynamically changeable: yes, by [`Db::apply`](crate::Db::apply), up to the files
    /// that a schedule lets L0 have at most ([`max_level0_files`](Settings::max_level0_files)).
    pub level0_file_num_compaction_trigger: u32,

    /// L0 files at which writes slow down and RocksDB compacts L0 itself; more than
    /// `level0_file_num_compaction_trigger`.
    ///
    /// Default: 20. Dynamically changeable: no.
    pub level0_slowdown_writes_trigger: u32,

    /// L0 files at which writes stop; at least `level0_slowdown_writes_trigger`, at most
    /// 2^20.
    ///
    /// Default: 36. Dynamically changeable: no.
    pub level0_stop_writes_trigger: u32,

    /// Smallest target size of a file in levels 1 and deeper, bytes; from 4 KiB to 1 PiB.
    /// The target grows with the data
    /// ([`Shape::target_file_size`](lissom_core::Shape::target_file_size)).
    ///
    /// Default: 64 MiB. Dynamically changeable: yes, by [`Db::apply`](crate::Db::apply). Files
    /// that exist stay until they are merged. Merges of L0 that RocksDB does itself keep the
    /// size of the open.
    pub target_file_size_base: u64,

    /// Files per column family that the target file size aims to stay under; at least
    /// 100. RocksDB copies the metadata of all files under its mutex at each
    /// compaction. RocksDB's `max_open_files` is half of what the process may open
    /// (`ulimit -n`), so that a tree of more files still works.
    ///
    /// Default: 5,000. Dynamically changeable: yes, by [`Db::apply`](crate::Db::apply). Files
    /// that exist stay until they are merged.
    pub max_files: u64,

    /// How filter memory is shared among levels: the same bits for every key, or
    /// Monkey's allocation ([`FilterAllocation`]).
    ///
    /// Default: uniform. Dynamically changeable: no; files keep the filters that they
    /// were written with.
    pub filters: FilterAllocation,

    /// Filter bits per key on average, 0 to 100; 0 means no filters.
    ///
    /// Default: 10. Dynamically changeable: yes, by [`Db::apply`](crate::Db::apply); files keep
    /// the filters that they were written with.
    pub bloom_bits_per_key: f64,

    /// Uncompressed bytes of a data block, the unit of a read, 512 B to 16 MiB.
    ///
    /// Default: 4 KiB. Dynamically changeable: no; files keep the blocks that they were
    /// written with.
    pub block_size: u64,

    /// Compression of logical levels 1, 2, ...; the last entry holds for all
    /// deeper levels. L0 is compressed as level 1. At least one entry.
    ///
    /// Default: LZ4 everywhere. Dynamically changeable: yes, by [`Db::apply`](crate::Db::apply);
    /// files keep theirs until they are merged.
    pub compression: Vec<Compression>,

    /// Compactions of the autopilot that may run at once, 1 to 64. The
    /// autopilot starts fewer when RocksDB's present `max_background_jobs` has
    /// no room for them.
    ///
    /// Default: a quarter of the processors, at least 2, at most 64. Dynamically
    /// changeable: no; `max_background_jobs` is, by `SetDBOptions`.
    pub workers: usize,

    /// Whether merges give way to whoever wants a processor: RocksDB's `CpuPriority::kIdle`.
    /// They do while L0 has less than three quarters of what may wait there
    /// (`max_level0_files`, `max_delayed_bytes`), merges get on, and no writer is held back; those
    /// that make room for L0 only while it has room for what comes in within two seconds. They are
    /// called back when that ends, in the middle of a merge if need be
    /// ([`WorkerPriority`](lissom_core::schedule::WorkerPriority)).
    /// [`Autopilot::schedule`](crate::Autopilot::schedule) tells what holds, and why.
    ///
    /// On Linux alone, with one thread a compaction, and where the kernel lets a thread come
    /// back: for a process with `CAP_SYS_NICE` or a limit on nice of 20 (`ulimit -e 20`,
    /// `LimitNICE=+0` in a unit of systemd). Elsewhere it does nothing.
    ///
    /// Default: true. Dynamically changeable: no.
    pub idle_cpu_priority: bool,

    /// Whether merges give way to whoever wants the device, in the same way, while L0 has less
    /// than half of what may wait there; a merge that has waited for the device for a second
    /// gives way no more for two. Those that reads wait for come back as soon as they crawl, and
    /// none of them gives way for five seconds then, longer where that happens again; those for
    /// the bound on space never do. What the others ask for is served when nobody else has asked
    /// for anything; the manifest, for which flushes wait, is written at normal priority.
    ///
    /// On Linux alone, with one thread a compaction, with
    /// `use_direct_io_for_flush_and_compaction`, and on devices whose I/O scheduler knows the
    /// idle class: mq-deadline (from Linux 5.14) and BFQ, not `none` and Kyber
    /// (`/sys/block/DEVICE/queue/scheduler`). Elsewhere it does nothing. It needs no right.
    ///
    /// What is served only when nobody else has asked waits for such an instant with each
    /// request: beside clients that read all the time merges of `compaction_readahead_size` =
    /// 128 KiB come to a crawl, and what is then owed costs more than was gained
    /// (bench/dlc.md). With `compaction_readahead_size` and `writable_file_max_buffer_size` of
    /// 1 MiB or more it may pay.
    ///
    /// Default: false. Dynamically changeable: no.
    pub idle_io_priority: bool,

    /// Threads that one compaction may use, 1 to 64.
    ///
    /// Default: 1. Dynamically changeable: no.
    pub max_subcompactions: u32,

    /// Bytes that a compaction reads ahead in each of its inputs, from 4 KiB to
    /// 64 MiB. A read of a user's that the device gets behind one of a compaction waits for
    /// all of that, and a merge of many runs holds two such buffers for each. RocksDB's own
    /// default, 2 MiB, is for rotating disks.
    ///
    /// Default: 128 KiB. Dynamically changeable: no.
    pub compaction_readahead_size: u64,

    /// Bytes that flushes and compactions write at once, from 4 KiB to 64 MiB; the log and the
    /// manifest are written through buffers of at most this size, too. A read of a user's waits
    /// behind these writes as it does behind a compaction's reads. RocksDB's own default is 1 MiB.
    ///
    /// Default: 128 KiB. Dynamically changeable: no.
    pub writable_file_max_buffer_size: u64,

    /// Bytes of files, of tables, blobs and logs, that are deleted in a second, once nobody reads
    /// them any more; at least 1 MiB, or 0, which deletes all at once, as RocksDB does by itself. A
    /// merge leaves many files behind, a file system takes milliseconds of a processor to free each,
    /// and meanwhile reads take several times as long (bench/RESULTS.md). Each file goes whole, and
    /// its directory is synced after it.
    ///
    /// What waits is renamed to `.trash` and takes space on the disk, up to a twentieth of the tree,
    /// one file and the logs beside it: where there is more, the rest goes at once. What a store leaves
    /// when it closes is deleted after its next open, by RocksDB too. A manager of files of the
    /// application's own, set by [`Opening::customise`](crate::db::Opening::customise), keeps its
    /// own rate.
    ///
    /// Default: 256 MiB. Dynamically changeable: no.
    pub delete_rate_bytes_per_second: u64,

    /// Bound on the bytes in the tree over the bytes in its oldest run, an
    /// upper bound of the space amplification; at least 1.1. It holds where merges
    /// keep up with what is written. The bytes that one merge of L0 brings,
    /// `level0_file_num_compaction_trigger` · `write_buffer_size`, may come on top.
    ///
    /// Default: 3.0. Dynamically changeable: yes, by [`Db::apply`](crate::Db::apply). Under a
    /// lower bound runs are merged into the oldest at once where the tree is over it.
    pub max_space_amplification: f64,

    /// Share of tombstones in a file from which it is merged down early, above
    /// 0 and at most 1.
    ///
    /// Default: 0.5. Dynamically changeable: yes, by [`Db::apply`](crate::Db::apply). Files
    /// over a lower share are merged down at once.
    pub tombstone_share: f64,

    /// When to compact: `eager`, or a schedule that follows the load ([`ScheduleKind`]).
    /// One schedule serves all column families.
    ///
    /// Default: eager. Dynamically changeable: no.
    pub schedule: ScheduleKind,

    /// L0 files of a column family that a schedule may let wait; from there on L0 is
    /// merged whatever the load is. At least `level0_file_num_compaction_trigger`, and
    /// under `level0_slowdown_writes_trigger`.
    ///
    /// Default: absent, three quarters of `level0_slowdown_writes_trigger`, or
    /// `level0_file_num_compaction_trigger` if that is more.
    /// Dynamically changeable: no.
    pub max_level0_files: Option<u32>,

    /// Bytes of L0, over all column families, that a schedule may let wait; at least 1. What
    /// waits are the files over `level0_file_num_compaction_trigger`.
    ///
    /// Default: 4 GiB. Dynamically changeable: no.
    pub max_delayed_bytes: u64,

    /// What the device reads and writes together, bytes per second, for schedules; at
    /// least 1 MiB.
    ///
    /// Default: absent; a schedule other than `eager` has it measured when a
    /// directory is first opened with one, in half a second with 64 MiB, and keeps it
    /// in the state file. It is measured again when the directory lies on another device, and
    /// after [`measure_device`](crate::control::measure_device). Dynamically changeable: no.
    pub device_bytes_per_second: Option<u64>,

    /// The load that schedules hold for a full machine: bytes per second that users move,
    /// by the schedule's own load model
    /// ([`LoadModel`](lissom_core::schedule::LoadModel)); at least 64 KiB. A load is high
    /// over 300/350 of it, low under 180/350 (DLC's limits). Give what users move at the
    /// load that hurts, where the device is not what runs out first: on a fast one `dlc`
    /// and `silk` see no high load otherwise. `look-ahead` also sees the processors, which
    /// are full where users leave less of them than `workers` can use, or half.
    ///
    /// Default: absent, what the device does. Dynamically changeable: no.
    pub full_load_bytes_per_second: Option<u64>,

    /// How often a schedule looks at the load and gives an order, 100 ms to a minute;
    /// `silk` a hundred times as often, but no more than every 10 ms. Its windows go with it,
    /// as the three intervals after which a load is low. It should be short against the
    /// phases of the load.
    ///
    /// Default: 1 s, as in DLC. Dynamically changeable: no.
    pub schedule_interval: Duration,

    /// Bytes per second that flushes and compactions may read and write together, at
    /// least 64 KiB; absent means no limit. A schedule may order less.
    ///
    /// Default: absent. Dynamically changeable: yes, by
    /// [`Db::set_rate_limit`](crate::Db::set_rate_limit), when it was set at open or
    /// `schedule` is not `eager`.
    pub rate_limit_bytes_per_second: Option<u64>,

    /// Whether what users and compactions read bypasses the operating system's cache.
    ///
    /// Default: false. Dynamically changeable: no.
    pub use_direct_reads: bool,

    /// Whether what flushes and compactions write bypasses the operating system's cache.
    ///
    /// Default: false. Dynamically changeable: no.
    pub use_direct_io_for_flush_and_compaction: bool,

    /// Operations after which a mission ends; the tuner is asked after each. One lasts longer
    /// while the tuner owes time. At least 1.
    ///
    /// Default: 50,000. Dynamically changeable: no.
    pub mission_operations: u64,

    /// Time after which a mission ends if it had any operation, 10 ms to an hour.
    ///
    /// Default: 1 s. Dynamically changeable: no.
    pub mission_time: Duration,

    /// How much RocksDB's statistics collect. Lissom's own handle needs none;
    /// under [`Autopilot::attach`](crate::Autopilot::attach) the operation mix
    /// comes from RocksDB's tickers, so policies that follow the workload need
    /// `ExceptHistogramOrTimers` at least. Tickers cost a cached point read far
    /// more than all that Lissom counts: the example `read_cost` measures both.
    ///
    /// Default: none (`DisableAll`). Dynamically changeable: no.
    pub statistics: StatsLevel,

    /// Size at which the journal is rotated, bytes; one old journal is kept. At
    /// least 64 KiB.
    ///
    /// Default: 64 MiB. Dynamically changeable: no.
    pub max_journal_bytes: u64,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            create_if_missing: true,
            policy: Policy::Fixed(RunLimits::uniform(RunLimit::ONE)),
            exploration: EXPLORATION,
            max_write_amplification: Some(MAX_WRITE_AMPLIFICATION),
            transition: Transition::Flexible,
            size_ratio: 10,
            level_compaction_dynamic_level_bytes: true,
            write_buffer_size: 64 * MIB,
            max_write_buffer_number: 2,
            memory_budget_bytes: 512 * MIB,
            level0_file_num_compaction_trigger: 4,
            level0_slowdown_writes_trigger: 20,
            level0_stop_writes_trigger: 36,
            target_file_size_base: 64 * MIB,
            max_files: 5_000,
            filters: FilterAllocation::Uniform,
            bloom_bits_per_key: 10.0,
            block_size: 4 * KIB,
            compression: vec![Compression::Lz4],
            workers: workers::by_processors(),
            idle_cpu_priority: true,
            idle_io_priority: false,
            max_subcompactions: 1,
            compaction_readahead_size: 128 * KIB,
            writable_file_max_buffer_size: 128 * KIB,
            delete_rate_bytes_per_second: 256 * MIB,
            max_space_amplification: 3.0,
            tombstone_share: 0.5,
            schedule: ScheduleKind::Eager,
            max_level0_files: None,
            max_delayed_bytes: 4 << 30,
            device_bytes_per_second: None,
            full_load_bytes_per_second: None,
            schedule_interval: Duration::from_secs(1),
            rate_limit_bytes_per_second: None,
            use_direct_reads: false,
            use_direct_io_for_flush_and_compaction: false,
            mission_operations: 50_000,
            mission_time: Duration::from_secs(1),
            statistics: StatsLevel::DisableAll,
            max_journal_bytes: 64 * MIB,
        }
    }
}

impl Settings {
    /// What no schedule lets L0 pass: `max_delayed_bytes`, and `max_level0_files` or its
    /// default.
    pub fn debt_bounds(&self) -> DebtBounds {
        let by_trigger = self.level0_slowdown_writes_trigger / 4 * 3;
        let least = self.level0_file_num_compaction_trigger;
        DebtBounds {
            max_level0_files: self.max_level0_files.unwrap_or(by_trigger.max(least)) as usize,
            max_delayed_bytes: self.max_delayed_bytes,
        }
    }

    /// What a learner is allowed: `exploration` and `max_write_amplification`.
    pub fn allowance(&self) -> Allowance {
        Allowance {
            exploration: self.exploration,
            max_write_amplification: self.max_write_amplification,
        }
    }

    /// Bytes that write buffers may take: `max_write_buffer_number` ·
    /// `write_buffer_size`.
    pub fn write_buffer_bytes(&self) -> u64 {
        u64::from(self.max_write_buffer_number).saturating_mul(self.write_buffer_size)
    }
}
