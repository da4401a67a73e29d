//! Builds the launcher for the machine that the host is built for, with a cargo and a target folder of its own.

use std::env;
use std::ffi::OsString;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::path::{Path, PathBuf};
use std::process::Command;

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

/// Builds the launcher of a workspace and puts it into the build script's own folder as `toolgate-launcher`.
///
/// # Errors
/// In a sentence for the person who builds.
pub(crate) fn build(workspace: &Path) -> Result<(), String> {
    for source in [
        "Cargo.toml",
        "Cargo.lock",
        "host/launcher",
        "host/build/launcher.rs",
        "host/src/shell/wire",
    ] {
        println!(
            "cargo::rerun-if-changed={}",
            workspace.join(source).display()
        );
    }
    let out = PathBuf::from(variable("OUT_DIR")?);
    // Other systems have nothing of what it does, and the host no use for it.
    if variable("CARGO_CFG_TARGET_OS")? != "linux" {
        return Ok(());
    }
    let target = variable("TARGET")?;
    let marked = out
        .ancestors()
        .find(|folder| folder.join("CACHEDIR.TAG").exists());
    let folder = marked
        .map_or_else(|| workspace.join("target"), Path::to_owned)
        .join(format!("launcher-{:016x}", number(workspace)));
    let run = |flags: OsString| -> Result<(), String> {
        let output = cargo()?
            .current_dir(workspace)
            .args(["build", "--locked", "--package", "toolgate-launcher"])
            .args(["--profile", "launcher", "--target-dir"])
            .arg(&folder)
            .arg("--target")
            .arg(&target)
            .env("CARGO_ENCODED_RUSTFLAGS", flags)
            .output()
            .map_err(|error| format!("cargo cannot be run: {error}"))?;
        let errors = String::from_utf8_lossy(&output.stderr);
        let built = output.status.success().then_some(());
        built.ok_or_else(|| format!("the launcher does not build:\n{errors}"))
    };
    let flags = remapped(workspace)?;
    // Without libraries to find and join it starts in a third of the time. Not every machine has the C library in that form.
    let mut alone = flags.clone();
    alone.push("\u{1f}-Ctarget-feature=+crt-static");
    if run(alone).is_err() {
        run(flags)?;
        println!(
            "cargo::warning=the shell's launcher is not linked statically, which makes commands start later"
        );
    }
    let built = folder.join(target).join("launcher/toolgate-launcher");
    std::fs::copy(&built, out.join("toolgate-launcher"))
        .map(drop)
        .map_err(|error| format!("{} cannot be copied: {error}", built.display()))
}

/// A number of this checkout. In one folder, a second checkout's sources would pass for built when they are older than what the
/// first one built.
fn number(workspace: &Path) -> u64 {
    let mut hasher = DefaultHasher::new();
    workspace.hash(&mut hasher);
    hasher.finish()
}

fn cargo() -> Result<Command, String> {
    #[expect(
        clippy::disallowed_methods,
        reason = "a build script runs cargo, not a tool"
    )]
    let mut command = Command::new(variable("CARGO")?);
    for (name, _) in env::vars_os() {
        let Some(text) = name.to_str() else { continue };
        if OUTER.contains(&text) || OUTER_PREFIXES.iter().any(|prefix| text.starts_with(prefix)) {
            command.env_remove(&name);
        }
    }
    Ok(command)
}

/// Flags that leave no path of this machine in the program.
fn remapped(workspace: &Path) -> Result<OsString, String> {
    let home = match env::var_os("CARGO_HOME") {
        Some(home) => PathBuf::from(home),
        None => PathBuf::from(variable("HOME")?).join(".cargo"),
    };
    let mut flags = OsString::from("--remap-path-prefix=");
    flags.push(workspace);
    flags.push("=/toolgate\u{1f}--remap-path-prefix=");
    flags.push(home);
    flags.push("=/cargo");
    Ok(flags)
}

fn variable(name: &str) -> Result<OsString, String> {
    env::var_os(name).ok_or_else(|| format!("{name} is not set: this runs in build scripts"))
}
