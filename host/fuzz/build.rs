//! Opens the doors that the host has for fuzzing.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rustc-cfg=fuzzing");
}
