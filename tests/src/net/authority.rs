//! An authority of the tests' own, and servers that it vouches for.

use std::future::Future;
use std::sync::Arc;

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use rustls::ServerConfig;
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use tokio_rustls::TlsAcceptor;
use toolgate::egress::{Connector, EgressLimits, ExtraRoots};

use super::{Caller, Names, Server, Socket};

/// An authority of the tests' own.
pub struct Authority {
    issuer: CertifiedIssuer<'static, KeyPair>,
}

impl Authority {
    pub fn new() -> Self {
        let mut params = CertificateParams::new(Vec::new()).expect("parameters");
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let key = KeyPair::generate().expect("a key");
        Self {
            issuer: CertifiedIssuer::self_signed(params, key).expect("a certificate"),
        }
    }

    /// The authority's certificate, as an operator's file holds it.
    pub fn pem(&self) -> String {
        self.issuer.pem()
    }

    /// What a server for these names shows.
    pub fn acceptor(&self, names: &[&str], protocols: &[&[u8]]) -> TlsAcceptor {
        let key = KeyPair::generate().expect("a key");
        let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        let params = CertificateParams::new(names).expect("parameters");
        let certificate = params.signed_by(&key, &self.issuer).expect("a certificate");
        let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(key.serialize_der()));
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let mut config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .expect("versions")
            .with_no_client_auth()
            .with_single_cert(vec![certificate.der().clone()], key)
            .expect("a certificate");
        config.alpn_protocols = protocols.iter().map(|name| name.to_vec()).collect();
        TlsAcceptor::from(Arc::new(config))
    }

    /// A server for these names.
    pub async fn server<F, R>(&self, names: &[&str], serve: F) -> Server
    where
        F: Fn(Caller) -> R + Send + Sync + 'static,
        R: Future<Output = ()> + Send + 'static,
    {
        let acceptor = self.acceptor(names, &[b"http/1.1"]);
        self.serving(acceptor, serve).await
    }

    /// A server of this certificate.
    pub async fn serving<F, R>(&self, acceptor: TlsAcceptor, serve: F) -> Server
    where
        F: Fn(Caller) -> R + Send + Sync + 'static,
        R: Future<Output = ()> + Send + 'static,
    {
        Server::with(serve, move |socket| {
            let accepting = acceptor.accept(socket);
            async move {
                let stream = accepting.await.ok()?;
                Some(Box::new(stream) as Box<dyn Socket>)
            }
        })
        .await
    }

    /// A connector that trusts this authority too.
    pub fn connector(&self, names: &Arc<Names>) -> Connector {
        let roots = ExtraRoots::from_pem(self.pem().as_bytes()).expect("certificates");
        Connector::new(EgressLimits::default(), &roots).with_resolver(Arc::<Names>::clone(names))
    }
}

impl Default for Authority {
    fn default() -> Self {
        Self::new()
    }
}

impl std::fmt::Debug for Authority {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Authority").finish_non_exhaustive()
    }
}
