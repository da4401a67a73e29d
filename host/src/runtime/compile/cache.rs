//! The cache of machine code: a private folder of this user.
//!
//! A file is used only if its seal holds: an HMAC-SHA-256 over everything in it and over what it is for, with a key that
//! lies beside it and that only this user reads. So a file that was cut, changed, renamed or brought from elsewhere is
//! compiled again and replaced, and never reaches the engine. What is verified is what is loaded: the bytes in memory.

use std::fs::{self, File, Permissions};
use std::io::{self, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;

use super::machine_code::OwnCode;
use crate::model::hex;
use crate::state::{self, StateError};

/// What a file begins with; another form has another one.
const MAGIC: &[u8; 16] = b"toolgate code 1\n";
/// Bytes of the seal, which follows.
const SEAL: usize = 32;
/// Bytes of the key.
const KEY: usize = 32;
/// The most bytes of one file.
const MAX_FILE: u64 = 512 << 20;
/// The most bytes of all files, unless said otherwise.
const MOST: u64 = 1 << 30;
/// How often the time of the last use is noted.
const NOTED: Duration = Duration::from_secs(3_600);
/// A temporary file older than this was left by a process that died.
const LEFT_OVER: Duration = Duration::from_secs(3_600);

/// See the module.
#[derive(Debug)]
pub struct CodeCache {
    folder: PathBuf,
    key: Key,
    most: u64,
}

/// Never shown.
struct Key([u8; KEY]);

impl std::fmt::Debug for Key {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Key")
    }
}

/// Why there is no cache.
#[derive(Debug, thiserror::Error)]
pub enum CacheError {
    /// Its folder is not ours alone.
    #[error(transparent)]
    Folder(#[from] StateError),
    /// Its key.
    #[error("the key of the code cache '{}': {error}", .path.display())]
    Key {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        error: io::Error,
    },
}

/// What a file holds the code of: a component, and the settings it was compiled with.
pub(super) struct CodeName {
    file: String,
}

impl CodeName {
    /// `None`: the digest is none.
    pub(super) fn new(digest: &str, settings: &[u8; 32]) -> Option<Self> {
        let is_digest = digest.len() == 64 && digest.bytes().all(|byte| byte.is_ascii_hexdigit());
        is_digest.then(|| Self {
            file: format!("{digest}-{}.cwasm", hex(settings)),
        })
    }
}

impl CodeCache {
    /// Opens the cache in a folder, which is made (mode 0700) with its key where there is none.
    ///
    /// # Errors
    /// The folder or the key is not this user's alone, or cannot be made.
    pub fn open(folder: &Path) -> Result<Self, CacheError> {
        state::open(folder)?;
        let path = folder.join("key");
        let key = private(folder).and_then(|()| key(&path));
        Ok(Self {
            key: key.map_err(|error| CacheError::Key { path, error })?,
            folder: folder.to_owned(),
            most: MOST,
        })
    }

    /// The one in a state directory: the folder `code`.
    ///
    /// # Errors
    /// As for [`CodeCache::open`].
    pub fn in_state(state: &Path) -> Result<Self, CacheError> {
        Self::open(&state.join("code"))
    }

    /// The same with another bound for all files together, bytes. Default: 1 GiB.
    #[must_use]
    pub fn with_most(mut self, bytes: u64) -> Self {
        self.most = bytes;
        self
    }

    /// The code of this name, if there is some and its seal holds.
    pub(super) fn load(&self, name: &CodeName) -> Option<OwnCode> {
        let path = self.folder.join(&name.file);
        let bytes = match state::read(&path, MAX_FILE) {
            Ok(Some(bytes)) => bytes,
            Ok(None) => return None,
            Err(error) => {
                tracing::warn!("the cached code '{}' is not used: {error}", path.display());
                return None;
            }
        };
        let Some(code) = self.opened(name, bytes) else {
            tracing::warn!(
                "the cached code '{}' is not what this host wrote: it is compiled again",
                path.display()
            );
            return None;
        };
        note_use(&path);
        Some(code)
    }

    fn opened(&self, name: &CodeName, mut bytes: Vec<u8>) -> Option<OwnCode> {
        let seal = bytes.strip_prefix(MAGIC)?.get(..SEAL)?.to_owned();
        let code = bytes.split_off(MAGIC.len() + SEAL);
        self.seal(name, &code)?.verify_slice(&seal).ok()?;
        Some(OwnCode::vouched_for(code))
    }

    fn seal(&self, name: &CodeName, code: &[u8]) -> Option<Hmac<Sha256>> {
        let mut seal = Hmac::<Sha256>::new_from_slice(&self.key.0).ok()?;
        for part in [MAGIC.as_slice(), name.file.as_bytes(), b"\0", code] {
            seal.update(part);
        }
        Some(seal)
    }

    /// Keeps code under a name, whole or not at all, and throws out what was not used for the longest time.
    pub(super) fn keep(&self, name: &CodeName, code: &OwnCode) -> io::Result<()> {
        let seal = self.seal(name, code.bytes());
        let seal = seal.ok_or_else(|| io::Error::other("its key does not work"))?;
        let length = (MAGIC.len() + SEAL + code.bytes().len()) as u64;
        if length > MAX_FILE.min(self.most) {
            return Err(io::Error::other(format!("it has {length} bytes")));
        }
        self.make_room(length)?;
        let new = self.folder.join(format!("{}.new", uuid::Uuid::now_v7()));
        let kept = (|| {
            let mut file = state::create(&new, true)?;
            file.write_all(MAGIC)?;
            file.write_all(&seal.finalize().into_bytes())?;
            file.write_all(code.bytes())?;
            file.sync_all()?;
            fs::rename(&new, self.folder.join(&name.file))
        })();
        if kept.is_err() {
            let removed = fs::remove_file(&new);
            tracing::trace!(?removed, "an unfinished file");
        }
        kept
    }

    fn make_room(&self, needed: u64) -> io::Result<()> {
        let mut files = Vec::new();
        let mut sum = needed;
        for entry in fs::read_dir(&self.folder)? {
            let entry = entry?;
            let found = entry.metadata()?;
            let used = found.modified().unwrap_or(SystemTime::UNIX_EPOCH);
            let path = entry.path();
            match path.extension().and_then(|name| name.to_str()) {
                Some("cwasm") => {
                    sum = sum.saturating_add(found.len());
                    files.push((used, found.len(), path));
                }
                Some("new") if used.elapsed().is_ok_and(|age| age > LEFT_OVER) => {
                    fs::remove_file(path)?;
                }
                Some(_) | None => {}
            }
        }
        files.sort();
        for (_, length, path) in files {
            if sum <= self.most {
                break;
            }
            // Another process may have done it.
            let removed = fs::remove_file(&path);
            tracing::debug!(?removed, "made room in the code cache: {}", path.display());
            sum = sum.saturating_sub(length);
        }
        Ok(())
    }
}

/// Notes that a file was used, now and then.
fn note_use(path: &Path) {
    let noted = File::open(path).and_then(|file| {
        let age = file.metadata()?.modified()?.elapsed();
        match age {
            Ok(age) if age < NOTED => Ok(()),
            Ok(_) | Err(_) => file.set_modified(SystemTime::now()),
        }
    });
    tracing::trace!(?noted, "use of cached code");
}

fn private(folder: &Path) -> io::Result<()> {
    if fs::metadata(folder)?.permissions().mode() & 0o077 != 0 {
        fs::set_permissions(folder, Permissions::from_mode(0o700))?;
    }
    Ok(())
}

/// The key, which is made where there is none. Of several processes that make one, the first one's counts for all.
fn key(path: &Path) -> io::Result<Key> {
    if let Some(key) = read_key(path)? {
        return Ok(key);
    }
    let mut bytes = [0; KEY];
    getrandom::fill(&mut bytes).map_err(io::Error::other)?;
    let new = path.with_file_name(format!("{}.new", uuid::Uuid::now_v7()));
    let mut file = state::create(&new, true)?;
    file.write_all(&bytes)?;
    file.sync_all()?;
    let linked = fs::hard_link(&new, path);
    fs::remove_file(&new)?;
    match linked {
        Ok(()) => Ok(Key(bytes)),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            read_key(path)?.ok_or_else(|| io::Error::other("it was removed again"))
        }
        Err(error) => Err(error),
    }
}

/// A key of another length is none: with a new one, all that was sealed is compiled again.
fn read_key(path: &Path) -> io::Result<Option<Key>> {
    let Some(bytes) = state::read(path, 4_096)? else {
        return Ok(None);
    };
    if fs::metadata(path)?.permissions().mode() & 0o077 != 0 {
        fs::set_permissions(path, Permissions::from_mode(0o600))?;
    }
    match bytes.try_into() {
        Ok(key) => Ok(Some(Key(key))),
        Err(_) => fs::remove_file(path).map(|()| None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(first: char) -> CodeName {
        let digest = format!("{first}{}", "0".repeat(63));
        CodeName::new(&digest, &[7; 32]).unwrap()
    }

    fn code(text: &str) -> OwnCode {
        OwnCode::vouched_for(text.as_bytes().to_vec())
    }

    fn loaded(cache: &CodeCache, name: &CodeName) -> Option<Vec<u8>> {
        cache.load(name).map(|code| code.bytes().to_vec())
    }

    #[test]
    fn only_what_was_kept_here_under_this_name_is_loaded() {
        let scratch = tempfile::tempdir().unwrap();
        let folder = scratch.path().join("code");
        let cache = CodeCache::open(&folder).unwrap();
        let (a, b) = (name('a'), name('b'));
        assert!(loaded(&cache, &a).is_none());
        cache.keep(&a, &code("machine code")).unwrap();
        let again = CodeCache::open(&folder).unwrap();
        assert_eq!(loaded(&again, &a).unwrap(), b"machine code");
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(&folder), 0o700);
        assert_eq!(mode(&folder.join("key")), 0o600);
        assert_eq!(mode(&folder.join(&a.file)), 0o600);

        let whole = fs::read(folder.join(&a.file)).unwrap();
        let write = |name: &CodeName, bytes: &[u8]| {
            let mut file = state::create(&folder.join(&name.file), true).unwrap();
            file.write_all(bytes).unwrap();
        };
        write(&b, &whole);
        assert!(loaded(&cache, &b).is_none(), "code of another component");
        for length in 0..whole.len() {
            write(&a, &whole[..length]);
            assert!(loaded(&cache, &a).is_none(), "cut to {length}");
        }
        for at in 0..whole.len() {
            let mut changed = whole.clone();
            changed[at] ^= 1;
            write(&a, &changed);
            assert!(loaded(&cache, &a).is_none(), "changed at {at}");
        }
        cache.keep(&a, &code("machine code")).unwrap();
        assert_eq!(loaded(&cache, &a).unwrap(), b"machine code");
    }

    #[test]
    fn code_that_another_key_sealed_is_foreign() {
        let scratch = tempfile::tempdir().unwrap();
        let (ours, theirs) = (scratch.path().join("a"), scratch.path().join("b"));
        let (cache, foreign) = (
            CodeCache::open(&ours).unwrap(),
            CodeCache::open(&theirs).unwrap(),
        );
        let name = name('a');
        foreign.keep(&name, &code("evil")).unwrap();
        fs::copy(theirs.join(&name.file), ours.join(&name.file)).unwrap();
        assert!(loaded(&cache, &name).is_none());
        fs::remove_file(ours.join(&name.file)).unwrap();
        std::os::unix::fs::symlink(theirs.join(&name.file), ours.join(&name.file)).unwrap();
        assert!(loaded(&cache, &name).is_none());
    }

    #[test]
    fn a_key_of_another_length_is_made_anew() {
        let scratch = tempfile::tempdir().unwrap();
        let folder = scratch.path().join("code");
        let name = name('a');
        let cache = CodeCache::open(&folder).unwrap();
        cache.keep(&name, &code("x")).unwrap();
        fs::write(folder.join("key"), "short").unwrap();
        let cache = CodeCache::open(&folder).unwrap();
        assert!(loaded(&cache, &name).is_none());
        cache.keep(&name, &code("x")).unwrap();
        assert!(loaded(&cache, &name).is_some());
    }

    #[test]
    fn what_was_not_used_for_the_longest_time_goes_first() {
        let scratch = tempfile::tempdir().unwrap();
        let folder = scratch.path().join("code");
        let cache = CodeCache::open(&folder).unwrap().with_most(3 * 1_100);
        let long = code(&"x".repeat(1_000));
        let old = |name: &CodeName, hours: u64| {
            let file = File::open(folder.join(&name.file)).unwrap();
            let then = SystemTime::now() - Duration::from_secs(hours * 3_600);
            file.set_modified(then).unwrap();
        };
        let names = ['a', 'b', 'c', 'd'].map(name);
        for (at, name) in names.iter().take(3).enumerate() {
            cache.keep(name, &long).unwrap();
            old(name, 30 - at as u64);
        }
        assert!(loaded(&cache, &names[0]).is_some(), "and its use is noted");
        cache.keep(&names[3], &long).unwrap();
        let there = names
            .each_ref()
            .map(|name| folder.join(&name.file).exists());
        assert_eq!(there, [true, false, true, true]);
        assert!(cache.keep(&name('e'), &code(&"x".repeat(4_000))).is_err());
        fs::write(folder.join("left.new"), "x").unwrap();
        File::open(folder.join("left.new"))
            .and_then(|file| file.set_modified(SystemTime::UNIX_EPOCH))
            .unwrap();
        cache.keep(&names[1], &long).unwrap();
        assert!(!folder.join("left.new").exists());
    }
}
