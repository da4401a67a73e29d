//! Where the arguments of a guarded command lead.
//!
//! Guarantees that a path passes only if what it names now, through all links, lies in a granted directory. A link that is
//! changed afterwards leads no further than the sandbox lets anybody read.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::policy::{Access, GuardedPaths, LineRefusal, Roots};

/// Looks at all of them, away from the threads that others wait on.
///
/// # Errors
/// The first that leads outside, or cannot be looked at.
pub(super) async fn lead_inside(
    paths: GuardedPaths,
    cwd: Option<String>,
    roots: Arc<Roots>,
) -> Result<(), LineRefusal> {
    if paths.0.is_empty() {
        return Ok(());
    }
    let looked = tokio::task::spawn_blocking(move || all_inside(&paths, cwd.as_deref(), &roots));
    match looked.await {
        Ok(looked) => looked,
        Err(lost) => Err(LineRefusal::Outside(lost.to_string())),
    }
}

fn all_inside(paths: &GuardedPaths, cwd: Option<&str>, roots: &Roots) -> Result<(), LineRefusal> {
    // As the command finds it: `..` behind a link is the parent of where the link leads.
    let begins = roots.absolute(cwd.unwrap_or("."));
    for path in &paths.0 {
        let inside = real(&begins.join(path))
            .is_some_and(|real| roots.covering(Access::Read, &real).is_some());
        if !inside {
            return Err(LineRefusal::Outside(path.clone()));
        }
    }
    Ok(())
}

/// The real path. Of a name that is not there, the folder that it would be in counts.
fn real(path: &Path) -> Option<PathBuf> {
    let error = match path.canonicalize() {
        Ok(real) => return Some(real),
        Err(error) => error,
    };
    let missing = matches!(
        error.kind(),
        std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory
    );
    // A link to nowhere may lead anywhere once there is something; so may `..` behind what is not there.
    if !missing || path.symlink_metadata().is_ok() {
        return None;
    }
    let name = path.file_name()?;
    Some(real(path.parent()?)?.join(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn paths_are_judged_where_they_lead() {
        let folder = tempfile::tempdir().unwrap();
        let base = folder.path().canonicalize().unwrap();
        let (ws, out) = (base.join("ws"), base.join("out"));
        std::fs::create_dir_all(ws.join("sub")).unwrap();
        std::fs::create_dir_all(out.join("deep")).unwrap();
        std::fs::write(out.join("secret"), "x").unwrap();
        std::fs::write(ws.join("sub/file"), "x").unwrap();
        let link = |to: &str, name: &str| std::os::unix::fs::symlink(to, ws.join(name)).unwrap();
        link("../out/secret", "away");
        link("../out/deep", "folder");
        link("sub/file", "home");
        link("../out/later", "dangling");
        let roots = Arc::new(Roots::new(ws.clone(), ws.clone(), Vec::new(), Vec::new()));
        for (cwd, path, passes) in [
            (None, "sub/file", true),
            (None, "home", true),
            (None, ".", true),
            (None, "sub/../home", true),
            (None, "sub/new", true),
            (Some("sub"), "../home", true),
            (None, "away", false),
            (None, "folder/x", false),
            (None, "folder/../secret", false),
            (None, "dangling", false),
            (None, "..", false),
            (None, "../out/secret", false),
            (Some("sub"), "../../out/secret", false),
            (None, "/etc/passwd", false),
            (None, "gone/../../out/secret", false),
        ] {
            let paths = GuardedPaths(vec![path.to_owned()]);
            let cwd = cwd.map(str::to_owned);
            let judged = lead_inside(paths, cwd, Arc::clone(&roots)).await;
            assert_eq!(judged.is_ok(), passes, "{path}: {judged:?}");
        }
        let inside = ws.join("sub/file").display().to_string();
        let judged = lead_inside(GuardedPaths(vec![inside]), None, roots).await;
        assert_eq!(judged, Ok(()));
    }
}
