//! Bytes in the units that other programs read.

const KIB: f64 = 1024.0;
const MIB: f64 = 1024.0 * 1024.0;

/// Bytes as Flink reads them: its `kb` and `mb` are powers of 1024.
pub(super) fn flink(bytes: f64) -> String {
    if bytes >= MIB && bytes % MIB == 0.0 {
        format!("{}mb", bytes / MIB)
    } else if bytes >= KIB && bytes % KIB == 0.0 {
        format!("{}kb", bytes / KIB)
    } else {
        format!("{}b", bytes.round())
    }
}

/// Whole MiB, the smallest unit of most sizes in `cassandra.yaml`; at least 1.
pub(super) fn whole_mib(bytes: f64) -> f64 {
    (bytes / MIB).round().max(1.0)
}
