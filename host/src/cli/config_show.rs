//! `toolgate config show`

use std::path::{Path, PathBuf};

use serde::Serialize;
use serde_json::json;
use toolgate::config::{Config, Loaded, McpReach, SecretOrigin, Source, Sourced};
use toolgate::egress::Proxy;
use toolgate::policy::{Decision, EgressAllow, Rule};

use super::args::Cli;
use super::exit::Exit;
use super::{render, setup};

/// One line of what is set: the key, its value, and where it comes from.
#[derive(Debug, Serialize)]
pub(crate) struct Row {
    pub(crate) setting: String,
    pub(crate) value: String,
    pub(crate) source: String,
}

pub(crate) fn run(cli: &Cli) -> anyhow::Result<Exit> {
    let loaded = setup::load(&cli.setup)?;
    if cli.setup.json {
        return render::json(&whole(&loaded));
    }
    let rows = rows(&loaded.config);
    if rows.is_empty() {
        render::out("Nothing is set: everything has its default.\n");
    } else {
        show(&rows);
    }
    if let Some(unheard) = setup::unheard(&loaded.config) {
        render::out(&unheard);
    }
    for file in &loaded.in_force {
        render::out(&format!("read: {} ({})", file.file.display(), file.layer));
    }
    for file in &loaded.not_in_force {
        render::out(&setup::not_in_force(&cli.setup, file));
    }
    Ok(Exit::Done)
}

/// Prints rows as a table.
pub(crate) fn show(rows: &[Row]) {
    let mut table = render::table(&["SETTING", "VALUE", "FROM"]);
    for row in rows {
        table.add_row([&row.setting, &row.value, &row.source]);
    }
    render::out(&table.to_string());
}

/// Everything that a configuration sets: single settings, then rules by effect, then hooks in the order in which they run.
pub(crate) fn rows(config: &Config) -> Vec<Row> {
    let mut rows = Vec::new();
    permissions(config, &mut rows);
    places(config, &mut rows);
    plain(config, &mut rows);
    shell(config, &mut rows);
    web(config, &mut rows);
    serve(config, &mut rows);
    egress(config, &mut rows);
    servers(config, &mut rows);
    bounds(config, &mut rows);
    for rule in by_effect(&config.rules) {
        rows.push(Row {
            setting: rule.effect.to_string(),
            value: rule_text(rule),
            source: rule_place(rule),
        });
    }
    for hook in &config.hooks {
        let of = match hook.tools.as_slice() {
            [] => String::new(),
            tools => format!(" for {}", tools.join(", ")),
        };
        rows.push(row(
            &format!("hook {}", hook.event),
            format!("{}{of} ({} ms)", hook.run.words(), hook.timeout_ms),
            &hook.source,
        ));
    }
    rows
}

fn permissions(config: &Config, rows: &mut Vec<Row>) {
    let approval = &config.approval;
    one(rows, "permissions.mode", &config.mode, ToString::to_string);
    one(
        rows,
        "permissions.ceiling",
        &config.ceiling,
        ToString::to_string,
    );
    one(rows, "approval.exempt_at_or_below", &config.exempt, word);
    one(
        rows,
        "approval.approvers",
        &approval.approvers,
        |approvers| match approvers.as_slice() {
            [] => "nobody".to_owned(),
            several => several
                .iter()
                .map(|kind| kind.as_str())
                .collect::<Vec<_>>()
                .join(", "),
        },
    );
    one(rows, "approval.program", &approval.program, |words| {
        words.join(" ")
    });
    let timeout = &approval.program_timeout_ms;
    one(
        rows,
        "approval.program_timeout_ms",
        timeout,
        ToString::to_string,
    );
    one(rows, "schema.mode", &config.schema, word);
    for (tool, mode) in &config.schema_of {
        rows.push(row(
            &format!("schema.tools.{tool}"),
            word(&mode.value),
            &mode.source,
        ));
    }
    for (tool, subject) in &config.subjects {
        let value = format!("{} in '{}'", subject.value.kind, subject.value.field);
        rows.push(row(&format!("subjects.{tool}"), value, &subject.source));
    }
}

fn serve(config: &Config, rows: &mut Vec<Row>) {
    let serve = &config.serve;
    let path = |path: &std::path::PathBuf| path.display().to_string();
    one(rows, "serve.token_file", &serve.token_file, path);
    one(rows, "serve.token_env", &serve.token_env, Clone::clone);
    for (key, names) in [
        ("serve.allowed_hosts", &serve.allowed_hosts),
        ("serve.allowed_origins", &serve.allowed_origins),
    ] {
        let named = names.iter();
        rows.extend(named.map(|name| row(key, name.value.clone(), &name.source)));
    }
    for (key, number) in [
        ("serve.approval_timeout_ms", &serve.approval_timeout_ms),
        ("serve.session_idle_ms", &serve.session_idle_ms),
        ("serve.max_calls", &serve.max_calls),
        ("serve.max_sessions", &serve.max_sessions),
    ] {
        one(rows, key, number, ToString::to_string);
    }
}

fn places(config: &Config, rows: &mut Vec<Row>) {
    one(rows, "journal.file", &config.journal, |path| {
        path.display().to_string()
    });
    for (setting, paths) in [
        ("files.read", &config.read),
        ("files.write", &config.write),
        ("components.files", &config.components),
    ] {
        rows.extend(
            paths
                .iter()
                .map(|path| row(setting, leads(&path.value), &path.source)),
        );
    }
    for (setting, names) in [
        ("components.without", &config.without),
        ("components.trusted", &config.trusted),
    ] {
        rows.extend(
            names
                .iter()
                .map(|name| row(setting, name.value.clone(), &name.source)),
        );
    }
    let required = &config.store.require_signatures;
    one(rows, "store.require_signatures", required, |()| {
        "true".to_owned()
    });
    for (host, registry) in &config.store.registries {
        let how = match (registry.value.plain_http, &registry.value.username) {
            (true, None) => "plain HTTP".to_owned(),
            (true, Some(name)) => format!("plain HTTP, as '{name}'"),
            (false, None) => "HTTPS".to_owned(),
            (false, Some(name)) => format!("HTTPS, as '{name}'"),
        };
        let setting = format!("store.registries.{host}");
        rows.push(row(&setting, how, &registry.source));
    }
}

fn plain(config: &Config, rows: &mut Vec<Row>) {
    for (tool, setting) in &config.plain {
        let key = format!("plain.{tool}.description");
        one(rows, &key, &setting.description, Clone::clone);
        one(rows, &format!("plain.{tool}.files"), &setting.files, word);
    }
}

fn servers(config: &Config, rows: &mut Vec<Row>) {
    for (name, server) in &config.mcp {
        let (value, source) = (&server.value, &server.source);
        let table = format!("mcp.servers.{name}");
        let mut set =
            |key: &str, text: String| rows.push(row(&format!("{table}.{key}"), text, source));
        if !value.enabled {
            set("enabled", "false".to_owned());
        }
        match &value.reach {
            McpReach::Command {
                command,
                env,
                env_pass,
                read,
                write,
                network,
            } => {
                set("command", command.join(" "));
                // Their values may be secrets.
                for name in env.keys() {
                    set("env", format!("{name} (set)"));
                }
                for name in env_pass {
                    set("env_pass", name.clone());
                }
                for (key, paths) in [("read", read), ("write", write)] {
                    for path in paths {
                        set(key, path.value.display().to_string());
                    }
                }
                set("network", word(network));
            }
            McpReach::Http { url, secret } => {
                set("url", url.to_string());
                if let Some(secret) = secret {
                    set("secret", secret.value.clone());
                }
            }
        }
        set(
            "annotation_trust",
            value.annotation_trust.as_str().to_owned(),
        );
        for tool in value.tools.keys() {
            set("tools", format!("{tool} (set)"));
        }
    }
}

fn shell(config: &Config, rows: &mut Vec<Row>) {
    let shell = &config.shell;
    let path = |path: &PathBuf| path.display().to_string();
    one(rows, "shell.kind", &shell.kind, word);
    one(rows, "shell.path", &shell.path, path);
    one(rows, "shell.program", &shell.program, path);
    one(rows, "shell.image", &shell.image, Clone::clone);
    for argument in &shell.arguments {
        rows.push(row(
            "shell.arguments",
            argument.value.clone(),
            &argument.source,
        ));
    }
    one(rows, "shell.guard", &shell.guard, ToString::to_string);
    for (key, set) in shell.limits.each() {
        let setting = format!("shell.limits.{key}");
        rows.push(row(&setting, set.value.to_string(), &set.source));
    }
    one(rows, "shell.run_as", &shell.run_as, |who| {
        format!("user {}, group {}", who.user, who.group)
    });
    let least = &shell.min_containment;
    one(rows, "shell.min_containment", least, word);
    one(rows, "shell.network", &shell.network, word);
    one(rows, "shell.sandbox", &shell.sandbox, word);
    for name in &shell.pass {
        rows.push(row("shell.pass", name.value.clone(), &name.source));
    }
    for (name, value) in &shell.environment {
        let setting = format!("shell.environment.{name}");
        rows.push(row(&setting, value.value.clone(), &value.source));
    }
    for (tool, named) in &shell.granted {
        let setting = format!("shell.grants.{tool}");
        let patterns = shell.grants.get(tool).map(Vec::as_slice);
        match patterns.unwrap_or_default() {
            [] => rows.push(row(&setting, "tasks only".to_owned(), &named.source)),
            patterns => rows.extend(
                patterns
                    .iter()
                    .map(|pattern| row(&setting, pattern.value.clone(), &pattern.source)),
            ),
        }
    }
}

fn web(config: &Config, rows: &mut Vec<Row>) {
    let search = &config.web_search;
    one(rows, "web_search.backend", &search.backend, word);
    one(rows, "web_search.url", &search.url, Clone::clone);
    one(rows, "web_search.secret", &search.secret, Clone::clone);
    for (tool, settings) in &config.tool_settings {
        for (name, value) in settings {
            let setting = format!("tools.{tool}.settings.{name}");
            rows.push(row(&setting, value.value.clone(), &value.source));
        }
    }
}

fn egress(config: &Config, rows: &mut Vec<Row>) {
    let egress = &config.egress;
    let list = |entries: &Vec<EgressAllow>| match entries.as_slice() {
        [] => "nothing".to_owned(),
        entries => entries
            .iter()
            .map(ToString::to_string)
            .collect::<Vec<_>>()
            .join(", "),
    };
    one(rows, "egress.allow", &egress.allow, list);
    for (tool, allow) in &egress.allow_of {
        rows.push(row(
            &format!("egress.tools.{tool}.allow"),
            list(&allow.value),
            &allow.source,
        ));
    }
    one(rows, "egress.proxy", &egress.proxy, |proxy| {
        match proxy.as_str() {
            word @ ("none" | "environment") => word.to_owned(),
            url => Proxy::parse(url).map_or("(no proxy)".to_owned(), |proxy| proxy.to_string()),
        }
    });
    one(rows, "egress.ca_file", &egress.ca_file, |file| leads(file));
    for (key, bound) in &egress.bounds {
        rows.push(row(
            &format!("egress.{key}"),
            bound.value.to_string(),
            &bound.source,
        ));
    }
    for (name, Sourced { value, source }) in &config.secrets {
        let from = match &value.from {
            SecretOrigin::Env(name) => format!("the variable {name}"),
            SecretOrigin::File(file) => format!("the file {}", file.display()),
            SecretOrigin::Command(command) => format!("the program {}", command.join(" ")),
        };
        let tools: Vec<&str> = value.tools.iter().map(|tool| tool.value.as_str()).collect();
        let text = format!(
            "from {from}, for {}, in {}, of {}",
            value.url,
            value.header,
            if tools.is_empty() {
                "no tool".to_owned()
            } else {
                tools.join(", ")
            }
        );
        rows.push(row(&format!("secrets.{name}"), text, source));
    }
}

fn bounds(config: &Config, rows: &mut Vec<Row>) {
    let all = std::iter::once(("limits".to_owned(), &config.limits));
    let tools = config.limits_of.iter();
    let tools = tools.map(|(tool, limits)| (format!("limits.tools.{tool}"), limits));
    for (table, limits) in all.chain(tools) {
        for (bound, setting) in limits.each() {
            if let Some(Sourced { value, source }) = setting {
                let setting = format!("{table}.{}", bound.key());
                rows.push(row(&setting, value.to_string(), source));
            }
        }
    }
}

fn row(setting: &str, value: String, source: &Source) -> Row {
    Row {
        setting: setting.to_owned(),
        value,
        source: source.to_string(),
    }
}

fn one<T>(
    rows: &mut Vec<Row>,
    setting: &str,
    value: &Option<Sourced<T>>,
    text: impl FnOnce(&T) -> String,
) {
    if let Some(Sourced { value, source }) = value {
        rows.push(row(setting, text(value), source));
    }
}

/// The word that a setting is written with.
fn word(value: &impl Serialize) -> String {
    match serde_json::to_value(value) {
        Ok(serde_json::Value::String(word)) => word,
        Ok(other) => other.to_string(),
        Err(error) => error.to_string(),
    }
}

/// A path, and where it leads if that is elsewhere.
fn leads(path: &Path) -> String {
    match path.canonicalize() {
        Ok(real) if real != path => format!("{} (that is {})", path.display(), real.display()),
        Ok(_) => path.display().to_string(),
        Err(error) => format!("{} ({error})", path.display()),
    }
}

fn by_effect(rules: &[Rule]) -> impl Iterator<Item = &Rule> {
    [Decision::Deny, Decision::Ask, Decision::Allow]
        .into_iter()
        .flat_map(|effect| rules.iter().filter(move |rule| rule.effect == effect))
}

fn rule_text(rule: &Rule) -> String {
    let examples = &rule.examples;
    let said = [
        ("allows", &examples.allows),
        ("asks", &examples.asks),
        ("denies", &examples.denies),
    ];
    let said = said.into_iter().filter(|(_, texts)| !texts.is_empty());
    said.fold(rule.source.rule.clone(), |text, (verb, texts)| {
        format!("{text}, {verb} {}", texts.join(" | "))
    })
}

fn rule_place(rule: &Rule) -> String {
    match rule.source.line {
        0 => rule.source.file.display().to_string(),
        line => format!("{}:{line}", rule.source.file.display()),
    }
}

/// The same for programs.
fn whole(loaded: &Loaded) -> serde_json::Value {
    let config = &loaded.config;
    let rules: Vec<_> = by_effect(&config.rules)
        .map(|rule| {
            json!({
                "effect": rule.effect,
                "rule": rule.source.rule,
                "allows": rule.examples.allows,
                "asks": rule.examples.asks,
                "denies": rule.examples.denies,
                "file": rule.source.file,
                "line": rule.source.line,
            })
        })
        .collect();
    json!({
        "permissions": {"mode": config.mode, "ceiling": config.ceiling},
        "approval": {
            "exempt_at_or_below": config.exempt,
            "approvers": config.approval.approvers,
            "program": config.approval.program,
            "program_timeout_ms": config.approval.program_timeout_ms,
        },
        "files": {"read": config.read, "write": config.write},
        "schema": {"mode": config.schema, "tools": config.schema_of},
        "subjects": config.subjects,
        "limits": {"all": config.limits, "tools": config.limits_of},
        "components": {
            "files": config.components,
            "without": config.without,
            "trusted": config.trusted,
        },
        "store": config.store,
        "plain": config.plain,
        "mcp": {"servers": config.mcp},
        "shell": config.shell,
        "web_search": config.web_search,
        "tools": config.tool_settings,
        "serve": config.serve,
        "egress": config.egress,
        "secrets": config.secrets,
        "journal": {"file": config.journal},
        "rules": rules,
        "hooks": config.hooks,
        "unheard": setup::unheard(config),
        "in_force": loaded.in_force,
        "not_in_force": loaded.not_in_force,
    })
}
