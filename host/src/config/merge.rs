//! Several files to one configuration: rules add up, single settings are the last file's.

use std::path::{Path, PathBuf};

use toml::Spanned;
use toml::de::DeTable;

use super::ConfigError;
use super::file::{Config, File, HookSetting, LimitSetting, Limits, Permissions};
use super::keys;
use crate::policy::{Decision, Mode, Rule};

/// Reads configuration files, in order.
///
/// # Errors
/// The first thing that is wrong, with its file and line.
pub fn load(files: &[PathBuf]) -> Result<Config, ConfigError> {
    let mut config = Config::default();
    for file in files {
        let text = std::fs::read_to_string(file).map_err(|error| ConfigError {
            file: file.clone(),
            line: 0,
            what: format!("cannot be read: {error}"),
        })?;
        add(&mut config, file, &text)?;
    }
    Ok(config)
}

fn add(config: &mut Config, path: &Path, text: &str) -> Result<(), ConfigError> {
    let wrong = |at: Option<usize>, what: String| ConfigError {
        file: path.to_owned(),
        line: at.map_or(0, |at| line_of(text, at)),
        what,
    };
    let said = |error: toml::de::Error| {
        wrong(
            error.span().map(|span| span.start),
            error.message().to_owned(),
        )
    };
    let table = DeTable::parse(text).map_err(said)?;
    if let Some(unknown) = keys::unknown(table.get_ref(), &super::schema()) {
        return Err(wrong(Some(unknown.at), unknown.what));
    }
    let file: File = toml::from_str(text).map_err(said)?;
    let base = path.parent().unwrap_or(Path::new("."));

    add_permissions(config, &file.permissions, path, text)?;
    config.exempt = file.approval.exempt_at_or_below.or(config.exempt);
    config
        .read
        .extend(file.files.read.iter().map(|folder| base.join(folder)));
    config
        .write
        .extend(file.files.write.iter().map(|folder| base.join(folder)));
    config.schema = file.schema.mode.or(config.schema);
    config.schema_of.extend(file.schema.tools);
    add_limits(config, file.limits);
    let placed = |hooks: Vec<HookSetting>| {
        hooks
            .into_iter()
            .map(|hook| hook.on(base))
            .collect::<Vec<_>>()
    };
    config.pre_hooks.extend(placed(file.hooks.pre_tool_use));
    config.post_hooks.extend(placed(file.hooks.post_tool_use));
    config
        .failure_hooks
        .extend(placed(file.hooks.post_tool_use_failure));
    config.components.extend(
        file.components
            .files
            .iter()
            .map(|component| base.join(component)),
    );
    config.without.extend(file.components.without);
    config.journal = file
        .journal
        .file
        .map(|journal| base.join(journal))
        .or(config.journal.take());
    config.files.push(path.to_owned());
    Ok(())
}

fn add_permissions(
    config: &mut Config,
    permissions: &Permissions,
    path: &Path,
    text: &str,
) -> Result<(), ConfigError> {
    for (effect, rules) in [
        (Decision::Allow, &permissions.allow),
        (Decision::Ask, &permissions.ask),
        (Decision::Deny, &permissions.deny),
    ] {
        for rule in rules {
            config.rules.push(parse_rule(effect, rule, path, text)?);
        }
    }
    config.ceiling = permissions.ceiling.or(config.ceiling);
    let Some(mode) = &permissions.mode else {
        return Ok(());
    };
    if *mode.get_ref() == Mode::Bypass {
        return Err(ConfigError {
            file: path.to_owned(),
            line: line_of(text, mode.span().start),
            what: "mode 'bypass' can only be given as a start flag (--mode bypass)".to_owned(),
        });
    }
    config.mode = Some(*mode.get_ref());
    Ok(())
}

fn add_limits(config: &mut Config, limits: Limits) {
    config.limits = LimitSetting {
        timeout_ms: limits.timeout_ms.or(config.limits.timeout_ms),
        fuel: limits.fuel.or(config.limits.fuel),
        memory_mib: limits.memory_mib.or(config.limits.memory_mib),
    };
    config.limits_of.extend(limits.tools);
}

fn parse_rule(
    effect: Decision,
    rule: &Spanned<String>,
    file: &Path,
    text: &str,
) -> Result<Rule, ConfigError> {
    let line = line_of(text, rule.span().start);
    Rule::parse(effect, rule.get_ref(), file, line).map_err(|error| ConfigError {
        file: file.to_owned(),
        line,
        what: error.to_string(),
    })
}

fn line_of(text: &str, at: usize) -> usize {
    1 + text.bytes().take(at).filter(|byte| *byte == b'\n').count()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Config, String> {
        let mut config = Config::default();
        add(&mut config, Path::new("/etc/toolgate.toml"), text)
            .map_err(|error| error.to_string())?;
        Ok(config)
    }

    #[test]
    fn a_full_file_is_read() {
        let config = read(
            r#"
            [permissions]
            mode = "accept-edits"
            ceiling = "mutating"
            allow = ["Write(src/**)"]
            deny = [
                "Read(.env)",
            ]
            [files]
            read = ["docs"]
            [approval]
            exempt_at_or_below = "none"
            [schema]
            mode = "warn"
            [schema.tools]
            Read = "off"
            [limits]
            timeout_ms = 5000
            [limits.tools.Grep]
            fuel = 1000000
            [[hooks.pre_tool_use]]
            command = ["./check.sh", "x"]
            [components]
            files = ["mine.wasm"]
            [journal]
            file = "journal.jsonl"
            "#,
        )
        .unwrap();
        assert_eq!(config.mode, Some(Mode::AcceptEdits));
        assert_eq!(
            config.rules[1].source.to_string(),
            "deny Read(.env) (/etc/toolgate.toml:7)"
        );
        assert_eq!(config.read, [Path::new("/etc/docs")]);
        assert_eq!(config.limits.timeout_ms, Some(5000));
        assert_eq!(config.limits_of["Grep"].fuel, Some(1_000_000));
        assert_eq!(config.pre_hooks[0].timeout_ms, 10_000);
        assert_eq!(config.pre_hooks[0].command, ["/etc/./check.sh", "x"]);
        assert_eq!(config.components, [Path::new("/etc/mine.wasm")]);
    }

    #[test]
    fn what_is_not_known_stops_with_file_line_and_nearest_key() {
        for (text, message) in [
            (
                "[permissions]\nalow = []",
                "/etc/toolgate.toml:2: unknown key 'permissions.alow'. Did you mean 'allow'?",
            ),
            (
                "\n[permision]",
                "/etc/toolgate.toml:2: unknown key 'permision'. Did you mean 'permissions'?",
            ),
            (
                "[[hooks.pre_tool_use]]\ncommand = [\"x\"]\ntimout_ms = 3",
                "/etc/toolgate.toml:3: unknown key 'hooks.pre_tool_use.timout_ms'. Did you mean 'timeout_ms'?",
            ),
            (
                "[limits.tools.Read]\nfule = 3",
                "/etc/toolgate.toml:2: unknown key 'limits.tools.Read.fule'. Did you mean 'fuel'?",
            ),
            (
                "[permissions]\nallow = [\n\"Read(\",\n]",
                "/etc/toolgate.toml:3: the rule 'Read(' has an opening parenthesis and does not end in a closing one",
            ),
            (
                "[permissions]\nmode = \"bypass\"",
                "/etc/toolgate.toml:2: mode 'bypass' can only be given as a start flag (--mode bypass)",
            ),
        ] {
            assert_eq!(read(text).unwrap_err(), message);
        }
        assert!(
            read("[permissions]\nmode = \"acceptEdits\"")
                .unwrap_err()
                .contains("toolgate.toml:2: ")
        );
        assert!(
            read("[permissions")
                .unwrap_err()
                .contains("toolgate.toml:1: ")
        );
        assert!(
            read("[permissions]\nallow = \"Read\"")
                .unwrap_err()
                .contains("toolgate.toml:2: ")
        );
    }
}
