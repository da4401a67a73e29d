//! Claims and evidence: what a tool says of itself, and what the sandbox can be asked to give it.

use serde::{Deserialize, Serialize};

use super::SideEffect;

/// What a tool says of itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Claim {
    /// The claimed level.
    pub level: SideEffect,
    /// May overwrite or delete.
    pub destructive: bool,
    /// Twice is once.
    pub idempotent: bool,
    /// Reaches what nobody here owns.
    pub open_world: bool,
    /// Calls must not overlap.
    pub exclusive: bool,
}

impl Default for Claim {
    /// The claim of a tool that says nothing of itself: mutating, destructive, not idempotent, open-world, exclusive.
    fn default() -> Self {
        Self {
            level: SideEffect::Mutating,
            destructive: true,
            idempotent: false,
            open_world: true,
            exclusive: true,
        }
    }
}

/// What the sandbox can be asked to give beyond reading, whatever the claim says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Evidence {
    /// Asks to write files.
    pub writes_files: bool,
    /// Asks for requests to the network.
    pub network: bool,
    /// Asks for commands.
    pub shell: bool,
    /// Asks for a store of its own.
    pub store: bool,
}

impl Evidence {
    /// What is asked for that a read-only tool cannot have, in words. The network is not among it: the requests of a tool
    /// that claims to be read-only are held to GET and HEAD without a body.
    pub(super) fn beyond_reading(&self) -> Vec<&'static str> {
        let asks = [
            (self.writes_files, "writing files"),
            (self.shell, "the shell"),
            (self.store, "its store"),
        ];
        let asked = asks.iter().filter(|(asked, _)| *asked);
        asked.map(|(_, what)| *what).collect()
    }

    /// What is asked for beside files: where no view says what may be changed.
    pub(super) fn powers_beside_files(&self) -> Vec<&'static str> {
        let reaches = [
            (self.network, "the network"),
            (self.shell, "the shell"),
            (self.store, "its store"),
        ];
        let asked = reaches.iter().filter(|(asked, _)| *asked);
        asked.map(|(_, what)| *what).collect()
    }
}
