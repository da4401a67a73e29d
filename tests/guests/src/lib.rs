//! What test guests share. The guests themselves are in `examples/`.

pub mod http;
pub mod raw;
pub mod wasi;
