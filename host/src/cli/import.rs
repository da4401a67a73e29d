//! `toolgate config import claude`

use std::path::Path;

use anyhow::Context as _;
use toolgate::config::import::claude;

use super::args::Cli;
use super::exit::Exit;
use super::{render, setup};

/// Prints the configuration that a settings file of Claude Code becomes, and says on stderr what does not go with it.
pub(crate) async fn run(cli: &Cli, file: &Path) -> anyhow::Result<Exit> {
    let text = std::fs::read_to_string(file)
        .with_context(|| format!("{} cannot be read", file.display()))?;
    let host = setup::host(&cli.setup).await?;
    let tools: Vec<&str> = host.all_tools().map(|tool| tool.name().as_str()).collect();
    let home = etcetera::home_dir().ok();
    let imported = claude::import(&text, &std::path::absolute(file)?, home.as_deref(), &tools)?;
    if cli.setup.json {
        return render::json(&imported);
    }
    for left in &imported.left {
        let weight = if left.weaker {
            "less strict without it"
        } else {
            "not carried over"
        };
        render::note(&format!(
            "{weight}: {} '{}': {}",
            left.pointer, left.what, left.why
        ));
    }
    render::out(&imported.toml);
    Ok(Exit::Done)
}
