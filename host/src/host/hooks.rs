//! Configured hooks, made ready: programs found, components compiled, each behind the port of its event.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use crate::config::{HookFormat, HookRun, HookSetting};
use crate::error::HostError;
use crate::gate::{EventHook, HookEventName, PostHook, PreHook};
use crate::hooks::{CommandHook, ComponentHook, ReplyFormat};
use crate::model::ToolName;
use crate::runtime::{HookComponent, ToolEngine};

/// Hooks by the port that they are behind, each list in the order in which it runs.
#[derive(Debug, Default)]
pub(super) struct Hooks {
    pub(super) pre: Vec<Arc<dyn PreHook>>,
    pub(super) post: Vec<Arc<dyn PostHook>>,
    pub(super) event: Vec<Arc<dyn EventHook>>,
}

impl Hooks {
    /// Makes the configured hooks ready.
    ///
    /// # Errors
    /// A program that is not there, or a component that cannot be one.
    pub(super) async fn ready(
        settings: &[HookSetting],
        engine: &ToolEngine,
    ) -> Result<Self, HostError> {
        let mut hooks = Self::default();
        for setting in settings {
            let events = vec![setting.event];
            // Names were checked against the registry, whose names are tool names.
            let tools = setting
                .tools
                .iter()
                .filter_map(|name| ToolName::try_from(name.as_str()).ok())
                .collect();
            let timeout = Duration::from_millis(setting.timeout_ms);
            match &setting.run {
                HookRun::Command { command, format } => {
                    let hook = CommandHook::new(command, events, tools, timeout)
                        .map_err(|error| setting.source.wrong(error.to_string()))?;
                    hooks.add(setting.event, hook.answering_in(words(*format)));
                }
                HookRun::Component { file } => {
                    let component = load(engine, file).await?;
                    let hook = ComponentHook::new(file, component, events, tools, timeout);
                    hooks.add(setting.event, hook);
                }
            }
        }
        Ok(hooks)
    }

    fn add(&mut self, event: HookEventName, hook: impl PreHook + PostHook + EventHook + 'static) {
        match event {
            HookEventName::PreToolUse => self.pre.push(Arc::new(hook)),
            HookEventName::PostToolUse | HookEventName::PostToolUseFailure => {
                self.post.push(Arc::new(hook));
            }
            HookEventName::PermissionRequest
            | HookEventName::SessionStart
            | HookEventName::SessionEnd
            | HookEventName::Stop
            | HookEventName::UserPromptSubmit
            | HookEventName::SubagentStart => self.event.push(Arc::new(hook)),
        }
    }
}

fn words(format: HookFormat) -> ReplyFormat {
    match format {
        HookFormat::Toolgate => ReplyFormat::Toolgate,
        HookFormat::Claude => ReplyFormat::Claude,
    }
}

/// Compiles a hook on a thread that may take its time.
async fn load(engine: &ToolEngine, file: &Path) -> Result<HookComponent, HostError> {
    let bytes = crate::runtime::read_component(file).map_err(|error| HostError::Unreadable {
        path: file.to_owned(),
        error,
    })?;
    let engine = engine.clone();
    let loading = tokio::task::spawn_blocking(move || HookComponent::load(&engine, &bytes));
    let failed = |error| HostError::Component {
        path: file.to_owned(),
        error,
    };
    match loading.await {
        Ok(loaded) => loaded.map_err(failed),
        Err(panicked) => Err(failed(crate::runtime::ComponentError::Invalid(
            panicked.to_string(),
        ))),
    }
}
