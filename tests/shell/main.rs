//! The shell bridge against the table of behaviours: every test is named by its id there.
//!
//! Whether a tree is dead is seen from its heart: an adversary appends to a file, and after the call has returned that file may
//! not grow. Each adversary has a deadline of its own and obeys a stop file, so that a failing test leaves nothing behind.

mod adversary;
mod background;
mod bubblewrap;
mod calls;
mod cgroup;
mod container;
mod container_refused;
mod engine;
mod escape;
mod exits;
mod group;
mod guarded;
mod helper;
mod ids;
mod killed;
mod launchers;
mod many;
mod ordinary_user;
mod output;
mod place;
mod registry;
mod sandbox;
mod secrets;
mod session_calls;
mod subreaper;
mod surroundings;
mod tasks;
mod terminal;
mod time;
