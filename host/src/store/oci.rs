//! Components from OCI registries: one manifest with one layer of `application/wasm`.
//!
//! Everything a registry says is checked against digests: the manifest against the one that was asked for, the layer
//! against the manifest. A component has at most 32 MiB, a call of a registry at most 5 minutes. Plain HTTP is only spoken
//! to a loopback address that a setting or a flag names.

use std::collections::BTreeMap;
use std::sync::Once;
use std::time::Duration;

use futures::TryStreamExt as _;
use oci_client::client::{Client, ClientConfig, ClientProtocol};
use oci_client::errors::{OciDistributionError, OciErrorCode};
use oci_client::manifest::{OCI_IMAGE_MEDIA_TYPE, OciDescriptor, OciImageManifest};
use oci_client::secrets::RegistryAuth;
use oci_client::{Reference, RegistryOperation};

use super::cosign;
use super::credentials::{self, Credentials};
use super::fetch::{FetchError, Fetched};
use super::files::sha256;
use super::keys::Keys;
use crate::model::is_loopback_host;
use crate::runtime::MAX_COMPONENT;

/// What a component's layer may be called.
const LAYERS: [&str; 2] = [
    "application/wasm",
    "application/vnd.wasm.content.layer.v1+wasm",
];
/// The largest manifest, bytes.
pub(super) const MAX_MANIFEST: usize = 1 << 20;
/// All that is asked of a registry for one component.
const TIME: Duration = Duration::from_secs(300);
/// Without a byte, or without a connection.
const SILENCE: Duration = Duration::from_secs(30);

/// How registries are reached, by host (`HOST` or `HOST:PORT`).
#[derive(Clone, Debug, Default)]
pub struct Registries {
    /// What the settings say.
    pub access: BTreeMap<String, RegistryAccess>,
    /// The file with what `docker login` keeps, if it is to be used.
    pub docker_config: Option<std::path::PathBuf>,
}

/// How one registry is reached.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RegistryAccess {
    /// Plain HTTP. Only for a loopback address.
    pub plain_http: bool,
    /// Who logs in.
    pub username: Option<String>,
    /// The file with the password or token.
    pub password_file: Option<std::path::PathBuf>,
}

/// A reference, with its host named.
pub(super) fn reference(text: &str) -> Result<Reference, FetchError> {
    let wrong = |what: String| FetchError::Source {
        text: format!("oci://{text}"),
        what,
    };
    let host = text.split('/').next().unwrap_or_default();
    if !(host.contains(['.', ':']) || host == "localhost") || !text.contains('/') {
        return Err(wrong(
            "name the registry: oci://HOST/REPOSITORY:TAG or oci://HOST/REPOSITORY@sha256:…"
                .to_owned(),
        ));
    }
    text.parse()
        .map_err(|error: oci_client::ParseError| wrong(error.to_string()))
}

/// Gets a component, and who signed it.
pub(super) async fn fetch(
    text: &str,
    registries: &Registries,
    keys: &Keys,
) -> Result<Fetched, FetchError> {
    let reference = reference(text)?;
    let failed = |what: String| FetchError::Registry {
        reference: format!("oci://{text}"),
        what,
    };
    let host = reference.resolve_registry().to_owned();
    let access = registries.access.get(&host).cloned().unwrap_or_default();
    if access.plain_http && !is_loopback_host(&host) {
        return Err(failed(format!(
            "plain HTTP is only for a loopback address, and '{host}' is none"
        )));
    }
    let credentials = credentials::of(&host, &access, registries).map_err(&failed)?;
    let registry = Registry::new(&host, access.plain_http, credentials);
    let fetching = registry.component(&reference, keys);
    let fetched = tokio::time::timeout(TIME, fetching).await;
    let fetched = fetched.map_err(|_late| failed(format!("no answer in {} s", TIME.as_secs())))?;
    let (bytes, manifest, signed) = fetched.map_err(failed)?;
    Ok(Fetched {
        bytes,
        source: format!("oci://{text}"),
        manifest: Some(manifest),
        signed,
    })
}

/// A registry with the way in.
pub(super) struct Registry {
    client: Client,
    auth: RegistryAuth,
}

impl Registry {
    fn new(host: &str, plain_http: bool, credentials: Option<Credentials>) -> Self {
        install_provider();
        let protocol = match plain_http {
            true => ClientProtocol::HttpsExcept(vec![host.to_owned()]),
            false => ClientProtocol::Https,
        };
        let client = Client::new(ClientConfig {
            protocol,
            platform_resolver: None,
            read_timeout: Some(SILENCE),
            connect_timeout: Some(SILENCE),
            ..ClientConfig::default()
        });
        let auth = match credentials {
            Some(Credentials { username, password }) => RegistryAuth::Basic(username, password),
            None => RegistryAuth::Anonymous,
        };
        Self { client, auth }
    }

    async fn component(
        &self,
        reference: &Reference,
        keys: &Keys,
    ) -> Result<(Vec<u8>, String, super::Signed), String> {
        let found = self.manifest(reference).await?;
        let (manifest, digest) = found.ok_or_else(|| {
            "there is no such component: look at the repository and the tag".to_owned()
        })?;
        if let Some(pinned) = reference.digest()
            && pinned != digest
        {
            return Err(format!(
                "the manifest is {digest}, and {pinned} was asked for"
            ));
        }
        let [layer] = manifest.layers.as_slice() else {
            let count = manifest.layers.len();
            return Err(format!("a component has one layer, and this has {count}"));
        };
        if !LAYERS.contains(&layer.media_type.as_str()) {
            return Err(format!(
                "the layer is '{}', and a component's is '{}'",
                layer.media_type.escape_debug(),
                LAYERS.first().unwrap_or(&"")
            ));
        }
        let bytes = self.blob(reference, layer, MAX_COMPONENT).await?;
        let signed = cosign::signed(self, reference, &digest, keys).await?;
        Ok((bytes, digest, signed))
    }

    /// A manifest with its digest, which is that of its bytes; none where the registry has none.
    pub(super) async fn manifest(
        &self,
        reference: &Reference,
    ) -> Result<Option<(OciImageManifest, String)>, String> {
        let raw = self
            .client
            .pull_manifest_raw(reference, &self.auth, &[OCI_IMAGE_MEDIA_TYPE])
            .await;
        let (bytes, said) = match raw {
            Ok(raw) => raw,
            Err(error) if is_missing(&error) => return Ok(None),
            Err(error) => return Err(words(&error)),
        };
        if bytes.len() > MAX_MANIFEST {
            return Err(format!("the manifest has more than {MAX_MANIFEST} bytes"));
        }
        let digest = format!("sha256:{}", sha256(&bytes));
        if digest != said {
            return Err(format!(
                "the manifest is {digest}, and the registry says {said}"
            ));
        }
        let manifest: OciImageManifest = serde_json::from_slice(&bytes).map_err(|error| {
            format!(
                "this is no manifest of a component, such as an index of several would be: {error}"
            )
        })?;
        Ok(Some((manifest, digest)))
    }

    /// The content of a layer, of at most so many bytes, checked against its digest.
    pub(super) async fn blob(
        &self,
        reference: &Reference,
        layer: &OciDescriptor,
        most: usize,
    ) -> Result<Vec<u8>, String> {
        let too_large = || format!("the layer has more than {most} bytes");
        let size = usize::try_from(layer.size).unwrap_or(usize::MAX);
        if size > most {
            return Err(too_large());
        }
        self.client
            .auth(reference, &self.auth, RegistryOperation::Pull)
            .await
            .map_err(|error| words(&error))?;
        let streaming = self.client.pull_blob_stream(reference, layer).await;
        let mut stream = streaming.map_err(|error| words(&error))?.stream;
        let mut bytes = Vec::new();
        while let Some(part) = stream.try_next().await.map_err(|error| error.to_string())? {
            if bytes.len() + part.len() > size {
                return Err(format!(
                    "the layer is longer than the {size} bytes that the manifest says"
                ));
            }
            bytes.extend_from_slice(&part);
        }
        match format!("sha256:{}", sha256(&bytes)) == layer.digest {
            true => Ok(bytes),
            false => Err("the layer is not the one that the manifest names".to_owned()),
        }
    }
}

/// Whether the registry says that it has no such manifest.
fn is_missing(error: &OciDistributionError) -> bool {
    match error {
        OciDistributionError::ImageManifestNotFoundError(_) => true,
        OciDistributionError::RegistryError { envelope, .. } => {
            let missing = |code: &OciErrorCode| {
                matches!(
                    code,
                    OciErrorCode::ManifestUnknown
                        | OciErrorCode::NameUnknown
                        | OciErrorCode::NotFound
                )
            };
            envelope.errors.iter().any(|error| missing(&error.code))
        }
        OciDistributionError::ServerError { code, .. } => *code == 404,
        _ => false,
    }
}

/// What went wrong, at most so long: a registry may have written it.
fn words(error: &OciDistributionError) -> String {
    match error {
        OciDistributionError::UnauthorizedError { .. }
        | OciDistributionError::AuthenticationFailure(_) => {
            "the registry lets nobody in without logging in: 'docker login', or [store.registries]"
                .to_owned()
        }
        OciDistributionError::RequestError(error) => {
            let mut text = error.to_string();
            let mut cause = std::error::Error::source(error);
            while let Some(error) = cause {
                text = format!("{text}: {error}");
                cause = error.source();
            }
            text.chars().take(1_000).collect()
        }
        other => other.to_string().chars().take(1_000).collect(),
    }
}

/// TLS needs one provider for the process; one that is there stays.
fn install_provider() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let provider = rustls::crypto::ring::default_provider();
        let installed = provider.install_default().is_ok();
        tracing::trace!(installed, "TLS provider");
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reference_names_its_registry() {
        for good in [
            "ghcr.io/acme/resize:1.2",
            "127.0.0.1:5000/tools/resize",
            "localhost/x:1",
        ] {
            assert!(reference(good).is_ok(), "{good}");
        }
        for bad in [
            "acme/resize:1",
            "ghcr.io",
            "",
            "ghcr.io/UPPER",
            "ghcr.io/a@sha256:12",
        ] {
            assert!(reference(bad).is_err(), "{bad}");
        }
    }
}
