//! The code of a tool: there, or loaded at the first call.

use std::fmt;

use tokio::sync::OnceCell;

use crate::model::ToolName;
use crate::runtime::{
    AnyComponent, ComponentError, LoadedComponent, PlainFunction, Source, ToolEngine,
};

/// Code that can be called, now or after the first call has loaded it.
pub struct Code(State);

/// Code that is there.
#[derive(Debug)]
pub(super) enum Loaded {
    /// A component of our contract.
    Tool(Box<LoadedComponent>),
    /// A function of a plain component.
    Function(Box<PlainFunction>),
}

enum State {
    Loaded(Loaded),
    Later(Box<Later>),
}

struct Later {
    engine: ToolEngine,
    source: Source,
    /// The function of a plain component; none: the component is the tool.
    function: Option<ToolName>,
    computes_subjects: bool,
    cell: OnceCell<Loaded>,
}

impl Code {
    /// A component that is loaded when it is first called, and kept. What cannot be loaded is tried again at the next call.
    pub fn later(engine: ToolEngine, source: Source, computes_subjects: bool) -> Self {
        Self::of(engine, source, None, computes_subjects)
    }

    /// The same for a function of a plain component.
    pub fn function_later(engine: ToolEngine, source: Source, function: ToolName) -> Self {
        Self::of(engine, source, Some(function), false)
    }

    fn of(
        engine: ToolEngine,
        source: Source,
        function: Option<ToolName>,
        computes_subjects: bool,
    ) -> Self {
        Self(State::Later(Box::new(Later {
            engine,
            source,
            function,
            computes_subjects,
            cell: OnceCell::new(),
        })))
    }

    /// Whether it computes subjects, which needs no loading to know.
    pub(super) fn computes_subjects(&self) -> bool {
        match &self.0 {
            State::Loaded(Loaded::Tool(component)) => component.computes_subjects(),
            State::Loaded(Loaded::Function(_)) => false,
            State::Later(later) => later.computes_subjects,
        }
    }

    /// The code; of several first calls, one loads it.
    pub(super) async fn loaded(&self) -> Result<&Loaded, String> {
        match &self.0 {
            State::Loaded(loaded) => Ok(loaded),
            State::Later(later) => later.cell.get_or_try_init(|| load(later)).await,
        }
    }
}

async fn load(later: &Later) -> Result<Loaded, String> {
    let (engine, source) = (later.engine.clone(), later.source.clone());
    let loading = tokio::task::spawn_blocking(move || AnyComponent::load(&engine, source));
    let loaded = match loading.await {
        Ok(Ok(loaded)) => loaded,
        Ok(Err(error @ ComponentError::Stored { .. })) => {
            return Err(format!(
                "{error}: 'toolgate install --frozen' gets it again"
            ));
        }
        Ok(Err(error)) => return Err(error.to_string()),
        Err(panicked) => return Err(panicked.to_string()),
    };
    match (loaded, &later.function) {
        (AnyComponent::Tool(component), None) => Ok(Loaded::Tool(component)),
        (AnyComponent::Plain(component), Some(name)) => {
            let mut functions = component.functions().iter();
            let found = functions.find(|function| function.name() == name);
            let found = found.ok_or_else(|| format!("its component has no function '{name}'"))?;
            Ok(Loaded::Function(Box::new(found.clone())))
        }
        (AnyComponent::Tool(_), Some(_)) | (AnyComponent::Plain(_), None) => {
            Err("its component is of another kind than when it was installed".to_owned())
        }
    }
}

impl From<LoadedComponent> for Code {
    fn from(component: LoadedComponent) -> Self {
        Self(State::Loaded(Loaded::Tool(Box::new(component))))
    }
}

impl From<PlainFunction> for Code {
    fn from(function: PlainFunction) -> Self {
        Self(State::Loaded(Loaded::Function(Box::new(function))))
    }
}

impl fmt::Debug for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            State::Loaded(loaded) => loaded.fmt(f),
            State::Later(later) => f
                .debug_struct("Later")
                .field("loaded", &later.cell.get())
                .finish_non_exhaustive(),
        }
    }
}
