//! Servers and names of the tests.

pub(crate) use toolgate_tests::net::*;
