//! Guarded files: one view for each call, one judge, both doors.
//!
//! Open first, judge the handle: what is judged is the resolved path of the opened object, so that a link that is swapped
//! between check and use is judged as what it became. Creation and truncation judge the parent's handle and the last
//! component. What takes long (a walk, a large file, a disk that has to be waited for) lets go of the thread again and again,
//! so that a call can be given up in its midst. Only [`RootDirs::open`] opens a directory by its path; everything else goes
//! through handles.

mod at;
mod error;
mod ignore_rules;
mod ledger;
mod listing;
mod open;
mod real_path;
mod replace;
mod roots;
mod scan;
mod select;
mod status;
mod view;
mod walk;

pub(in crate::runtime) use at::{AtPath, OpenWish, Place};
pub use error::{Code, FileError};
pub use ledger::ReadLedger;
pub use open::{Contents, OpenedFile};
pub use replace::{Condition, Replaced};
pub use roots::RootDirs;
pub use scan::{Batch, Chunk, Scanner};
pub use select::Selection;
pub use view::FileView;
pub use walk::{WalkSummary, Walker};
