//! Starting a server's process in its sandbox, and ending it.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use crate::config::{McpReach, McpServer, ShellNetwork, unchanged};
use crate::policy::{Access, Policy};
use crate::program;
use crate::provider::{ServerFiles, ShellPlaces, server_sandbox};
use crate::shell::{CommandEnd, Ended, LocalShell, Network, Program, Running, Service, Step};

/// How long a killed tree may take to be gone.
const LONGEST_END: Duration = Duration::from_secs(3);

/// Starts the program of a server.
///
/// # Errors
/// For people: it cannot be started.
pub(super) async fn start(
    server: &McpServer,
    launcher: &LocalShell,
    places: &ShellPlaces,
    policy: &Arc<Policy>,
) -> Result<Service, String> {
    let McpReach::Command {
        command,
        env,
        env_pass,
        read,
        write,
        network,
    } = &server.reach
    else {
        return Err("it has no command".to_owned());
    };
    unchanged(&server.bound)?;
    let (name, arguments) = command.split_first().ok_or("its command is empty")?;
    let path = found(name)?;
    let files = ServerFiles {
        read: read.iter().map(|path| path.value.clone()).collect(),
        write: write.iter().map(|path| path.value.clone()).collect(),
    };
    let cwd = cwd(&files, policy);
    let (policy, places) = (Arc::clone(policy), places.clone());
    let made = tokio::task::spawn_blocking(move || {
        server_sandbox(&files, policy.roots(), policy.guard(), &places)
    });
    let sandbox = made
        .await
        .map_err(|lost| format!("its sandbox was not made: {lost}"))??;
    let program = Program {
        path,
        arguments: arguments.to_vec(),
        cwd,
        network: match network {
            ShellNetwork::Off => Network::Off,
            ShellNetwork::Full => Network::Full,
        },
        pass: env_pass.clone(),
        set: env
            .iter()
            .map(|(name, value)| (name.clone(), value.clone()))
            .collect(),
    };
    let started = launcher.serve(program, &sandbox).await;
    started.map_err(|error| match (error.step, error.errno) {
        (Step::Shell, Some(errno)) => format!(
            "its program '{name}' cannot be run: {}",
            std::io::Error::from_raw_os_error(errno)
        ),
        _ => format!("it could not be started: {error}"),
    })
}

/// The program as it is found here and now, absolute.
pub(super) fn found(name: &str) -> Result<PathBuf, String> {
    let found = program::find(name).ok_or_else(|| {
        let where_to = match name.contains('/') {
            true => "there is no such program",
            false => "it is in no folder of the search path (PATH)",
        };
        format!("its program '{name}' is not there: {where_to}")
    })?;
    std::path::absolute(&found).map_err(|error| format!("its program '{name}': {error}"))
}

/// The workspace, where the server sees it.
fn cwd(files: &ServerFiles, policy: &Policy) -> Option<PathBuf> {
    let workspace = policy.roots().all(Access::Read).next()?;
    let sees = |root: &PathBuf| {
        let real = root.canonicalize().unwrap_or_else(|_| root.clone());
        workspace.starts_with(&real)
    };
    let mut granted = files.write.iter().chain(&files.read);
    granted.any(sees).then(|| workspace.to_owned())
}

/// Waits for the end of a process for so long, then ends its whole tree.
pub(super) async fn ended(running: Running, grace: Duration) -> Option<Ended> {
    let killer = running.killer();
    let wait = running.wait();
    tokio::pin!(wait);
    if let Ok(ended) = tokio::time::timeout(grace, &mut wait).await {
        return Some(ended);
    }
    killer.kill();
    tokio::time::timeout(LONGEST_END, wait).await.ok()
}

/// How a process ended, for people.
pub(super) fn words(ended: Option<&Ended>) -> String {
    match ended.map(|ended| &ended.outcome) {
        Some(CommandEnd::Exit { code }) => format!("it ended with the exit code {code}"),
        Some(CommandEnd::Signal { name }) => format!("it was ended by the signal {name}"),
        Some(CommandEnd::Cancelled) => "it was ended by the host".to_owned(),
        Some(_) | None => "it ended".to_owned(),
    }
}

/// What a program is: another file under its name is another program.
pub(super) fn fingerprint(path: &Path) -> String {
    use std::os::unix::fs::MetadataExt as _;
    match std::fs::metadata(path) {
        Ok(found) => format!(
            "{} {} {} {} {}.{}",
            path.display(),
            found.dev(),
            found.ino(),
            found.len(),
            found.mtime(),
            found.mtime_nsec()
        ),
        Err(error) => format!("{} {error}", path.display()),
    }
}
