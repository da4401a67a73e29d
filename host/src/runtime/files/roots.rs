//! The granted directories, opened once.

use std::collections::HashMap;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use cap_std::ambient_authority;
use cap_std::fs::Dir;

/// Opened directories by their resolved path.
#[derive(Clone, Default)]
pub struct RootDirs {
    dirs: Arc<HashMap<PathBuf, Arc<Dir>>>,
}

impl RootDirs {
    /// Opens directories, which must be resolved.
    ///
    /// # Ambient Authority
    /// The only place of the runtime that opens something by its path alone.
    ///
    /// # Errors
    /// The first directory that cannot be opened.
    pub fn open(paths: impl IntoIterator<Item = PathBuf>) -> Result<Self, (PathBuf, io::Error)> {
        let mut dirs = HashMap::new();
        for path in paths {
            match Dir::open_ambient_dir(&path, ambient_authority()) {
                Ok(dir) => dirs.insert(path, Arc::new(dir)),
                Err(error) => return Err((path, error)),
            };
        }
        Ok(Self {
            dirs: Arc::new(dirs),
        })
    }

    pub(super) fn get(&self, root: &Path) -> Option<&Arc<Dir>> {
        self.dirs.get(root)
    }
}

impl fmt::Debug for RootDirs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.dirs.keys()).finish()
    }
}
