//! The code of a component: there, or loaded at the first call.

use std::fmt;

use tokio::sync::OnceCell;

use crate::runtime::{ComponentError, LoadedComponent, PlainFunction, Source, ToolEngine};

/// A component that can be called, now or after its first call has loaded it.
pub struct Code(State);

enum State {
    Loaded(LoadedComponent),
    Function(Box<PlainFunction>),
    Later {
        engine: ToolEngine,
        source: Source,
        computes_subjects: bool,
        cell: OnceCell<LoadedComponent>,
    },
}

impl Code {
    /// A component that is loaded when it is first called, and kept. What cannot be loaded is tried again at the next call.
    pub fn later(engine: ToolEngine, source: Source, computes_subjects: bool) -> Self {
        Self(State::Later {
            engine,
            source,
            computes_subjects,
            cell: OnceCell::new(),
        })
    }

    /// Whether it computes subjects, which needs no loading to know.
    pub(super) fn computes_subjects(&self) -> bool {
        match &self.0 {
            State::Loaded(component) => component.computes_subjects(),
            State::Function(_) => false,
            State::Later {
                computes_subjects, ..
            } => *computes_subjects,
        }
    }

    /// The function, if it is one of a plain component.
    pub(super) fn function(&self) -> Option<&PlainFunction> {
        match &self.0 {
            State::Function(function) => Some(function),
            State::Loaded(_) | State::Later { .. } => None,
        }
    }

    /// The component; of several first calls, one loads it.
    pub(super) async fn loaded(&self) -> Result<&LoadedComponent, String> {
        match &self.0 {
            State::Loaded(component) => Ok(component),
            State::Function(_) => {
                Err("a function of a plain component is no tool by itself".to_owned())
            }
            State::Later {
                engine,
                source,
                cell,
                computes_subjects: _,
            } => cell.get_or_try_init(|| load(engine, source)).await,
        }
    }
}

async fn load(engine: &ToolEngine, source: &Source) -> Result<LoadedComponent, String> {
    let (engine, source) = (engine.clone(), source.clone());
    let loading = tokio::task::spawn_blocking(move || LoadedComponent::load(&engine, source));
    match loading.await {
        Ok(Ok(component)) => Ok(component),
        Ok(Err(error @ ComponentError::Stored { .. })) => Err(format!(
            "{error}: 'toolgate install --frozen' gets it again"
        )),
        Ok(Err(error)) => Err(error.to_string()),
        Err(panicked) => Err(panicked.to_string()),
    }
}

impl From<LoadedComponent> for Code {
    fn from(component: LoadedComponent) -> Self {
        Self(State::Loaded(component))
    }
}

impl From<PlainFunction> for Code {
    fn from(function: PlainFunction) -> Self {
        Self(State::Function(Box::new(function)))
    }
}

impl fmt::Debug for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            State::Loaded(component) => component.fmt(f),
            State::Function(function) => function.fmt(f),
            State::Later { cell, .. } => f
                .debug_struct("Later")
                .field("loaded", &cell.get())
                .finish_non_exhaustive(),
        }
    }
}
