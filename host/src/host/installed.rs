//! Tools on their way into a host. What is built in or installed comes from what it declared, without running it.

use std::collections::BTreeMap;
use std::path::Path;

use super::built_in::BuiltIn;
use super::settings;
use crate::config::{Config, Source};
use crate::error::HostError;
use crate::model::{Declaration, outline};
use crate::provider::Code;
use crate::runtime::{LoadedComponent, ToolEngine};
use crate::store::{Installed, Signed, Store, is_signed};

/// A tool on its way into the registry.
pub(super) struct Ready {
    pub(super) declaration: Declaration,
    /// SHA-256 of the component, in hexadecimal.
    pub(super) digest: String,
    pub(super) computes_subjects: bool,
    pub(super) built_in: bool,
    /// It is a function of a component that was not made for Toolgate.
    pub(super) plain: bool,
    /// Where it comes from, for people.
    pub(super) origin: String,
    pub(super) code: Code,
}

impl Ready {
    /// A built-in tool, which is loaded at its first call.
    ///
    /// # Errors
    /// Its declaration does not hold.
    pub(super) fn built_in(engine: &ToolEngine, tool: &BuiltIn) -> Result<Self, HostError> {
        let declaration = tool.declaration().map_err(|error| HostError::Component {
            path: tool.name.into(),
            error,
        })?;
        Ok(Self {
            declaration,
            digest: tool.digest.to_owned(),
            computes_subjects: tool.computes_subjects,
            built_in: true,
            plain: false,
            origin: "built in".to_owned(),
            code: Code::later(engine.clone(), tool.source(), tool.computes_subjects),
        })
    }

    pub(super) fn loaded(
        component: LoadedComponent,
        declaration: Declaration,
        label: &Path,
    ) -> Self {
        Self {
            declaration,
            digest: component.digest().to_owned(),
            computes_subjects: component.computes_subjects(),
            built_in: false,
            plain: false,
            origin: label.display().to_string(),
            code: component.into(),
        }
    }

    /// # Errors
    /// What a setting says of a function of a plain component does not hold.
    pub(super) fn installed(
        config: &Config,
        engine: &ToolEngine,
        tool: Installed,
    ) -> Result<Self, HostError> {
        let Installed {
            name,
            entry,
            declaration,
            computes_subjects,
            needs_shell: _,
            plain,
            component,
        } = tool;
        let code = match plain {
            true => Code::function_later(engine.clone(), component, name.tool().clone()),
            false => Code::later(engine.clone(), component, computes_subjects),
        };
        Ok(Self {
            declaration: match plain {
                true => settings::plain(config, declaration, Path::new(&entry.source))?,
                false => declaration,
            },
            digest: entry.digest,
            computes_subjects,
            built_in: false,
            plain,
            origin: format!("installed from {}", entry.source),
            code,
        })
    }
}

/// No two tools have one name, or names that look alike.
pub(super) fn distinct(tools: &[Ready]) -> Result<(), HostError> {
    let mut seen: BTreeMap<String, &Ready> = BTreeMap::new();
    for tool in tools {
        let name = tool.declaration.name.as_str();
        if let Some(known) = seen.insert(outline(name), tool) {
            return Err(HostError::Names {
                one: known.declaration.name.to_string(),
                one_origin: known.origin.clone(),
                other: name.to_owned(),
                other_origin: tool.origin.clone(),
            });
        }
    }
    Ok(())
}

/// The installed tools that this host can have. What the settings grant does not hold for those whose bytes are others
/// than the ones it was given to: this comes before anything takes a grant out of the settings.
pub(super) async fn tools(
    config: &mut Config,
    state: &Path,
    engine: &ToolEngine,
    shell: bool,
) -> Result<Vec<Installed>, HostError> {
    let Some(store) = Store::existing(state)? else {
        return Ok(Vec::new());
    };
    let mut tools = store.installed(engine).await?;
    if let Some(required) = &config.store.require_signatures {
        let keys = store.keys()?;
        let unsigned = tools
            .iter()
            .find(|tool| !is_signed(&tool.name, &tool.entry, &keys));
        if let Some(Installed { name, .. }) = unsigned {
            return Err(unproven(
                &required.source,
                &name.to_string(),
                "uninstall it",
            ));
        }
    }
    // Better no tool than one whose commands vanish.
    tools.retain(|tool| shell || !tool.needs_shell);
    withhold(config, &store.lock_file(), &tools);
    Ok(tools)
}

fn withhold(config: &mut Config, lock: &Path, tools: &[Installed]) {
    for tool in tools.iter().filter(|tool| tool.entry.grants_withheld) {
        let published = tool.name.published();
        let grants = config.grants_of(published);
        if grants.is_empty() {
            continue;
        }
        tracing::warn!(
            "{published} is not what it was when it was granted: {}. See and grant it anew: toolgate install \
             --keep-grants '{}'",
            grants.join(", "),
            tool.entry.source
        );
        config.withhold(published, lock);
    }
}

/// A component file that a setting names is signed, where that is required.
pub(super) fn signed(
    config: &Config,
    state: &Path,
    file: &Path,
    component: &[u8],
) -> Result<(), HostError> {
    let Some(required) = &config.store.require_signatures else {
        return Ok(());
    };
    let signed = Store::open(state)?.who_signed(file, component)?;
    match signed {
        Signed::By { .. } => Ok(()),
        Signed::Unknown(_) | Signed::Nobody => {
            let name = file.display().to_string();
            Err(unproven(&required.source, &name, "leave it out"))
        }
    }
}

fn unproven(required: &Source, name: &str, instead: &str) -> HostError {
    let what = format!(
        "'require_signatures' is set, and '{name}' is signed by no key of the store: make the key known with 'toolgate \
         keys add NAME KEY', or {instead}"
    );
    required.wrong(what).into()
}
