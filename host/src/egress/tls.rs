//! TLS: whom a server must be vouched for by.

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;
use rustls::{ClientConfig, RootCertStore};

/// The largest file of certificates.
const MAX_FILE: u64 = 4 << 20;

/// Certificates of authorities beside the system's.
#[derive(Clone, Debug, Default)]
pub struct ExtraRoots(Vec<CertificateDer<'static>>);

/// Why a file of certificates is of no use: it stops the start.
#[derive(Debug, thiserror::Error)]
pub enum RootsError {
    /// The file.
    #[error("{}: cannot be read: {error}", .path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why.
        error: std::io::Error,
    },
    /// What it holds.
    #[error("{}: {what}", .path.display())]
    NoCertificates {
        /// The file.
        path: PathBuf,
        /// Why.
        what: String,
    },
}

impl ExtraRoots {
    /// Reads a file of certificates in PEM form, at most 4 MiB.
    ///
    /// # Errors
    /// It cannot be read, or holds no certificate that can be used.
    pub fn read(path: &Path) -> Result<Self, RootsError> {
        let unreadable = |error| RootsError::Unreadable {
            path: path.to_owned(),
            error,
        };
        let wrong = |what: String| RootsError::NoCertificates {
            path: path.to_owned(),
            what,
        };
        let size = std::fs::metadata(path).map_err(unreadable)?.len();
        if size > MAX_FILE {
            return Err(wrong("is larger than 4 MiB".to_owned()));
        }
        let pem = std::fs::read(path).map_err(unreadable)?;
        Self::from_pem(&pem).map_err(wrong)
    }

    /// Reads certificates in PEM form.
    ///
    /// # Errors
    /// What is wrong with them, in words.
    pub fn from_pem(pem: &[u8]) -> Result<Self, String> {
        let mut store = RootCertStore::empty();
        let mut certificates = Vec::new();
        for certificate in CertificateDer::pem_slice_iter(pem) {
            let certificate =
                certificate.map_err(|error| format!("is no file of certificates: {error}"))?;
            store
                .add(certificate.clone())
                .map_err(|error| format!("holds a certificate that cannot be used: {error}"))?;
            certificates.push(certificate);
        }
        match certificates.is_empty() {
            true => Err("holds no certificate in PEM form".to_owned()),
            false => Ok(Self(certificates)),
        }
    }
}

/// The configuration of every TLS connection: the system's authorities, or Mozilla's where the system has none, and those
/// of the operator. The system's are hundreds of files: they are read when somebody first speaks TLS.
#[derive(Debug)]
pub(super) struct Tls {
    extra: ExtraRoots,
    made: OnceLock<Arc<ClientConfig>>,
}

impl Tls {
    pub(super) fn new(extra: &ExtraRoots) -> Self {
        Self {
            extra: extra.clone(),
            made: OnceLock::new(),
        }
    }

    /// The configuration, made the first time.
    ///
    /// # Errors
    /// TLS is not possible at all.
    pub(super) fn config(&self) -> Result<Arc<ClientConfig>, rustls::Error> {
        if let Some(made) = self.made.get() {
            return Ok(Arc::clone(made));
        }
        let made = client_config(&self.extra)?;
        Ok(Arc::clone(self.made.get_or_init(|| made)))
    }
}

fn client_config(extra: &ExtraRoots) -> Result<Arc<ClientConfig>, rustls::Error> {
    let mut roots = RootCertStore::empty();
    let native = rustls_native_certs::load_native_certs();
    let (added, _) = roots.add_parsable_certificates(native.certs);
    if added == 0 {
        tracing::debug!("the system names no authorities; those of Mozilla are used");
        roots.extend(webpki_roots::TLS_SERVER_ROOTS.iter().cloned());
    }
    roots.add_parsable_certificates(extra.0.iter().cloned());
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()?
        .with_root_certificates(roots)
        .with_no_client_auth();
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Ok(Arc::new(config))
}
