//! Several files to one configuration: rules and hooks add up; of a single setting, the greater layer's is in force.

use std::path::Path;

use toml::Spanned;
use toml::de::DeTable;

use super::ConfigError;
use super::file::{FILE_MODES, File, Permissions, Subject};
use super::keep::{keep, keep_fixed, keep_in};
use super::reading::Reading;
use super::rule_entry::RuleEntry;
use super::settings::Config;
use super::source::{Layer, Sourced};
use super::{
    approval, egress, hooks, keys, limits, mcp, plain, serve, shell, store, tools, web_search,
};
use crate::model::{SubjectField, suggestion};
use crate::policy::{Decision, Mode, Rule};

/// Adds what a file says.
///
/// # Errors
/// The first thing that is wrong, with its file and line.
pub(super) fn add(
    config: &mut Config,
    layer: Layer,
    path: &Path,
    text: &str,
) -> Result<(), ConfigError> {
    let reading = Reading::new(layer, path, text);
    let table = DeTable::parse(text).map_err(|error| reading.malformed(&error))?;
    if let Some(unknown) = keys::unknown(table.get_ref(), &super::schema()) {
        return Err(reading.wrong(unknown.at, unknown.what));
    }
    let file: File = toml::from_str(text).map_err(|error| reading.malformed(&error))?;

    add_permissions(config, &reading, file.permissions)?;
    approval::add(config, &reading, file.approval)?;
    let placed = |path| reading.placed(path);
    for path in file.files.read {
        config.read.push(placed(path)?);
    }
    for path in file.files.write {
        config.write.push(placed(path)?);
    }
    let mode = file.schema.mode;
    keep(&mut config.schema, mode.map(|mode| reading.sourced(mode)));
    for (tool, mode) in file.schema.tools {
        keep_in(&mut config.schema_of, tool, reading.sourced(mode));
    }
    for (tool, subject) in file.subjects {
        let subject = subject_field(&reading, subject)?;
        keep_in(&mut config.subjects, tool, subject);
    }
    limits::add(config, &reading, file.limits)?;
    config.hooks.extend(hooks::read(&reading, file.hooks)?);
    let named = |name| reading.sourced(name);
    let components = file.components;
    for path in components.files {
        config.components.push(placed(path)?);
    }
    config
        .without
        .extend(components.without.into_iter().map(named));
    config
        .trusted
        .extend(components.trusted.into_iter().map(named));
    plain::add(config, &reading, file.plain)?;
    shell::add(config, &reading, file.shell)?;
    tools::add(config, &reading, file.tools)?;
    web_search::add(config, &reading, file.web_search)?;
    serve::add(config, &reading, file.serve)?;
    store::add(config, &reading, file.store)?;
    egress::add(config, &reading, file.egress)?;
    egress::add_secrets(config, &reading, file.secrets)?;
    mcp::add(config, &reading, file.mcp)?;
    keep(
        &mut config.journal,
        file.journal.file.map(placed).transpose()?,
    );
    Ok(())
}

fn add_permissions(
    config: &mut Config,
    reading: &Reading<'_>,
    permissions: Permissions,
) -> Result<(), ConfigError> {
    for (effect, rules) in [
        (Decision::Allow, permissions.allow),
        (Decision::Ask, permissions.ask),
        (Decision::Deny, permissions.deny),
    ] {
        for rule in rules {
            config.rules.push(parse_rule(reading, effect, rule)?);
        }
    }
    let ceiling = permissions.ceiling.map(|ceiling| reading.sourced(ceiling));
    keep_fixed("ceiling", &mut config.ceiling, ceiling)?;
    let mode = permissions.mode.map(|mode| file_mode(reading, mode));
    keep_fixed("mode", &mut config.mode, mode.transpose()?)
}

/// A mode that a file may set.
fn file_mode(reading: &Reading<'_>, mode: Spanned<String>) -> Result<Sourced<Mode>, ConfigError> {
    let Sourced { value, source } = reading.sourced(mode);
    match value.parse() {
        Ok(Mode::Bypass) => {
            let what = "mode 'bypass' can only be given as a start flag (--mode bypass)";
            Err(source.wrong(what))
        }
        Ok(mode) => Ok(Sourced {
            value: mode,
            source,
        }),
        Err(_unknown) => Err(source.wrong(format!(
            "'{}' is not a mode: it is one of {}.{}",
            value.escape_debug(),
            FILE_MODES.join(", "),
            suggestion(&value, FILE_MODES)
        ))),
    }
}

fn parse_rule(
    reading: &Reading<'_>,
    effect: Decision,
    entry: Spanned<RuleEntry>,
) -> Result<Rule, ConfigError> {
    let at = entry.span().start;
    let parts = entry
        .into_inner()
        .parts(at)
        .map_err(|wrong| reading.wrong(wrong.at, wrong.what))?;
    let line = reading.line(parts.at);
    let mut rule = Rule::parse(effect, &parts.text, reading.path(), line)
        .map_err(|error| reading.wrong(parts.at, error.to_string()))?;
    rule.examples = parts.examples;
    Ok(rule)
}

pub(super) fn subject_field(
    reading: &Reading<'_>,
    subject: Spanned<Subject>,
) -> Result<Sourced<SubjectField>, ConfigError> {
    let source = reading.source(subject.span().start);
    let Subject { kind, field } = subject.into_inner();
    if field.get_ref().is_empty() {
        let what = "'field' is empty: name the input field that holds the subject";
        return Err(reading.wrong(field.span().start, what));
    }
    Ok(Sourced {
        value: SubjectField {
            kind,
            field: field.into_inner(),
        },
        source,
    })
}
