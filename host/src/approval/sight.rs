//! Where paths lead, as the operating system sees it.
//!
//! Guarantees that nothing is opened but regular files, and those without waiting; that every link is followed as a tool's
//! access would follow it, at most 40 of them; and that a long file costs no more than 64 MiB of reading, all files of one
//! look together no more than 256 MiB. Never says whether a path may be reached: that is the gate's.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::fs::{self, Metadata, OpenOptions};
use std::io::{self, Read as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Component, Path, PathBuf};

use async_trait::async_trait;
use rustix::fs::OFlags;
use sha2::{Digest as _, Sha256};

use super::private_file::flags;
use crate::gate::{SeenFile, SeenPath, Sight};
use crate::model::hex;

/// The most links of one path, as in the kernel.
const MAX_LINKS: usize = 40;
/// The most bytes of a file that are read to know its content.
const MAX_FILE: u64 = 64 << 20;
/// The most bytes of all files of one look.
const MAX_ALL: u64 = 256 << 20;

/// Looks at the file system.
#[derive(Clone, Copy, Debug, Default)]
pub struct FileSight;

#[async_trait]
impl Sight for FileSight {
    async fn look(&self, paths: Vec<PathBuf>, content: bool) -> Vec<SeenPath> {
        let named = paths.clone();
        let looked = tokio::task::spawn_blocking(move || look(paths, content));
        looked.await.unwrap_or_else(|error| {
            let why = format!("looking at it failed: {error}");
            let unknown = |path: PathBuf| SeenPath {
                real: path.clone(),
                named: path,
                what: SeenFile::Unknown { why: why.clone() },
            };
            named.into_iter().map(unknown).collect()
        })
    }
}

/// Looks at each path now.
pub(super) fn look(paths: Vec<PathBuf>, content: bool) -> Vec<SeenPath> {
    let mut room = MAX_ALL;
    let mut see = |named: PathBuf| match lead(&named) {
        Ok(real) => {
            let what = stands(&real, content, &mut room);
            let what = what.unwrap_or_else(|error| unknown(&error));
            SeenPath { named, real, what }
        }
        Err(error) => SeenPath {
            real: named.clone(),
            named,
            what: unknown(&error),
        },
    };
    paths.into_iter().map(&mut see).collect()
}

fn unknown(error: &io::Error) -> SeenFile {
    SeenFile::Unknown {
        why: error.to_string(),
    }
}

/// The path behind all links; what is missing stands where it would be made.
fn lead(path: &Path) -> io::Result<PathBuf> {
    let mut way: VecDeque<OsString> = names(path);
    let mut here = PathBuf::from("/");
    let mut links = 0;
    while let Some(name) = way.pop_front() {
        if name == ".." {
            here.pop();
            continue;
        }
        let next = here.join(&name);
        let metadata = match fs::symlink_metadata(&next) {
            Ok(metadata) => metadata,
            Err(error) if is_absent(&error) => {
                here = next;
                continue;
            }
            Err(error) => return Err(error),
        };
        if !metadata.is_symlink() {
            here = next;
            continue;
        }
        links += 1;
        if links > MAX_LINKS {
            return Err(io::Error::other("too many links are in the way"));
        }
        let target = fs::read_link(&next)?;
        if target.is_absolute() {
            here = PathBuf::from("/");
        }
        for name in names(&target).into_iter().rev() {
            way.push_front(name);
        }
    }
    Ok(here)
}

fn names(path: &Path) -> VecDeque<OsString> {
    let name = |component: Component<'_>| match component {
        Component::Normal(name) => Some(name.to_owned()),
        Component::ParentDir => Some("..".into()),
        Component::Prefix(_) | Component::RootDir | Component::CurDir => None,
    };
    path.components().filter_map(name).collect()
}

fn is_absent(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
    )
}

/// What stands at a path that leads no further.
fn stands(real: &Path, content: bool, room: &mut u64) -> io::Result<SeenFile> {
    let metadata = match fs::symlink_metadata(real) {
        Ok(metadata) => metadata,
        Err(error) if is_absent(&error) => return Ok(SeenFile::Absent),
        Err(error) => return Err(error),
    };
    if metadata.is_dir() {
        return Ok(SeenFile::Directory);
    }
    if !metadata.is_file() {
        return Ok(SeenFile::Special);
    }
    if !content {
        return Ok(SeenFile::File { state: None });
    }
    let file = OpenOptions::new()
        .read(true)
        .custom_flags(flags(OFlags::NOFOLLOW | OFlags::NONBLOCK))
        .open(real)?;
    let metadata = file.metadata()?;
    if !metadata.is_file() {
        return Ok(SeenFile::Special);
    }
    let most = MAX_FILE.min(*room);
    let mut file = file.take(most.saturating_add(1));
    let mut bytes = vec![0; 64 << 10];
    let mut hasher = Sha256::new();
    loop {
        if metadata.len() > most || file.limit() == 0 {
            return Ok(SeenFile::File {
                state: Some(outside(&metadata)),
            });
        }
        match file.read(&mut bytes) {
            Ok(0) => break,
            Ok(read) => hasher.update(bytes.get(..read).unwrap_or_default()),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    *room = room.saturating_sub(metadata.len());
    Ok(SeenFile::File {
        state: Some(hex(&hasher.finalize())),
    })
}

/// The state of a file that is too long to be read: whoever changes it changes one of these.
fn outside(metadata: &Metadata) -> String {
    format!(
        "{} bytes, changed {}.{:09}, number {}:{}",
        metadata.size(),
        metadata.ctime(),
        metadata.ctime_nsec(),
        metadata.dev(),
        metadata.ino()
    )
}

/// The state that [`look`] gives to a file with this content.
pub(super) fn state_of(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    fn seen(path: &Path) -> (PathBuf, SeenFile) {
        let one = look(vec![path.to_owned()], true).remove(0);
        (one.real, one.what)
    }

    #[test]
    fn links_are_followed_to_the_place_that_a_tool_would_reach() {
        let scratch = tempfile::tempdir().unwrap();
        let base = scratch.path().canonicalize().unwrap();
        fs::create_dir_all(base.join("real/deep")).unwrap();
        fs::write(base.join("real/f.txt"), "f").unwrap();
        symlink("real", base.join("dir")).unwrap();
        symlink(base.join("dir/f.txt"), base.join("file")).unwrap();
        symlink("dir/deep/../f.txt", base.join("up")).unwrap();
        symlink("nowhere/x", base.join("dangling")).unwrap();
        let file = SeenFile::File {
            state: Some(state_of(b"f")),
        };
        for name in ["real/f.txt", "dir/f.txt", "file", "up"] {
            let at = (base.join("real/f.txt"), file.clone());
            assert_eq!(seen(&base.join(name)), at, "{name}");
        }
        let at = |name: &str| (base.join(name), SeenFile::Absent);
        assert_eq!(seen(&base.join("dangling")), at("nowhere/x"));
        assert_eq!(seen(&base.join("dir/new/a")), at("real/new/a"));
        assert_eq!(seen(&base.join("file/a")), at("real/f.txt/a"));
        assert_eq!(seen(&base.join("dir")).1, SeenFile::Directory);
    }

    #[test]
    fn a_circle_of_links_and_a_device_are_told_and_not_opened() {
        let scratch = tempfile::tempdir().unwrap();
        symlink("b", scratch.path().join("a")).unwrap();
        symlink("a", scratch.path().join("b")).unwrap();
        let circle = seen(&scratch.path().join("a")).1;
        assert!(matches!(circle, SeenFile::Unknown { why } if why.contains("links")));
        assert_eq!(seen(Path::new("/dev/zero")).1, SeenFile::Special);
    }

    #[test]
    fn every_change_of_content_is_seen_even_of_a_file_too_long_to_be_read() {
        let scratch = tempfile::tempdir().unwrap();
        let path = scratch.path().join("f");
        fs::write(&path, "one").unwrap();
        let one = seen(&path);
        fs::write(&path, "two").unwrap();
        assert_ne!(one, seen(&path));
        fs::write(&path, "one").unwrap();
        assert_eq!(one, seen(&path));
        let long = fs::File::create(&path).unwrap();
        long.set_len(MAX_FILE + 1).unwrap();
        let before = seen(&path);
        long.set_len(MAX_FILE + 2).unwrap();
        assert_ne!(before, seen(&path));
        let plain = look(vec![path], false).remove(0).what;
        assert_eq!(plain, SeenFile::File { state: None });
    }
}
