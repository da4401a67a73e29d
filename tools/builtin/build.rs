//! Builds the built-in tools and writes them down as constants.

use std::fmt::Write as _;
use std::path::PathBuf;

/// Name in the registry, package, and whether it is of no use without a shell.
const TOOLS: [(&str, &str, bool); 20] = [
    ("Bash", "toolgate-bash", true),
    ("BashOutput", "toolgate-bash-output", true),
    ("Edit", "toolgate-edit", false),
    ("Glob", "toolgate-glob", false),
    ("Grep", "toolgate-grep", false),
    ("LS", "toolgate-ls", false),
    ("Monitor", "toolgate-monitor", true),
    ("MultiEdit", "toolgate-multi-edit", false),
    ("Read", "toolgate-read", false),
    ("ShellClose", "toolgate-shell-close", true),
    ("ShellRead", "toolgate-shell-read", true),
    ("ShellResize", "toolgate-shell-resize", true),
    ("ShellStart", "toolgate-shell-start", true),
    ("ShellWrite", "toolgate-shell-write", true),
    ("TaskList", "toolgate-task-list", true),
    ("TaskOutput", "toolgate-task-output", true),
    ("TaskStop", "toolgate-task-stop", true),
    ("WebFetch", "toolgate-web-fetch", false),
    ("WebSearch", "toolgate-web-search", false),
    ("Write", "toolgate-write", false),
];

fn main() -> Result<(), String> {
    let packages: Vec<&str> = TOOLS
        .iter()
        .flat_map(|(_, package, _)| ["-p", package])
        .collect();
    let built = toolgate_guest_build::build(&packages, &["tools"])?;
    let mut constants =
        String::from("/// All built-in tools, by name.\npub const COMPONENTS: &[Component] = &[\n");
    for (name, package, needs_shell) in TOOLS {
        let wasm =
            toolgate_guest_build::keep(&built, &format!("{}.wasm", package.replace('-', "_")))?;
        writeln!(
            constants,
            "    Component {{ name: {name:?}, needs_shell: {needs_shell:?}, wasm: include_bytes!({:?}) }},",
            wasm.display().to_string()
        )
        .map_err(|error| error.to_string())?;
    }
    constants.push_str("];\n");
    let out = PathBuf::from(std::env::var_os("OUT_DIR").ok_or("OUT_DIR is not set")?);
    std::fs::write(out.join("components.rs"), constants).map_err(|error| error.to_string())
}
