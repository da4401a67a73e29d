//! Pure decisions over the words: may this tool run with these subjects, and what may it then reach?
//!
//! Owns rules, patterns, modes and the two policy questions, each asked in one function: [`Policy::evaluate`] (may the
//! call run?) and [`FileGuard::judge`] (may this file be touched?). Never contains I/O.
#![warn(clippy::wildcard_enum_match_arm)]

mod decision;
mod evaluate;
mod file_guard;
mod grant;
mod index;
mod lines;
mod mode;
mod path_pattern;
mod paths;
mod pattern_index;
mod roots;
mod rule;
mod rule_set;

pub use decision::Decision;
pub use evaluate::{Basis, Policy, PolicyError, PolicySettings, Question, ToolFacts, Verdict};
pub use file_guard::{Access, FileGuard, Refusal};
pub use grant::{FileGrant, RequestRefusal};
pub use lines::{ExemptLine, SchemaMode};
pub use mode::{Mode, ModeError};
pub use path_pattern::{PathPattern, PatternError};
pub use paths::fold;
pub use roots::Roots;
pub use rule::{Examples, NamePattern, Rule, RuleError};
