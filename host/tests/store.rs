//! Components that somebody else made: compiled once and within bounds, through the binary and through `Host`.
#![allow(
    clippy::disallowed_methods,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::too_many_lines,
    clippy::unwrap_used,
    unreachable_pub,
    reason = "the test starts the program under test, and stops at the first surprise"
)]

#[path = "store/broken.rs"]
mod broken;
#[path = "store/code.rs"]
mod code;
#[path = "store/desk.rs"]
mod desk;
#[path = "../../tests/sandbox/fixture.rs"]
mod fixture;
#[path = "store/install.rs"]
mod install;
#[path = "store/keys.rs"]
mod keys;
#[path = "store/oci.rs"]
mod oci;
#[path = "store/plain.rs"]
mod plain;
mod said;
#[path = "store/scale.rs"]
mod scale;
