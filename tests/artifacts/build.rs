//! Builds the test guests, the conformance suite's tools and the SDK's examples, and writes them down: one constant each, and macros over all of the
//! test guests, so that a guest without a test does not compile.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

/// How the names of guests begin that are hooks.
const HOOK_PREFIX: &str = "hook_";
/// How the names of guests begin that dial.
const HTTP_PREFIX: &str = "http_";
/// Examples of the guest SDK.
const SDK_EXAMPLES: [&str; 2] = ["word_count", "same_file"];

fn main() -> Result<(), String> {
    let workspace = toolgate_guest_build::workspace()?;
    let guests = names(&workspace.join("tests/guests/examples"))?;
    let selection = [
        "-p",
        "toolgate-test-guests",
        "-p",
        "toolgate-guest",
        "-p",
        "toolgate-conformance-guests",
        "--examples",
    ];
    let built = toolgate_guest_build::build(&selection, &["tests/guests", "tests/conformance"])?
        .join("examples");
    let mut code = String::new();
    for name in guests.iter().map(String::as_str).chain(SDK_EXAMPLES) {
        let wasm = toolgate_guest_build::keep(&built, &format!("{name}.wasm"))?;
        let wasm = wasm.display().to_string();
        let constant = name.to_uppercase();
        writeln!(
            code,
            "/// `{name}`.\npub const {constant}: &[u8] = include_bytes!({wasm:?});"
        )
        .map_err(text)?;
    }
    let (hooks, tools): (Vec<_>, Vec<_>) = guests
        .iter()
        .partition(|name| name.starts_with(HOOK_PREFIX));
    let (dialling, tools): (Vec<_>, Vec<_>) = tools
        .into_iter()
        .partition(|name| name.starts_with(HTTP_PREFIX));
    code.push_str(&foreach("guest", "test guest that is a tool", &tools)?);
    code.push_str(&foreach("http_guest", "test guest that dials", &dialling)?);
    code.push_str(&foreach("hook", "test guest that is a hook", &hooks)?);
    code.push_str(&conformance(&workspace, &built)?);
    let out = PathBuf::from(std::env::var_os("OUT_DIR").ok_or("OUT_DIR is not set")?);
    fs::write(out.join("artifacts.rs"), code).map_err(text)
}

/// The tools that MCP's conformance suite calls, with their names.
fn conformance(workspace: &Path, built: &Path) -> Result<String, String> {
    let mut code = "/// The tools that MCP's conformance suite calls: name and component.\n\
        pub const CONFORMANCE: &[(&str, &[u8])] = &[\n"
        .to_owned();
    for name in names(&workspace.join("tests/conformance/examples"))? {
        let wasm = toolgate_guest_build::keep(built, &format!("{name}.wasm"))?;
        let wasm = wasm.display().to_string();
        writeln!(code, "    ({name:?}, include_bytes!({wasm:?})),").map_err(text)?;
    }
    code.push_str("];\n");
    Ok(code)
}

/// A macro that calls a macro for each name.
fn foreach(what: &str, doc: &str, names: &[&String]) -> Result<String, String> {
    let mut code = format!(
        "/// Calls a macro for each {doc}.\n#[macro_export]\nmacro_rules! foreach_{what} {{\n    ($m:ident) => {{\n"
    );
    for name in names {
        writeln!(code, "        $m!({name});").map_err(text)?;
    }
    code.push_str("    };\n}\n");
    Ok(code)
}

fn names(folder: &Path) -> Result<Vec<String>, String> {
    let mut names = Vec::new();
    for entry in fs::read_dir(folder).map_err(text)? {
        let path = entry.map_err(text)?.path();
        if path.extension().is_some_and(|extension| extension == "rs")
            && let Some(stem) = path.file_stem()
        {
            names.push(stem.to_string_lossy().into_owned());
        }
    }
    names.sort();
    Ok(names)
}

fn text(error: impl std::fmt::Display) -> String {
    error.to_string()
}
