//! The component provider: a cleared call becomes one instance.

use std::sync::Arc;

use async_trait::async_trait;
use serde_json::{Map, Value};

use crate::gate::{CallProgress, Cleared, Provider, ProviderEnd, ProviderReport};
use crate::model::{HostFailure, Subject};
use crate::runtime::files::{ReadLedger, RootDirs};
use crate::runtime::{
    CallSetup, GuestEnd, GuestReport, LoadedComponent, ProgressSink, ShellPort, ToolSettings,
};

/// Runs calls of one component.
pub struct ComponentProvider {
    component: LoadedComponent,
    roots: RootDirs,
    ledger: Arc<ReadLedger>,
    progress: Option<CallProgress>,
    shell: Option<Arc<dyn ShellPort>>,
    settings: ToolSettings,
}

impl ComponentProvider {
    /// A provider whose calls see these roots, as far as their grants go.
    pub fn new(
        component: LoadedComponent,
        roots: RootDirs,
        ledger: Arc<ReadLedger>,
        progress: Option<CallProgress>,
    ) -> Self {
        Self {
            component,
            roots,
            ledger,
            progress,
            shell: None,
            settings: ToolSettings::default(),
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
        self.component.subjects(input).await
    }

    async fn execute(&self, call: Cleared) -> ProviderReport {
        let input = match serde_json::to_string(call.input().as_ref()) {
            Ok(input) => input,
            Err(error) => {
                return host_error(format!("the input cannot be written as JSON: {error}"));
            }
        };
        let id = call.id();
        let progress = self.progress.clone().map(|sink| {
            Arc::new(move |done, total, message: &str| sink(id, done, total, message))
                as ProgressSink
        });
        let setup = CallSetup {
            limits: *call.tool().limits(),
            files: call.files().cloned(),
            roots: self.roots.clone(),
            shell: call.shell().cloned().zip(self.shell.clone()),
            left: Arc::clone(call.left()),
            settings: Arc::clone(&self.settings),
            ledger: Arc::clone(&self.ledger),
            progress,
        };
        let GuestReport {
            end,
            usage,
            files,
            commands,
            requests,
            log,
        } = self.component.call(setup, &input).await;
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
}

fn host_error(message: String) -> ProviderReport {
    ProviderReport {
        end: ProviderEnd::HostError(HostFailure { message }),
        usage: crate::model::Usage::default(),
        files: Vec::new(),
        commands: Vec::new(),
        requests: Vec::new(),
        log: Vec::new(),
    }
}
