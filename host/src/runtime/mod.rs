//! The Wasm runtime: components in, results out.
//!
//! Owns wasmtime: engine, linker, stores, bounds, the guarded files behind both doors (`wasi:filesystem` and
//! `toolgate:files`), and the doors to the shell and the network. A fresh store and instance for every call, dropped at its end. Never contains a gate, a rule, or
//! anything that decides who may call what: it keeps to the grant it is handed.

mod admission;
mod bindings;
mod compile;
mod component;
mod egress_door;
mod elsewhere;
mod engine;
pub mod files;
mod files_door;
mod guarded_view;
mod guest_log;
mod hook;
mod host_door;
mod instance;
mod limiter;
mod linker;
mod plain;
mod random_door;
mod settings_door;
mod shell_door;
mod shell_guarded;
mod shell_port;
mod shell_sessions;
mod state;
mod store;
mod trap;
mod tuning;
mod wasi_door;

pub(crate) use compile::MAX_COMPONENT;
pub use compile::{CacheError, CodeCache, CompileWorker, WorkerFailure, run_compile_worker};
pub use component::{AnyComponent, ComponentError, LoadedComponent, Source, read_component};
pub use engine::{EngineError, ToolEngine};
pub use hook::{HookBounds, HookComponent, HookFault, HookRun, event};
pub use instance::{CallSetup, GuestEnd, GuestReport};
pub use plain::{PlainComponent, PlainFunction, Unusable};
pub use settings_door::ToolSettings;
pub use shell_port::{
    CommandEnding, CommandForce, CommandOrder, FinishedCommand, ShellFailure, ShellPort,
    StartedTask, TaskPage, TaskState,
};
pub use shell_sessions::{
    SessionPage, SessionPort, SessionState, StartedSession, TerminalOrder, TypedKeys,
};
pub use state::ProgressSink;
