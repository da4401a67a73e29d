//! The gate chain: every call of every tool, whatever door it came through, passes these eleven gates in this order.
//!
//! | gate | takes | gives | refuses when |
//! |---|---|---|---|
//! | `g01_parse` | `RawCall` | `Parsed` | the input is not one JSON object within the limits |
//! | `g02_resolve` | `Parsed` | `Resolved` | there is no such tool, or it may not be seen |
//! | `g03_normalise` | `Resolved` | `Normalised` | never |
//! | `g04_permission` | `Normalised` | `Permitted` | a rule, the ceiling or the mode denies |
//! | `g05_schema` | `Permitted` | `Validated` | the input does not fit, under `enforce` |
//! | `g06_pre_hooks` | `Validated` | `Hooked`, or a rewrite back to gate 3 | a hook denies or is broken |
//! | `g07_approval` | `Hooked` | `Cleared` | approval is needed and not given |
//! | `g08_execute` | `Cleared` | `Executed` | never: what goes wrong is the ending |
//! | `g09_output` | `Executed` | `Capped` | never |
//! | `g10_post_hooks` | `Capped` | `Finished` | never |
//! | `g11_journal` | every end | `Outcome` | the record cannot be written |
//!
//! A stage type is made only in its gate's file, so no other order compiles. Owns the chain, the registry and the ports
//! that adapters implement. Never contains an adapter, wasmtime, or a policy question of its own.
#![warn(clippy::wildcard_enum_match_arm)]

mod chain;
mod g01_parse;
mod g02_resolve;
mod g03_normalise;
mod g04_permission;
mod g05_schema;
mod g06_pre_hooks;
mod g07_approval;
mod g08_execute;
mod g09_output;
mod g10_post_hooks;
mod g11_journal;
mod hook_run;
mod in_force;
mod json;
mod ports;
mod registry;
mod running;
mod schema;
mod seen;
mod session;
mod ticket;
mod trail;

pub use crate::model::HookEventName;
pub use chain::{Chain, ChainParts, Explanation};
pub use g01_parse::object as parse_object;
#[cfg(any(test, fuzzing))]
pub(crate) use g03_normalise::normalised;
pub use g07_approval::Cleared;
pub use g09_output::MAX_OUTPUT_CHARS;
pub use g11_journal::Record;
pub use hook_run::{EventHooks, HOOK_TIMEOUT};
pub use in_force::{RefusedTool, ToolChange, ToolRefusal};
pub use ports::{
    Answer, ApprovalRequest, Approver, BoundFiles, CallProgress, EventHook, HookEvent, HookReply,
    Journal, PortError, PostHook, PreHook, Provider, ProviderEnd, ProviderReport, Remembered,
    SeenFile, SeenPath, Sight, SpillStore, Standing,
};
pub use registry::{Foreign, RegisteredTool, Registration, RegistrationError, Registry};
pub use schema::{InputSchema, SchemaError};
pub use session::SessionEvent;
pub use ticket::canonical_json;
pub use trail::{GateNote, Step, Trail};
