//! Gate 2: name to tool.
//!
//! Unknown and hidden tools (denied for every call, above the ceiling) get the same answer, with the nearest *visible*
//! name, so that asking does not tell what exists.

use std::sync::Arc;

use serde_json::{Map, Value};

use super::g01_parse::{Header, Parsed};
use super::registry::{RegisteredTool, Registry};
use super::trail::beginning;
use crate::model::{Denial, DenialReason, Gate, nearest};
use crate::policy::Policy;

/// The longest unknown name that is repeated, bytes.
const MAX_NAME: usize = 200;

/// A call of a tool that exists and may be seen.
#[derive(Debug)]
pub(super) struct Resolved {
    header: Header,
    tool: Arc<RegisteredTool>,
    input: Map<String, Value>,
}

impl Resolved {
    pub(super) fn into_parts(self) -> (Header, Arc<RegisteredTool>, Map<String, Value>) {
        (self.header, self.tool, self.input)
    }

    /// The same call with the input that a hook put in its place.
    pub(super) fn rewritten(
        header: Header,
        tool: Arc<RegisteredTool>,
        input: Map<String, Value>,
    ) -> Self {
        Self {
            header,
            tool,
            input,
        }
    }
}

/// Resolves a call.
pub(super) fn resolve(
    registry: &Registry,
    policy: &Policy,
    call: Parsed,
) -> Result<Resolved, Denial> {
    let (header, name, input) = call.into_parts();
    match registry
        .get(&name)
        .filter(|tool| policy.shows(tool.facts()))
    {
        Some(tool) => Ok(Resolved {
            header,
            tool: Arc::clone(tool),
            input,
        }),
        None => {
            let visible = registry.tools().filter(|tool| policy.shows(tool.facts()));
            let nearest =
                nearest(&name, visible.map(|tool| tool.name().as_str())).map(str::to_owned);
            let name = beginning(&name, MAX_NAME);
            Err(Denial::new(
                Gate::Resolve,
                DenialReason::UnknownTool { name, nearest },
            ))
        }
    }
}
