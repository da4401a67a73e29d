//! Hooks as components: one event, one fresh instance in an empty sandbox, one reply within its bounds.
//!
//! A hook reaches no files, no network, no environment and no shell, whatever it imports. Never contains what a reply
//! means for the event.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use tokio::time::timeout;

use super::admission::Share;
use super::bindings::hook::HookGuestPre;
pub use super::bindings::hook::exports::toolgate::tool::hook as event;
use super::component::{
    ComponentError, compile, exported, imported, link, of_this_contract, sha256,
};
use super::engine::ToolEngine;
use super::instance::GuestEnd;
use super::state::State;
use super::store::{Bounds, empty_sandbox};
use super::trap::end_of;
use crate::model::{Fuel, Limits, MemoryLimit, Stop};

/// The export that makes a component a hook.
const HOOK: &str = "toolgate:tool/hook@";
/// What it may import.
const OFFERED: [&str; 2] = ["toolgate:tool/host@0.1.", "wasi:"];
/// The most bytes of a reply.
const MAX_REPLY: usize = 1 << 20;
/// The most bytes that a hook hands to the host at once. More than a reply, so that one just over its limit is told as
/// what it is.
const MAX_TRANSFER: usize = 4 << 20;

/// A component that hears of events.
#[derive(Clone)]
pub struct HookComponent {
    engine: ToolEngine,
    share: Share,
    hook: HookGuestPre<State>,
    digest: Arc<str>,
}

/// What one event may take. Memory is 64 MiB, a reply at most 1 MiB.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HookBounds {
    /// The wall clock, around instantiating and running.
    pub time: Duration,
    /// Instructions.
    pub fuel: Fuel,
}

/// What one event came to.
#[derive(Debug)]
pub struct HookRun {
    /// What the hook said, or how it broke.
    pub reply: Result<event::Reply, HookFault>,
    /// What it logged.
    pub log: Vec<String>,
}

/// How a hook broke.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum HookFault {
    /// Out of time.
    #[error("took more than {} ms", .0.as_millis())]
    Time(Duration),
    /// Out of fuel.
    #[error("used up its fuel of {0} instructions")]
    Fuel(u64),
    /// Out of memory.
    #[error("reached its memory limit of {} MiB", .0 >> 20)]
    Memory(usize),
    /// Out of stack.
    #[error("used up its stack")]
    Stack,
    /// It said too much at once.
    #[error("replied with more than {} MiB", MAX_REPLY >> 20)]
    ReplySize,
    /// It made the host hold too much.
    #[error("made the host hold more for it than the host allows")]
    HostMemory,
    /// It died.
    #[error("trapped: {0}")]
    Trapped(String),
    /// The host failed.
    #[error("could not run: {0}")]
    Host(String),
}

impl HookComponent {
    /// Loads a hook from the bytes of a component, or of its text form.
    ///
    /// # Errors
    /// [`ComponentError`]: it is no component, does not export the hook's interface in a version of this host, or
    /// imports what hooks are not given.
    pub fn load(engine: &ToolEngine, bytes: &[u8]) -> Result<Self, ComponentError> {
        let digest = sha256(bytes);
        let component = compile(engine, &digest, bytes)?;
        let tool = exported(engine, &component, "toolgate:tool/tool@");
        let instead = match tool {
            Some(_) => " but a tool",
            None => "",
        };
        let export = exported(engine, &component, HOOK);
        of_this_contract(export, HOOK, ComponentError::NotAHook(instead))?;
        let strange = imported(engine, &component)
            .into_iter()
            .find(|name| !OFFERED.iter().any(|offered| name.starts_with(offered)));
        if let Some(strange) = strange {
            return Err(ComponentError::NotForHooks(strange));
        }
        let hook = HookGuestPre::new(link(engine, &component)?)
            .map_err(|error| ComponentError::Types(format!("{error:#}")))?;
        Ok(Self {
            engine: engine.clone(),
            share: engine.admission().share(&component),
            hook,
            digest: digest.into(),
        })
    }

    /// SHA-256 of the component in hexadecimal.
    pub fn digest(&self) -> &str {
        &self.digest
    }

    /// Tells it of one event, in an instance of its own. Dropping the future ends the hook wherever it is.
    pub async fn handle(&self, event: &event::Event, bounds: HookBounds) -> HookRun {
        let HookBounds { time, fuel } = bounds;
        let mut store = empty_sandbox(
            &self.engine,
            Bounds {
                time,
                limits: Limits {
                    fuel,
                    memory: MemoryLimit::OF_A_HOOK,
                    ..Limits::default()
                },
            },
        );
        store.set_hostcall_fuel(MAX_TRANSFER);
        // Boxed: the instance's future is large, and would be copied on its way down.
        let run = Box::pin(async {
            let _room = self.share.room().await?;
            let hook = self.hook.instantiate_async(&mut store).await?;
            let handle = hook.toolgate_tool_hook();
            handle.call_handle(&mut store, event).await
        });
        let ran = timeout(time, run).await;
        let reply = match ran {
            Err(_) => Err(HookFault::Time(time)),
            Ok(Err(error)) => Err(fault(end_of(&error, store.data(), time))),
            Ok(Ok(reply)) if size(&reply) > MAX_REPLY => Err(HookFault::ReplySize),
            Ok(Ok(reply)) => Ok(reply),
        };
        HookRun {
            reply,
            log: store.data().log.take(),
        }
    }
}

impl fmt::Debug for HookComponent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HookComponent")
            .field("digest", &self.digest)
            .finish_non_exhaustive()
    }
}

fn size(reply: &event::Reply) -> usize {
    match reply {
        event::Reply::Nothing => 0,
        event::Reply::Deny(text) | event::Reply::Rewrite(text) => text.len(),
        event::Reply::Ask(question) => {
            question.message.len() + question.input.as_ref().map_or(0, String::len)
        }
    }
}

fn fault(end: GuestEnd) -> HookFault {
    match end {
        GuestEnd::Stopped(stop) => match stop {
            Stop::WallClock { limit } => HookFault::Time(limit),
            Stop::Fuel { limit } => HookFault::Fuel(limit),
            Stop::Memory { limit } => HookFault::Memory(limit),
            Stop::Stack => HookFault::Stack,
            Stop::ResultSize { .. } => HookFault::ReplySize,
            Stop::Tables { .. }
            | Stop::Instances { .. }
            | Stop::Handles { .. }
            | Stop::Transfer { .. }
            | Stop::Random { .. }
            | Stop::Fields { .. } => HookFault::HostMemory,
            Stop::Cancelled | Stop::Shutdown => HookFault::Host("it was cancelled".to_owned()),
        },
        GuestEnd::Trapped(trap) => HookFault::Trapped(trap.cause),
        GuestEnd::HostError(failure) => HookFault::Host(failure.message),
        // A hook has no such ends.
        GuestEnd::Done(_) | GuestEnd::Failed(_) => {
            HookFault::Host("it ended as a tool does".to_owned())
        }
    }
}
