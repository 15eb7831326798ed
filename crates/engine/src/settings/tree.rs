//! The dimensions of the tree among the settings.

use lissom_core::{Layout, Shape};

use super::Settings;

impl Settings {
    /// The dimensions of the tree that these settings make: what the planner needs to know
    /// of them.
    pub fn shape(&self) -> Shape {
        Shape {
            layout: Layout::V1,
            size_ratio: self.size_ratio,
            level_compaction_dynamic_level_bytes: self.level_compaction_dynamic_level_bytes,
            level0_file_num_compaction_trigger: self.level0_file_num_compaction_trigger,
            level0_slowdown_writes_trigger: self.level0_slowdown_writes_trigger,
            write_buffer_size: self.write_buffer_size,
            target_file_size_base: self.target_file_size_base,
            max_files: self.max_files,
            max_space_amplification: self.max_space_amplification,
            tombstone_share: self.tombstone_share,
            transition: self.transition,
            largest_size_ratio: 0,
            compression_classes: self.compression.iter().map(|kind| kind.class()).collect(),
        }
    }

    /// These settings with the dimensions of a tree, but for its compression.
    pub(crate) fn with_shape(&self, shape: &Shape) -> Settings {
        Settings {
            size_ratio: shape.size_ratio,
            level_compaction_dynamic_level_bytes: shape.level_compaction_dynamic_level_bytes,
            level0_file_num_compaction_trigger: shape.level0_file_num_compaction_trigger,
            level0_slowdown_writes_trigger: shape.level0_slowdown_writes_trigger,
            write_buffer_size: shape.write_buffer_size,
            target_file_size_base: shape.target_file_size_base,
            max_files: shape.max_files,
            max_space_amplification: shape.max_space_amplification,
            tombstone_share: shape.tombstone_share,
            transition: shape.transition,
            ..self.clone()
        }
    }
}

#[cfg(test)]
mod tests {
    use lissom_core::Transition;

    use super::*;

    #[test]
    fn settings_take_the_shape_that_others_make() {
        let other = Settings {
            size_ratio: 3,
            level_compaction_dynamic_level_bytes: false,
            level0_file_num_compaction_trigger: 2,
            level0_slowdown_writes_trigger: 9,
            write_buffer_size: 1 << 20,
            target_file_size_base: 1 << 20,
            max_files: 200,
            max_space_amplification: 2.0,
            tombstone_share: 0.25,
            transition: Transition::Lazy,
            ..Settings::default()
        };
        assert_eq!(Settings::default().with_shape(&other.shape()), other);
    }
}
