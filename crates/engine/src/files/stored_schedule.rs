//! What the state file keeps of the schedule, of merges and of the device.

use lissom_core::schedule::Merges;
use serde::{Deserialize, Serialize};

/// What is kept of the schedule.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub(crate) struct StoredSchedule {
    /// The schedule that wrote `state`.
    pub(crate) name: String,
    /// What it learned; null when nothing.
    pub(crate) state: serde_json::Value,
    /// What the directory's device was measured to read and write.
    pub(crate) device_bytes_per_second: Option<u64>,
    /// The system's number for the device that was measured; absent in older files.
    #[serde(default)]
    pub(crate) device_id: Option<u64>,
    /// What the settings gave for it at the last open; absent when they gave nothing, and
    /// in older files.
    #[serde(default)]
    pub(crate) given_device_bytes_per_second: Option<u64>,
    /// What merges cost and how fast they went, under whichever schedule was last; absent
    /// before any were seen, and in older files.
    #[serde(default)]
    pub(crate) merges: Option<Merges>,
}

impl StoredSchedule {
    pub(super) fn is_empty(&self) -> bool {
        *self == StoredSchedule::default()
    }

    /// What schedules go by of the device: as given, or else as measured, if it is the one
    /// that was.
    pub(crate) fn device(&self, id: Option<u64>) -> Option<u64> {
        let measured = self.device_bytes_per_second;
        self.given_device_bytes_per_second
            .or(measured.filter(|_| self.device_id == id))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A file of an older version knows none that was given, and one that was given once is
    /// not in the way of the measured one.
    #[test]
    fn a_device_that_is_given_goes_before_one_that_was_measured() {
        let text = r#"{"name":"dlc","state":null,"device_bytes_per_second":7}"#;
        let mut schedule: StoredSchedule = serde_json::from_str(text).expect("an older one");
        assert_eq!(schedule.device(None), Some(7));
        for (given, device) in [(Some(9), Some(9)), (None, Some(7))] {
            schedule.given_device_bytes_per_second = given;
            assert_eq!(schedule.device(None), device);
        }
    }

    #[test]
    fn what_was_measured_is_of_one_device() {
        let mut schedule = StoredSchedule {
            device_bytes_per_second: Some(7),
            device_id: Some(64),
            ..StoredSchedule::default()
        };
        let of =
            |schedule: &StoredSchedule| [Some(64), Some(65), None].map(|id| schedule.device(id));
        assert_eq!(of(&schedule), [Some(7), None, None]);
        schedule.device_id = None;
        assert_eq!(of(&schedule), [None, None, Some(7)], "an older file");
        schedule.given_device_bytes_per_second = Some(9);
        assert_eq!(of(&schedule), [Some(9); 3]);
    }
}
