//! Test guests: see `examples/`.
