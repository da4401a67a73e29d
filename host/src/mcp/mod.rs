//! Toolgate as an MCP server: the host's tools over stdin and stdout, and over HTTP, in both eras of the protocol.
//!
//! Owns the protocol: framing, listing, calls, progress, cancellation, the way a client's person is asked, and how a
//! server ends. Guarantees that every call goes through [`Host::call`](crate::Host::call), that every request gets one
//! answer where its id can be read, that a cancelled call's processes end, and that a yes to a question is good for one
//! execution of exactly that call. Never contains a decision whether a call may run, and never believes what a client
//! says of itself.

mod beat;
mod calls;
mod clients;
mod elicit;
mod frame;
mod http;
mod news;
mod publish;
mod result;
mod seal;
mod server;
mod stdio;
mod streams;
mod token;

pub use clients::Clients;
pub use http::{BoundHttp, HttpError, HttpSettings};
pub use server::{McpServer, McpSettings, SettingsError};
pub use token::{Token, TokenError, TokenFileError};
