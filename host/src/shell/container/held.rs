//! One container from the order to its end: what it says of itself decides whether its command begins, and what its engine says
//! whether it is gone.

use std::os::fd::OwnedFd;
use std::sync::Arc;

use async_trait::async_trait;

use super::super::beyond::Beyond;
use super::super::command::CouldNotStart;
use super::super::ended::{CommandEnd, InForce, Landlock, Stuck};
use super::super::settings::Settings;
use super::super::wire::{Enforced, Layers, Step};
use super::Container;
use super::client::Calls;
use super::inside::{GO, Heard, Ready};
use super::mounts::{self, Mount};

/// See the module.
#[derive(Debug)]
pub(super) struct Held {
    name: String,
    network: bool,
    mounts: Vec<Mount>,
    heard: Heard,
    calls: Arc<Calls>,
    container: Container,
    limits: (u64, u64),
    /// The other end of the container's input, whose closing ends it.
    input: Option<OwnedFd>,
    /// The engine has said that it is gone.
    gone: bool,
}

/// What a container is held by.
pub(super) struct HeldParts {
    pub(super) name: String,
    pub(super) network: bool,
    pub(super) mounts: Vec<Mount>,
    pub(super) calls: Arc<Calls>,
    pub(super) container: Container,
    pub(super) input: OwnedFd,
}

impl Held {
    pub(super) fn new(parts: HeldParts, settings: &Settings) -> Self {
        Self {
            name: parts.name,
            network: parts.network,
            mounts: parts.mounts,
            heard: Heard::default(),
            calls: parts.calls,
            container: parts.container,
            limits: (settings.processes, settings.memory),
            input: Some(parts.input),
            gone: false,
        }
    }

    /// Looks at what the container says of itself.
    fn looked_at(&self, ready: &Ready) -> Result<InForce, CouldNotStart> {
        let engine = self.container.engine.as_str();
        let refused = |what: &str| {
            let hint = format!(
                "the container of {engine} {what}. Nothing was run. Fix: look at 'arguments' in [shell] and at the engine's own \
                 settings."
            );
            Err(CouldNotStart::new(Step::Container, hint))
        };
        if ready.network && !self.network {
            return refused("has a network, although it was asked for one without");
        }
        match mounts::compare(&self.mounts, &self.heard.mounts) {
            Ok(()) => Ok(self.in_force(ready)),
            Err(what) => refused(&what),
        }
    }

    fn in_force(&self, ready: &Ready) -> InForce {
        let (processes, memory) = self.limits;
        let mut gaps = vec!["a container: its end and its limits are the engine's word".to_owned()];
        if !ready.filtered {
            gaps.push("system calls are not filtered".to_owned());
        }
        if !ready.no_new_privileges {
            gaps.push("programs may gain privileges".to_owned());
        }
        if ready.capabilities {
            gaps.push("programs may have capabilities".to_owned());
        }
        InForce {
            layers: Layers::All,
            network: self.network,
            landlock: Landlock {
                abi: 0,
                enforced: Enforced::Not,
            },
            seccomp: ready.filtered,
            processes: Some(processes),
            memory: Some(memory),
            gaps,
        }
    }
}

#[async_trait]
impl Beyond for Held {
    fn hear(&mut self, bytes: &[u8]) {
        self.heard.hear(bytes);
    }

    fn begin(&mut self) -> Option<Result<InForce, CouldNotStart>> {
        let ready = self.heard.ready.as_ref()?;
        Some(self.looked_at(ready).and_then(|in_force| {
            let written = self
                .input
                .as_ref()
                .map(|input| rustix::io::write(input, GO));
            match written {
                Some(Ok(length)) if length == GO.len() => Ok(in_force),
                Some(Ok(_) | Err(_)) | None => Err(self.failure()),
            }
        }))
    }

    fn failure(&self) -> CouldNotStart {
        let engine = self.container.engine.as_str();
        self.heard.failure(engine, &self.container.image)
    }

    fn ended(&self) -> (CommandEnd, u32, Option<&'static str>) {
        match &self.heard.ended {
            Some(end) => (end.clone(), self.heard.others, None),
            None => {
                let name = "KILL".to_owned();
                let note = "the container was ended from outside, or for want of memory";
                (CommandEnd::Signal { name }, 0, Some(note))
            }
        }
    }

    async fn end(&mut self) -> Option<Stuck> {
        if self.gone {
            return None;
        }
        // Ends the first process, and with it all others, before the engine comes to it.
        self.input = None;
        let stuck = self.calls.end(&self.name, self.heard.ended.is_none()).await;
        self.gone = stuck.is_none();
        stuck
    }
}
