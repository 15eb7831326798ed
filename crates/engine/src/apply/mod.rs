//! Applying a configuration: an OPTIONS file, all of it or a part, or settings of
//! Lissom's.
//!
//! Every option is decided on by itself, with a reason: it is so already, it changes
//! at run time, it changes by reopening, it needs a rebuild, or it cannot be changed.
//!
//! ```no_run
//! use lissom::apply::{Applier, Wanted};
//!
//! let wanted = Wanted::read("OPTIONS".as_ref())?;
//! let applier = Applier::new("data", wanted);
//! for row in applier.plan()?.rows {
//!     println!("{}: {} ({})", row.name, row.how, row.why);
//! }
//! let applied = applier.apply(&mut |_| ())?;
//! assert_eq!(applied.left().count(), 0);
//! # Ok::<(), lissom::Error>(())
//! ```
//!
//! | to | see |
//! |---|---|
//! | change a running store | [`Db::apply`](crate::Db::apply) |
//! | ask the store of another process | [`ask_to_apply`](crate::control::ask_to_apply) |
//! | change a closed directory | [`Applier`] |
//! | rewrite all files with other options | [`Applier::rewrite`] |
//! | remove the old directory after it, or take it back | [`finish`], [`undo`] |
//!
//! Pure are `text` (OPTIONS files as data), `catalogue` (every option that RocksDB
//! 11.12 has), `settings` (Lissom's), `plan` (the decisions), `outcome`, and
//! `rebuild::steps`. The rest acts: `live`, `reopen`, `recorded`, `rebuild`.

mod applier;
mod build;
mod catalogue;
pub(crate) mod directory;
pub(crate) mod live;
mod lock;
mod outcome;
mod plan;
mod rebuild;
mod recorded;
mod reopen;
mod safety;
mod settings;
pub(crate) mod text;
mod wanted;

pub use applier::Applier;
pub use outcome::{Applied, Outcome, Rebuilt, RebuiltFamily, Taken};
pub use plan::{Host, How, Plan, Row, Space};
pub use rebuild::{Changes, Finished, Phase, Progress, Removed, Undone, Watch, finish, undo};
pub use settings::SettingsText;
pub use text::{OptionsText, Section};
pub use wanted::Wanted;
