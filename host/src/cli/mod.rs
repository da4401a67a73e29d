//! The commands. Data goes to stdout, everything else to stderr.

mod approvals;
mod args;
mod ask;
mod call;
mod config_show;
mod doctor;
mod exit;
mod explain;
mod import;
mod inspect;
mod install;
mod keys;
mod list;
mod mcp;
mod policy;
mod render;
mod serve;
mod setup;
mod signals;
mod store_args;
mod trust;
mod upstreams;

use std::process::ExitCode;

use clap::Parser as _;

use args::{Cli, Command, ConfigCommand, ImportFormat};
use exit::Exit;

/// Runs the command line.
pub(crate) fn run() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            let as_json = std::env::args_os().any(|word| word == "--json");
            return render::ended(render::usage(&error, as_json)).into();
        }
    };
    if matches!(cli.command, Command::CompileWorker) {
        return render::ended(compiled()).into();
    }
    render::log_to_stderr();
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build();
    let exit = match runtime {
        Ok(runtime) => {
            let exit = runtime.block_on(dispatch(&cli));
            // A prompt that nobody answered may still wait at the terminal; it ends with the process.
            runtime.shutdown_background();
            exit
        }
        Err(error) => render::failure(&error.into(), cli.setup.json),
    };
    render::ended(exit).into()
}

/// What the compile worker of another process of this program does. Whoever waits for it hears of a failure by its end.
fn compiled() -> Exit {
    match toolgate::runtime::run_compile_worker() {
        Ok(()) => Exit::Done,
        Err(error) => render::failure(&error.into(), false),
    }
}

async fn dispatch(cli: &Cli) -> Exit {
    let done = match &cli.command {
        Command::Call(call) => call::run(cli, call).await,
        Command::List { installed: true } => install::list(cli),
        Command::List { installed: false } => list::run(cli).await,
        Command::Install(arguments) => install::run(cli, arguments).await,
        Command::Uninstall { name } => install::uninstall(cli, name),
        Command::Keys { command } => keys::run(cli, command),
        Command::Inspect { tool } => inspect::run(cli, tool).await,
        Command::Explain(call) => explain::run(cli, call).await,
        Command::Serve(arguments) => serve::run(cli, arguments).await,
        Command::Doctor => doctor::run(cli).await,
        Command::Approvals { command } => setup::state_dir(&cli.setup)
            .and_then(|state| approvals::run(&state, command, cli.setup.json)),
        Command::Policy { command } => policy::run(cli, command).await,
        Command::Config { command } => match command {
            ConfigCommand::Schema => render::json(&toolgate::config::schema()),
            ConfigCommand::Show => config_show::run(cli),
            ConfigCommand::Import {
                format: ImportFormat::Claude,
                file,
            } => import::run(cli, file).await,
        },
        Command::Mcp { command } => mcp::run(cli, command).await,
        Command::Trust(arguments) => trust::run(cli, arguments).await,
        Command::CompileWorker => Ok(compiled()),
    };
    done.unwrap_or_else(|error| render::failure(&error, cli.setup.json))
}
