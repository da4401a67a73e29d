//! The gates: hooks of every kind, the order of the chain, panics, and the one record of every call.

mod command_hooks;
mod native;
mod order;
mod panics;
mod post_hooks;
mod reach;
mod records;
mod rewrites;
