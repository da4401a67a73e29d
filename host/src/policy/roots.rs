//! Roots: the directories that file tools may reach at all.

use std::path::{Path, PathBuf};

use super::Access;
use super::paths::fold;

/// The granted directories, all absolute and resolved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Roots {
    workspace: PathBuf,
    workspace_as_given: PathBuf,
    read: Vec<PathBuf>,
    write: Vec<PathBuf>,
}

impl Roots {
    /// The workspace (resolved, and as the operator named it), and further directories for reading and for writing.
    pub fn new(
        workspace: PathBuf,
        as_given: PathBuf,
        read: Vec<PathBuf>,
        write: Vec<PathBuf>,
    ) -> Self {
        Self {
            workspace,
            workspace_as_given: as_given,
            read,
            write,
        }
    }

    /// The workspace root.
    pub fn workspace(&self) -> &Path {
        &self.workspace
    }

    /// A path of an input as an absolute, folded one. A workspace that was named through a link is meant by either
    /// name.
    pub fn absolute(&self, text: &str) -> PathBuf {
        let folded = fold(&self.workspace, Path::new(text));
        match folded.strip_prefix(&self.workspace_as_given) {
            Ok(below) => fold(&self.workspace, below),
            Err(_) => folded,
        }
    }

    /// All roots for an access, the workspace first. Whoever may write in a root may read there.
    pub fn all(&self, access: Access) -> impl Iterator<Item = &Path> {
        let read = match access {
            Access::Read => self.read.as_slice(),
            Access::Write => &[],
        };
        std::iter::once(self.workspace.as_path())
            .chain(self.write.iter().map(PathBuf::as_path))
            .chain(read.iter().map(PathBuf::as_path))
    }

    /// The root that holds an absolute path, decided component by component, so that `/srv/ws` does not hold
    /// `/srv/ws_evil`.
    pub fn covering(&self, access: Access, path: &Path) -> Option<&Path> {
        self.all(access).find(|root| path.starts_with(root))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn roots() -> Roots {
        let path = PathBuf::from;
        Roots::new(
            path("/srv/ws"),
            path("/link"),
            vec![path("/doc")],
            vec![path("/out")],
        )
    }

    #[test]
    fn containment_is_decided_per_component() {
        let covering = |access, path| roots().covering(access, Path::new(path)).is_some();
        assert!(covering(Access::Read, "/srv/ws"));
        assert!(covering(Access::Read, "/srv/ws/a"));
        assert!(!covering(Access::Read, "/srv/ws_evil/secret.txt"));
        assert!(covering(Access::Read, "/doc/a"));
        assert!(!covering(Access::Write, "/doc/a"));
        assert!(covering(Access::Write, "/out/a"));
        assert!(covering(Access::Read, "/out/a"));
    }

    #[test]
    fn both_names_of_the_workspace_are_one() {
        assert_eq!(roots().absolute("/link/a"), Path::new("/srv/ws/a"));
        assert_eq!(roots().absolute("a"), Path::new("/srv/ws/a"));
        assert_eq!(roots().absolute("/etc/passwd"), Path::new("/etc/passwd"));
    }
}
