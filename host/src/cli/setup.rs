//! From flags and files to a host.

use std::io::Read as _;
use std::path::PathBuf;

use anyhow::Context as _;
use toolgate::approval::Terminal;
use toolgate::config::{
    Config, Flags, HookSetting, Layers, Loaded, NotInForce, ServeSetting, ShellKind,
};
use toolgate::mcp::Clients;
use toolgate::model::{CallOrigin, RawCall, SideEffect};
use toolgate::policy::Decision;
use toolgate::runtime::{CompileWorker, ToolEngine};
use toolgate::{Host, HostBuilder, HostError};

use super::args::{CallArgs, Level, Setup, ShellFlag};
use super::render;

/// Instances that may live at once where one call is made: making room for more costs time at each start.
const SLOTS: u32 = 8;
/// The most bytes of an input that are read from stdin; what is over, the parse gate refuses.
const MAX_STDIN: u64 = (1 << 20) + 1;

/// The host that the flags describe.
pub(crate) async fn host(setup: &Setup) -> anyhow::Result<Host> {
    Ok(builder(setup)?.build().await?)
}

/// Waits for the tools of MCP servers, and says which servers do not run.
pub(crate) async fn settled(host: &Host) {
    let Some(upstreams) = host.upstreams() else {
        return;
    };
    upstreams.settle().await;
    for report in upstreams.report() {
        if let Some(why) = report.down.filter(|_| !report.runs) {
            render::note(&format!(
                "the MCP server '{}' does not run: {why}",
                report.alias
            ));
        }
    }
}

/// The same, not built yet. Says which files of the workspace are not in force.
pub(crate) fn builder(setup: &Setup) -> anyhow::Result<HostBuilder> {
    hosted(setup, load_aloud(setup)?)
}

/// The same for a server: the person at the client is asked, and no terminal of ours. With how it serves.
pub(crate) fn builder_for_clients(
    setup: &Setup,
    clients: Clients,
) -> anyhow::Result<(HostBuilder, ServeSetting)> {
    let loaded = load_aloud(setup)?;
    let serve = loaded.config.serve.clone();
    Ok((based(setup, loaded).client_approver(clients), serve))
}

fn load_aloud(setup: &Setup) -> anyhow::Result<Loaded> {
    let loaded = load(setup)?;
    for file in &loaded.not_in_force {
        render::note(&not_in_force(setup, file));
    }
    if let Some(unheard) = unheard(&loaded.config) {
        render::note(&unheard);
    }
    Ok(loaded)
}

/// The same of a configuration that is loaded.
pub(crate) fn hosted(setup: &Setup, loaded: Loaded) -> anyhow::Result<HostBuilder> {
    let nobody_named = loaded.config.approval.approvers.is_none();
    let builder = based(setup, loaded).engine(ToolEngine::new(SLOTS)?);
    Ok(match nobody_named {
        true => builder.approver(Terminal),
        false => builder,
    })
}

fn based(setup: &Setup, loaded: Loaded) -> HostBuilder {
    let builder = Host::builder(&setup.workspace)
        .config(loaded.config)
        .compile_worker(compile_worker());
    match &setup.state {
        Some(state) => builder.state_dir(state),
        None => builder,
    }
}

/// This program once more: what it is, whatever became of its file.
pub(crate) fn compile_worker() -> CompileWorker {
    CompileWorker::new("/proc/self/exe", vec!["compile-worker".to_owned()])
}

/// What the hooks on events of a session hear from this program: nothing.
pub(crate) fn unheard(config: &Config) -> Option<String> {
    let of_a_session = |hook: &&HookSetting| !hook.event.has_tool();
    let hooks: Vec<String> = config
        .hooks
        .iter()
        .filter(of_a_session)
        .map(|hook| format!("{} ({})", hook.event, hook.source))
        .collect();
    (!hooks.is_empty()).then(|| {
        format!(
            "these hooks do not run here: session hooks are raised by an embedding agent, not by `toolgate call`: {}",
            hooks.join(", ")
        )
    })
}

/// Built-in tools that are not there because nothing is configured for them.
pub(crate) fn missing(config: &Config) -> Vec<&'static str> {
    let shell = "Bash and the other tools for commands are not there: no shell is configured ([shell], or --shell local)";
    let search = "WebSearch is not there: no service is configured ([web_search])";
    let asked = matches!(config.web_search.service(), Ok(None));
    let without = |tool: &str| config.without.iter().any(|name| name.value == tool);
    [
        (!config.shell.is_there() && !without("Bash"), shell),
        (asked && !without("WebSearch"), search),
    ]
    .into_iter()
    .filter_map(|(missing, said)| missing.then_some(said))
    .collect()
}

/// The configuration that the flags describe.
pub(crate) fn load(setup: &Setup) -> anyhow::Result<Loaded> {
    Ok(layers(setup)?.load()?)
}

/// Where it comes from.
pub(crate) fn layers(setup: &Setup) -> anyhow::Result<Layers> {
    let mut layers = Layers::standard(&setup.workspace, &state_dir(setup)?);
    if setup.no_user_config {
        layers.user = None;
    }
    layers.named = setup.config.clone();
    layers.flags = flags(setup)?;
    Ok(layers)
}

/// Where the journal, long outputs, answers and trust are kept: a directory that nobody else may write to.
pub(crate) fn state_dir(setup: &Setup) -> anyhow::Result<PathBuf> {
    let given = setup.state.clone();
    let folder = given
        .or_else(toolgate::state_dir)
        .ok_or(HostError::NoHome)?;
    toolgate::state::check(&folder).map_err(HostError::from)?;
    Ok(folder)
}

/// A file that sets nothing: why, and what would put it into force.
pub(crate) fn not_in_force(setup: &Setup, file: &NotInForce) -> String {
    match file.why.can_be_trusted() {
        true => format!("{file}; see and trust it: {}", trust_command(setup)),
        false => file.to_string(),
    }
}

/// The command that trusts this workspace's files, with the flags that it needs.
fn trust_command(setup: &Setup) -> String {
    let mut command = "toolgate trust".to_owned();
    if setup.workspace.as_os_str() != "." {
        command.push_str(&format!(" --workspace '{}'", setup.workspace.display()));
    }
    if let Some(state) = &setup.state {
        command.push_str(&format!(" --state '{}'", state.display()));
    }
    command
}

fn flags(setup: &Setup) -> anyhow::Result<Flags> {
    let rules = [
        (Decision::Allow, &setup.allow),
        (Decision::Ask, &setup.ask),
        (Decision::Deny, &setup.deny),
    ];
    let mode = setup.mode.as_ref().map(|mode| mode.parse());
    Ok(Flags {
        rules: rules
            .into_iter()
            .flat_map(|(effect, texts)| texts.iter().map(move |text| (effect, text.clone())))
            .collect(),
        mode: mode
            .transpose()
            .context("--mode (default, accept-edits, plan, dont-ask, auto or bypass)")?,
        ceiling: setup.ceiling.map(|level| match level {
            Level::ReadOnly => SideEffect::ReadOnly,
            Level::Mutating => SideEffect::Mutating,
        }),
        read: setup.read.clone(),
        write: setup.write.clone(),
        shell: setup.shell.map(|kind| match kind {
            ShellFlag::Local => ShellKind::Local,
            ShellFlag::Bubblewrap => ShellKind::Bubblewrap,
            ShellFlag::Docker => ShellKind::Docker,
            ShellFlag::Podman => ShellKind::Podman,
            ShellFlag::None => ShellKind::None,
        }),
        components: setup.component.clone(),
    })
}

/// The call that the arguments describe.
pub(crate) fn call(call: &CallArgs) -> anyhow::Result<RawCall> {
    let input = if call.input == "-" {
        let mut bytes = Vec::new();
        std::io::stdin()
            .lock()
            .take(MAX_STDIN)
            .read_to_end(&mut bytes)
            .context("stdin")?;
        bytes
    } else {
        call.input.clone().into_bytes()
    };
    Ok(RawCall::new(&call.name, input).from_origin(CallOrigin::CommandLine))
}
