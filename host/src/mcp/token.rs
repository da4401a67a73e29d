//! Tokens: the secrets that open the door over HTTP.

use std::fs::File;
use std::io::Read as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use sha2::{Digest as _, Sha256};
use subtle::ConstantTimeEq as _;

use super::server::Principal;
use crate::model::hex;

/// The shortest token, characters.
const MIN_TOKEN: usize = 16;
/// The largest file of tokens, bytes.
const MAX_FILE: u64 = 64 << 10;

/// A secret that opens the door. Only its digest is kept.
#[derive(Clone, PartialEq, Eq)]
pub struct Token([u8; 32]);

impl std::fmt::Debug for Token {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Token(…)")
    }
}

/// Why a text is no token.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TokenError {
    /// It could be guessed.
    #[error("a token has at least {MIN_TOKEN} characters")]
    Short,
    /// It cannot stand in a header.
    #[error("a token is made of visible ASCII characters, without spaces")]
    Characters,
}

/// Why a file of tokens cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TokenFileError {
    /// It cannot be read.
    #[error("the token file '{}' cannot be read: {error}", .path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why.
        error: std::io::Error,
    },
    /// Others than its owner could read or change it.
    #[error(
        "the token file '{}' must be yours alone: it is one of user {owner} with mode {mode:o}; make it so with \
         'chmod 600'",
        .path.display()
    )]
    Shared {
        /// The file.
        path: PathBuf,
        /// Whose it is.
        owner: u32,
        /// Its mode.
        mode: u32,
    },
    /// One of its lines.
    #[error("{}:{line}: {error}", .path.display())]
    Line {
        /// The file.
        path: PathBuf,
        /// Which, from 1.
        line: usize,
        /// What is wrong with it.
        error: TokenError,
    },
    /// It holds no token: an empty list would let everybody in.
    #[error("the token file '{}' holds no token", .0.display())]
    Empty(PathBuf),
}

impl Token {
    /// A token of at least 16 visible ASCII characters.
    ///
    /// # Errors
    /// [`TokenError`].
    pub fn new(text: &str) -> Result<Self, TokenError> {
        if !text.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(TokenError::Characters);
        }
        if text.len() < MIN_TOKEN {
            return Err(TokenError::Short);
        }
        Ok(Self(digest(text.as_bytes())))
    }

    /// The tokens of a file, one a line; blank lines and lines that begin with `#` are none. At most 64 KiB are read, and
    /// only from a file that nobody else can read.
    ///
    /// # Errors
    /// [`TokenFileError`].
    pub fn read_file(path: &Path) -> Result<Vec<Self>, TokenFileError> {
        let path = path.to_owned();
        let text = match read(&path) {
            Ok(Ok(text)) => text,
            Ok(Err((owner, mode))) => return Err(TokenFileError::Shared { path, owner, mode }),
            Err(error) => return Err(TokenFileError::Unreadable { path, error }),
        };
        let mut tokens = Vec::new();
        for (index, line) in text.lines().enumerate() {
            let line = line.trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            match Self::new(line) {
                Ok(token) => tokens.push(token),
                Err(error) => {
                    let line = index + 1;
                    return Err(TokenFileError::Line { path, line, error });
                }
            }
        }
        match tokens.is_empty() {
            true => Err(TokenFileError::Empty(path)),
            false => Ok(tokens),
        }
    }

    /// Which of these is in an `Authorization` header. Each is compared, and each in the same time.
    pub(super) fn find(tokens: &[Self], header: &[u8]) -> Option<Principal> {
        let (scheme, given) = header.split_at_checked("Bearer ".len())?;
        if !scheme.eq_ignore_ascii_case(b"Bearer ") {
            return None;
        }
        let given = digest(given.trim_ascii());
        let mut found = None;
        for known in tokens {
            if bool::from(known.0.ct_eq(&given)) {
                found = Some(known.principal());
            }
        }
        found
    }

    /// A name for who has it, which does not tell the token.
    fn principal(&self) -> Principal {
        Principal(format!("token {}", hex(&digest(&self.0))).into())
    }
}

fn digest(bytes: &[u8]) -> [u8; 32] {
    Sha256::digest(bytes).into()
}

/// The text, or whose file it is that others can read.
fn read(path: &Path) -> std::io::Result<Result<String, (u32, u32)>> {
    let file = File::open(path)?;
    let metadata = file.metadata()?;
    let (owner, mode) = (metadata.uid(), metadata.mode() & 0o7777);
    let ours = owner == rustix::process::geteuid().as_raw() || owner == 0;
    if !ours || mode & 0o077 != 0 {
        return Ok(Err((owner, mode)));
    }
    let mut text = String::new();
    file.take(MAX_FILE).read_to_string(&mut text)?;
    Ok(Ok(text))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn a_token_is_long_and_visible() {
        assert_eq!(Token::new("short"), Err(TokenError::Short));
        assert_eq!(Token::new(""), Err(TokenError::Short));
        assert_eq!(
            Token::new("with a space in it"),
            Err(TokenError::Characters)
        );
        let token = Token::new("0123456789abcdef").unwrap();
        assert_eq!(format!("{token:?}"), "Token(…)");
        assert!(!token.principal().0.contains("0123456789abcdef"));
    }

    #[test]
    fn only_a_whole_token_is_found() {
        let tokens = ["0123456789abcdef", "fedcba9876543210"].map(|text| Token::new(text).unwrap());
        let found = |header: &str| Token::find(&tokens, header.as_bytes()).map(|who| who.0);
        let first = found("Bearer 0123456789abcdef").unwrap();
        assert_eq!(found("bearer  0123456789abcdef "), Some(first.clone()));
        assert_ne!(found("Bearer fedcba9876543210"), Some(first));
        for wrong in [
            "",
            "Bearer",
            "Bearer ",
            "Bearer 0123456789abcde",
            "Bearer 0123456789abcdef0",
            "Basic 0123456789abcdef",
            "0123456789abcdef",
            "Bearér 0123456789abcdef",
        ] {
            assert_eq!(found(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn a_file_of_tokens_is_its_owners_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("tokens");
        let write = |text: &str, mode: u32| {
            std::fs::write(&path, text).unwrap();
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
            Token::read_file(&path).map_err(|error| error.to_string())
        };
        let two = write("# mine\n0123456789abcdef\n\nfedcba9876543210\r\n", 0o600);
        assert_eq!(two.unwrap().len(), 2);
        for (text, mode, part) in [
            ("0123456789abcdef", 0o640, "chmod 600"),
            ("# none\n", 0o600, "holds no token"),
            ("0123456789abcdef\nshort\n", 0o600, "tokens:2: a token has"),
        ] {
            let said = write(text, mode).unwrap_err();
            assert!(said.contains(part), "{said}");
        }
    }
}
