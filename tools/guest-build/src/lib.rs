//! Builds guests of this workspace from a build script: one command from a fresh clone, incremental, and the same bytes
//! whatever the folder, the outer flags or the outer profile.
//!
//! Owns the call of the nested cargo. Never contains a list of guests.
#![expect(
    clippy::print_stdout,
    reason = "a build script talks to cargo on stdout"
)]

use std::env;
use std::ffi::OsString;
use std::fmt::Display;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The target that all guests are built for.
const TARGET: &str = "wasm32-wasip2";
/// SIMD and bulk memory make searching fast, and every host has them.
const TARGET_FEATURES: &str = "-Ctarget-feature=+simd128,+bulk-memory";
/// What of the outer build must not reach the inner one.
const OUTER: [&str; 7] = [
    "CARGO_ENCODED_RUSTFLAGS",
    "RUSTFLAGS",
    "RUSTC_WRAPPER",
    "RUSTC_WORKSPACE_WRAPPER",
    "CARGO_BUILD_TARGET",
    "CARGO_BUILD_RUSTFLAGS",
    "RUSTDOCFLAGS",
];
/// Families of the same.
const OUTER_PREFIXES: [&str; 3] = ["CARGO_CFG_", "CARGO_FEATURE_", "CARGO_PROFILE_"];

/// Builds guests with the workspace's `guest` profile and gives the folder that holds them.
///
/// `selection` is what to build, in cargo's words (`-p`, `toolgate-read`, `--examples`). Cargo is told to look again when
/// something in `sources` changes; those are relative to the workspace.
///
/// # Errors
/// In a sentence for the person who builds: the target cannot be had, or the guests do not compile.
pub fn build(selection: &[&str], sources: &[&str]) -> Result<PathBuf, String> {
    let always = ["Cargo.toml", "Cargo.lock", "wit", "guest-sdk"];
    for source in sources.iter().chain(&always) {
        // Relative to the crate that is built, which stands two folders below the workspace: another checkout that shares
        // the target folder looks at its own sources.
        println!("cargo::rerun-if-changed=../../{source}");
    }
    add_target()?;
    let workspace = &workspace()?;
    let target_dir = target_dir(workspace)?.join("guests");
    let mut cargo = command(variable("CARGO")?);
    cargo
        .current_dir(workspace)
        .args([
            "build",
            "--locked",
            "--profile",
            "guest",
            "--target",
            TARGET,
            "--target-dir",
        ])
        .arg(&target_dir)
        .args(selection)
        .env("CARGO_ENCODED_RUSTFLAGS", rustflags(workspace)?);
    let output = cargo.output().map_err(|error| failed("cargo", &error))?;
    if !output.status.success() {
        let errors = String::from_utf8_lossy(&output.stderr);
        return Err(format!("the guests do not build:\n{errors}"));
    }
    Ok(target_dir.join(TARGET).join("guest"))
}

/// The workspace of the crate that is built, asked when the build script runs: a script that another checkout compiled may
/// run here.
///
/// # Errors
/// In a sentence: this is no build script of a crate two folders below the workspace.
pub fn workspace() -> Result<PathBuf, String> {
    let package = PathBuf::from(variable("CARGO_MANIFEST_DIR")?);
    let workspace = package.ancestors().nth(2);
    workspace
        .map(Path::to_owned)
        .ok_or_else(|| format!("{} stands too high", package.display()))
}

/// Copies a built guest into the build script's own folder: other checkouts may build into the same target folder.
///
/// # Errors
/// In a sentence: the guest is not there, or cannot be copied.
pub fn keep(built: &Path, file: &str) -> Result<PathBuf, String> {
    let kept = PathBuf::from(variable("OUT_DIR")?).join(file);
    std::fs::copy(built.join(file), &kept)
        .map_err(|error| format!("the guest {file} cannot be copied: {error}"))?;
    Ok(kept)
}

fn command(program: OsString) -> Command {
    #[expect(
        clippy::disallowed_methods,
        reason = "a build script runs cargo, not a tool"
    )]
    let mut command = Command::new(program);
    for (name, _) in env::vars_os() {
        let Some(text) = name.to_str() else { continue };
        if OUTER.contains(&text) || OUTER_PREFIXES.iter().any(|prefix| text.starts_with(prefix)) {
            command.env_remove(&name);
        }
    }
    command
}

/// Adds the target where it is missing, and says so.
fn add_target() -> Result<(), String> {
    let sysroot = command(variable("RUSTC")?)
        .args(["--print", "sysroot"])
        .output()
        .map_err(|error| failed("rustc", &error))?;
    let sysroot = PathBuf::from(String::from_utf8_lossy(&sysroot.stdout).trim());
    if sysroot.join("lib/rustlib").join(TARGET).exists() {
        return Ok(());
    }
    println!("cargo::warning=the target {TARGET} is missing: adding it with rustup");
    let added = command("rustup".into())
        .args(["target", "add", TARGET])
        .output();
    match added {
        Ok(output) if output.status.success() => Ok(()),
        Ok(output) => {
            let errors = String::from_utf8_lossy(&output.stderr);
            Err(format!(
                "the target {TARGET} is missing, and 'rustup target add {TARGET}' failed:\n{errors}"
            ))
        }
        Err(error) => Err(format!(
            "the target {TARGET} is missing, and there is no rustup to add it ({error}): install the target's standard \
             library by other means"
        )),
    }
}

/// Flags that leave no path of this machine in the guests.
fn rustflags(workspace: &Path) -> Result<OsString, String> {
    let home = match env::var_os("CARGO_HOME") {
        Some(home) => PathBuf::from(home),
        None => PathBuf::from(variable("HOME")?).join(".cargo"),
    };
    let remap = |from: &Path, to: &str| {
        let mut flag = OsString::from("--remap-path-prefix=");
        flag.push(from);
        flag.push(format!("={to}"));
        flag
    };
    let mut flags = OsString::from(TARGET_FEATURES);
    for flag in [remap(workspace, "/toolgate"), remap(&home, "/cargo")] {
        flags.push("\u{1f}");
        flags.push(flag);
    }
    Ok(flags)
}

/// Cargo's target folder: the nested cargo gets a folder of its own in it, because the outer one holds the lock.
fn target_dir(workspace: &Path) -> Result<PathBuf, String> {
    let out = PathBuf::from(variable("OUT_DIR")?);
    let marked = out
        .ancestors()
        .find(|folder| folder.join("CACHEDIR.TAG").exists());
    Ok(marked.map_or_else(|| workspace.join("target"), Path::to_owned))
}

fn variable(name: &str) -> Result<OsString, String> {
    env::var_os(name).ok_or_else(|| format!("{name} is not set: this runs in build scripts"))
}

fn failed(program: &str, error: &dyn Display) -> String {
    format!("{program} cannot be run: {error}")
}
