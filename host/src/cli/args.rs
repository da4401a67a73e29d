//! What can be typed.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

/// Runs tools in a WebAssembly sandbox, behind one gate chain.
#[derive(Debug, Parser)]
#[command(
    version,
    about,
    after_help = "Exit codes: 0 done, 1 tool failure, 2 usage or configuration, 3 denied by a \
    gate, 4 ended by a bound (time, fuel, memory), 5 host error."
)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
    #[command(flatten)]
    pub(crate) setup: Setup,
}

/// How the host is set up. Flags come after the user's configuration and the files of --config.
#[derive(Debug, Args)]
pub(crate) struct Setup {
    /// Workspace root: relative paths stand on it, and file tools stay inside
    #[arg(long, global = true, default_value = ".", value_name = "DIRECTORY")]
    pub(crate) workspace: PathBuf,
    /// Another configuration file, after the user's own
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) config: Vec<PathBuf>,
    /// Do not read the user's configuration file
    #[arg(long, global = true)]
    pub(crate) no_user_config: bool,
    /// Allow a rule: Name or Name(pattern)
    #[arg(long, global = true, value_name = "RULE")]
    pub(crate) allow: Vec<String>,
    /// Ask for a rule
    #[arg(long, global = true, value_name = "RULE")]
    pub(crate) ask: Vec<String>,
    /// Deny a rule
    #[arg(long, global = true, value_name = "RULE")]
    pub(crate) deny: Vec<String>,
    /// default, accept-edits, plan, dont-ask, auto or bypass
    #[arg(long, global = true, value_name = "MODE")]
    pub(crate) mode: Option<String>,
    /// One more directory that tools may read
    #[arg(long, global = true, value_name = "DIRECTORY")]
    pub(crate) read: Vec<PathBuf>,
    /// One more directory that tools may read and write
    #[arg(long, global = true, value_name = "DIRECTORY")]
    pub(crate) write: Vec<PathBuf>,
    /// One more tool: a component file
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) component: Vec<PathBuf>,
    /// Where the journal and long outputs are kept
    #[arg(long, global = true, value_name = "DIRECTORY")]
    pub(crate) state: Option<PathBuf>,
    /// Print JSON
    #[arg(long, global = true)]
    pub(crate) json: bool,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Call a tool and print its result
    Call(CallArgs),
    /// List the tools that may be called
    List,
    /// Show what a tool or a component file is: claim, evidence, verdict, imports
    Inspect {
        /// A tool's name, or a component file
        tool: String,
    },
    /// Show what every gate would say to a call, without running anything
    Explain(CallArgs),
    /// Check this machine and the configuration
    Doctor,
    /// About the configuration
    Config {
        #[command(subcommand)]
        command: ConfigCommand,
    },
}

/// A call.
#[derive(Debug, Args)]
pub(crate) struct CallArgs {
    /// The tool's name
    pub(crate) name: String,
    /// The input as JSON; '-' reads it from stdin
    #[arg(default_value = "{}")]
    pub(crate) input: String,
}

/// About the configuration.
#[derive(Debug, Subcommand)]
pub(crate) enum ConfigCommand {
    /// Print the JSON Schema of toolgate.toml
    Schema,
}
