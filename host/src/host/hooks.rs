//! Configured hooks, made ready: programs found, components compiled, each behind the port of its event.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use crate::config::{HookRun, HookSetting, Layer, same_bytes, unchanged};
use crate::error::HostError;
use crate::gate::{EventHook, HookEventName, PostHook, PreHook};
use crate::hooks::{CommandHook, ComponentHook};
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
                    let hook = hook.answering_in(*format);
                    let hook = match setting.source.layer {
                        Layer::Library => hook,
                        Layer::User
                        | Layer::Project
                        | Layer::Local
                        | Layer::CommandLine
                        | Layer::Managed => hook.standing_at(setting.source.to_string()),
                    };
                    let hook = match setting.bound.clone() {
                        bound if bound.is_empty() => hook,
                        bound => hook.checked_by(move || unchanged(&bound)),
                    };
                    hooks.add(setting.event, hook);
                }
                HookRun::Component { file } => {
                    let component = load(engine, file, setting).await?;
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

/// Compiles a hook on a thread that may take its time: the bytes that were trusted, and no others.
async fn load(
    engine: &ToolEngine,
    file: &Path,
    setting: &HookSetting,
) -> Result<HookComponent, HostError> {
    let wrong = |what: String| setting.source.wrong(what);
    let named = |what: &dyn std::fmt::Display| wrong(format!("'{}': {what}", file.display()));
    let bytes = crate::runtime::read_component(file)
        .map_err(|error| named(&format!("cannot be read: {error}")))?;
    same_bytes(&setting.bound, file, &bytes).map_err(wrong)?;
    let engine = engine.clone();
    let loading = tokio::task::spawn_blocking(move || HookComponent::load(&engine, &bytes));
    match loading.await {
        Ok(loaded) => Ok(loaded.map_err(|error| named(&error))?),
        Err(panicked) => Err(named(&panicked).into()),
    }
}
