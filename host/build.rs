//! Compiles the built-in tools ahead of time, with the settings that the engine runs with, asks each what it is, and builds
//! the shell's launcher.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use sha2::{Digest as _, Sha256};
use wasmtime::component::Component;

#[path = "build/declaration.rs"]
mod declaration;
#[path = "build/launcher.rs"]
mod launcher;
#[path = "src/runtime/tuning.rs"]
mod tuning;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=src/runtime/tuning.rs");
    let out = PathBuf::from(std::env::var_os("OUT_DIR").ok_or("OUT_DIR is not set")?);
    let package = std::env::var_os("CARGO_MANIFEST_DIR").ok_or("CARGO_MANIFEST_DIR is not set")?;
    let workspace = Path::new(&package)
        .parent()
        .ok_or("there is no workspace")?;
    launcher::build(workspace)?;
    let engine = wasmtime::Engine::new(&tuning::config())?;
    let mut constants = String::from("const BUILT_IN: &[BuiltIn] = &[\n");
    for tool in toolgate_builtin::COMPONENTS {
        let file = out.join(format!("{}.cwasm", tool.name));
        let component = Component::new(&engine, tool.wasm)?;
        std::fs::write(&file, component.serialize()?)?;
        let said = declaration::ask(&engine, &component)
            .map_err(|error| format!("what is {}? {error:?}", tool.name))?;
        let digest: String = Sha256::digest(tool.wasm)
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect();
        writeln!(
            constants,
            "    BuiltIn {{ name: {:?}, needs_shell: {:?}, computes_subjects: {:?}, digest: {digest:?}, declaration: {:?}, \
             compiled: include_bytes!({:?}) }},",
            tool.name,
            tool.needs_shell,
            said.computes_subjects,
            said.declaration,
            file.display().to_string()
        )?;
    }
    constants.push_str("];\n");
    std::fs::write(out.join("built_in.rs"), constants)?;
    Ok(())
}
