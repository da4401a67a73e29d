//! The words of Toolgate: what a tool says of itself, what a call is and how it ends.
//!
//! Owns plain data that is valid by construction. Never contains I/O, a clock, a policy decision or anything of
//! wasmtime.

mod annotations;
mod call;
mod capability;
mod claim;
mod declaration;
mod denial;
mod hex;
mod hook_event;
mod left;
mod limits;
mod look_alike;
mod loopback;
mod mixed_script;
mod name;
mod nearest;
mod outcome;
mod request_use;
mod server_alias;
mod subject;
mod traits;
mod trust;
mod visible;

pub use annotations::{AnnotationTrust, AnnotationTrustError, Annotations};
pub use call::{CallId, CallOrigin, RawCall};
pub use capability::{Capability, CapabilityError, CapabilityKind, FileScope, ShellTarget};
pub use claim::{Claim, Evidence};
pub use declaration::{Declaration, DeclarationError, DeclarationParts};
pub use denial::{Denial, DenialReason, Gate, RuleSource};
pub use hex::hex;
pub use hook_event::{HookEventName, HookFormat};
pub use left::Left;
pub use limits::{Bound, Count, Fuel, LimitError, Limits, MAX_INSTANCES, MemoryLimit, Timeout};
pub use look_alike::outline;
pub use loopback::is_loopback_host;
pub use mixed_script::mixes_scripts;
pub use name::{NameError, ToolName};
pub use nearest::{nearest, suggestion};
pub use outcome::{
    CommandUse, Content, Ending, FileUse, HostFailure, Outcome, Stop, ToolFailure, ToolOutput,
    Trap, Usage,
};
pub use request_use::RequestUse;
pub use server_alias::{AliasError, ServerAlias};
pub use subject::{Subject, SubjectField, SubjectKind};
pub use traits::{Concurrency, SideEffect, Traits};
pub use trust::{Ground, Grounds, Trust};
pub use visible::{hides, strip, visible};
