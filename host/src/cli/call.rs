//! `toolgate call`

use super::args::{CallArgs, Cli};
use super::exit::Exit;
use super::{render, setup};

pub(crate) async fn run(cli: &Cli, call: &CallArgs) -> anyhow::Result<Exit> {
    let raw = setup::call(call)?;
    let host = setup::host(&cli.setup).await?;
    let outcome = tokio::select! {
        outcome = host.call(raw) => outcome,
        // Dropping the call ends the guest and writes its record.
        interrupted = tokio::signal::ctrl_c() => {
            interrupted?;
            render::note("cancelled");
            return Ok(Exit::Bounded);
        }
    };
    if cli.setup.json {
        render::json(&outcome)?;
        return Ok(Exit::from(&outcome.ending));
    }
    Ok(render::outcome(&outcome))
}
