//! From what a foreign server is granted to the sandbox of its process: the directories that it was given, and nothing of
//! the workspace, of other granted directories, of credentials or of the host's own files beside them. Deny rules over
//! files hold inside of what it was given.

use std::path::{Path, PathBuf};

use super::shell::ShellPlaces;
use super::shell_sandbox::{Made, covered};
use crate::policy::{Access, FileGuard, Roots};
use crate::shell::Sandbox;

/// Directories of one server, which exist.
#[derive(Clone, Debug, Default)]
pub struct ServerFiles {
    /// For reading.
    pub read: Vec<PathBuf>,
    /// For reading and writing.
    pub write: Vec<PathBuf>,
}

/// The sandbox of a server. Looks at the names below its directories, and beside them inside of the host's granted ones.
///
/// # Errors
/// For people: a directory cannot be opened, or the deny rules cannot be put into force.
pub fn server_sandbox(
    files: &ServerFiles,
    roots: &Roots,
    guard: &FileGuard,
    places: &ShellPlaces,
) -> Result<Sandbox, String> {
    let read = real(&files.read)?;
    let write = real(&files.write)?;
    let granted: Vec<&Path> = read.iter().chain(&write).map(PathBuf::as_path).collect();
    let mut sandbox = Sandbox::new(write.clone(), places.home.as_deref());
    sandbox.readable = read
        .iter()
        .filter(|path| !write.contains(path))
        .cloned()
        .collect();
    let secret = places.hidden.iter().filter(|path| path.exists());
    sandbox.hidden.extend(secret.cloned());
    for own in &places.own {
        match granted.iter().any(|root| own.starts_with(root)) {
            true => sandbox.protected.push(own.clone()),
            // What the operator runs may be what this server is run by.
            false if is_program(own) => {}
            false => sandbox.hidden.push(own.clone()),
        }
    }
    for root in roots.all(Access::Read) {
        hide_beside(root, &granted, &mut sandbox.hidden);
    }
    let Made { sandbox, gaps } = covered(sandbox, &granted, guard, &places.hidden)?;
    for gap in gaps {
        tracing::warn!("{gap}");
    }
    Ok(sandbox)
}

fn real(paths: &[PathBuf]) -> Result<Vec<PathBuf>, String> {
    let opened = paths.iter().map(|path| {
        path.canonicalize().map_err(|error| {
            format!(
                "the directory '{}' cannot be granted: {error}",
                path.display()
            )
        })
    });
    opened.collect()
}

fn is_program(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    std::fs::metadata(path)
        .is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
}

/// Hides a directory of the host's, but for the way to what was granted inside of it.
fn hide_beside(root: &Path, granted: &[&Path], hidden: &mut Vec<PathBuf>) {
    if granted.iter().any(|granted| root.starts_with(granted)) {
        return;
    }
    let inside: Vec<&Path> = granted
        .iter()
        .copied()
        .filter(|granted| granted.starts_with(root))
        .collect();
    if inside.is_empty() {
        hidden.push(root.to_owned());
        return;
    }
    let Ok(entries) = std::fs::read_dir(root) else {
        return;
    };
    for entry in entries.flatten() {
        hide_beside(&entry.path(), &inside, hidden);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_way_to_what_was_granted_is_seen() {
        let scratch = tempfile::tempdir().unwrap();
        let ws = scratch.path().canonicalize().unwrap();
        for folder in ["a/b/c", "a/d", "e"] {
            std::fs::create_dir_all(ws.join(folder)).unwrap();
        }
        std::fs::write(ws.join("f"), "x").unwrap();
        let hidden = |granted: &[PathBuf]| {
            let granted: Vec<&Path> = granted.iter().map(PathBuf::as_path).collect();
            let mut hidden = Vec::new();
            hide_beside(&ws, &granted, &mut hidden);
            hidden.sort();
            hidden
        };
        assert_eq!(hidden(&[]), std::slice::from_ref(&ws));
        assert_eq!(hidden(std::slice::from_ref(&ws)), Vec::<PathBuf>::new());
        let beside = [ws.join("a/d"), ws.join("e"), ws.join("f")];
        assert_eq!(hidden(&[ws.join("a/b")]), beside);
        assert_eq!(
            hidden(&[scratch.path().parent().unwrap().to_owned()]).len(),
            0
        );
    }
}
