//! Where a program of the operator's is that starts commands: bubblewrap, or a container engine's client.
//!
//! Looked for in the system's own folders and not on `PATH`, which may name a folder that a command can write.

use std::path::{Path, PathBuf};

use super::settings::SettingsError;

/// Where programs of the system are.
const FOLDERS: [&str; 6] = [
    "/usr/local/sbin",
    "/usr/local/bin",
    "/usr/sbin",
    "/usr/bin",
    "/sbin",
    "/bin",
];

/// The path of a program that is named, or given by its absolute path.
///
/// # Errors
/// It is not there, or its path is relative.
pub(super) fn found(program: &Path) -> Result<PathBuf, SettingsError> {
    let missing = || SettingsError::Program(program.to_owned());
    if program.is_absolute() {
        return match program.is_file() {
            true => Ok(program.to_owned()),
            false => Err(missing()),
        };
    }
    if program.components().count() != 1 {
        return Err(missing());
    }
    let mut places = FOLDERS.iter().map(|folder| Path::new(folder).join(program));
    places.find(|path| path.is_file()).ok_or_else(missing)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_come_from_the_systems_own_folders() {
        assert!(found(Path::new("bash")).unwrap().is_absolute());
        for missing in [
            "no-such-program",
            "/usr/bin/no-such-program",
            "bin/bash",
            "..",
        ] {
            let said = found(Path::new(missing)).unwrap_err().to_string();
            assert!(said.contains(missing), "{said}");
        }
    }
}
