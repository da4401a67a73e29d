//! Ignore files: `.gitignore`, `.ignore` and `.git/info/exclude`, read through directory handles.

use std::fs::File;
use std::io::Read as _;
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;

use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};
use rustix::fs::{Mode, OFlags};

/// The most bytes of an ignore file that count.
const MAX_FILE: u64 = 1 << 20;

/// The rules of one directory.
#[derive(Debug)]
pub(super) struct IgnoreLevel {
    rules: Gitignore,
}

impl IgnoreLevel {
    /// Reads the ignore files of a directory. `has` tells which names are there.
    pub(super) fn read(dir: impl AsFd, path: &Path, has: impl Fn(&str) -> bool) -> Option<Self> {
        let dir = dir.as_fd();
        let mut builder = GitignoreBuilder::new(path);
        let mut lines = 0;
        let mut add = |text: Option<String>| {
            for line in text.iter().flat_map(|text| text.lines()) {
                // A line that is no glob ignores nothing.
                if builder.add_line(None, line).is_ok() {
                    lines += 1;
                }
            }
        };
        if has(".git") {
            let info = open(dir, ".git", OFlags::DIRECTORY)
                .and_then(|git| open(git.as_fd(), "info", OFlags::DIRECTORY));
            add(info.and_then(|info| read(info.as_fd(), "exclude")));
        }
        // Later lines win: `.ignore` over `.gitignore` over the exclude file.
        for name in [".gitignore", ".ignore"] {
            if has(name) {
                add(read(dir, name));
            }
        }
        if lines == 0 {
            return None;
        }
        builder.build().ok().map(|rules| Self { rules })
    }
}

/// Whether the innermost level that has an opinion ignores the path.
pub(super) fn ignored(levels: &[IgnoreLevel], path: &Path, is_dir: bool) -> bool {
    for level in levels.iter().rev() {
        match level.rules.matched(path, is_dir) {
            Match::Ignore(_) => return true,
            Match::Whitelist(_) => return false,
            Match::None => {}
        }
    }
    false
}

fn open(dir: impl AsFd, name: &str, more: OFlags) -> Option<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC | more;
    rustix::fs::openat(dir, name, flags, Mode::empty()).ok()
}

fn read(dir: impl AsFd, name: &str) -> Option<String> {
    let file = File::from(open(dir, name, OFlags::empty())?);
    if !file.metadata().ok()?.is_file() {
        return None;
    }
    let mut bytes = Vec::new();
    file.take(MAX_FILE).read_to_end(&mut bytes).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}
