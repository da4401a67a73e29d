//! Signatures that cosign made with a key: an image `sha256-DIGEST.sig` beside the component, one layer a signature.
//!
//! A layer is a "simple signing" text that names the digest of the manifest; its annotation holds the signature over
//! exactly that text. Keys of the store are tried in order. A signature without a transparency log proves the key, not
//! the time.

use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use oci_client::Reference;
use serde_json::Value;

use super::keys::Keys;
use super::oci::Registry;
use super::signature::Signed;

/// What a layer with a signature is called.
const LAYER: &str = "application/vnd.dev.cosign.simplesigning.v1+json";
/// Where the signature stands.
const SIGNATURE: &str = "dev.cosignproject.cosign/signature";
/// What the text says it is.
const KIND: &str = "cosign container image signature";
/// The most signatures that are looked at.
const MAX_SIGNATURES: usize = 16;
/// The longest text, bytes.
const MAX_TEXT: usize = 64 << 10;
/// Looking for signatures.
const TIME: Duration = Duration::from_secs(60);

/// Who signed the manifest of this digest.
pub(super) async fn signed(
    registry: &Registry,
    reference: &Reference,
    digest: &str,
    keys: &Keys,
) -> Result<Signed, String> {
    let tag = format!("{}.sig", digest.replace(':', "-"));
    let host = reference.registry().to_owned();
    let signatures = Reference::with_tag(host, reference.repository().to_owned(), tag);
    let looking = tokio::time::timeout(TIME, registry.manifest(&signatures)).await;
    let looking = looking.map_err(|_late| "no answer about signatures".to_owned())?;
    let Some((manifest, _)) = looking.map_err(|error| format!("its signatures: {error}"))? else {
        return Ok(Signed::Nobody);
    };
    let layers = manifest.layers.iter();
    let layers = layers.filter(|layer| layer.media_type == LAYER);
    let mut seen = 0;
    for layer in layers.take(MAX_SIGNATURES) {
        seen += 1;
        let annotations = layer.annotations.as_ref();
        let signature = annotations.and_then(|annotations| annotations.get(SIGNATURE));
        let Some(signature) = signature.and_then(|text| BASE64.decode(text).ok()) else {
            continue;
        };
        let text = registry.blob(&signatures, layer, MAX_TEXT).await?;
        if let Some(signed) = by(&text, &signature, digest, keys) {
            return Ok(signed);
        }
    }
    Ok(match seen {
        0 => Signed::Nobody,
        _ => Signed::Unknown(vec!["cosign, by a key that is not in the store".to_owned()]),
    })
}

/// Who signed this text, if it is about this manifest.
fn by(text: &[u8], signature: &[u8], digest: &str, keys: &Keys) -> Option<Signed> {
    let (publisher, known) = keys
        .all()
        .find(|(_, known)| known.key.signed(text, signature))?;
    let said: Value = serde_json::from_slice(text).ok()?;
    let critical = said.get("critical")?;
    let is_kind = critical.get("type")? == KIND;
    let is_this = critical.get("image")?.get("docker-manifest-digest")? == digest;
    (is_kind && is_this).then(|| Signed::By {
        publisher: publisher.clone(),
        key: known.key.id(),
    })
}

#[cfg(test)]
mod tests {
    use p256::ecdsa::signature::Signer as _;
    use p256::ecdsa::{Signature, SigningKey};

    use super::super::keys::PublicKey;
    use super::super::name::Publisher;
    use super::*;

    const DIGEST: &str = "sha256:aa";

    fn text(kind: &str, digest: &str) -> Vec<u8> {
        serde_json::json!({
            "critical": {
                "identity": { "docker-reference": "ghcr.io/acme/resize" },
                "image": { "docker-manifest-digest": digest },
                "type": kind,
            },
            "optional": null,
        })
        .to_string()
        .into_bytes()
    }

    fn is_acme(text: &[u8], key: &SigningKey) -> bool {
        let acme = SigningKey::from_slice(&[5; 32]).unwrap();
        let mut keys = Keys::default();
        let public = PublicKey::P256(*acme.verifying_key());
        keys.insert(Publisher::chosen("acme").unwrap(), public);
        let signature: Signature = key.sign(text);
        let signature = signature.to_der();
        by(text, signature.as_bytes(), DIGEST, &keys).is_some()
    }

    #[test]
    fn a_signature_is_by_a_known_key_and_about_this_manifest() {
        let acme = SigningKey::from_slice(&[5; 32]).unwrap();
        let other = SigningKey::from_slice(&[6; 32]).unwrap();
        assert!(is_acme(&text(KIND, DIGEST), &acme));
        assert!(!is_acme(&text(KIND, DIGEST), &other));
        assert!(!is_acme(&text(KIND, "sha256:bb"), &acme));
        assert!(!is_acme(&text("something else", DIGEST), &acme));
        assert!(!is_acme(b"{}", &acme));
        assert!(!is_acme(b"no JSON", &acme));
    }
}
