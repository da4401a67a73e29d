//! `toolgate policy`

mod suggest;
mod test;

use super::args::{Cli, PolicyCommand};
use super::exit::Exit;

pub(crate) async fn run(cli: &Cli, command: &PolicyCommand) -> anyhow::Result<Exit> {
    match command {
        PolicyCommand::Test { file } => test::run(cli, file).await,
        PolicyCommand::Suggest { since } => suggest::run(cli, since.as_deref()).await,
    }
}
