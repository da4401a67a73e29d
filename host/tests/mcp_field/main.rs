//! MCP with clients and servers that nobody here wrote: the conformance suite, two Python SDKs, two TypeScript SDKs, the
//! Inspector, FastMCP, and the reference servers.
//!
//! `install.sh` beside this file fetches them in pinned versions. Where it cannot, every test here fails with its reason.
#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    clippy::indexing_slicing,
    reason = "the test starts the programs under test, and stops at the first surprise"
)]

mod conformance;
mod desk;
mod fastmcp;
mod inspector;
mod mcpdo;
mod place;
mod program;
mod sessions;
mod upstreams;
