//! From a judged URL to a connection: look up once, judge every address, dial exactly a judged one.

use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rustls::pki_types::ServerName;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::task::JoinSet;
use tokio::time::timeout;
use tokio_rustls::TlsConnector;

use super::error::{EgressError, short};
use super::proxy::Proxy;
use super::resolve::Resolve;
use super::tls::Tls;
use super::uses::Note;
use crate::policy::{EgressRefusal, JudgedUrl};

/// The most addresses of a name. One with more is refused: each must be judged.
const MAX_ADDRESSES: usize = 64;
/// The most addresses that are tried.
const MAX_TRIED: usize = 4;
/// How long one address is tried while others are left.
const ONE_ADDRESS: Duration = Duration::from_secs(4);

/// Something that bytes go through.
pub(super) trait Socket: AsyncRead + AsyncWrite + Send + Unpin {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin> Socket for T {}

/// A connection to the server of a URL.
pub(super) struct Connection {
    pub(super) socket: Box<dyn Socket>,
    pub(super) http2: bool,
}

/// What dials.
#[derive(Debug)]
pub(super) struct Dialler {
    pub(super) resolver: Arc<dyn Resolve>,
    pub(super) tls: Arc<Tls>,
    pub(super) proxy: Option<Proxy>,
}

impl Dialler {
    /// Connects to the server of a URL.
    pub(super) async fn dial(
        &self,
        judged: &JudgedUrl,
        note: &Note,
        tasks: &Tasks,
    ) -> Result<Connection, EgressError> {
        let url = judged.url();
        let port = url
            .port()
            .ok_or(EgressError::Refused(EgressRefusal::Scheme))?;
        let addresses = self.judged_addresses(judged).await?;
        let (socket, address) = self.first_of(&addresses, port, tasks).await?;
        note.dialled(address);
        if url.scheme() == "http" {
            return Ok(Connection {
                socket,
                http2: false,
            });
        }
        self.secure(url.host(), socket).await
    }

    /// The addresses of the host, all of which may be dialled.
    async fn judged_addresses(&self, judged: &JudgedUrl) -> Result<Vec<IpAddr>, EgressError> {
        let host = judged.url().host();
        let addresses = self.look_up(host).await?;
        for address in &addresses {
            judged.judge_address(*address)?;
        }
        Ok(addresses)
    }

    async fn look_up(&self, host: &str) -> Result<Vec<IpAddr>, EgressError> {
        if let Ok(address) = bare(host).parse() {
            return Ok(vec![address]);
        }
        let failed = |what: String| EgressError::Lookup {
            host: host.to_owned(),
            what,
        };
        let found = self.resolver.resolve(host).await;
        let addresses = found.map_err(|error| failed(short(&error.to_string())))?;
        match addresses.len() {
            0 => Err(failed("it has no address".to_owned())),
            1..=MAX_ADDRESSES => Ok(addresses),
            _ => Err(failed(format!(
                "it has more than {MAX_ADDRESSES} addresses"
            ))),
        }
    }

    async fn first_of(
        &self,
        addresses: &[IpAddr],
        port: u16,
        tasks: &Tasks,
    ) -> Result<(Box<dyn Socket>, SocketAddr), EgressError> {
        let mut failure = None;
        let tried = addresses.len().min(MAX_TRIED);
        for (number, address) in addresses.iter().take(MAX_TRIED).enumerate() {
            let address = SocketAddr::new(*address, port);
            let connecting = self.connect(address, tasks);
            let connected = match number + 1 == tried {
                true => connecting.await,
                false => timeout(ONE_ADDRESS, connecting).await.unwrap_or_else(|_| {
                    Err(EgressError::Connect {
                        address,
                        what: format!("no answer within {} s", ONE_ADDRESS.as_secs()),
                    })
                }),
            };
            match connected {
                Ok(socket) => return Ok((socket, address)),
                Err(error) => failure = Some(error),
            }
        }
        Err(failure.unwrap_or(EgressError::Protocol("there is no address".to_owned())))
    }

    async fn connect(
        &self,
        address: SocketAddr,
        tasks: &Tasks,
    ) -> Result<Box<dyn Socket>, EgressError> {
        if let Some(proxy) = &self.proxy {
            let socket = self.connect_proxy(proxy).await?;
            return proxy.tunnel(socket, address, tasks).await;
        }
        let socket = open(address).await.map_err(|error| EgressError::Connect {
            address,
            what: error.to_string(),
        })?;
        Ok(Box::new(socket))
    }

    /// The operator named the proxy, so its address is not judged.
    async fn connect_proxy(&self, proxy: &Proxy) -> Result<TcpStream, EgressError> {
        let addresses = match proxy.host().parse() {
            Ok(address) => vec![address],
            Err(_) => {
                let found = self.resolver.resolve(proxy.host()).await;
                found.map_err(|error| proxy.failed(&error.to_string()))?
            }
        };
        let mut failure = proxy.failed("it has no address");
        for address in addresses.into_iter().take(MAX_TRIED) {
            match open(SocketAddr::new(address, proxy.port())).await {
                Ok(socket) => return Ok(socket),
                Err(error) => failure = proxy.failed(&error.to_string()),
            }
        }
        Err(failure)
    }

    async fn secure(&self, host: &str, socket: Box<dyn Socket>) -> Result<Connection, EgressError> {
        let failed = |what: String| EgressError::Tls {
            host: host.to_owned(),
            what: short(&what),
        };
        let name = ServerName::try_from(bare(host).to_owned())
            .map_err(|error| failed(error.to_string()))?;
        let config = self
            .tls
            .config()
            .map_err(|error| failed(error.to_string()))?;
        let connector = TlsConnector::from(config);
        let stream = connector
            .connect(name, socket)
            .await
            .map_err(|error| failed(error.to_string()))?;
        let http2 = stream.get_ref().1.alpn_protocol() == Some(b"h2");
        Ok(Connection {
            socket: Box::new(stream),
            http2,
        })
    }
}

async fn open(address: SocketAddr) -> std::io::Result<TcpStream> {
    let socket = TcpStream::connect(address).await?;
    socket.set_nodelay(true)?;
    Ok(socket)
}

/// A host without the brackets of an IPv6 address.
fn bare(host: &str) -> &str {
    host.strip_prefix('[')
        .and_then(|host| host.strip_suffix(']'))
        .unwrap_or(host)
}

/// The tasks of one connection. Dropping the guard ends them, wherever they are.
#[derive(Clone, Debug, Default)]
pub(super) struct Tasks(Arc<Mutex<JoinSet<()>>>);

/// See [`Tasks`].
#[derive(Debug, Default)]
pub(super) struct TaskGuard(Tasks);

impl Tasks {
    pub(super) fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        let mut set = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        while set.try_join_next().is_some() {}
        set.spawn(task);
    }
}

impl<F> hyper::rt::Executor<F> for Tasks
where
    F: Future + Send + 'static,
{
    fn execute(&self, task: F) {
        self.spawn(async move {
            task.await;
        });
    }
}

impl TaskGuard {
    pub(super) fn tasks(&self) -> &Tasks {
        &self.0
    }
}

impl Drop for TaskGuard {
    fn drop(&mut self) {
        let mut set = self.0.0.lock().unwrap_or_else(PoisonError::into_inner);
        set.abort_all();
    }
}
