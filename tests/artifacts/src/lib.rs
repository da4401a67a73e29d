//! The test guests and the guest SDK's examples, as constants.

include!(concat!(env!("OUT_DIR"), "/artifacts.rs"));
