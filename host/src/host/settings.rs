//! Settings of one tool, looked up; names in settings that no tool has; times out of range.

use std::path::Path;

use super::installed::Ready;
use crate::config::{
    Config, ConfigError, MAX_PROGRAM_TIMEOUT_MS, PlainFiles, PlainSetting, Source, Sourced,
};
use crate::error::HostError;
use crate::model::{Declaration, Limits, SubjectKind, Timeout, Trust, suggestion};
use crate::policy::SchemaMode;

/// The bounds of a tool's calls. A tool that runs commands has as long as the longest of them, unless somebody said
/// otherwise.
pub(super) fn limits(config: &Config, declaration: &Declaration) -> Result<Limits, ConfigError> {
    let mut limits = Limits::default();
    if declaration.shell().is_some() {
        limits.timeout = Timeout::LONGEST;
    }
    for (bound, setting) in config.limits(declaration.name.as_str()).each() {
        if let Some(Sourced { value, source }) = setting {
            let set = limits.set(bound, *value);
            set.map_err(|error| source.wrong(format!("in [limits], {error}")))?;
        }
    }
    Ok(limits)
}

/// What a plain function is made out to be, and what the tables of its name let it reach: files in `[plain]`, the network in
/// `[egress.tools]`, and where a URL of its input is its subject, that URL. What is opened for every tool is not meant for what
/// nobody vouches for.
///
/// # Errors
/// What the table says does not hold.
pub(super) fn plain(
    config: &Config,
    function: Declaration,
    label: &Path,
) -> Result<Declaration, HostError> {
    let published = function.name.clone();
    let name = published.as_str();
    let none = PlainSetting::default();
    let setting = config.plain.get(name).unwrap_or(&none);
    let files = setting.files.as_ref();
    // Where a field of the input decides, the call reaches what it names and nothing else.
    let subject = config.subjects.get(name).map(|subject| subject.value.kind);
    let scope = match subject {
        Some(SubjectKind::Path) => "subject",
        Some(SubjectKind::Url | SubjectKind::Command) | None => "workspace",
    };
    let kind = match files.map(|files| files.value).unwrap_or_default() {
        PlainFiles::None => None,
        PlainFiles::Read => Some("fs-read"),
        PlainFiles::Write => Some("fs-write"),
    };
    let mut granted: Vec<(&str, String)> = Vec::new();
    granted.extend(kind.map(|kind| (kind, scope.to_owned())));
    let opened = config.egress.allow_of.get(name);
    let opened = opened.into_iter().flat_map(|opened| &opened.value);
    granted.extend(opened.map(|entry| ("net", entry.url().to_owned())));
    if subject == Some(SubjectKind::Url) {
        granted.push(("net", "subject".to_owned()));
    }
    let asked = granted.into_iter().map(|(kind, target)| {
        let reason = "the operator grants it".to_owned();
        (kind.to_owned(), target, reason, false)
    });
    let mut parts = function.parts();
    parts.capabilities = asked.collect();
    if let Some(words) = &setting.description {
        parts.description.clone_from(&words.value);
    }
    Declaration::check(parts).map_err(|error| match place_of(setting) {
        Some(source) => source.wrong(format!("in [plain.{name}], {error}")).into(),
        None => HostError::Component {
            path: label.to_owned(),
            error: error.into(),
        },
    })
}

/// No table of a plain function is for a tool that describes itself.
pub(super) fn check_plain(config: &Config, tools: &[Ready]) -> Result<(), ConfigError> {
    for tool in tools.iter().filter(|tool| !tool.plain) {
        let name = tool.declaration.name.as_str();
        let place = config.plain.get(name).and_then(place_of);
        if let Some(source) = place {
            return Err(source.wrong(format!(
                "[plain.{name}] is for functions of plain components, and '{name}' describes itself"
            )));
        }
    }
    Ok(())
}

/// Where a table of a plain function stands.
fn place_of(setting: &PlainSetting) -> Option<&Source> {
    let words = setting.description.as_ref().map(|words| &words.source);
    words.or(setting.files.as_ref().map(|files| &files.source))
}

/// How a tool's schema is enforced.
pub(super) fn schema_mode(config: &Config, tool: &str) -> SchemaMode {
    config
        .schema_mode(tool)
        .map(|setting| setting.value)
        .unwrap_or_default()
}

/// Gives a tool the subject that the operator assigned to it.
///
/// # Errors
/// The tool declares a subject of its own, or has no such input field.
pub(super) fn assign_subject(
    config: &Config,
    declaration: &mut Declaration,
) -> Result<(), ConfigError> {
    let name = declaration.name.as_str();
    let Some(Sourced { value, source }) = config.subjects.get(name) else {
        return Ok(());
    };
    if let Some(own) = &declaration.subject {
        return Err(source.wrong(format!(
            "the tool '{name}' declares a subject of its own, the {} in '{}': remove [subjects.{name}]",
            own.kind, own.field
        )));
    }
    let properties = declaration.input_schema.get("properties");
    let properties = properties.and_then(serde_json::Value::as_object);
    if !properties.is_some_and(|properties| properties.contains_key(&value.field)) {
        let known = properties
            .into_iter()
            .flat_map(|properties| properties.keys().map(String::as_str));
        return Err(source.wrong(format!(
            "the tool '{name}' has no input field '{}'.{}",
            value.field,
            suggestion(&value.field, known)
        )));
    }
    declaration.subject = Some(value.clone());
    Ok(())
}

/// Every name in a setting must be a tool's: a setting that binds nothing is a typing error.
pub(super) fn check_names(config: &Config, tools: &[String]) -> Result<(), ConfigError> {
    for (what, tool, source) in named(config) {
        let mut servers = config.mcp.values();
        // The tools of a server come while the host runs.
        let comes = servers.any(|server| tool.starts_with(&server.value.alias.prefix()));
        if !comes && !tools.iter().any(|known| known == tool) {
            return Err(unknown(
                source,
                what,
                tool,
                tools.iter().map(String::as_str),
            ));
        }
    }
    Ok(())
}

/// Every tool that a setting names: where, its name, and where that stands.
fn named(config: &Config) -> Vec<(&'static str, &str, &Source)> {
    let mut named = Vec::new();
    for (tool, mode) in &config.schema_of {
        named.push(("table [schema.tools]", tool.as_str(), &mode.source));
    }
    for (tool, setting) in &config.limits_of {
        let first = setting.each().find_map(|(_, set)| set);
        named.extend(first.map(|set| ("table [limits.tools]", tool.as_str(), &set.source)));
    }
    for (tool, subject) in &config.subjects {
        named.push(("table [subjects]", tool.as_str(), &subject.source));
    }
    for (tool, setting) in &config.plain {
        let place = place_of(setting);
        named.extend(place.map(|source| ("table [plain]", tool.as_str(), source)));
    }
    for tool in &config.trusted {
        named.push(("'trusted' of [components]", &tool.value, &tool.source));
    }
    for (tool, settings) in &config.tool_settings {
        let first = settings.values().next();
        named.extend(first.map(|set| ("table [tools]", tool.as_str(), &set.source)));
    }
    for (tool, grant) in &config.shell.granted {
        named.push(("table [shell.grants]", tool.as_str(), &grant.source));
    }
    for (tool, allow) in &config.egress.allow_of {
        named.push(("table [egress.tools]", tool.as_str(), &allow.source));
    }
    for secret in config.secrets.values() {
        let tools = secret.value.tools.iter();
        named.extend(tools.map(|tool| ("'tools' of a secret", tool.value.as_str(), &tool.source)));
    }
    for hook in &config.hooks {
        let tools = hook.tools.iter();
        named.extend(tools.map(|tool| ("'tools' of a hook", tool.as_str(), &hook.source)));
    }
    named
}

/// A name that no tool has.
pub(super) fn unknown<'a>(
    source: &Source,
    what: &str,
    tool: &str,
    known: impl Iterator<Item = &'a str>,
) -> ConfigError {
    source.wrong(format!(
        "the {what} names the tool '{tool}', which does not exist.{}",
        suggestion(tool, known)
    ))
}

/// Whose claims are believed where the sandbox cannot verify them.
pub(super) fn trust(config: &Config, tool: &str, built_in: bool) -> Trust {
    if built_in {
        Trust::Audited
    } else if config.trusted.iter().any(|trusted| trusted.value == tool) {
        Trust::Operator
    } else {
        Trust::None
    }
}

/// The times of hooks that an embedder set.
///
/// # Errors
/// The first that is out of range.
pub(super) fn check_times(config: &Config) -> Result<(), ConfigError> {
    let times = 1..=MAX_PROGRAM_TIMEOUT_MS;
    match config
        .hooks
        .iter()
        .find(|hook| !times.contains(&hook.timeout_ms))
    {
        Some(hook) => Err(hook.source.wrong(format!(
            "the time of the hook '{}' is {} ms, but must be from 1 to {MAX_PROGRAM_TIMEOUT_MS}",
            hook.run.words(),
            hook.timeout_ms
        ))),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Flags, HookRun, HookSetting, Layers};
    use crate::model::{
        Claim, DeclarationParts, HookEventName, SideEffect, SubjectField, SubjectKind,
    };

    fn declaration(subject: Option<SubjectField>) -> Declaration {
        Declaration::check(DeclarationParts {
            name: "Push".to_owned(),
            description: "Pushes.".to_owned(),
            input_schema:
                r#"{"type":"object","properties":{"line":{"type":"string"}},"required":["line"]}"#
                    .to_owned(),
            output_schema: None,
            claim: Claim {
                level: SideEffect::Mutating,
                destructive: true,
                idempotent: false,
                open_world: false,
                exclusive: true,
            },
            subject,
            capabilities: Vec::new(),
            annotations: Vec::new(),
        })
        .unwrap()
    }

    fn field(field: &str) -> SubjectField {
        SubjectField {
            kind: SubjectKind::Command,
            field: field.to_owned(),
        }
    }

    #[test]
    fn a_subject_is_assigned_to_a_tool_that_declares_none() {
        let mut config = Config::default();
        config.subjects.insert("Push".into(), field("line").into());
        let mut tool = declaration(None);
        assign_subject(&config, &mut tool).unwrap();
        assert_eq!(tool.subject, Some(field("line")));
        let mut tool = declaration(Some(field("line")));
        assert_eq!(
            assign_subject(&config, &mut tool).unwrap_err().to_string(),
            "library: the tool 'Push' declares a subject of its own, the command in 'line': remove [subjects.Push]"
        );
        config.subjects.insert("Push".into(), field("lnie").into());
        let mut tool = declaration(None);
        assert_eq!(
            assign_subject(&config, &mut tool).unwrap_err().to_string(),
            "library: the tool 'Push' has no input field 'lnie'. Did you mean 'line'?"
        );
    }

    #[test]
    fn a_name_that_no_tool_has_stops_with_its_place() {
        let tools = ["Read".to_owned()];
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), "[limits.tools.Raed]\n\nfuel = 1000000\n").unwrap();
        let layers = Layers {
            named: vec![file.path().to_owned()],
            flags: Flags::default(),
            ..Layers::default()
        };
        let config = layers.load().unwrap().config;
        assert_eq!(
            check_names(&config, &tools).unwrap_err().to_string(),
            format!(
                "{}:3: the table [limits.tools] names the tool 'Raed', which does not exist. Did you mean 'Read'?",
                file.path().display()
            )
        );
        let mut config = Config::default();
        config.trusted.push("Raed".to_owned().into());
        let said = check_names(&config, &tools).unwrap_err().to_string();
        assert!(
            said.starts_with("library: the 'trusted' of [components] names"),
            "{said}"
        );
    }

    #[test]
    fn a_bound_out_of_range_stops_with_its_place() {
        let mut config = Config::default();
        config.limits.fuel = Some(3.into());
        assert_eq!(
            limits(&config, &declaration(None)).unwrap_err().to_string(),
            "library: in [limits], the fuel is 3, but must be from 1000000 to 1000000000000000"
        );
    }

    #[test]
    fn a_hooks_time_out_of_range_stops_the_start() {
        let command = HookRun::command(vec!["x".to_owned()]);
        let mut config = Config::default();
        config
            .hooks
            .push(HookSetting::new(HookEventName::PreToolUse, command));
        check_times(&config).unwrap();
        for millis in [0, 600_001, u64::MAX] {
            config.hooks[0].timeout_ms = millis;
            let said = check_times(&config).unwrap_err().to_string();
            assert!(said.contains("must be from 1 to 600000"), "{said}");
        }
    }

    #[test]
    fn only_the_operator_and_the_audit_vouch() {
        let mut config = Config::default();
        config.trusted.push("Fetch".to_owned().into());
        assert_eq!(trust(&config, "Read", true), Trust::Audited);
        assert_eq!(trust(&config, "Fetch", false), Trust::Operator);
        assert_eq!(trust(&config, "Other", false), Trust::None);
    }
}
