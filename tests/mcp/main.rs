//! The server as a client meets it: the binary, its pipes and its sockets, and raw messages.
//!
//! Tests of the contract's check list carry its number, cases their id.
#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    missing_docs,
    unreachable_pub,
    reason = "the test starts the program under test, and stops at the first surprise"
)]

mod approval;
mod calls;
mod changes;
mod client;
mod desk;
mod ends;
mod framing;
mod http;
mod web;
