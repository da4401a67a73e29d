//! What a container sees of the host's files, and whether it sees exactly that.
//!
//! A granted directory is mounted at its own path, what is protected in it is mounted read-only over itself, and what is hidden
//! is covered by something empty. An engine resolves paths by itself, later than they were looked at here, so that a link which
//! another command puts there in between would lead it elsewhere: the container's own table of mounts is compared before the
//! command begins.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt as _;
use std::path::{Path, PathBuf};

use super::super::command::{CouldNotStart, Sandbox};
use super::super::plan::exists;
use super::super::wire::Step;

/// One mount of a container.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Mount {
    source: PathBuf,
    target: PathBuf,
    read_only: bool,
}

/// A line of the container's table of mounts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Seen {
    /// The device's numbers.
    pub(super) device: String,
    /// What of the device's tree is mounted.
    pub(super) root: PathBuf,
    pub(super) target: PathBuf,
    pub(super) read_only: bool,
}

/// What covers what is hidden: an empty file and an empty folder.
#[derive(Clone, Debug)]
pub(super) struct Covers {
    pub(super) file: PathBuf,
    pub(super) folder: PathBuf,
}

impl Mount {
    fn of(path: &Path, read_only: bool) -> Self {
        Self {
            source: path.to_owned(),
            target: path.to_owned(),
            read_only,
        }
    }

    /// The value of `--mount`.
    ///
    /// # Errors
    /// A path that no engine can be given.
    pub(super) fn argument(&self) -> Result<String, CouldNotStart> {
        let read_only = if self.read_only { ",readonly" } else { "" };
        let (source, target) = (text(&self.source)?, text(&self.target)?);
        Ok(format!(
            "type=bind,source={source},target={target}{read_only}"
        ))
    }
}

/// A path as engines read it: a field of a line, which a comma would end.
pub(super) fn text(path: &Path) -> Result<&str, CouldNotStart> {
    let text = path
        .to_str()
        .filter(|text| !text.contains([',', '"', '\n', '\r']));
    text.ok_or_else(|| {
        let hint = format!(
            "a container engine cannot be given the path '{}': it holds a comma, a quote or what is no text",
            crate::model::visible(&path.display().to_string())
        );
        CouldNotStart::new(Step::Root, hint)
    })
}

/// What is mounted, the upper ones first: exactly the roots, then what is closed or covered in them. The roots are real paths.
pub(super) fn of(
    writable: &[PathBuf],
    readable: &[PathBuf],
    sandbox: &Sandbox,
    covers: &Covers,
) -> Vec<Mount> {
    let mut mounts: BTreeMap<PathBuf, Mount> = BTreeMap::new();
    for (roots, read_only) in [(writable, false), (readable, true)] {
        let roots = roots
            .iter()
            .map(|root| (root.clone(), Mount::of(root, read_only)));
        mounts.extend(roots);
    }
    let roots = mounts.clone();
    let holding = |path: &Path| {
        let holding = roots.values().filter(|root| path.starts_with(&root.target));
        holding.max_by_key(|root| root.target.components().count())
    };
    for path in real(sandbox.protected.iter()) {
        // What is read-only as a whole needs no more.
        let Some(root) = holding(&path).filter(|root| !root.read_only) else {
            continue;
        };
        // A folder on the way could be renamed, with what is closed in it: one that is a mount itself cannot.
        let way = path.ancestors().skip(1);
        for folder in way.take_while(|folder| *folder != root.target) {
            let pin = Mount::of(folder, false);
            mounts.entry(folder.to_owned()).or_insert(pin);
        }
        mounts.insert(path.clone(), Mount::of(&path, true));
    }
    for path in real(sandbox.masks.iter().chain(&sandbox.hidden)) {
        if holding(&path).is_some() {
            let source = match path.is_dir() {
                true => covers.folder.clone(),
                false => covers.file.clone(),
            };
            mounts.retain(|below, _| !below.starts_with(&path));
            let target = path.clone();
            let cover = Mount {
                source,
                target,
                read_only: true,
            };
            mounts.insert(path, cover);
        }
    }
    // What lies deeper comes later, as engines mount it.
    let mut ordered: Vec<Mount> = mounts.into_values().collect();
    ordered.sort_by_key(|mount| mount.target.components().count());
    ordered
}

/// The real paths of those that exist, the upper ones first.
fn real<'a>(paths: impl Iterator<Item = &'a PathBuf>) -> Vec<PathBuf> {
    let existing = paths.filter(|path| exists(path));
    let mut real: Vec<PathBuf> = existing
        .filter_map(|path| path.canonicalize().ok())
        .collect();
    real.sort();
    real.dedup();
    real
}

/// Compares what a container has mounted with what it was asked for.
///
/// # Errors
/// What is different, to stand after "the container".
pub(super) fn compare(asked: &[Mount], seen: &[Seen]) -> Result<(), String> {
    // Of several at one place, the last one is on top.
    let at = |target: &Path| seen.iter().rev().find(|seen| seen.target == target);
    if !at(Path::new("/")).is_some_and(|root| root.read_only) {
        return Err("has a root that can be written".to_owned());
    }
    for mount in asked {
        let named = crate::model::visible(&mount.target.display().to_string()).into_owned();
        let Some(found) = at(&mount.target) else {
            return Err(format!("does not have {named}"));
        };
        if found.read_only != mount.read_only {
            let how = if mount.read_only { "can" } else { "cannot" };
            return Err(format!("has {named}, which {how} be written"));
        }
        let is_it = match mount.source == mount.target {
            true => is_of_its_root(mount, found, asked, at),
            false => covers_it(mount, found),
        };
        if !is_it {
            return Err(format!(
                "has something else at {named}: the path was changed as the container started, or holds another file system"
            ));
        }
    }
    Ok(())
}

/// Whether a mount in a root is the part of that root that it should be. A root itself is what the operator named.
fn is_of_its_root<'a>(
    mount: &Mount,
    found: &Seen,
    asked: &[Mount],
    at: impl Fn(&Path) -> Option<&'a Seen>,
) -> bool {
    let above = asked.iter().filter(|above| {
        above.source == above.target
            && above.target != mount.target
            && mount.target.starts_with(&above.target)
    });
    let Some(above) = above.max_by_key(|above| above.target.components().count()) else {
        return true;
    };
    let below = mount.target.strip_prefix(&above.target);
    let (Ok(below), Some(above)) = (below, at(&above.target)) else {
        return false;
    };
    above.device == found.device && above.root.join(below) == found.root
}

/// Whether what covers a path is what was made for that.
fn covers_it(mount: &Mount, found: &Seen) -> bool {
    let folder = mount.source.parent().and_then(Path::file_name);
    let name = mount.source.file_name();
    let seen = found.root.parent().and_then(Path::file_name);
    folder.is_some() && seen == folder && found.root.file_name() == name
}

/// A path of the table of mounts, where spaces, tabs, line ends and backslashes are written in octal (`proc(5)`).
pub(super) fn unescaped(text: &str) -> PathBuf {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [byte, behind @ ..] = rest {
        let octal = behind.get(..3).filter(|_| *byte == b'\\');
        let octal = octal.and_then(|digits| std::str::from_utf8(digits).ok());
        match octal.and_then(|digits| u8::from_str_radix(digits, 8).ok()) {
            Some(meant) => {
                bytes.push(meant);
                rest = behind.get(3..).unwrap_or_default();
            }
            None => {
                bytes.push(*byte);
                rest = behind;
            }
        }
    }
    PathBuf::from(OsString::from_vec(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(root: &str, target: &str, read_only: bool) -> Seen {
        Seen {
            device: "8:1".to_owned(),
            root: root.into(),
            target: target.into(),
            read_only,
        }
    }

    #[test]
    fn closed_and_covered_names_are_mounts_of_their_own() {
        let folder = tempfile::tempdir().unwrap();
        let ws = folder.path().canonicalize().unwrap();
        for made in [".git/hooks", "a/b", "secret/x"] {
            std::fs::create_dir_all(ws.join(made)).unwrap();
        }
        std::fs::write(ws.join("a/b/.env"), "").unwrap();
        let sandbox = Sandbox {
            protected: vec![
                ws.join(".git/hooks"),
                ws.join("gone"),
                ws.join("secret/x"),
                "/etc/passwd".into(),
            ],
            masks: vec![ws.join("a/b/.env"), "/etc/shadow".into()],
            hidden: vec![ws.join("secret")],
            ..Sandbox::default()
        };
        let covers = Covers {
            file: "/c/file".into(),
            folder: "/c/folder".into(),
        };
        let mounts = of(
            std::slice::from_ref(&ws),
            &["/usr".into()],
            &sandbox,
            &covers,
        );
        let cover = |source: &str, target: &str| Mount {
            source: source.into(),
            target: ws.join(target),
            read_only: true,
        };
        let expected = [
            Mount::of(Path::new("/usr"), true),
            Mount::of(&ws, false),
            Mount::of(&ws.join(".git"), false),
            cover("/c/folder", "secret"),
            Mount::of(&ws.join(".git/hooks"), true),
            cover("/c/file", "a/b/.env"),
        ];
        assert_eq!(mounts, expected);
    }

    #[test]
    fn a_container_that_has_other_mounts_is_found_out() {
        let cover = Mount {
            source: "/tmp/toolgate-1/file".into(),
            target: "/ws/.env".into(),
            read_only: true,
        };
        let asked = [
            Mount::of(Path::new("/ws"), false),
            Mount::of(Path::new("/ws/.git"), false),
            cover,
            Mount::of(Path::new("/ws/.git/hooks"), true),
        ];
        let right = [
            seen("/", "/", true),
            seen("/home/ws", "/ws", false),
            seen("/home/ws/.git", "/ws/.git", false),
            seen("/tmp/toolgate-1/file", "/ws/.env", true),
            seen("/home/ws/.git/hooks", "/ws/.git/hooks", true),
        ];
        assert_eq!(compare(&asked, &right), Ok(()));
        let with = |index: usize, other: Seen| {
            let mut changed = right.to_vec();
            changed[index] = other;
            compare(&asked, &changed).unwrap_err()
        };
        assert!(with(0, seen("/", "/", false)).contains("root that can be written"));
        assert!(with(1, seen("/home/ws", "/elsewhere", false)).contains("does not have /ws"));
        assert!(with(2, seen("/etc", "/ws/.git", false)).contains("something else at /ws/.git"));
        assert!(with(3, seen("/home/ws/.env", "/ws/.env", true)).contains("something else"));
        assert!(with(3, seen("/tmp/x/file", "/ws/elsewhere", true)).contains("does not have"));
        let open = seen("/home/ws/.git/hooks", "/ws/.git/hooks", false);
        assert!(with(4, open).contains("can be written"));
        let mut other = seen("/home/ws/.git/hooks", "/ws/.git/hooks", true);
        other.device = "8:2".to_owned();
        assert!(with(4, other).contains("something else"));
        // What lies on top counts.
        let mut covered = right.to_vec();
        covered.push(seen("/home/ws/.env", "/ws/.env", true));
        assert!(compare(&asked, &covered).is_err());
    }

    #[test]
    fn paths_of_the_table_and_of_engines() {
        assert_eq!(unescaped(r"/a\040b\134c"), Path::new("/a b\\c"));
        assert_eq!(unescaped(r"/a\4"), Path::new(r"/a\4"));
        for path in ["/a,b", "/a\"b", "/a\nb"] {
            let refused = Mount::of(Path::new(path), false).argument().unwrap_err();
            assert_eq!(refused.step, Step::Root, "{refused}");
        }
    }
}
