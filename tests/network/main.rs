//! The network: the connector, the guests that dial through it, and the tries to get around it. Servers are real ones on
//! the loopback interface; names are looked up by a resolver that the tests hold.

mod bounds;
mod connector;
mod names;
mod secure;
mod server;
