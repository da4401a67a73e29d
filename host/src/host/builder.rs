//! From settings to a host.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use super::built_in::{self, BuiltIn};
use super::{Host, settings};
use crate::approval::Fixed;
use crate::config::{Config, HookSetting};
use crate::error::HostError;
use crate::gate::{
    Approver, Chain, ChainParts, Journal, PostHook, PreHook, Registration, Registry, SpillStore,
};
use crate::hooks::{CommandHook, HookError};
use crate::journal::JsonLines;
use crate::model::{Declaration, SideEffect, ToolName, suggestion};
use crate::policy::{Access, Policy, PolicySettings, Roots};
use crate::provider::ComponentProvider;
use crate::runtime::files::{ReadLedger, RootDirs};
use crate::runtime::{ComponentError, LoadedComponent, ProgressSink, Source, ToolEngine};
use crate::spill::FileSpill;

/// Instances that may live at once, unless said otherwise.
const DEFAULT_SLOTS: u32 = 256;

/// Everything a host can be given. Defaults: the built-in tools, no rules, mode `default`, nobody to ask, records and
/// long outputs in the user's state directory.
#[derive(Debug)]
pub struct HostBuilder {
    workspace: PathBuf,
    config: Config,
    state: Option<PathBuf>,
    approver: Arc<dyn Approver>,
    journal: Option<Arc<dyn Journal>>,
    pre_hooks: Vec<Arc<dyn PreHook>>,
    post_hooks: Vec<Arc<dyn PostHook>>,
    components: Vec<(PathBuf, Vec<u8>)>,
    engine: Option<ToolEngine>,
    progress: Progress,
}

/// A sink that can be printed.
#[derive(Clone, Default)]
struct Progress(Option<ProgressSink>);

impl std::fmt::Debug for Progress {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(if self.0.is_some() {
            "Progress(Some)"
        } else {
            "Progress(None)"
        })
    }
}

impl HostBuilder {
    pub(super) fn new(workspace: PathBuf) -> Self {
        Self {
            workspace,
            config: Config::default(),
            state: None,
            approver: Arc::new(Fixed::nobody()),
            journal: None,
            pre_hooks: Vec::new(),
            post_hooks: Vec::new(),
            components: Vec::new(),
            engine: None,
            progress: Progress::default(),
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

    /// Who is asked. Default: nobody, so that what has to be asked is denied.
    #[must_use]
    pub fn approver(mut self, approver: impl Approver + 'static) -> Self {
        self.approver = Arc::new(approver);
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

    /// Where progress of calls goes: done, total, message.
    #[must_use]
    pub fn on_progress(mut self, sink: ProgressSink) -> Self {
        self.progress = Progress(Some(sink));
        self
    }

    /// Builds the host.
    ///
    /// # Errors
    /// [`HostError`]: whatever cannot be understood, found or enforced.
    pub async fn build(mut self) -> Result<Host, HostError> {
        let state = self.state_folder()?;
        let journal_file = self
            .config
            .journal
            .clone()
            .unwrap_or_else(|| state.join("journal.jsonl"));
        let spill_folder = state.join("spill");
        let spill = FileSpill::open(&spill_folder).map_err(|error| HostError::Spill {
            path: spill_folder.clone(),
            error,
        })?;
        let journal: Arc<dyn Journal> = match self.journal.take() {
            Some(journal) => journal,
            None => Arc::new(JsonLines::open(&journal_file)?),
        };
        let roots = self.roots(&spill_folder)?;
        let protected = self.protected(&state, &journal_file);
        let registry = self.registry(&roots).await?;
        let policy = self.policy(roots, protected, &registry)?;
        self.add_hooks()?;
        Ok(Host {
            chain: Arc::new(Chain::new(ChainParts {
                registry,
                policy,
                exempt: self.config.exempt.unwrap_or_default(),
                pre_hooks: self.pre_hooks,
                post_hooks: self.post_hooks,
                approver: self.approver,
                spill: Arc::new(spill) as Arc<dyn SpillStore>,
                journal,
                session: uuid::Uuid::now_v7().to_string(),
            })),
        })
    }

    fn state_folder(&self) -> Result<PathBuf, HostError> {
        use etcetera::BaseStrategy as _;
        if let Some(state) = &self.state {
            return Ok(state.clone());
        }
        let strategy = etcetera::choose_base_strategy().map_err(|_missing| HostError::NoHome)?;
        let state = strategy.state_dir().unwrap_or_else(|| strategy.data_dir());
        Ok(state.join("toolgate"))
    }

    /// The granted directories, resolved. Spilled outputs can be read.
    fn roots(&self, spill: &Path) -> Result<Roots, HostError> {
        let resolve = |path: &Path| {
            path.canonicalize().map_err(|error| HostError::Directory {
                path: path.to_owned(),
                error,
            })
        };
        let all = |paths: &[PathBuf]| {
            paths
                .iter()
                .map(|path| resolve(path))
                .collect::<Result<Vec<_>, _>>()
        };
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

    /// Our own files, under the names that they were given and the ones that they have: no tool writes them.
    fn protected(&self, state: &Path, journal: &Path) -> Vec<PathBuf> {
        let hooks = [
            &self.config.pre_hooks,
            &self.config.post_hooks,
            &self.config.failure_hooks,
        ];
        let programs = hooks
            .into_iter()
            .flatten()
            .flat_map(|hook| hook.command.iter().map(PathBuf::from));
        let own = [state, journal].into_iter().map(Path::to_owned);
        let listed = self
            .config
            .files
            .iter()
            .chain(&self.config.components)
            .cloned();
        own.chain(listed)
            .chain(programs.filter(|word| word.is_file()))
            .flat_map(|path| [std::path::absolute(&path).ok(), path.canonicalize().ok()])
            .flatten()
            .collect()
    }

    async fn registry(&mut self, roots: &Roots) -> Result<Registry, HostError> {
        let dirs = RootDirs::open(roots.all(Access::Read).map(Path::to_owned))
            .map_err(|(path, error)| HostError::Directory { path, error })?;
        let engine = match self.engine.take() {
            Some(engine) => engine,
            None => ToolEngine::new(DEFAULT_SLOTS)?,
        };
        let ledger = Arc::new(ReadLedger::new());
        for path in std::mem::take(&mut self.config.components) {
            match crate::runtime::read_component(&path) {
                Ok(bytes) => self.components.push((path, bytes)),
                Err(error) => return Err(HostError::Unreadable { path, error }),
            }
        }
        // All at once: loading is work, and there may be several cores.
        let built_in = self.wanted_built_ins()?.into_iter().map(|tool| {
            let source = Source::BuiltIn {
                compiled: tool.compiled,
                digest: tool.digest,
            };
            spawn_load(&engine, PathBuf::from(tool.name), source, true)
        });
        let strangers = std::mem::take(&mut self.components).into_iter();
        let strangers =
            strangers.map(|(label, bytes)| spawn_load(&engine, label, Source::Bytes(bytes), false));
        let loading: Vec<_> = built_in.chain(strangers).collect();
        let mut loaded = Vec::new();
        for load in loading {
            loaded.push(load.await?);
        }
        let names: Vec<String> = loaded
            .iter()
            .map(|((_, said), _)| said.name.to_string())
            .collect();
        settings::check_names(&self.config, &names)?;
        let mut registry = Registry::default();
        for ((component, declaration), built_in) in loaded {
            let name = declaration.name.to_string();
            registry.register(Registration {
                digest: component.digest().to_owned(),
                computes_subjects: component.computes_subjects(),
                built_in,
                limits: settings::limits(&self.config, &name).map_err(HostError::Limit)?,
                schema_mode: settings::schema_mode(&self.config, &name),
                provider: Arc::new(ComponentProvider::new(
                    component,
                    dirs.clone(),
                    Arc::clone(&ledger),
                    self.progress.0.clone(),
                )),
                declaration,
            })?;
        }
        Ok(registry)
    }

    fn wanted_built_ins(&self) -> Result<Vec<&'static BuiltIn>, HostError> {
        let all = built_in::all();
        let names = || all.iter().map(|tool| tool.name);
        if let Some(unknown) = self
            .config
            .without
            .iter()
            .find(|name| !names().any(|known| known == name.as_str()))
        {
            return Err(HostError::UnknownTool {
                table: "'without' of [components]",
                tool: unknown.clone(),
                suggestion: suggestion(unknown, names()),
            });
        }
        let without = |tool: &&BuiltIn| !self.config.without.iter().any(|name| name == tool.name);
        Ok(all.iter().filter(without).collect())
    }

    fn policy(
        &self,
        roots: Roots,
        protected: Vec<PathBuf>,
        registry: &Registry,
    ) -> Result<Policy, HostError> {
        let settings = PolicySettings {
            mode: self.config.mode.unwrap_or_default(),
            ceiling: self.config.ceiling.unwrap_or(SideEffect::Mutating),
            roots,
            home: etcetera::home_dir().ok(),
            protected,
        };
        let facts: Vec<_> = registry.tools().map(|tool| tool.facts().clone()).collect();
        Policy::build(&self.config.rules, settings, &facts).map_err(HostError::Policy)
    }

    fn add_hooks(&mut self) -> Result<(), HostError> {
        let mut pre: Vec<Arc<dyn PreHook>> = Vec::new();
        for setting in &self.config.pre_hooks {
            pre.push(Arc::new(command_hook(setting, false)?));
        }
        pre.append(&mut self.pre_hooks);
        self.pre_hooks = pre;
        let mut post: Vec<Arc<dyn PostHook>> = Vec::new();
        for (settings, on_failure) in [
            (&self.config.post_hooks, false),
            (&self.config.failure_hooks, true),
        ] {
            for setting in settings {
                post.push(Arc::new(command_hook(setting, on_failure)?));
            }
        }
        post.append(&mut self.post_hooks);
        self.post_hooks = post;
        Ok(())
    }
}

/// A component with what it says of itself, and whether it is one of our own.
type Loaded = ((LoadedComponent, Declaration), bool);

/// Loads a component on a thread that may take its time.
fn spawn_load(
    engine: &ToolEngine,
    label: PathBuf,
    source: Source,
    built_in: bool,
) -> impl Future<Output = Result<Loaded, HostError>> {
    let engine = engine.clone();
    let loading = tokio::task::spawn_blocking(move || LoadedComponent::load(&engine, source));
    async move {
        let failed = |error| HostError::Component { path: label, error };
        let component = match loading.await {
            Ok(Ok(component)) => component,
            Ok(Err(error)) => return Err(failed(error)),
            Err(panicked) => return Err(failed(ComponentError::Invalid(panicked.to_string()))),
        };
        match component.describe().await {
            Ok(declaration) => Ok(((component, declaration), built_in)),
            Err(error) => Err(failed(error)),
        }
    }
}

fn command_hook(setting: &HookSetting, on_failure: bool) -> Result<CommandHook, HookError> {
    let timeout = Duration::from_millis(setting.timeout_ms.clamp(1, 600_000));
    // Names were checked against the registry, whose names are tool names.
    let tools = setting
        .tools
        .iter()
        .filter_map(|name| ToolName::try_from(name.as_str()).ok())
        .collect();
    CommandHook::new(&setting.command, tools, on_failure, timeout)
}
