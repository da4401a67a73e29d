//! Detached signatures: `X.wasm.sig` beside `X.wasm`.
//!
//! ```text
//! toolgate signature 1
//! ed25519 KEY-ID BASE64
//! ```
//!
//! One line for each signature, at most 16. KEY-ID is [`PublicKey::id`]; the kind is `ed25519` (64 bytes) or `p256` (DER).
//! What is signed is the text `toolgate component 1`, a line feed, `sha256:` and the digest of the component in small
//! hexadecimal letters, and a line feed. Signatures by unknown keys count for nothing; one that names a known key and does
//! not hold refuses the component, and so does a file that is not of this form: what should prove something and does not is
//! worse than nothing.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;

use super::keys::{Keys, PublicKey};
use super::name::Publisher;

/// The first line.
const FORM: &str = "toolgate signature 1";
/// The most signatures in a file.
const MAX_SIGNATURES: usize = 16;
/// The most bytes of the file.
pub(super) const MAX_FILE: u64 = 16 << 10;

/// What is known of who signed a component.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Signed {
    /// By a key of the store.
    By {
        /// The name that the person gave to the key.
        publisher: Publisher,
        /// The key's id.
        key: String,
    },
    /// Only by keys that are not in the store: their ids, or what is known of them.
    Unknown(Vec<String>),
    /// By nobody.
    Nobody,
}

/// Why a signature refuses its component.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SignatureError {
    /// The file.
    #[error("the signature file, line {line}: {what}")]
    Form {
        /// Line, from 1.
        line: usize,
        /// What is wrong.
        what: &'static str,
    },
    /// A signature that does not hold.
    #[error(
        "the signature by the key {key} of '{publisher}' does not hold: the component is not the one that was signed"
    )]
    Broken {
        /// The name of the key.
        publisher: Publisher,
        /// Its id.
        key: String,
    },
}

/// What a publisher signs.
pub fn message(digest: &str) -> String {
    format!("toolgate component 1\nsha256:{digest}\n")
}

/// The content of a signature file with one signature.
pub fn file(key: &PublicKey, signature: &[u8]) -> String {
    let signature = BASE64.encode(signature);
    format!("{FORM}\n{} {} {signature}\n", key.kind(), key.id())
}

/// Who signed the component of this digest, as a signature file says and the keys show.
pub(super) fn verify(file: &[u8], digest: &str, keys: &Keys) -> Result<Signed, SignatureError> {
    let form = |line: usize, what: &'static str| SignatureError::Form { line, what };
    let text = std::str::from_utf8(file).map_err(|_no| form(1, "it is not UTF-8"))?;
    let mut lines = text.lines().enumerate();
    if lines.next().map(|(_, line)| line.trim_end()) != Some(FORM) {
        return Err(form(1, "it is not 'toolgate signature 1'"));
    }
    let message = message(digest);
    let mut signed = None;
    let mut unknown = Vec::new();
    for (at, line) in lines.filter(|(_, line)| !line.trim().is_empty()) {
        let at = at + 1;
        if at > MAX_SIGNATURES + 1 {
            return Err(form(at, "there are more than 16 signatures"));
        }
        let parts: Vec<&str> = line.split_whitespace().collect();
        let &[kind, id, signature] = parts.as_slice() else {
            return Err(form(at, "it is not 'KIND KEY-ID BASE64'"));
        };
        let is_id = id.len() == 16 && id.bytes().all(|byte| byte.is_ascii_hexdigit());
        if !["ed25519", "p256"].contains(&kind) || !is_id {
            return Err(form(at, "it names no kind of key, or no key"));
        }
        let signature = BASE64
            .decode(signature)
            .map_err(|_no| form(at, "the signature is not base64"))?;
        match keys.by_id(id) {
            None => unknown.push(id.to_owned()),
            Some((publisher, key)) => {
                if key.kind() != kind || !key.signed(message.as_bytes(), &signature) {
                    return Err(SignatureError::Broken {
                        publisher: publisher.clone(),
                        key: id.to_owned(),
                    });
                }
                signed.get_or_insert_with(|| Signed::By {
                    publisher: publisher.clone(),
                    key: id.to_owned(),
                });
            }
        }
    }
    Ok(signed.unwrap_or(match unknown.is_empty() {
        true => Signed::Nobody,
        false => Signed::Unknown(unknown),
    }))
}

#[cfg(test)]
mod tests {
    use ed25519_dalek::{Signer as _, SigningKey};

    use super::*;

    const DIGEST: &str = "ab";

    fn signer(seed: u8) -> (SigningKey, PublicKey) {
        let signer = SigningKey::from_bytes(&[seed; 32]);
        let public = PublicKey::Ed25519(signer.verifying_key());
        (signer, public)
    }

    fn signed_by(seed: u8, digest: &str) -> String {
        let (signer, public) = signer(seed);
        file(&public, &signer.sign(message(digest).as_bytes()).to_bytes())
    }

    fn keys() -> Keys {
        let mut keys = Keys::default();
        keys.insert(Publisher::chosen("acme").unwrap(), signer(1).1);
        keys
    }

    #[test]
    fn a_known_key_names_the_publisher() {
        let Signed::By { publisher, key } =
            verify(signed_by(1, DIGEST).as_bytes(), DIGEST, &keys()).unwrap()
        else {
            panic!("signed by nobody");
        };
        assert_eq!((publisher.as_str(), key), ("acme", signer(1).1.id()));
        let stranger = verify(signed_by(2, DIGEST).as_bytes(), DIGEST, &keys());
        assert_eq!(stranger, Ok(Signed::Unknown(vec![signer(2).1.id()])));
        let both = signed_by(2, DIGEST) + signed_by(1, DIGEST).lines().nth(1).unwrap();
        let both = verify(both.as_bytes(), DIGEST, &keys()).unwrap();
        assert!(matches!(both, Signed::By { .. }));
    }

    #[test]
    fn what_should_prove_something_and_does_not_refuses() {
        let other = verify(signed_by(1, "cd").as_bytes(), DIGEST, &keys());
        assert!(matches!(other, Err(SignatureError::Broken { .. })));
        let borrowed = signed_by(2, DIGEST).replace(&signer(2).1.id(), &signer(1).1.id());
        let borrowed = verify(borrowed.as_bytes(), DIGEST, &keys());
        assert!(matches!(borrowed, Err(SignatureError::Broken { .. })));
        let line = signed_by(1, DIGEST).lines().nth(1).unwrap().to_owned();
        let many = format!("{FORM}\n{}", format!("{line}\n").repeat(17));
        for bad in [
            "",
            "toolgate signature 2\n",
            &line,
            &format!("{FORM}\nx"),
            &format!("{FORM}\nrsa {} AAAA", signer(1).1.id()),
            &format!("{FORM}\ned25519 nokey AAAA"),
            &format!("{FORM}\ned25519 {} ???", signer(1).1.id()),
            &many,
        ] {
            let refused = verify(bad.as_bytes(), DIGEST, &keys());
            assert!(matches!(refused, Err(SignatureError::Form { .. })), "{bad}");
        }
        let bytes = verify(&[0xff, 0xfe], DIGEST, &keys());
        assert!(matches!(bytes, Err(SignatureError::Form { .. })));
    }
}
