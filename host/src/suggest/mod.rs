//! From past calls to rules: the least rules that would have let run what somebody approved, and what was refused only
//! because no rule allowed it.
//!
//! Owns which calls of a journal count ([`PastCalls`]) and what may be proposed for them ([`Suggestions`]). Every rule covers
//! exact subjects and nothing else. Never proposes what a deny rule, the protected set or a person refused, and never
//! changes a policy: what it gives is text.

mod judge;
mod least;
mod past;
mod since;
mod text;

#[cfg(test)]
mod tests;

pub use judge::{Basis, LeftOut};
pub use least::{Directory, SuggestedRule, Suggestions};
pub use past::{PastCall, PastCalls, PastEnd};
pub use since::{SinceError, since};
