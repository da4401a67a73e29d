//! Where Toolgate looks for configuration, and where it keeps its own files.

use std::path::PathBuf;

use etcetera::BaseStrategy as _;

/// The administrator's file. Fixed: nothing that a person or an agent can set leads anywhere else.
pub const MANAGED_FILE: &str = "/etc/toolgate/toolgate.toml";

/// The workspace's file, below the workspace: one of these.
pub(super) const PROJECT_FILES: [&str; 3] = [
    "toolgate.toml",
    ".toolgate/toolgate.toml",
    ".toolgate/config.toml",
];

/// The workspace's file for this machine alone, which is not checked in.
pub(super) const LOCAL_FILE: &str = ".toolgate/local.toml";

/// The person's file: `toolgate/toolgate.toml` in the user's configuration directory. None: there is no home directory.
pub fn user_file() -> Option<PathBuf> {
    let strategy = etcetera::choose_base_strategy().ok()?;
    Some(strategy.config_dir().join("toolgate").join("toolgate.toml"))
}

/// The directory for the journal, long outputs, answers and trust: `toolgate` in the user's state directory. None: there
/// is no home directory.
pub fn state_dir() -> Option<PathBuf> {
    let strategy = etcetera::choose_base_strategy().ok()?;
    let state = strategy.state_dir().unwrap_or_else(|| strategy.data_dir());
    Some(state.join("toolgate"))
}
