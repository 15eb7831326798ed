//! A live bar on standard error; nothing where that is no terminal.

use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::arms::ArmName;
use crate::judge::closed_seconds;
use crate::run::{ArmRun, Progress, Watcher};

/// Shows a running plan.
pub struct Bar {
    bar: ProgressBar,
    heading: String,
}

impl Default for Bar {
    fn default() -> Self {
        let bar = ProgressBar::with_draw_target(Some(0), ProgressDrawTarget::stderr());
        let style =
            ProgressStyle::with_template("{prefix}  {bar:28.cyan/blue}  {percent:>3} %  {msg}");
        bar.set_style(style.expect("the template is legal"));
        bar.enable_steady_tick(Duration::from_millis(200));
        Self {
            bar,
            heading: String::new(),
        }
    }
}

impl Bar {
    /// Removes the bar from the terminal.
    pub fn finish(&self) {
        self.bar.finish_and_clear();
    }
}

impl Watcher for Bar {
    fn arm_begins(&mut self, arm: &ArmName, round: u32, number: usize, of: usize) {
        let arm = arm.label();
        self.heading = format!("[{}/{of}] round {} {arm:<20}", number + 1, round + 1);
        self.bar.set_prefix(self.heading.clone());
        self.bar.set_position(0);
    }

    fn progress(&mut self, progress: &Progress) {
        self.bar.set_length(progress.total.max(1));
        self.bar.set_position(progress.done);
        let rate = progress.operations_per_second;
        let speed = if rate > 0.0 {
            format!("  {rate:>8.0} ops/s  p99 {:>7.0} µs", progress.p99)
        } else {
            String::new()
        };
        self.bar
            .set_message(format!("{:<16}{speed}", progress.part));
    }

    fn arm_ended(&mut self, run: &ArmRun) {
        let seconds = closed_seconds(run);
        self.bar.println(format!(
            "{}  {seconds:>8.1} s in closed sessions",
            self.heading
        ));
    }
}
