//! The sandbox: for every promise a guest that tries to break it, beside an innocent neighbour.

