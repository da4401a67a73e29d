//! `toolgate mcp`: entries for the configurations of MCP clients, and the servers whose tools are offered.

mod entry;
mod file;

use std::path::{Path, PathBuf};

use anyhow::Context as _;

use super::args::{AddTo, Cli, ClientKind, McpCommand};
use super::exit::Exit;
use super::{render, upstreams};
use file::Change;

pub(crate) async fn run(cli: &Cli, command: &McpCommand) -> anyhow::Result<Exit> {
    match command {
        McpCommand::AddTo(arguments) => add_to(cli, arguments),
        McpCommand::List => upstreams::list(cli).await,
        McpCommand::Inspect { server } => upstreams::inspect(cli, server).await,
        McpCommand::Accept { server, tool, yes } => {
            upstreams::accept(cli, server, tool.as_deref(), *yes).await
        }
    }
}

fn add_to(cli: &Cli, arguments: &AddTo) -> anyhow::Result<Exit> {
    let workspace = cli
        .setup
        .workspace
        .canonicalize()
        .with_context(|| format!("the workspace '{}'", cli.setup.workspace.display()))?;
    let entry = entry::Entry::of(&cli.setup, &workspace)?;
    let place = match &arguments.file {
        Some(file) => std::path::absolute(file)?,
        None => place(arguments.client, &workspace)?,
    };
    let shown = file::alone(arguments.client, &arguments.name, &entry);
    let change = match arguments.save {
        true => Some(file::write(
            arguments.client,
            &place,
            &arguments.name,
            &entry,
        )?),
        false => None,
    };
    if cli.setup.json {
        return render::json(&serde_json::json!({
            "client": arguments.client.as_str(),
            "file": place,
            "name": arguments.name,
            "command": entry.command,
            "args": entry.arguments,
            "change": change.map(Change::as_str),
        }));
    }
    match change {
        Some(change) => render::note(&format!("{}: {}", place.display(), change.as_str())),
        None => {
            render::data(&shown);
            render::note(&format!(
                "this belongs into {}; with --save it is put there",
                place.display()
            ));
        }
    }
    Ok(Exit::Done)
}

/// Where a client reads the entry from: in the workspace, where it has such a place.
fn place(client: ClientKind, workspace: &Path) -> anyhow::Result<PathBuf> {
    Ok(match client {
        ClientKind::Claude => workspace.join(".mcp.json"),
        ClientKind::Vscode => workspace.join(".vscode/mcp.json"),
        ClientKind::Cursor => workspace.join(".cursor/mcp.json"),
        ClientKind::Gemini => workspace.join(".gemini/settings.json"),
        ClientKind::Codex => {
            let own = std::env::var_os("CODEX_HOME").map(PathBuf::from);
            let home = || std::env::home_dir().map(|home| home.join(".codex"));
            let folder = own.filter(|path| path.is_absolute()).or_else(home);
            folder
                .context("there is no home directory: name the file with --file")?
                .join("config.toml")
        }
    })
}
