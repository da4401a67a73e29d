//! Approvers: who is asked, and what they said for good.
//!
//! Owns the ways to a person, a program or a fixed answer, what each of them is shown, where the call's paths lead as it is
//! shown, and the files in which questions wait and answers stand. Guarantees that all of them are shown the same text, through one function, with nothing hidden
//! in it. Never contains the question whether to ask, or what an answer means for the call: that is gate 7.

mod diff;
mod fixed;
mod in_turn;
mod private_file;
mod program;
mod queue;
mod remembered;
mod render;
mod rest;
mod sight;
mod terminal;

pub use diff::preview;
pub use fixed::Fixed;
pub use in_turn::InTurn;
pub use program::ApprovalProgram;
pub use queue::{Entry, Queue, QueueError, State};
pub use remembered::{StandingAnswer, StandingAnswers, StandingError};
pub use render::Question;
pub use sight::FileSight;
pub use terminal::{Confirmed, Terminal};
