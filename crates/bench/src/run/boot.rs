//! Under which start of a machine a run was made: what is measured later, after another start,
//! may be measured on another machine, even where both tell the same of themselves.

use std::fs;

use crate::workload::sha256_hex;

/// Where Linux tells it.
const BOOT_ID: &str = "/proc/sys/kernel/random/boot_id";

/// Digits that tell one start from another.
const DIGITS: usize = 12;

/// Equal for runs between two starts of one machine; `None` where the system does not tell.
pub(crate) fn boot() -> Option<String> {
    let told = fs::read(BOOT_ID).ok()?;
    sha256_hex(told.trim_ascii())
        .get(..DIGITS)
        .map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_start_of_a_machine_is_one() {
        assert_eq!(boot(), boot());
        assert!(boot().is_none_or(|digits| digits.len() == DIGITS));
    }
}
