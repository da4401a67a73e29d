//! `toolgate config import claude`

use std::path::Path;

use anyhow::Context as _;
use toolgate::Host;
use toolgate::config::import::claude;

use super::args::Cli;
use super::exit::Exit;
use super::{render, setup};

/// Prints the configuration that a settings file of Claude Code becomes, and says on stderr what does not go with it.
pub(crate) async fn run(cli: &Cli, file: &Path) -> anyhow::Result<Exit> {
    let text = std::fs::read_to_string(file)
        .with_context(|| format!("{} cannot be read", file.display()))?;
    let host = match setup::host(&cli.setup).await {
        Ok(host) => host,
        // The new file may be what puts the old one right: the built-in tools are there whatever it says.
        Err(error) => {
            render::note(&format!(
                "the configuration in force cannot be used, so that only the built-in tools are known: {error:#}"
            ));
            let mut plain = Host::builder(&cli.setup.workspace);
            if let Some(state) = &cli.setup.state {
                plain = plain.state_dir(state);
            }
            plain.build().await?
        }
    };
    let tools: Vec<_> = host.all_tools().collect();
    let tools: Vec<&str> = tools.iter().map(|tool| tool.name().as_str()).collect();
    let home = etcetera::home_dir().ok();
    let folder = std::env::current_dir()?;
    let place = toolgate::policy::fold(&folder, file);
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
    let imported = claude::import(text, &place, home.as_deref(), &tools)?;
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
    render::data(&imported.toml);
    Ok(Exit::Done)
}
