//! `toolgate trust`

use std::path::{Path, PathBuf};

use anyhow::bail;
use serde_json::json;
use toolgate::config::{Layers, NotInForce, Preview, TrustStore, Trusted, WorkspaceFile};

use super::args::{Cli, TrustArgs};
use super::exit::Exit;
use super::{ask, config_show, render, setup};

pub(crate) async fn run(cli: &Cli, arguments: &TrustArgs) -> anyhow::Result<Exit> {
    let store = TrustStore::open(&setup::state_dir(&cli.setup)?)?;
    match &arguments.forget {
        Some(file) => forget(store, file),
        None if arguments.list => list(cli, &store),
        None => trust(cli, store, arguments.yes).await,
    }
}

/// A file that could be trusted, with what it would set.
struct Candidate {
    file: WorkspaceFile,
    state: NotInForce,
    preview: Preview,
}

/// Shows each file that is not in force, and asks for it. What is shown, what is judged and what is trusted are the same
/// bytes; a file with which nothing would start any more is not trusted.
async fn trust(cli: &Cli, mut store: TrustStore, yes: bool) -> anyhow::Result<Exit> {
    let layers = setup::layers(&cli.setup)?;
    let files = layers.workspace_files();
    let mut exit = Exit::Done;
    let mut candidates = Vec::new();
    if files.is_empty() {
        let workspace = cli.setup.workspace.display();
        render::note(&format!("'{workspace}' has no configuration to trust"));
    }
    for file in files {
        match file.standing(&store)? {
            None => render::note(&format!("{} is trusted as it is", file.file.display())),
            Some(state) if state.why.can_be_trusted() => candidates.push(Candidate {
                preview: file.preview()?,
                file,
                state,
            }),
            Some(state) => {
                render::note(&format!("{state}; it cannot be trusted"));
                exit = Exit::Usage;
            }
        }
    }
    if let Err(error) = starts(cli, &layers, &candidates).await {
        bail!("nothing is trusted: with it, no command would start here any more: {error:#}");
    }
    if cli.setup.json {
        let all: Vec<_> = candidates.iter().map(described).collect();
        render::json(&all)?;
    }
    for candidate in &candidates {
        if !cli.setup.json {
            show(candidate);
        }
        let file = &candidate.file.file;
        if yes || ask::yes(&format!("Trust {}?", file.display()))? {
            store.trust(&candidate.file, &candidate.preview)?;
            render::note(&format!("{} is trusted", file.display()));
        } else {
            render::note(&format!("{} is not trusted", file.display()));
            exit = Exit::Denied;
        }
    }
    Ok(exit)
}

/// Builds the host that a start would have with these files, and runs nothing of them.
async fn starts(cli: &Cli, layers: &Layers, candidates: &[Candidate]) -> anyhow::Result<()> {
    if candidates.is_empty() {
        return Ok(());
    }
    let files: Vec<_> = candidates.iter().map(|one| &one.file).collect();
    let loaded = layers.load_as_if_trusted(&files)?;
    setup::hosted(&cli.setup, loaded)?.build().await?;
    Ok(())
}

fn described(candidate: &Candidate) -> serde_json::Value {
    let named = candidate.preview.named();
    let named: Vec<_> = named
        .map(|(path, now)| json!({"path": path, "now": now}))
        .collect();
    json!({
        "file": candidate.file.file,
        "layer": candidate.file.layer,
        "sha256": candidate.file.digest(),
        "why": candidate.state.why,
        "would_set": config_show::rows(&candidate.preview.config),
        "bound_to": named,
    })
}

fn show(candidate: &Candidate) {
    let Candidate { state, preview, .. } = candidate;
    render::out(&state.to_string());
    match config_show::rows(&preview.config).as_slice() {
        [] => render::out("It would set nothing."),
        rows => {
            render::out("It would set:");
            config_show::show(rows);
        }
    }
    let mut named = preview.named().peekable();
    if named.peek().is_some() {
        render::out(
            "Trust is bound to its bytes and to these; what a program loads on its own is not bound:",
        );
    }
    for (path, now) in named {
        render::out(&format!("  {} ({now})", path.display()));
    }
}

/// What became of a file since it was trusted.
fn now(file: &Path, trusted: &Trusted) -> &'static str {
    match trusted.is_still(file) {
        true => "as it was",
        false => "changed since: not in force",
    }
}

fn list(cli: &Cli, store: &TrustStore) -> anyhow::Result<Exit> {
    if cli.setup.json {
        let entry = |(file, trusted): (&Path, &Trusted)| json!({"file": file, "trusted": trusted, "now": now(file, trusted)});
        return render::json(&store.files().map(entry).collect::<Vec<_>>());
    }
    let mut table = render::table(&["FILE", "TRUSTED ON", "NOW", "SHA-256"]);
    for (file, trusted) in store.files() {
        let day = trusted
            .trusted_at
            .strftime("%Y-%m-%d %H:%M UTC")
            .to_string();
        table.add_row([
            &file.display().to_string(),
            &day,
            now(file, trusted),
            &trusted.sha256,
        ]);
    }
    render::out(&table.to_string());
    Ok(Exit::Done)
}

/// A file is kept under its real folder's path, and may be gone itself.
fn forget(mut store: TrustStore, file: &Path) -> anyhow::Result<Exit> {
    let real = || {
        let folder = match file.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder,
            Some(_) | None => Path::new("."),
        };
        Some(folder.canonicalize().ok()?.join(file.file_name()?))
    };
    let absolute = std::path::absolute(file).ok();
    let names: Vec<PathBuf> = [real(), absolute].into_iter().flatten().collect();
    for name in &names {
        if store.forget(name)? {
            render::note(&format!("{} is trusted no longer", name.display()));
            return Ok(Exit::Done);
        }
    }
    bail!(
        "'{}' was not trusted; 'toolgate trust --list' shows what is",
        file.display()
    )
}
