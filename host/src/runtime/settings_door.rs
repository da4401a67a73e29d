//! The interface `toolgate:tool/settings`: what the operator set for the tool.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::bindings::settings::toolgate::tool::settings::Host;
use super::state::State;

/// Settings of one tool, by name.
pub type ToolSettings = Arc<BTreeMap<String, String>>;

impl Host for State {
    fn get(&mut self, name: String) -> wasmtime::Result<Option<String>> {
        Ok(self.settings.get(&name).cloned())
    }
}
