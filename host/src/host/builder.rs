//! From settings to a host.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use super::hooks::Hooks;
use super::installed::Ready;
use super::loading::{LeftOut, Stranger};
use super::{Host, approvers, code, egress, installed, loading, settings, shell, upstream, web};
use crate::approval::FileSight;
use crate::config::{
    Config, HookRun, Runs, Source as ConfigSource, Sourced, same_bytes, state_dir,
};
use crate::egress::{Connector, Resolve};
use crate::error::HostError;
use crate::gate::{
    Approver, CallProgress, Chain, ChainParts, EventHook, HOOK_TIMEOUT, Journal, PostHook, PreHook,
    Registration, Registry, SpillStore,
};
use crate::journal::JsonLines;
use crate::model::SideEffect;
use crate::policy::{Access, Policy, PolicySettings, Roots};
use crate::provider::{ComponentProvider, NativeShell};
use crate::runtime::files::{ReadLedger, RootDirs};
use crate::runtime::{CompileWorker, ShellPort, ToolEngine};
use crate::spill::FileSpill;
use crate::store::Installed;

/// Everything a host can be given. Defaults: the built-in tools, no rules, mode `default`, nobody to ask, records and
/// long outputs in the user's state directory.
#[derive(Debug)]
pub struct HostBuilder {
    workspace: PathBuf,
    config: Config,
    state: Option<PathBuf>,
    approver: Option<Arc<dyn Approver>>,
    client_approver: Option<Arc<dyn Approver>>,
    journal: Option<Arc<dyn Journal>>,
    pre_hooks: Vec<Arc<dyn PreHook>>,
    post_hooks: Vec<Arc<dyn PostHook>>,
    event_hooks: Vec<Arc<dyn EventHook>>,
    hook_timeout: Duration,
    components: Vec<(PathBuf, Vec<u8>)>,
    engine: Option<ToolEngine>,
    compile_worker: Option<CompileWorker>,
    resolver: Option<Arc<dyn Resolve>>,
    progress: Progress,
    leave_out_broken: bool,
    left_out: Vec<LeftOut>,
}

/// A sink that can be printed.
#[derive(Clone, Default)]
struct Progress(Option<CallProgress>);

impl std::fmt::Debug for Progress {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(if self.0.is_some() {
            "Progress(Some)"
        } else {
            "Progress(None)"
        })
    }
}

fn open_spill(folder: &Path) -> Result<FileSpill, HostError> {
    FileSpill::open(folder).map_err(|error| HostError::Spill {
        path: folder.to_owned(),
        error,
    })
}

impl HostBuilder {
    pub(super) fn new(workspace: PathBuf) -> Self {
        Self {
            workspace,
            config: Config::default(),
            state: None,
            approver: None,
            client_approver: None,
            journal: None,
            pre_hooks: Vec::new(),
            post_hooks: Vec::new(),
            event_hooks: Vec::new(),
            hook_timeout: HOOK_TIMEOUT,
            components: Vec::new(),
            engine: None,
            compile_worker: None,
            resolver: None,
            progress: Progress::default(),
            leave_out_broken: false,
            left_out: Vec::new(),
        }
    }

    /// The settings.
    #[must_use]
    pub fn config(mut self, config: Config) -> Self {
        self.config = config;
        self
    }

    /// Where the journal and spilled outputs go. Default: `toolgate` in the user's state directory.
    #[must_use]
    pub fn state_dir(mut self, folder: impl Into<PathBuf>) -> Self {
        self.state = Some(folder.into());
        self
    }

    /// Who is asked, whomever the configuration names. Default: those; nobody where it names none, so that what has to be
    /// asked is denied.
    #[must_use]
    pub fn approver(mut self, approver: impl Approver + 'static) -> Self {
        self.approver = Some(Arc::new(approver));
        self
    }

    /// Who is asked where the configuration says `client` or `terminal`, or says nothing: the person at the client that a
    /// call came from. Default: nobody for `client`.
    #[must_use]
    pub fn client_approver(mut self, approver: impl Approver + 'static) -> Self {
        self.client_approver = Some(Arc::new(approver));
        self
    }

    /// A journal of the embedder's own.
    #[must_use]
    pub fn journal(mut self, journal: Arc<dyn Journal>) -> Self {
        self.journal = Some(journal);
        self
    }

    /// A hook before calls, after the configured ones.
    #[must_use]
    pub fn pre_hook(mut self, hook: impl PreHook + 'static) -> Self {
        self.pre_hooks.push(Arc::new(hook));
        self
    }

    /// A hook after calls, after the configured ones.
    #[must_use]
    pub fn post_hook(mut self, hook: impl PostHook + 'static) -> Self {
        self.post_hooks.push(Arc::new(hook));
        self
    }

    /// A hook on events that are no tool use.
    #[must_use]
    pub fn event_hook(mut self, hook: impl EventHook + 'static) -> Self {
        self.event_hooks.push(Arc::new(hook));
        self
    }

    /// How long a hook may take that names no limit of its own. Default: 10 s. Configured hooks have theirs.
    #[must_use]
    pub fn hook_timeout(mut self, limit: Duration) -> Self {
        self.hook_timeout = limit;
        self
    }

    /// One more tool: a component's bytes, under a name for messages.
    #[must_use]
    pub fn component(mut self, label: impl Into<PathBuf>, bytes: Vec<u8>) -> Self {
        self.components.push((label.into(), bytes));
        self
    }

    /// An engine that several hosts share.
    #[must_use]
    pub fn engine(mut self, engine: ToolEngine) -> Self {
        self.engine = Some(engine);
        self
    }

    /// A process for compiling components. Default: a thread of this one.
    #[must_use]
    pub fn compile_worker(mut self, worker: CompileWorker) -> Self {
        self.compile_worker = Some(worker);
        self
    }

    /// What looks up names for requests. Default: the system's.
    #[must_use]
    pub fn resolver(mut self, resolver: Arc<dyn Resolve>) -> Self {
        self.resolver = Some(resolver);
        self
    }

    /// Leaves out components that cannot be used, instead of refusing to start: for looking at what is configured.
    /// [`Host::left_out`] names them.
    #[must_use]
    pub fn leave_out_broken(mut self) -> Self {
        self.leave_out_broken = true;
        self
    }

    /// Where progress of calls goes.
    #[must_use]
    pub fn on_progress(mut self, sink: CallProgress) -> Self {
        self.progress = Progress(Some(sink));
        self
    }

    /// Builds the host.
    ///
    /// # Errors
    /// [`HostError`]: whatever cannot be understood, found or enforced.
    pub async fn build(mut self) -> Result<Host, HostError> {
        settings::check_times(&self.config)?;
        let state = self.state_folder()?;
        crate::state::open(&state)?;
        let journal_file = self.journal_file()?;
        let spill_folder = state.join("spill");
        let spill = open_spill(&spill_folder)?;
        let journal = match self.journal.take() {
            Some(journal) => journal,
            None => self.open_journal(&journal_file)?,
        };
        let approver = match self.approver.take() {
            Some(approver) => approver,
            None => approvers::named(&self.config.approval, self.client_approver.take(), &state)?,
        };
        let remembered = approvers::standing(&state)?;
        let roots = self.roots(&spill_folder)?;
        let protected = self.protected(&state, &journal_file, &roots);
        let engine = code::engine(self.engine.take(), self.compile_worker.take(), &state)?;
        let shell = shell::native(&self.config, &state, &spill_folder, &protected)?;
        let config = &mut self.config;
        let installed = installed::tools(config, &state, &engine, shell.is_some()).await?;
        let connector = egress::connector(&self.config, self.resolver.take())?;
        let places = shell::places(&state, &spill_folder, &protected);
        let upstreams = upstream::servers(
            &self.config,
            roots.workspace(),
            &state,
            (places, self.progress.0.clone(), &connector),
        )?;
        let (known, reach) = ((state.as_path(), installed), (shell.clone(), connector));
        let registry = self.registry(&engine, &roots, known, reach).await?;
        let policy = self.policy(roots, protected, &registry)?;
        let mut hooks = Hooks::ready(&self.config.hooks, &engine).await?;
        hooks.pre.append(&mut self.pre_hooks);
        hooks.post.append(&mut self.post_hooks);
        hooks.event.append(&mut self.event_hooks);
        let chain = Arc::new(Chain::new(ChainParts {
            registry,
            policy,
            exempt: value(&self.config.exempt).unwrap_or_default(),
            pre_hooks: hooks.pre,
            post_hooks: hooks.post,
            event_hooks: hooks.event,
            hook_timeout: self.hook_timeout,
            approver,
            remembered: Some(Arc::new(remembered)),
            sight: Arc::new(FileSight),
            spill: Arc::new(spill) as Arc<dyn SpillStore>,
            journal,
            session: uuid::Uuid::now_v7().to_string(),
        }));
        upstreams.iter().for_each(|servers| servers.attach(&chain));
        Ok(Host {
            chain,
            left_out: self.left_out.into(),
            shell,
            upstreams,
        })
    }

    /// Where records go, unless the embedder brings a journal of its own.
    ///
    /// # Errors
    /// [`HostError::NoHome`].
    pub fn journal_file(&self) -> Result<PathBuf, HostError> {
        match &self.config.journal {
            Some(file) => Ok(file.value.clone()),
            None => Ok(self.state_folder()?.join("journal.jsonl")),
        }
    }

    fn state_folder(&self) -> Result<PathBuf, HostError> {
        let given = self.state.clone();
        given.or_else(state_dir).ok_or(HostError::NoHome)
    }

    /// The granted directories, resolved. Spilled outputs can be read.
    fn roots(&self, spill: &Path) -> Result<Roots, HostError> {
        let resolve = |path: &Path| {
            path.canonicalize().map_err(|error| HostError::Directory {
                path: path.to_owned(),
                error,
            })
        };
        let granted = |path: &Sourced<PathBuf>| {
            path.value.canonicalize().map_err(|error| {
                let shown = path.value.display();
                let what = format!("the directory '{shown}' cannot be granted: {error}");
                HostError::from(path.source.wrong(what))
            })
        };
        let all =
            |paths: &[Sourced<PathBuf>]| paths.iter().map(granted).collect::<Result<Vec<_>, _>>();
        let workspace = self
            .workspace
            .canonicalize()
            .map_err(|error| HostError::Workspace {
                path: self.workspace.clone(),
                error,
            })?;
        let as_given = std::path::absolute(&self.workspace).unwrap_or_else(|_| workspace.clone());
        let mut read = all(&self.config.read)?;
        read.push(resolve(spill)?);
        Ok(Roots::new(
            workspace,
            as_given,
            read,
            all(&self.config.write)?,
        ))
    }

    /// The journal. One that a file names is the configuration's to put right.
    fn open_journal(&self, file: &Path) -> Result<Arc<dyn Journal>, HostError> {
        let opened = JsonLines::open(file).map_err(|error| match &self.config.journal {
            Some(named) => named.source.wrong(error.to_string()).into(),
            None => HostError::from(error),
        })?;
        Ok(Arc::new(opened))
    }

    /// Our own files, and what is run from inside the granted directories, under the names that they were given and the
    /// ones that they have: no tool writes them. Of what is run, the whole folder, unless it holds a granted directory.
    fn protected(&self, state: &Path, journal: &Path, roots: &Roots) -> Vec<PathBuf> {
        let config = &self.config;
        let mut commands: Vec<(&[String], &ConfigSource)> = Vec::new();
        let mut named: Vec<PathBuf> = Vec::new();
        for hook in &config.hooks {
            match &hook.run {
                HookRun::Command { command, .. } => commands.push((command, &hook.source)),
                HookRun::Component { file } => named.push(file.clone()),
            }
        }
        let program = config.approval.program.iter();
        commands.extend(program.map(|program| (program.value.as_slice(), &program.source)));
        named.extend(egress::files(config));
        commands.extend(egress::commands(config));
        named.extend(config.components.iter().map(|file| file.value.clone()));
        named.extend(config.files.iter().cloned());
        named.extend([state, journal].into_iter().map(Path::to_owned));
        let granted: Vec<&Path> = roots.all(Access::Read).collect();
        named.extend(upstream::guarded(config, roots.workspace(), &granted));
        for (command, source) in commands {
            let mut folders = vec![roots.workspace().to_owned()];
            folders.extend(source.file.parent().and_then(|at| at.canonicalize().ok()));
            folders.extend(std::env::current_dir());
            named.extend(Runs::of(command, &folders).guarded(granted.iter().copied()));
        }
        named
            .iter()
            .flat_map(|path| [std::path::absolute(path).ok(), path.canonicalize().ok()])
            .flatten()
            .collect()
    }

    /// The components beside the built-in ones: the bytes that were trusted, where a workspace's file names them.
    fn strangers(&mut self, state: &Path) -> Result<Vec<Stranger>, HostError> {
        let embedded = std::mem::take(&mut self.components);
        let mut strangers: Vec<Stranger> = Vec::new();
        for Sourced {
            value: path,
            source,
        } in std::mem::take(&mut self.config.components)
        {
            let bytes = crate::runtime::read_component(&path).map_err(|error| {
                source.wrong(format!("'{}': cannot be read: {error}", path.display()))
            })?;
            same_bytes(&self.config.bound, &path, &bytes).map_err(|what| source.wrong(what))?;
            installed::signed(&self.config, state, &path, &bytes)?;
            strangers.push((path, bytes, Some(source)));
        }
        let embedded = embedded.into_iter();
        strangers.extend(embedded.map(|(label, bytes)| (label, bytes, None)));
        Ok(strangers)
    }

    async fn registry(
        &mut self,
        engine: &ToolEngine,
        roots: &Roots,
        (state, installed): (&Path, Vec<Installed>),
        (shell, connector): (Option<Arc<NativeShell>>, Connector),
    ) -> Result<Registry, HostError> {
        let dirs = RootDirs::open(roots.all(Access::Read).map(Path::to_owned))
            .map_err(|(path, error)| HostError::Directory { path, error })?;
        let ledger = Arc::new(ReadLedger::new());
        let search = web::service(&self.config)?;
        let (has_shell, has_search) = (shell.is_some(), search.is_some());
        let strangers = self.strangers(state)?;
        let wanted = loading::wanted(&self.config, shell.as_deref(), has_search)?;
        let flags = (has_shell, self.leave_out_broken);
        let loaded = loading::loaded(&self.config, engine, (wanted, strangers), flags).await?;
        self.left_out = loaded.left_out;
        let mut tools = loaded.ready;
        for tool in installed {
            tools.push(Ready::installed(&self.config, engine, tool)?);
        }
        let names: Vec<String> = tools
            .iter()
            .map(|tool| tool.declaration.name.to_string())
            .collect();
        installed::distinct(&tools)?;
        settings::check_names(&self.config, &names)?;
        settings::check_plain(&self.config, &tools)?;
        upstream::check_names(&self.config, &names)?;
        let mut registry = Registry::default();
        for tool in tools {
            let (mut declaration, built_in) = (tool.declaration, tool.built_in);
            let name = declaration.name.to_string();
            settings::assign_subject(&self.config, &mut declaration)?;
            shell::say_guarded(&self.config, built_in, &mut declaration);
            let told = web::settings(&self.config, &name, built_in, search.as_ref());
            registry.register(Registration {
                digest: tool.digest,
                computes_subjects: tool.computes_subjects,
                foreign: None,
                built_in,
                trust: settings::trust(&self.config, &name, built_in),
                limits: settings::limits(&self.config, &declaration)?,
                schema_mode: settings::schema_mode(&self.config, &name),
                provider: Arc::new(
                    ComponentProvider::new(
                        tool.code,
                        dirs.clone(),
                        Arc::clone(&ledger),
                        self.progress.0.clone(),
                    )
                    .with_shell(shell.clone().map(|shell| shell as Arc<dyn ShellPort>))
                    .with_settings(told)
                    .with_egress(connector.clone()),
                ),
                declaration,
            })?;
        }
        Ok(registry)
    }

    fn policy(
        &self,
        roots: Roots,
        protected: Vec<PathBuf>,
        registry: &Registry,
    ) -> Result<Policy, HostError> {
        let settings = PolicySettings {
            mode: value(&self.config.mode).unwrap_or_default(),
            ceiling: value(&self.config.ceiling).unwrap_or(SideEffect::Mutating),
            roots,
            home: etcetera::home_dir().ok(),
            protected,
            coming: upstream::coming(&self.config),
        };
        let policy = Policy::build(&self.config.rules, settings, &registry.facts());
        let grants = Arc::new(shell::grants(&self.config)?);
        let openings = Arc::new(egress::openings(&self.config)?);
        let policy = policy.map_err(HostError::Policy)?;
        Ok(policy.with_shell_grants(grants).with_egress(openings))
    }
}

/// A setting without its source.
fn value<T: Copy>(setting: &Option<Sourced<T>>) -> Option<T> {
    setting.as_ref().map(|setting| setting.value)
}
