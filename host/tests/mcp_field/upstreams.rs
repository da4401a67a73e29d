//! Reference servers as upstreams.
