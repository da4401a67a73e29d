//! What can be typed.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

use super::store_args::{InstallArgs, KeysCommand};

/// Runs tools in a WebAssembly sandbox, behind one gate chain.
#[derive(Debug, Parser)]
#[command(
    version,
    about,
    after_help = "Exit codes: 0 done, 1 tool failure, 2 usage or configuration, 3 denied by a \
    gate, 4 ended by a bound (time, fuel, memory), 5 host error; 129, 130, 143 ended by the signal HUP, INT, TERM."
)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
    #[command(flatten)]
    pub(crate) setup: Setup,
}

/// How the host is set up. Flags and the files of --config stand above all other configuration but an administrator's.
#[derive(Debug, Args)]
pub(crate) struct Setup {
    /// Workspace root: relative paths stand on it, and file tools stay inside
    #[arg(long, global = true, default_value = ".", value_name = "DIRECTORY")]
    pub(crate) workspace: PathBuf,
    /// Another configuration file, above the user's and the workspace's own
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
    /// No tool above this level runs or is listed
    #[arg(long, global = true, value_name = "LEVEL")]
    pub(crate) ceiling: Option<Level>,
    /// One more directory that tools may read
    #[arg(long, global = true, value_name = "DIRECTORY")]
    pub(crate) read: Vec<PathBuf>,
    /// One more directory that tools may read and write
    #[arg(long, global = true, value_name = "DIRECTORY")]
    pub(crate) write: Vec<PathBuf>,
    /// Run commands: 'local' on this machine, 'bubblewrap' on this machine in bubblewrap's sandbox, 'docker' or 'podman' in
    /// containers of the image that [shell] names, 'none' whatever the configuration says
    #[arg(long, global = true, value_name = "KIND")]
    pub(crate) shell: Option<ShellFlag>,
    /// One more tool: a component file
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) component: Vec<PathBuf>,
    /// Where the journal, long outputs, answers and trust are kept
    #[arg(long, global = true, value_name = "DIRECTORY")]
    pub(crate) state: Option<PathBuf>,
    /// Print JSON
    #[arg(long, global = true)]
    pub(crate) json: bool,
}

/// A side effect level.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum Level {
    /// Changes nothing that outlives the call
    ReadOnly,
    /// May change something
    Mutating,
}

/// What runs commands.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum ShellFlag {
    /// This machine, in a sandbox
    Local,
    /// This machine, in a sandbox that bubblewrap makes
    Bubblewrap,
    /// A container of docker's for each command
    Docker,
    /// A container of podman's for each command
    Podman,
    /// Nothing
    None,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Call a tool and print its result
    Call(CallArgs),
    /// List the tools that may be called
    List {
        /// Those that are installed, with where they came from
        #[arg(long)]
        installed: bool,
    },
    /// Install components: files, directories, or oci://HOST/REPOSITORY:TAG
    Install(InstallArgs),
    /// Uninstall a tool
    Uninstall {
        /// Its name: PUBLISHER__Tool or PUBLISHER/Tool
        name: String,
    },
    /// The publishers' keys that components are signed with
    Keys {
        #[command(subcommand)]
        command: KeysCommand,
    },
    /// Show what a tool or a component file is: claim, evidence, verdict, imports
    Inspect {
        /// A tool's name, or a component file
        tool: String,
    },
    /// Show what every gate would say to a call, without running anything
    Explain(CallArgs),
    /// Serve the tools to an MCP client, over stdin and stdout or over HTTP
    Serve(ServeArgs),
    /// MCP servers whose tools are called here, and MCP clients that call these
    Mcp {
        #[command(subcommand)]
        command: McpCommand,
    },
    /// Check this machine and the configuration
    Doctor,
    /// Answer the calls that wait for approval
    Approvals {
        #[command(subcommand)]
        command: ApprovalsCommand,
    },
    /// Test the rules, or have some suggested
    Policy {
        #[command(subcommand)]
        command: PolicyCommand,
    },
    /// About the configuration
    Config {
        #[command(subcommand)]
        command: ConfigCommand,
    },
    /// Put the workspace's own configuration into force, after showing what it grants
    Trust(TrustArgs),
    /// Compile the component on stdin to stdout, within bounds
    #[command(hide = true)]
    CompileWorker,
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

/// How tools are served.
#[derive(Debug, Args)]
pub(crate) struct ServeArgs {
    /// Serve HTTP at this address, such as 127.0.0.1:8210; port 0 lets the system choose
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) http: Option<SocketAddr>,
    /// A file with the tokens that open the door over HTTP, one a line, which only you may read
    #[arg(long, value_name = "FILE", requires = "http")]
    pub(crate) token_file: Option<PathBuf>,
    /// No token, whatever the configuration says; only on a loopback address
    #[arg(long, requires = "http", conflicts_with = "token_file")]
    pub(crate) no_auth: bool,
}

/// Entries for MCP clients, and the MCP servers whose tools are offered.
#[derive(Debug, Subcommand)]
pub(crate) enum McpCommand {
    /// Print the client's configuration entry that starts this server with the flags given here
    AddTo(AddTo),
    /// Start every server, and list them with what they offer
    List,
    /// Show a server: its state, its tools, what is not offered and why, what it said last
    Inspect {
        /// The name in [mcp.servers.NAME]
        server: String,
    },
    /// Accept tools whose definition changed, after showing the difference
    Accept {
        /// The name in [mcp.servers.NAME]
        server: String,
        /// The server's own name of one tool. Default: all that changed
        tool: Option<String>,
        /// Accept without asking
        #[arg(long)]
        yes: bool,
    },
}

/// Whose entry, and where it goes.
#[derive(Debug, Args)]
pub(crate) struct AddTo {
    /// The client
    pub(crate) client: ClientKind,
    /// Put it into the client's file, and keep the rest of that
    #[arg(long)]
    pub(crate) save: bool,
    /// Another file than the client's own
    #[arg(long, value_name = "FILE")]
    pub(crate) file: Option<PathBuf>,
    /// The server's name in the client
    #[arg(long, default_value = "toolgate")]
    pub(crate) name: String,
}

/// A client with a configuration of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ClientKind {
    /// Claude Code: .mcp.json in the workspace
    Claude,
    /// VS Code: .vscode/mcp.json in the workspace
    Vscode,
    /// Cursor: .cursor/mcp.json in the workspace
    Cursor,
    /// Codex: config.toml in its home
    Codex,
    /// Gemini CLI: .gemini/settings.json in the workspace
    Gemini,
}

impl ClientKind {
    /// The word for it.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Claude => "claude",
            Self::Vscode => "vscode",
            Self::Cursor => "cursor",
            Self::Codex => "codex",
            Self::Gemini => "gemini",
        }
    }
}

/// Calls that wait for approval, and answers that hold for longer.
#[derive(Debug, Subcommand)]
pub(crate) enum ApprovalsCommand {
    /// List the calls that wait
    List,
    /// Show a call in full
    Show {
        /// Its id, or the beginning of it
        id: String,
    },
    /// Let a call run, after showing it at the terminal and asking once more
    ///
    /// The question is put to the terminal itself, so that a program which answers on its own does not pass for you.
    /// Where there is no terminal, '--yes' stands for you. It proves nothing: any program that runs as your user and
    /// outside of the sandbox can give it, an agent that is allowed to run commands without one included. Commands of
    /// the sandboxed shell cannot: the folder with the answers is hidden from them.
    Allow {
        /// Its id, or the beginning of it
        id: String,
        /// From now on, for exactly the rule that `show` prints; 'forget' takes it back
        #[arg(long)]
        always: bool,
        /// Do not ask at the terminal; needed where there is none
        #[arg(long)]
        yes: bool,
    },
    /// Refuse a call, or take back a yes that was not taken yet
    Deny {
        /// Its id, or the beginning of it
        id: String,
        /// Why, for the model
        #[arg(long, value_name = "TEXT")]
        message: Option<String>,
    },
    /// List the answers that hold from now on
    Standing,
    /// Take such an answer back
    Forget {
        /// Its id, or the beginning of it
        id: String,
    },
}

/// The format of a file of cases.
const CASES: &str = "\
The file holds one [[case]] for each call:

    [[case]]
    name = \"notes are written without a question\"
    call = \"Write\"
    input = { file_path = \"notes/a.md\", content = \"x\" }
    expect = \"allow\"
    rule = \"Write(notes/**)\"

    [[case]]
    call = \"Read\"
    input = { file_path = \".env\" }
    expect = \"deny\"
    gate = \"permission\"

Keys:
    call    the tool (needed)
    expect  allow, ask or deny (needed)
    input   the tool's input (default: none)
    name    for the report (default: the tool and the line)
    rule    the text of a rule that must have decided
    gate    for a denial: the gate that must have refused

Exit codes: 0 all cases hold, 1 a case failed, 2 the file or the configuration is wrong.";

/// About the rules.
#[derive(Debug, Subcommand)]
pub(crate) enum PolicyCommand {
    /// Hold the rules against expected decisions; runs no tool
    #[command(after_help = CASES)]
    Test {
        /// The cases: TOML, one [[case]] for each call
        file: PathBuf,
    },
    /// Print the least rules that would have let run what was approved or missed a rule; applies nothing
    Suggest {
        /// Only calls since then: 24h, 7d, or a time (RFC 3339)
        #[arg(long, value_name = "WHEN")]
        since: Option<String>,
    },
}

/// About the configuration.
#[derive(Debug, Subcommand)]
pub(crate) enum ConfigCommand {
    /// Print the JSON Schema of toolgate.toml
    Schema,
    /// Print every setting in force, with where it comes from
    Show,
    /// Print another program's permissions and hooks as a toolgate.toml
    Import {
        /// Whose format it is
        format: ImportFormat,
        /// The file
        file: PathBuf,
    },
}

/// Formats that can be imported.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum ImportFormat {
    /// A Claude Code settings.json
    Claude,
}

/// What to trust, or no longer.
#[derive(Debug, Args)]
pub(crate) struct TrustArgs {
    /// Trust without asking
    #[arg(long)]
    pub(crate) yes: bool,
    /// List what is trusted, of all workspaces
    #[arg(long, conflicts_with_all = ["yes", "forget"])]
    pub(crate) list: bool,
    /// Trust a file no longer
    #[arg(long, value_name = "FILE", conflicts_with = "yes")]
    pub(crate) forget: Option<PathBuf>,
}
