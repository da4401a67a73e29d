//! Instances: one store, one instance, one call, then gone.

use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::{Map, Value};
use tokio::time::error::Elapsed;
use tokio::time::timeout;
use wasmtime::Store;

use super::bindings::exports::toolgate::tool::tool as exported;
use super::bindings::toolgate::tool::types as wit;
use super::component::{LoadedComponent, subject_kind};
use super::egress_door::EgressDoor;
use super::engine::ToolEngine;
use super::files::{FileView, ReadLedger, RootDirs};
use super::settings_door::ToolSettings;
use super::shell_door::ShellDoor;
use super::shell_port::ShellPort;
use super::state::{ProgressSink, State};
use super::store::{Bounds, empty_sandbox, store};
use super::trap::{DeadlineStruck, end_of};
use crate::egress::Connector;
use crate::model::{
    Bound, CommandUse, Content, FileUse, HostFailure, Left, Limits, RequestUse, Stop, Subject,
    ToolFailure, ToolOutput, Trap, Usage,
};
use crate::policy::{EgressGrant, FileGrant, ShellGrant};

/// The most subjects that a tool may name.
const MAX_SUBJECTS: usize = 1_000;
/// What a call that may run commands has beyond its bound, so that the deadline of a command strikes first and what it
/// printed is told.
const AFTER_A_COMMAND: Duration = Duration::from_secs(15);
/// Bounds for what runs before a decision: `describe` and `subjects`.
const EMPTY_SANDBOX_TIME: Duration = Duration::from_secs(5);
/// The same.
const EMPTY_SANDBOX_FUEL: u64 = 5_000_000_000;

/// What a call is given.
pub struct CallSetup {
    /// Its bounds.
    pub limits: Limits,
    /// Its files.
    pub files: Option<FileGrant>,
    /// The opened roots.
    pub roots: RootDirs,
    /// Its commands, and what runs them.
    pub shell: Option<(ShellGrant, Arc<dyn ShellPort>)>,
    /// Where what it does is left, should it be given up.
    pub left: Arc<Left>,
    /// What the operator set for the tool.
    pub settings: ToolSettings,
    /// Its requests, and what sends them.
    pub egress: Option<(EgressGrant, Connector)>,
    /// What the session has read.
    pub ledger: Arc<ReadLedger>,
    /// Where progress goes.
    pub progress: Option<ProgressSink>,
}

impl std::fmt::Debug for CallSetup {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CallSetup")
            .field("limits", &self.limits)
            .field("files", &self.files)
            .finish_non_exhaustive()
    }
}

/// How a guest ended.
#[derive(Debug)]
pub enum GuestEnd {
    /// It gave a result.
    Done(ToolOutput),
    /// It said no.
    Failed(ToolFailure),
    /// A bound ended it.
    Stopped(Stop),
    /// It died.
    Trapped(Trap),
    /// The host failed.
    HostError(HostFailure),
}

/// The end and what it took.
#[derive(Debug)]
pub struct GuestReport {
    /// How it ended.
    pub end: GuestEnd,
    /// Fuel and memory.
    pub usage: Usage,
    /// Files that were touched.
    pub files: Vec<FileUse>,
    /// Commands that were run or refused.
    pub commands: Vec<CommandUse>,
    /// Requests that were made or refused.
    pub requests: Vec<RequestUse>,
    /// What was logged.
    pub log: Vec<String>,
}

/// A store that is ready for one call, with what it is given.
pub(super) struct Begun {
    pub(super) store: Store<State>,
    /// The wall clock around what runs in it.
    pub(super) time: Duration,
    limits: Limits,
}

impl Begun {
    pub(super) fn new(engine: &ToolEngine, setup: CallSetup) -> Self {
        let limits = setup.limits;
        let mut time = limits.timeout.duration();
        if setup.shell.as_ref().is_some_and(|(grant, _)| grant.runs()) {
            time += AFTER_A_COMMAND;
        }
        let deadline = Instant::now() + time;
        let files = FileView::new(setup.files, setup.roots, setup.ledger, deadline);
        let mut state = State::new(files, limits, deadline, setup.progress);
        let left = &setup.left;
        state.left = Arc::clone(left);
        state.shell = setup
            .shell
            .map(|(grant, port)| ShellDoor::new(grant, port, Arc::clone(left)));
        state.settings = setup.settings;
        state.egress = EgressDoor::new(setup.egress);
        Self {
            store: store(engine, state),
            time,
            limits,
        }
    }

    /// What came of what ran, in the words of `answered` where it answered.
    pub(super) fn ended<T>(
        self,
        ran: Result<wasmtime::Result<T>, Elapsed>,
        answered: impl FnOnce(T, &Limits) -> GuestEnd,
    ) -> GuestReport {
        let limit = self.time;
        let end = match ran {
            Err(_) => GuestEnd::Stopped(Stop::WallClock { limit }),
            Ok(Err(error)) => end_of(&error, self.store.data(), limit),
            Ok(Ok(answer)) => answered(answer, &self.limits),
        };
        self.report(end)
    }

    /// An end, with what it took.
    pub(super) fn report(mut self, end: GuestEnd) -> GuestReport {
        let left = self.store.get_fuel().unwrap_or(0);
        let state = self.store.data_mut();
        GuestReport {
            end,
            usage: Usage {
                fuel: self.limits.fuel.units().saturating_sub(left),
                memory: state.limiter.high_water(),
                wall: Duration::ZERO,
            },
            files: state.files.take_uses(),
            commands: state
                .shell
                .as_mut()
                .map(ShellDoor::take_uses)
                .unwrap_or_default(),
            requests: state.egress.take_uses(),
            log: state.take_log(),
        }
    }
}

impl LoadedComponent {
    /// Runs one call in a fresh instance. Dropping the future ends the guest wherever it is.
    pub async fn call(&self, setup: CallSetup, input: &str) -> GuestReport {
        let mut begun = Begun::new(&self.engine, setup);
        // Boxed: the instance's future is large, and would be copied on its way down.
        let run = Box::pin(self.run(&mut begun.store, input));
        let ran = timeout(begun.time, run).await;
        begun.ended(ran, answered)
    }

    async fn run(
        &self,
        store: &mut Store<State>,
        input: &str,
    ) -> wasmtime::Result<Result<wit::Output, wit::ToolError>> {
        let _room = self.share.room().await?;
        let tool = self.tool.instantiate_async(&mut *store).await?;
        tool.toolgate_tool_tool().call_call(store, input).await
    }

    /// The component's own words, from an empty sandbox.
    pub(super) async fn ask_description(&self) -> Result<exported::Declaration, String> {
        let mut store = self.empty_sandbox();
        let asked = async {
            let _room = self.share.room().await?;
            let tool = self.tool.instantiate_async(&mut store).await?;
            tool.toolgate_tool_tool().call_describe(&mut store).await
        };
        within(asked).await
    }

    /// The subjects that the component computes, if it does; its refusal is the inner error.
    ///
    /// # Errors
    /// The export traps or takes too long.
    pub async fn subjects(
        &self,
        input: &Map<String, Value>,
    ) -> Option<Result<Vec<Subject>, String>> {
        let subjects = self.subjects.as_ref()?;
        let input = Value::Object(input.clone()).to_string();
        let mut store = self.empty_sandbox();
        let asked = async {
            let _room = self.share.room().await?;
            let tool = subjects.instantiate_async(&mut store).await?;
            tool.toolgate_tool_subjects()
                .call_subjects(&mut store, &input)
                .await
        };
        let answer = match within(asked).await {
            Ok(answer) => answer,
            Err(what) => return Some(Err(format!("its subjects could not be had: {what}"))),
        };
        let subject = |subject: super::bindings::with_subjects::exports::toolgate::tool::subjects::ResolvedSubject| {
            Subject {
                kind: subject_kind(subject.kind),
                value: subject.value,
            }
        };
        if answer
            .as_ref()
            .is_ok_and(|subjects| subjects.len() > MAX_SUBJECTS)
        {
            return Some(Err(format!("it names more than {MAX_SUBJECTS} subjects")));
        }
        Some(answer.map(|subjects| subjects.into_iter().map(subject).collect()))
    }

    fn empty_sandbox(&self) -> Store<State> {
        let mut limits = Limits::default();
        if let Err(error) = limits.set(Bound::Fuel, EMPTY_SANDBOX_FUEL) {
            tracing::error!("{error}");
        }
        let time = EMPTY_SANDBOX_TIME;
        empty_sandbox(&self.engine, Bounds { time, limits })
    }
}

async fn within<T>(asked: impl Future<Output = wasmtime::Result<T>>) -> Result<T, String> {
    let too_long = || format!("it took more than {} s", EMPTY_SANDBOX_TIME.as_secs());
    match timeout(EMPTY_SANDBOX_TIME, asked).await {
        Ok(Ok(answer)) => Ok(answer),
        Ok(Err(error)) if error.downcast_ref::<DeadlineStruck>().is_some() => Err(too_long()),
        Ok(Err(error)) => Err(match error.downcast_ref::<wasmtime::Trap>() {
            Some(trap) => trap.to_string(),
            None => error.root_cause().to_string(),
        }),
        Err(_) => Err(too_long()),
    }
}

fn answered(answer: Result<wit::Output, wit::ToolError>, limits: &Limits) -> GuestEnd {
    let limit = limits.result.get();
    match answer {
        Ok(output) if output_size(&output) > limit => GuestEnd::Stopped(Stop::ResultSize { limit }),
        Err(error) if error_size(&error) > limit => GuestEnd::Stopped(Stop::ResultSize { limit }),
        Ok(output) => done(output),
        Err(error) => GuestEnd::Failed(failure(error)),
    }
}

fn output_size(output: &wit::Output) -> usize {
    let length = |text: &Option<String>| text.as_ref().map_or(0, String::len);
    let parts = output.content.iter().map(|part| match part {
        wit::Content::Text(text) => text.len(),
        wit::Content::Blob(blob) => blob.data.len() + blob.mime.len() + length(&blob.uri),
        wit::Content::Link(link) => link.uri.len() + link.name.len() + length(&link.mime),
    });
    parts.sum::<usize>() + output.structured.as_ref().map_or(0, String::len)
}

fn error_size(error: &wit::ToolError) -> usize {
    match error {
        wit::ToolError::InvalidInput(violations) => violations.iter().map(String::len).sum(),
        wit::ToolError::Denied(text)
        | wit::ToolError::NotFound(text)
        | wit::ToolError::Failed(text) => text.len(),
        wit::ToolError::Cancelled => 0,
        wit::ToolError::Other((kind, text)) => kind.len() + text.len(),
    }
}

fn done(output: wit::Output) -> GuestEnd {
    let structured = match output
        .structured
        .as_deref()
        .map(serde_json::from_str)
        .transpose()
    {
        Ok(structured) => structured,
        Err(error) => {
            return GuestEnd::Failed(ToolFailure {
                kind: "failed".to_owned(),
                message: format!("The tool gave a structured result that is not JSON: {error}."),
            });
        }
    };
    let content = output.content.into_iter().map(|part| match part {
        wit::Content::Text(text) => Content::Text { text },
        wit::Content::Blob(blob) => Content::Blob {
            mime: blob.mime,
            uri: blob.uri,
            data: blob.data,
        },
        wit::Content::Link(link) => Content::Link {
            uri: link.uri,
            name: link.name,
            mime: link.mime,
        },
    });
    GuestEnd::Done(ToolOutput {
        content: content.collect(),
        structured,
        capped: false,
    })
}

fn failure(error: wit::ToolError) -> ToolFailure {
    let (kind, message) = match error {
        wit::ToolError::InvalidInput(violations) => {
            ("invalid-input".to_owned(), violations.join("\n"))
        }
        wit::ToolError::Denied(message) => ("denied".to_owned(), message),
        wit::ToolError::NotFound(message) => ("not-found".to_owned(), message),
        wit::ToolError::Cancelled => (
            "cancelled".to_owned(),
            "The tool stopped because it was asked to.".to_owned(),
        ),
        wit::ToolError::Failed(message) => ("failed".to_owned(), message),
        wit::ToolError::Other((kind, message)) => (kind.chars().take(64).collect(), message),
    };
    ToolFailure { kind, message }
}
