//! Configuration as a whole: one file, the layers, trust.

mod layers;
mod one_file;
mod trust;
mod web;

use std::path::{Path, PathBuf};

use super::{Layers, Loaded};

/// Scratch places for every layer.
struct Desk {
    _root: tempfile::TempDir,
    base: PathBuf,
    layers: Layers,
}

impl Desk {
    fn new() -> Self {
        let root = tempfile::tempdir().unwrap();
        let base = root.path().canonicalize().unwrap();
        let ws = base.join("ws");
        std::fs::create_dir_all(ws.join(".toolgate")).unwrap();
        let layers = Layers {
            managed: Some(base.join("managed.toml")),
            user: Some(base.join("user.toml")),
            workspace: Some(ws),
            state: Some(base.join("state")),
            ..Layers::default()
        };
        Self {
            _root: root,
            base,
            layers,
        }
    }

    fn file(&self, name: &str, text: &str) -> PathBuf {
        let path = self.base.join(name);
        std::fs::write(&path, text).unwrap();
        path
    }

    fn load(&self) -> Loaded {
        self.layers.load().unwrap()
    }

    /// The error, with the scratch folder's name taken out.
    fn error(&self) -> String {
        let error = self.layers.load().unwrap_err().to_string();
        error.replace(self.base.to_str().unwrap(), "")
    }

    fn state(&self) -> &Path {
        self.layers.state.as_deref().unwrap()
    }

    /// Trusts all files of the workspace as they are.
    fn trust_all(&self) {
        let mut store = super::TrustStore::open(self.state()).unwrap();
        for file in self.layers.workspace_files() {
            store.trust(&file, &file.preview().unwrap()).unwrap();
        }
    }
}
