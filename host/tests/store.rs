//! Components that somebody else made: compiled once and within bounds, through the binary and through `Host`.
#![allow(
    clippy::disallowed_methods,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "the test starts the program under test, and stops at the first surprise"
)]

#[path = "store/code.rs"]
mod code;
#[path = "store/desk.rs"]
mod desk;
mod said;
