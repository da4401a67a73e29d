//! The one connector: every request of the process goes through [`Connector::send`].
//!
//! Guarantees that a URL is parsed once, its host looked up once, every address judged, and exactly a judged one dialled,
//! with the URL's name in TLS; that nothing that a server sends takes unbounded time or memory; that dropping the future
//! or the body of a request ends its connection; and that each request of a call leaves a line of evidence. Never contains
//! a rule: what may be reached is the [`EgressGrant`](crate::policy::EgressGrant) that it is handed.

mod body;
mod connector;
mod decode;
mod dial;
mod error;
mod head;
mod limits;
mod proxy;
mod redirect;
mod resolve;
mod scrub;
mod scrubbed;
mod secrets;
mod tls;
mod uses;

pub use body::{Body, empty, full};
pub use connector::Connector;
pub use error::EgressError;
pub use limits::EgressLimits;
pub use proxy::{Proxy, ProxyError};
pub use redirect::MAX_REDIRECTS;
pub use resolve::{Resolve, SystemResolver};
pub use scrub::Scrubber;
pub use secrets::{FixedSecret, Secret, SecretError, SecretSource, Secrets};
pub use tls::{ExtraRoots, RootsError};
pub use uses::{MAX_REQUESTS, RequestUses};
