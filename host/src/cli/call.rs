//! `toolgate call`

use std::time::Duration;

use toolgate::Host;

use super::args::{CallArgs, Cli};
use super::exit::Exit;
use super::signals::{Signal, Signals};
use super::{render, setup};

/// How long the processes of commands may take to be gone before the program ends all the same.
const LONGEST_END: Duration = Duration::from_secs(5);

pub(crate) async fn run(cli: &Cli, call: &CallArgs) -> anyhow::Result<Exit> {
    let raw = setup::call(call)?;
    let host = setup::host(&cli.setup).await?;
    let mut signals = Signals::listen()?;
    let outcome = tokio::select! {
        outcome = host.call(raw) => outcome,
        // The call is dropped before this goes on, which ends the guest and writes the call's record.
        signal = signals.next() => return Ok(cancelled(&host, signal).await),
    };
    if cli.setup.json {
        render::json(&outcome)?;
        return Ok(Exit::from(&outcome.ending));
    }
    Ok(render::outcome(&outcome))
}

/// Stays until nothing of the call's commands is left.
async fn cancelled(host: &Host, signal: Signal) -> Exit {
    let left = host.end_commands(LONGEST_END).await;
    render::note(match left {
        0 => "cancelled",
        _ => "cancelled; processes of a command could not be ended and may still run",
    });
    Exit::Ended(signal)
}
