//! Publishers' keys: which the person knows, and under which names.
//!
//! `keys.toml` in the store holds public keys only. What protects it is its place and its mode: the state directory is
//! the person's alone, and no tool writes to it.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use ed25519_dalek::pkcs8::DecodePublicKey as _;
use jiff::Timestamp;
use p256::ecdsa::signature::Verifier as _;
use serde::{Deserialize, Serialize};

use super::files::{self, sha256};
use super::name::Publisher;
use super::{StoreError, files::line_of};

/// The form of the file.
const VERSION: u32 = 1;
/// The most bytes of the file, and of a key that is given.
const MAX_FILE: u64 = 1 << 20;
const MAX_KEY: usize = 16 << 10;

/// A publisher's public key.
///
/// As text: `ed25519:` and the 32 bytes in base64, or `p256:` and the compressed point in base64. What is read may also be
/// a PEM file (`BEGIN PUBLIC KEY`) of either kind, such as `cosign.pub`.
#[derive(Clone, PartialEq, Eq)]
pub enum PublicKey {
    /// Ed25519.
    Ed25519(ed25519_dalek::VerifyingKey),
    /// ECDSA over P-256 with SHA-256, as cosign has it.
    P256(p256::ecdsa::VerifyingKey),
}

/// Why a text is no key.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum KeyError {
    /// Not a form of a key.
    #[error(
        "this is no public key: it is 'ed25519:BASE64', 'p256:BASE64', or a PEM text that begins with '-----BEGIN PUBLIC KEY-----'"
    )]
    Form,
    /// A private key.
    #[error("this is a private key, which only the publisher should have: give the public one")]
    Private,
    /// A key that anybody can sign for.
    #[error("this key is a weak one, for which anybody can make signatures")]
    Weak,
}

/// A key of the store.
#[derive(Clone, Debug)]
pub struct Known {
    /// The key.
    pub key: PublicKey,
    /// Since when.
    pub added: Timestamp,
}

/// All keys of the store, by the name that the person gave to the publisher.
#[derive(Clone, Debug, Default)]
pub struct Keys {
    keys: BTreeMap<Publisher, Known>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Stored {
    version: u32,
    #[serde(default)]
    keys: BTreeMap<String, StoredKey>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct StoredKey {
    key: String,
    added: Timestamp,
}

impl PublicKey {
    /// A short name of the key, for people and signatures: the first 16 digits of the SHA-256 of its text.
    pub fn id(&self) -> String {
        let mut id = sha256(self.to_string().as_bytes());
        id.truncate(16);
        id
    }

    /// Whether a signature over these bytes is this key's: 64 bytes of Ed25519, or DER of ECDSA.
    pub fn signed(&self, message: &[u8], signature: &[u8]) -> bool {
        match self {
            Self::Ed25519(key) => ed25519_dalek::Signature::from_slice(signature)
                .is_ok_and(|signature| key.verify_strict(message, &signature).is_ok()),
            Self::P256(key) => p256::ecdsa::Signature::from_der(signature)
                .is_ok_and(|signature| key.verify(message, &signature).is_ok()),
        }
    }

    /// The word for its kind.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Ed25519(_) => "ed25519",
            Self::P256(_) => "p256",
        }
    }
}

impl fmt::Display for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bytes = match self {
            Self::Ed25519(key) => key.to_bytes().to_vec(),
            Self::P256(key) => key.to_sec1_point(true).as_bytes().to_vec(),
        };
        write!(f, "{}:{}", self.kind(), BASE64.encode(bytes))
    }
}

impl fmt::Debug for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PublicKey({self})")
    }
}

impl FromStr for PublicKey {
    type Err = KeyError;

    fn from_str(text: &str) -> Result<Self, KeyError> {
        let text = text.trim();
        if text.len() > MAX_KEY {
            return Err(KeyError::Form);
        }
        if text.contains("PRIVATE KEY") {
            return Err(KeyError::Private);
        }
        let key = match text.split_once(':') {
            Some(("ed25519", key)) => ed25519(key),
            Some(("p256", key)) => p256_point(key),
            Some(_) | None => pem(text),
        };
        match key {
            Some(Self::Ed25519(key)) if key.is_weak() => Err(KeyError::Weak),
            Some(key) => Ok(key),
            None => Err(KeyError::Form),
        }
    }
}

fn ed25519(base64: &str) -> Option<PublicKey> {
    let bytes = BASE64.decode(base64).ok()?.try_into().ok()?;
    let key = ed25519_dalek::VerifyingKey::from_bytes(&bytes).ok()?;
    Some(PublicKey::Ed25519(key))
}

fn p256_point(base64: &str) -> Option<PublicKey> {
    let bytes = BASE64.decode(base64).ok()?;
    let key = p256::ecdsa::VerifyingKey::from_sec1_bytes(&bytes).ok()?;
    Some(PublicKey::P256(key))
}

fn pem(text: &str) -> Option<PublicKey> {
    let ed25519 = ed25519_dalek::VerifyingKey::from_public_key_pem(text);
    let p256 = || p256::ecdsa::VerifyingKey::from_public_key_pem(text);
    ed25519
        .map(PublicKey::Ed25519)
        .or_else(|_no| p256().map(PublicKey::P256))
        .ok()
}

impl Keys {
    /// The key of a publisher.
    pub fn get(&self, publisher: &Publisher) -> Option<&Known> {
        self.keys.get(publisher)
    }

    /// All of them, by name.
    pub fn all(&self) -> impl Iterator<Item = (&Publisher, &Known)> {
        self.keys.iter()
    }

    /// The key of this id, with its publisher.
    pub(super) fn by_id(&self, id: &str) -> Option<(&Publisher, &PublicKey)> {
        let mut keys = self.keys.iter();
        let found = keys.find(|(_, known)| known.key.id() == id)?;
        Some((found.0, &found.1.key))
    }

    pub(super) fn insert(&mut self, publisher: Publisher, key: PublicKey) {
        let added = Timestamp::now();
        self.keys.insert(publisher, Known { key, added });
    }

    pub(super) fn remove(&mut self, publisher: &Publisher) -> Option<Known> {
        self.keys.remove(publisher)
    }

    pub(super) fn file(folder: &Path) -> PathBuf {
        folder.join("keys.toml")
    }

    pub(super) fn read(folder: &Path) -> Result<Self, StoreError> {
        let path = Self::file(folder);
        let Some(bytes) = files::read(&path, MAX_FILE)? else {
            return Ok(Self::default());
        };
        let wrong = |line: usize, what: String| StoreError::Malformed {
            path: path.clone(),
            line,
            what: format!("{what}. Remove the file and add the keys anew with 'toolgate keys add'"),
        };
        let text = String::from_utf8(bytes).map_err(|error| wrong(1, error.to_string()))?;
        let stored: Stored = toml::from_str(&text).map_err(|error| {
            let at = error.span().map_or(0, |span| span.start);
            wrong(line_of(&text, at), error.message().to_owned())
        })?;
        if stored.version != VERSION {
            return Err(wrong(1, format!("its version is {}", stored.version)));
        }
        let mut keys = BTreeMap::new();
        for (name, StoredKey { key, added }) in stored.keys {
            let publisher =
                Publisher::chosen(&name).map_err(|error| wrong(1, error.to_string()))?;
            let key = key
                .parse()
                .map_err(|error| wrong(1, format!("the key of '{name}': {error}")))?;
            keys.insert(publisher, Known { key, added });
        }
        Ok(Self { keys })
    }

    pub(super) fn write(&self, folder: &Path) -> Result<(), StoreError> {
        let path = Self::file(folder);
        let stored = Stored {
            version: VERSION,
            keys: self
                .keys
                .iter()
                .map(|(name, known)| {
                    let key = known.key.to_string();
                    let added = known.added;
                    (name.to_string(), StoredKey { key, added })
                })
                .collect(),
        };
        let text = toml::to_string(&stored)
            .map_err(|error| StoreError::file(&path, std::io::Error::other(error)))?;
        files::replace(&path, text.as_bytes())
    }
}

#[cfg(test)]
mod tests {
    use ed25519_dalek::pkcs8::EncodePublicKey as _;
    use ed25519_dalek::pkcs8::spki::der::pem::LineEnding;
    use ed25519_dalek::{Signer as _, SigningKey};

    use super::*;

    fn key() -> SigningKey {
        SigningKey::from_bytes(&[7; 32])
    }

    #[test]
    fn keys_are_read_in_every_form() {
        let public = key().verifying_key();
        let pem = public.to_public_key_pem(LineEnding::LF).unwrap();
        let from_pem: PublicKey = pem.parse().unwrap();
        let from_text: PublicKey = from_pem.to_string().parse().unwrap();
        assert_eq!(from_pem, from_text);
        assert_eq!(from_pem, PublicKey::Ed25519(public));
        let p256 = p256::ecdsa::SigningKey::from_slice(&[9; 32]).unwrap();
        let p256 = PublicKey::P256(*p256.verifying_key());
        assert_eq!(p256.to_string().parse::<PublicKey>().unwrap(), p256);
        assert_ne!(p256.id(), from_pem.id());
        for bad in [
            "",
            "ed25519:",
            "ed25519:AAAA",
            "p256:AAAA",
            "rsa:AAAA",
            "-----BEGIN",
        ] {
            assert_eq!(bad.parse::<PublicKey>(), Err(KeyError::Form), "{bad}");
        }
        let private = "-----BEGIN PRIVATE KEY-----\n";
        assert_eq!(private.parse::<PublicKey>(), Err(KeyError::Private));
        let weak = format!("ed25519:{}", BASE64.encode([0_u8; 32]));
        assert_eq!(weak.parse::<PublicKey>(), Err(KeyError::Weak));
    }

    #[test]
    fn a_signature_is_of_one_key_over_one_message() {
        let signer = key();
        let public = PublicKey::Ed25519(signer.verifying_key());
        let signature = signer.sign(b"message").to_bytes();
        assert!(public.signed(b"message", &signature));
        assert!(!public.signed(b"another", &signature));
        assert!(!public.signed(b"message", &signature[..63]));
        let other = SigningKey::from_bytes(&[8; 32]).verifying_key();
        assert!(!PublicKey::Ed25519(other).signed(b"message", &signature));
    }
}
