//! What a shell gives on this machine, for people.

use serde::Serialize;

use super::ended::{Containment, InForce};

/// What this machine gives.
#[derive(Clone, Debug, Serialize)]
pub struct Probe {
    /// What starts commands: `local`, `bubblewrap` or `container`, with the program that does it.
    pub launcher: String,
    /// What holds a command together; `None` where no command can run.
    pub containment: Option<Containment>,
    /// What is in force as a command runs.
    pub sandbox: Option<InForce>,
    /// What was tried and does not work, with the cause and the fix.
    pub troubles: Vec<String>,
    /// Things to know, such as that commands run as root.
    pub warnings: Vec<String>,
}
