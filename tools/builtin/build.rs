//! Builds the built-in tools and writes them down as constants.

use std::fmt::Write as _;
use std::path::PathBuf;

/// Name in the registry, and package.
const TOOLS: [(&str, &str); 7] = [
    ("Edit", "toolgate-edit"),
    ("Glob", "toolgate-glob"),
    ("Grep", "toolgate-grep"),
    ("LS", "toolgate-ls"),
    ("MultiEdit", "toolgate-multi-edit"),
    ("Read", "toolgate-read"),
    ("Write", "toolgate-write"),
];

fn main() -> Result<(), String> {
    let packages: Vec<&str> = TOOLS
        .iter()
        .flat_map(|(_, package)| ["-p", package])
        .collect();
    let built = toolgate_guest_build::build(&packages, &["tools"])?;
    let mut constants =
        String::from("/// All built-in tools, by name.\npub const COMPONENTS: &[Component] = &[\n");
    for (name, package) in TOOLS {
        let wasm =
            toolgate_guest_build::keep(&built, &format!("{}.wasm", package.replace('-', "_")))?;
        writeln!(
            constants,
            "    Component {{ name: {name:?}, wasm: include_bytes!({:?}) }},",
            wasm.display().to_string()
        )
        .map_err(|error| error.to_string())?;
    }
    constants.push_str("];\n");
    let out = PathBuf::from(std::env::var_os("OUT_DIR").ok_or("OUT_DIR is not set")?);
    std::fs::write(out.join("components.rs"), constants).map_err(|error| error.to_string())
}
