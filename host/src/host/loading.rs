//! The built-in tools and the component files: loaded, and asked what they are.

use std::path::PathBuf;

use super::built_in::{self, BuiltIn};
use super::installed::Ready;
use super::{settings, web};
use crate::config::{Config, Source as ConfigSource};
use crate::error::HostError;
use crate::model::Declaration;
use crate::provider::NativeShell;
use crate::runtime::{ComponentError, LoadedComponent, Source, ToolEngine};

/// A component's file, its bytes, and where it is named, if not by the embedder.
pub(super) type Stranger = (PathBuf, Vec<u8>, Option<ConfigSource>);

/// A component with what it says of itself, whether it is one of our own, and its file.
type Loaded = (LoadedComponent, Declaration, (bool, PathBuf));

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

/// All of them at once: loading is work, and there may be several cores.
pub(super) async fn loaded(
    engine: &ToolEngine,
    wanted: Vec<&'static BuiltIn>,
    strangers: Vec<Stranger>,
    shell: bool,
) -> Result<Vec<Ready>, HostError> {
    let built_in = wanted.into_iter().map(|tool| {
        let source = Source::BuiltIn {
            compiled: tool.compiled,
            digest: tool.digest,
        };
        spawn_load(engine, (PathBuf::from(tool.name), None), source, true)
    });
    let strangers = strangers.into_iter().map(|(label, bytes, source)| {
        spawn_load(engine, (label, source), Source::Bytes(bytes), false)
    });
    let loading: Vec<_> = built_in.chain(strangers).collect();
    let mut tools = Vec::new();
    for load in loading {
        let (component, declaration, (built_in, label)) = load.await?;
        if !shell && component.needs_shell(&declaration) {
            let path = PathBuf::from(declaration.name.as_str());
            let error = ComponentError::NeedsShell;
            return Err(HostError::Component { path, error });
        }
        tools.push(Ready::loaded(component, declaration, (built_in, &label)));
    }
    Ok(tools)
}

/// Loads a component on a thread that may take its time.
fn spawn_load(
    engine: &ToolEngine,
    (label, named_in): (PathBuf, Option<ConfigSource>),
    source: Source,
    built_in: bool,
) -> impl Future<Output = Result<Loaded, HostError>> {
    let engine = engine.clone();
    let loading = tokio::task::spawn_blocking(move || LoadedComponent::load(&engine, source));
    async move {
        let file = label.clone();
        let failed = |error: ComponentError| match named_in {
            Some(source) => source
                .wrong(format!("'{}': {error}", label.display()))
                .into(),
            None => HostError::Component { path: label, error },
        };
        let component = match loading.await {
            Ok(Ok(component)) => component,
            Ok(Err(error)) => return Err(failed(error)),
            Err(panicked) => return Err(failed(ComponentError::Invalid(panicked.to_string()))),
        };
        match component.describe().await {
            Ok(declaration) => Ok((component, declaration, (built_in, file))),
            Err(error) => Err(failed(error)),
        }
    }
}
