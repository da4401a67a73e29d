//! The parsers of the host, built from its own sources without wasmtime, and one function a parser that a fuzzer calls.
#![allow(
    dead_code,
    unused_imports,
    reason = "the rest of the host uses what stands idle here"
)]

#[path = "../../src/config/mod.rs"]
pub mod config;
#[path = "../../src/gate/mod.rs"]
pub mod gate;
mod hooks;
#[path = "../../src/model/mod.rs"]
pub mod model;
#[path = "../../src/policy/mod.rs"]
pub mod policy;
#[path = "../../src/program.rs"]
pub mod program;
#[path = "../../src/state.rs"]
pub mod state;
#[path = "../../src/suggest/mod.rs"]
pub mod suggest;
pub mod targets;
