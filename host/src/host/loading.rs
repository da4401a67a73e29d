//! The built-in tools and the component files: loaded, and asked what they are.

use std::fmt;
use std::path::{Path, PathBuf};

use super::built_in::{self, BuiltIn};
use super::installed::Ready;
use super::{settings, web};
use crate::config::{Config, Source as ConfigSource};
use crate::error::HostError;
use crate::model::Declaration;
use crate::provider::NativeShell;
use crate::runtime::{
    AnyComponent, ComponentError, LoadedComponent, PlainComponent, PlainFunction, Source,
    ToolEngine,
};

/// A component's file, its bytes, and where it is named, if not by the embedder.
pub(super) type Stranger = (PathBuf, Vec<u8>, Option<ConfigSource>);

/// A component with what it says of itself.
enum Loaded {
    Tool(Box<LoadedComponent>, Box<Declaration>),
    Plain(PlainComponent),
}

/// Something that a component offers, or the component itself, which is no tool of this host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeftOut {
    /// The component's file, or its name for messages.
    pub component: PathBuf,
    /// The function, where only that is left out.
    pub function: Option<String>,
    /// Why, in a sentence without its full stop.
    pub why: String,
}

impl fmt::Display for LeftOut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let component = self.component.display();
        match &self.function {
            Some(function) => write!(
                f,
                "{component}: the function '{}' is left out: {}",
                crate::model::visible(function),
                self.why
            ),
            None => write!(f, "{component}: left out: {}", self.why),
        }
    }
}

/// What came of loading.
#[derive(Default)]
pub(super) struct Tools {
    pub(super) ready: Vec<Ready>,
    pub(super) left_out: Vec<LeftOut>,
}

/// The built-in tools that a host with or without a shell and a search service has.
pub(super) fn wanted(
    config: &Config,
    shell: Option<&NativeShell>,
    search: bool,
) -> Result<Vec<&'static BuiltIn>, HostError> {
    let all = built_in::all();
    let names = || all.iter().map(|tool| tool.name);
    let known = |name: &str| names().any(|known| known == name);
    if let Some(unknown) = config.without.iter().find(|name| !known(&name.value)) {
        let (source, what) = (&unknown.source, "'without' of [components]");
        return Err(settings::unknown(source, what, &unknown.value, names()).into());
    }
    let left_out = &config.without;
    let without = |tool: &&BuiltIn| !left_out.iter().any(|name| name.value == tool.name);
    // Better no tool than one whose commands vanish, or whose questions nobody answers.
    let terminals = shell.is_some_and(NativeShell::has_terminals);
    let usable = |tool: &&BuiltIn| {
        (shell.is_some() || !tool.needs_shell)
            && (terminals || !tool.needs_terminal())
            && (search || tool.name != web::WEB_SEARCH)
    };
    Ok(all.iter().filter(without).filter(usable).collect())
}

/// The built-in tools as they are, and the component files all at once: loading is work, and there may be several cores.
/// `lenient`: what cannot be used is left out.
pub(super) async fn loaded(
    config: &Config,
    engine: &ToolEngine,
    (wanted, strangers): (Vec<&'static BuiltIn>, Vec<Stranger>),
    (shell, lenient): (bool, bool),
) -> Result<Tools, HostError> {
    let loading: Vec<_> = strangers
        .into_iter()
        .map(|(label, bytes, source)| {
            let loading = spawn_load(engine, (label.clone(), source), Source::Bytes(bytes));
            (label, loading)
        })
        .collect();
    let mut tools = Tools::default();
    for tool in wanted {
        tools.ready.push(Ready::built_in(engine, tool)?);
    }
    for (label, load) in loading {
        match load.await {
            Ok(Loaded::Tool(component, declaration)) => {
                if !shell && component.needs_shell(&declaration) {
                    let path = PathBuf::from(declaration.name.as_str());
                    let error = ComponentError::NeedsShell;
                    return Err(HostError::Component { path, error });
                }
                let tool = Ready::loaded(*component, *declaration, &label);
                tools.ready.push(tool);
            }
            Ok(Loaded::Plain(component)) => add_functions(config, &label, &component, &mut tools)?,
            Err(broken) if lenient => tools.left_out.push(LeftOut {
                component: label,
                function: None,
                why: match broken {
                    HostError::Component { error, .. } => error.to_string(),
                    other => other.to_string(),
                },
            }),
            Err(error) => return Err(error),
        }
    }
    Ok(tools)
}

/// Every function of a plain component that can be a tool, and why the others cannot.
fn add_functions(
    config: &Config,
    label: &Path,
    component: &PlainComponent,
    tools: &mut Tools,
) -> Result<(), HostError> {
    for (function, why) in component.unusable() {
        tools.left_out.push(LeftOut {
            component: label.to_owned(),
            function: Some(function.clone()),
            why: why.to_string(),
        });
    }
    for function in component.functions() {
        tools.ready.push(Ready {
            declaration: settings::plain(config, declared(function, label)?, label)?,
            digest: function.digest().to_owned(),
            computes_subjects: false,
            built_in: false,
            plain: true,
            origin: label.display().to_string(),
            code: function.clone().into(),
        });
    }
    Ok(())
}

fn declared(function: &PlainFunction, label: &Path) -> Result<Declaration, HostError> {
    function
        .declaration()
        .map_err(|error| HostError::Component {
            path: label.to_owned(),
            error: error.into(),
        })
}

/// Loads a component on a thread that may take its time.
fn spawn_load(
    engine: &ToolEngine,
    (label, named_in): (PathBuf, Option<ConfigSource>),
    source: Source,
) -> impl Future<Output = Result<Loaded, HostError>> {
    let engine = engine.clone();
    let loading = tokio::task::spawn_blocking(move || AnyComponent::load(&engine, source));
    async move {
        let failed = |error: ComponentError| match named_in {
            Some(source) => source
                .wrong(format!("'{}': {error}", label.display()))
                .into(),
            None => HostError::Component { path: label, error },
        };
        let component = match loading.await {
            Ok(Ok(AnyComponent::Tool(component))) => component,
            Ok(Ok(AnyComponent::Plain(component))) => return Ok(Loaded::Plain(component)),
            Ok(Err(error)) => return Err(failed(error)),
            Err(panicked) => return Err(failed(ComponentError::Invalid(panicked.to_string()))),
        };
        match component.describe().await {
            Ok(declaration) => Ok(Loaded::Tool(component, Box::new(declaration))),
            Err(error) => Err(failed(error)),
        }
    }
}
