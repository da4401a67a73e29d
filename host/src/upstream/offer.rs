//! What a server offers: its list, as far as it can be offered and was accepted, put among the host's tools.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use super::definition::{Definition, Quarantined, read_all};
use super::launch::{fingerprint, found};
use super::server::Server;
use super::store::{Standing, Store};
use super::tool::UpstreamTool;
use super::verdict::verdict;
use super::{Ground, difference};
use crate::config::{ConfigError, McpReach, McpServer, Runs};
use crate::gate::{Foreign, Registration, ToolChange};
use crate::model::{
    Claim, Declaration, DeclarationParts, SideEffect, ToolName, Trust, hex, suggestion, visible,
};

/// See the module.
#[derive(Debug)]
pub(super) struct Offer {
    identity: String,
    store: Store,
    /// Held by who takes a list.
    taking: Mutex<()>,
    state: Mutex<Offered>,
}

/// What is offered now, and what is not.
#[derive(Clone, Debug, Default)]
pub(super) struct Offered {
    /// A list was taken.
    pub(super) known: bool,
    /// What the file of what is accepted was then.
    pins: String,
    /// Digests of the tools that are offered, by the server's names.
    digests: BTreeMap<String, String>,
    /// The same by published names.
    published: BTreeMap<ToolName, String>,
    /// The definitions that are offered.
    pub(super) tools: Vec<Definition>,
    /// What is not offered, and why.
    pub(super) quarantined: Vec<Quarantined>,
    /// Definitions that are others than those that were accepted, each with the accepted one.
    pub(super) changed: Vec<(Definition, Value)>,
    /// Tools that the operator left out.
    pub(super) left_out: Vec<String>,
    /// What the operator said of tools that are not there.
    pub(super) notes: Vec<String>,
}

impl Offer {
    pub(super) fn new(setting: &McpServer, ground: &Ground) -> Self {
        let reach = match &setting.reach {
            McpReach::Command { command, .. } => json!(["command", command]),
            McpReach::Http { url, .. } => json!(["url", url.as_str()]),
        };
        let identity = hex(&Sha256::digest(reach.to_string().as_bytes()));
        Self {
            store: Store::new(&ground.state, &setting.alias, &identity),
            identity,
            taking: Mutex::default(),
            state: Mutex::default(),
        }
    }

    /// What is offered now.
    pub(super) fn now(&self) -> Offered {
        self.state
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    /// Whether a list was taken.
    pub(super) fn is_known(&self) -> bool {
        self.state
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .known
    }

    /// Whether a tool is still offered as it was when a call of it was resolved.
    pub(super) fn still_offers(&self, raw: &str, digest: &str) -> bool {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.digests.get(raw).is_some_and(|now| now == digest)
    }

    fn now_are(&self, digests: BTreeMap<String, String>) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.digests = digests;
    }

    /// The last good list.
    pub(super) fn kept(&self, setting: &McpServer) -> Option<Vec<Value>> {
        self.store.list(&key(setting))
    }

    /// What the operator says of tools must be of tools that are there, as far as that is known without asking.
    ///
    /// # Errors
    /// The first that is not.
    pub(super) fn check(&self, setting: &McpServer) -> Result<(), ConfigError> {
        if setting.tools.is_empty() {
            return Ok(());
        }
        let Some(list) = self.kept(setting) else {
            return Ok(());
        };
        match unknown(setting, &list).into_iter().next() {
            Some((source, what)) => Err(source.wrong(what)),
            None => Ok(()),
        }
    }

    /// Takes a list. `fresh`: the server has just given it.
    ///
    /// # Errors
    /// For people: the host takes no tools any more, or its rules do not hold with these.
    pub(super) fn take(
        &self,
        server: &Arc<Server>,
        list: &[Value],
        fresh: bool,
    ) -> Result<(), String> {
        let _taking = self.taking.lock().unwrap_or_else(PoisonError::into_inner);
        let setting = &server.setting;
        let mut next = self.sorted(setting, list);
        if fresh {
            self.store.keep_list(&key(setting), list);
        }
        let before = self.now();
        let mut change = ToolChange::default();
        let mut tools = Vec::new();
        for definition in std::mem::take(&mut next.tools) {
            let digest = self.digest(&definition);
            if before.published.get(&definition.name) != Some(&digest) {
                match self.registration(server, &definition, &digest) {
                    Ok(registration) => change.add.push(registration),
                    Err(why) => {
                        let why = Quarantined::new(visible(&definition.raw), why);
                        next.quarantined.push(why);
                        continue;
                    }
                }
            }
            next.digests.insert(definition.raw.clone(), digest.clone());
            next.published.insert(definition.name.clone(), digest);
            tools.push(definition);
        }
        let replaced = before.published.iter();
        let replaced = replaced.filter(|(name, digest)| next.published.get(*name) != Some(*digest));
        change.remove = replaced.map(|(name, _)| name.clone()).collect();
        let chain = server.ground.chain().ok_or("the host is being closed")?;
        // Known before it is published: whoever is told of a tool may call it at once.
        self.now_are(next.digests.clone());
        let refused = chain.change_tools(change).map_err(|errors| {
            self.now_are(before.digests);
            let errors: Vec<String> = errors.iter().map(ToString::to_string).collect();
            format!("its tools are not offered: {}", errors.join("; "))
        })?;
        for refused in refused {
            next.published.remove(&refused.name);
            let at = tools
                .iter()
                .position(|tool: &Definition| tool.name == refused.name);
            if let Some(definition) = at.map(|at| tools.remove(at)) {
                next.digests.remove(&definition.raw);
                let raw = visible(&definition.raw).into_owned();
                next.quarantined
                    .push(Quarantined::new(raw, refused.to_string()));
            }
        }
        next.tools = tools;
        next.known = true;
        next.tell(setting);
        *self.state.lock().unwrap_or_else(PoisonError::into_inner) = next;
        Ok(())
    }

    /// A list in its parts: what can be offered, and what cannot.
    fn sorted(&self, setting: &McpServer, list: &[Value]) -> Offered {
        let mut next = Offered::default();
        let (definitions, quarantined) = read_all(&setting.alias, list);
        next.quarantined = quarantined;
        let unknown = unknown(setting, list).into_iter();
        let unknown = unknown.map(|(source, what)| source.wrong(what).to_string());
        next.notes = unknown.collect();
        let enabled = |definition: &Definition| {
            let said = setting.tools.get(&definition.raw);
            said.and_then(|said| said.value.enabled).unwrap_or(true)
        };
        let (definitions, left_out): (Vec<_>, Vec<_>) = definitions.into_iter().partition(enabled);
        next.left_out = left_out.into_iter().map(|one| one.raw).collect();
        next.pins = self.store.fingerprint();
        let standings = match self.store.stand(&definitions) {
            Ok(standings) => standings,
            Err(why) => {
                let all = definitions.into_iter();
                next.quarantined
                    .extend(all.map(|one| Quarantined::new(visible(&one.raw), why.clone())));
                return next;
            }
        };
        for (definition, standing) in definitions.into_iter().zip(standings) {
            match standing {
                Standing::Accepted => next.tools.push(definition),
                Standing::Changed { was } => {
                    next.quarantined.push(Quarantined {
                        changed: true,
                        ..Quarantined::new(
                            visible(&definition.raw),
                            format!(
                                "its definition is not the one that was accepted: see the difference and accept it with \
                                 'toolgate mcp accept {}'",
                                setting.alias
                            ),
                        )
                    });
                    next.changed.push((definition, was));
                }
            }
        }
        next
    }

    /// Whether something is not offered because it changed, and what is accepted is another thing than when that was found.
    pub(super) fn was_accepted_elsewhere(&self) -> bool {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        !state.changed.is_empty() && state.pins != self.store.fingerprint()
    }

    /// Accepts changed definitions, if they are still those that were shown.
    ///
    /// # Errors
    /// For people: nothing was accepted.
    pub(super) fn accept(&self, digests: &[String]) -> Result<(), String> {
        let now = self.now();
        let changed = now.changed.iter().map(|(definition, _)| definition);
        let wanted: Vec<&Definition> = changed
            .filter(|definition| digests.contains(&definition.digest))
            .collect();
        if wanted.len() < digests.len() {
            return Err("the server changed its tools once more: look at them again".to_owned());
        }
        self.store.accept(&wanted)
    }

    fn digest(&self, definition: &Definition) -> String {
        let both = format!("{} {}", self.identity, definition.digest);
        hex(&Sha256::digest(both.as_bytes()))
    }

    fn registration(
        &self,
        server: &Arc<Server>,
        definition: &Definition,
        digest: &str,
    ) -> Result<Registration, String> {
        let setting = &server.setting;
        let said = setting.tools.get(&definition.raw);
        let traits = verdict(
            &definition.annotations,
            setting,
            said.map(|said| &said.value),
        );
        let mut declaration = declaration(setting, definition)?;
        if let Some(subject) = said.and_then(|said| said.value.subject.clone()) {
            let properties = declaration.input_schema.get("properties");
            if properties.and_then(|all| all.get(&subject.field)).is_none() {
                return Err(format!(
                    "the operator names its input field '{}' as the subject, and it has none of this name",
                    visible(&subject.field)
                ));
            }
            declaration.subject = Some(subject);
        }
        let shape = (server.ground.shape)(&mut declaration)?;
        Ok(Registration {
            declaration,
            digest: digest.to_owned(),
            built_in: false,
            trust: Trust::None,
            limits: shape.limits,
            schema_mode: shape.schema_mode,
            computes_subjects: false,
            foreign: Some(Foreign {
                traits,
                schema: definition.schema.strict.clone(),
            }),
            provider: Arc::new(UpstreamTool {
                server: Arc::clone(server),
                raw: definition.raw.clone(),
                digest: digest.to_owned(),
            }),
        })
    }
}

impl Offered {
    fn tell(&self, setting: &McpServer) {
        for note in &self.notes {
            tracing::warn!("{note}");
        }
        for one in &self.quarantined {
            let alias = &setting.alias;
            tracing::warn!(
                "the tool '{}' of the server '{alias}' is not offered: {}",
                one.tool,
                one.why
            );
        }
    }

    /// The changed definitions, each with its digest and what is different.
    pub(super) fn differences(&self) -> impl Iterator<Item = (&Definition, String)> {
        let changed = self.changed.iter();
        changed.map(|(definition, was)| (definition, difference::of(was, &definition.pinned)))
    }
}

/// What the server says of a tool, as a declaration.
fn declaration(setting: &McpServer, definition: &Definition) -> Result<Declaration, String> {
    let said = &definition.annotations;
    let reads = said.read_only_hint == Some(true);
    let mut annotations = vec![("server", json!(setting.alias))];
    if let Some(title) = &definition.title {
        annotations.push(("title", json!(title)));
    }
    if !definition.altered.is_empty() {
        annotations.push(("altered", json!(definition.altered)));
    }
    let parts = DeclarationParts {
        name: definition.name.to_string(),
        description: definition.description.clone(),
        input_schema: definition.schema.shown.to_string(),
        output_schema: None,
        claim: Claim {
            level: match reads {
                true => SideEffect::ReadOnly,
                false => SideEffect::Mutating,
            },
            destructive: !reads && said.destructive_hint != Some(false),
            idempotent: said.idempotent_hint == Some(true),
            open_world: said.open_world_hint != Some(false),
            exclusive: !reads,
        },
        subject: None,
        capabilities: Vec::new(),
        annotations: annotations
            .into_iter()
            .map(|(name, value)| (name.to_owned(), value.to_string()))
            .collect(),
    };
    Declaration::check(parts).map_err(|error| error.to_string())
}

/// Tools that the operator speaks of and that the list does not have.
fn unknown<'a>(setting: &'a McpServer, list: &[Value]) -> Vec<(&'a crate::config::Source, String)> {
    let names: Vec<&str> = list
        .iter()
        .filter_map(|tool| tool.get("name")?.as_str())
        .collect();
    let unknown = setting.tools.iter();
    let unknown = unknown.filter(|(name, _)| !names.contains(&name.as_str()));
    let said = |(name, said): (&String, &'a crate::config::Sourced<crate::config::McpTool>)| {
        let near = suggestion(name, names.iter().copied());
        let what = format!(
            "the table [mcp.servers.{}.tools] names the tool '{}', which the server does not have.{}",
            setting.alias,
            visible(name),
            visible(&near)
        );
        (&said.source, what)
    };
    unknown.map(said).collect()
}

/// What a list is of: the server with what its process sees, and the files that it is run from.
fn key(setting: &McpServer) -> String {
    let mut digest = Sha256::new();
    digest.update(format!("{:?} ", setting.era));
    match &setting.reach {
        McpReach::Command {
            command,
            env,
            env_pass,
            read,
            write,
            network,
        } => {
            let paths = |paths: &[crate::config::Sourced<std::path::PathBuf>]| {
                let paths = paths.iter();
                paths.map(|path| path.value.clone()).collect::<Vec<_>>()
            };
            let (read, write) = (paths(read), paths(write));
            digest.update(
                json!([command, env, env_pass, read, write, network])
                    .to_string()
                    .as_bytes(),
            );
            let runs = Runs::of(command, &[]).files;
            let program = command.first().and_then(|name| found(name).ok());
            for file in program.iter().chain(&runs) {
                digest.update(fingerprint(file).as_bytes());
            }
        }
        McpReach::Http { url, secret } => {
            let secret = secret.as_ref().map(|secret| &secret.value);
            digest.update(json!([url.as_str(), secret]).to_string().as_bytes());
        }
    }
    hex(&digest.finalize())
}
