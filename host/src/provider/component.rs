//! The component provider: a cleared call becomes one instance.

use std::sync::Arc;

use async_trait::async_trait;
use serde_json::{Map, Value};

use super::code::{Code, Loaded};
use crate::egress::Connector;
use crate::gate::{CallProgress, Cleared, Provider, ProviderEnd, ProviderReport};
use crate::model::{HostFailure, Stop, Subject};
use crate::runtime::files::{ReadLedger, RootDirs};
use crate::runtime::{CallSetup, GuestEnd, GuestReport, ProgressSink, ShellPort, ToolSettings};

/// Runs calls of one component.
pub struct ComponentProvider {
    component: Code,
    roots: RootDirs,
    ledger: Arc<ReadLedger>,
    progress: Option<CallProgress>,
    shell: Option<Arc<dyn ShellPort>>,
    settings: ToolSettings,
    egress: Option<Connector>,
}

impl ComponentProvider {
    /// A provider whose calls see these roots, as far as their grants go.
    pub fn new(
        component: impl Into<Code>,
        roots: RootDirs,
        ledger: Arc<ReadLedger>,
        progress: Option<CallProgress>,
    ) -> Self {
        Self {
            component: component.into(),
            roots,
            ledger,
            progress,
            shell: None,
            settings: ToolSettings::default(),
            egress: None,
        }
    }

    /// The same with a shell, for what the calls' grants allow.
    #[must_use]
    pub fn with_shell(mut self, shell: Option<Arc<dyn ShellPort>>) -> Self {
        self.shell = shell;
        self
    }

    /// The same with what the operator set for the tool.
    #[must_use]
    pub fn with_settings(mut self, settings: ToolSettings) -> Self {
        self.settings = settings;
        self
    }

    /// The same with the connector, for what the calls' grants allow.
    #[must_use]
    pub fn with_egress(mut self, connector: Connector) -> Self {
        self.egress = Some(connector);
        self
    }
}

impl ComponentProvider {
    /// What a call is given, as far as its verdict goes.
    fn setup(&self, call: &Cleared) -> CallSetup {
        let id = call.id();
        let progress = self.progress.clone().map(|sink| {
            Arc::new(move |done, total, message: &str| sink(id, done, total, message))
                as ProgressSink
        });
        CallSetup {
            limits: *call.tool().limits(),
            files: call.files().cloned(),
            roots: self.roots.clone(),
            shell: call.shell().cloned().zip(self.shell.clone()),
            left: Arc::clone(call.left()),
            settings: Arc::clone(&self.settings),
            egress: call.egress().cloned().zip(self.egress.clone()),
            ledger: Arc::clone(&self.ledger),
            progress,
        }
    }
}

/// What a guest came to, in the words of the port.
fn reported(report: GuestReport) -> ProviderReport {
    let GuestReport {
        end,
        usage,
        files,
        commands,
        requests,
        log,
    } = report;
    ProviderReport {
        end: match end {
            GuestEnd::Done(output) => ProviderEnd::Done(output),
            GuestEnd::Failed(failure) => ProviderEnd::Failed(failure),
            GuestEnd::Stopped(stop) => ProviderEnd::Stopped(stop),
            GuestEnd::Trapped(trap) => ProviderEnd::Trapped(trap),
            GuestEnd::HostError(failure) => ProviderEnd::HostError(failure),
        },
        usage,
        files,
        commands,
        requests,
        log,
    }
}

impl std::fmt::Debug for ComponentProvider {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ComponentProvider")
            .field("component", &self.component)
            .finish_non_exhaustive()
    }
}

#[async_trait]
impl Provider for ComponentProvider {
    async fn subjects(&self, input: &Map<String, Value>) -> Option<Result<Vec<Subject>, String>> {
        if !self.component.computes_subjects() {
            return None;
        }
        match self.component.loaded().await {
            Ok(Loaded::Tool(component)) => component.subjects(input).await,
            Ok(Loaded::Function(_)) => None,
            Err(failure) => {
                tracing::error!("{failure}");
                Some(Err(
                    "its subjects cannot be computed: the host cannot load it".to_owned(),
                ))
            }
        }
    }

    async fn execute(&self, call: Cleared) -> ProviderReport {
        let limit = call.tool().limits().timeout.duration();
        let loaded = match tokio::time::timeout(limit, self.component.loaded()).await {
            Ok(Ok(loaded)) => loaded,
            Ok(Err(failure)) => return host_error(failure),
            Err(_late) => {
                let end = ProviderEnd::Stopped(Stop::WallClock { limit });
                return nothing_ran(end);
            }
        };
        let component = match loaded {
            Loaded::Tool(component) => component,
            Loaded::Function(function) => {
                return reported(function.call(self.setup(&call), call.input()).await);
            }
        };
        match serde_json::to_string(call.input().as_ref()) {
            Ok(input) => reported(component.call(self.setup(&call), &input).await),
            Err(error) => host_error(format!("the input cannot be written as JSON: {error}")),
        }
    }
}

fn host_error(message: String) -> ProviderReport {
    nothing_ran(ProviderEnd::HostError(HostFailure { message }))
}

fn nothing_ran(end: ProviderEnd) -> ProviderReport {
    ProviderReport {
        end,
        usage: crate::model::Usage::default(),
        files: Vec::new(),
        commands: Vec::new(),
        requests: Vec::new(),
        log: Vec::new(),
    }
}
