//! The entry in a client's file, and the file with it: everything else in it stays.

use std::fs;
use std::io::Write as _;
use std::path::Path;

use anyhow::{Context as _, bail};
use serde::Serialize as _;
use serde_json::ser::PrettyFormatter;
use serde_json::{Map, Value, json};
use toml_edit::{Array, DocumentMut, Item, Table, value};

use super::entry::Entry;
use crate::cli::args::ClientKind;

/// The largest file of a client that is changed, bytes.
const MAX_FILE: u64 = 4 << 20;

/// What was done to the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Change {
    /// It holds the entry now.
    Added,
    /// It held another one under this name.
    Replaced,
    /// It held exactly this one.
    None,
}

impl Change {
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Added => "added",
            Self::Replaced => "replaced",
            Self::None => "is there already",
        }
    }
}

/// The file with nothing but the entry.
pub(super) fn alone(client: ClientKind, name: &str, entry: &Entry) -> String {
    if client == ClientKind::Codex {
        let mut document = DocumentMut::new();
        into_toml(&mut document, name, entry);
        return document.to_string();
    }
    let whole = json!({ key(client): { name: json_entry(client, entry) } });
    pretty(&whole, "  ")
}

/// Puts the entry into the file, making it where it is missing.
///
/// # Errors
/// The file cannot be read, understood or written. Then it is as it was.
pub(super) fn write(
    client: ClientKind,
    path: &Path,
    name: &str,
    entry: &Entry,
) -> anyhow::Result<Change> {
    // A link stays one: what it leads to is changed.
    let path = &path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let shown = || format!("{}", path.display());
    let old = match fs::metadata(path) {
        Ok(found) if found.len() > MAX_FILE => bail!("{}: it has more than 4 MiB", path.display()),
        Ok(_) => Some(fs::read_to_string(path).with_context(shown)?),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => None,
        Err(error) => return Err(error).with_context(shown),
    };
    let text = old.as_deref().filter(|text| !text.trim().is_empty());
    let (new, change) = match client {
        ClientKind::Codex => with_toml(text, name, entry).with_context(shown)?,
        _ => with_json(client, text, name, entry).with_context(shown)?,
    };
    if change != Change::None {
        replace(path, &new).with_context(shown)?;
    }
    Ok(change)
}

/// The key under which a client keeps its servers.
fn key(client: ClientKind) -> &'static str {
    match client {
        ClientKind::Vscode => "servers",
        ClientKind::Claude | ClientKind::Cursor | ClientKind::Gemini | ClientKind::Codex => {
            "mcpServers"
        }
    }
}

fn json_entry(client: ClientKind, entry: &Entry) -> Value {
    let mut object = Map::new();
    if matches!(client, ClientKind::Claude | ClientKind::Vscode) {
        object.insert("type".to_owned(), "stdio".into());
    }
    object.insert("command".to_owned(), entry.command.as_str().into());
    object.insert("args".to_owned(), entry.arguments.clone().into());
    object.into()
}

fn with_json(
    client: ClientKind,
    text: Option<&str>,
    name: &str,
    entry: &Entry,
) -> anyhow::Result<(String, Change)> {
    let entry = json_entry(client, entry);
    let mut whole: Value = match text {
        Some(text) => serde_json::from_str(text).context(
            "it is not plain JSON (comments are not kept, so nothing was changed): paste the entry that is printed \
             without --save",
        )?,
        None => json!({}),
    };
    let Value::Object(root) = &mut whole else {
        bail!("it is no JSON object");
    };
    let servers = root.entry(key(client)).or_insert_with(|| json!({}));
    let Value::Object(servers) = servers else {
        bail!("'{}' in it is no object", key(client));
    };
    let change = match servers.insert(name.to_owned(), entry.clone()) {
        Some(old) if old == entry => Change::None,
        Some(_) => Change::Replaced,
        None => Change::Added,
    };
    let indent = text.and_then(indent).unwrap_or("  ");
    Ok((pretty(&whole, indent), change))
}

/// How the file is indented.
fn indent(text: &str) -> Option<&str> {
    let line = text.lines().find(|line| line.starts_with([' ', '\t']))?;
    let words = line.trim_start_matches([' ', '\t']);
    line.get(..line.len() - words.len())
}

fn pretty(value: &Value, indent: &str) -> String {
    let mut bytes = Vec::new();
    let formatter = PrettyFormatter::with_indent(indent.as_bytes());
    let mut writer = serde_json::Serializer::with_formatter(&mut bytes, formatter);
    let mut text = match value.serialize(&mut writer) {
        Ok(()) => String::from_utf8_lossy(&bytes).into_owned(),
        Err(_) => value.to_string(),
    };
    text.push('\n');
    text
}

fn with_toml(text: Option<&str>, name: &str, entry: &Entry) -> anyhow::Result<(String, Change)> {
    let mut document: DocumentMut = text.unwrap_or_default().parse().context("it is not TOML")?;
    let before = document.to_string();
    let known = document.get("mcp_servers").map(|servers| {
        let table = servers.as_table_like();
        table.map(|table| table.contains_key(name))
    });
    if known == Some(None) {
        bail!("'mcp_servers' in it is no table");
    }
    into_toml(&mut document, name, entry);
    let after = document.to_string();
    let change = match known.flatten() {
        _ if after == before => Change::None,
        Some(true) => Change::Replaced,
        Some(false) | None => Change::Added,
    };
    Ok((after, change))
}

fn into_toml(document: &mut DocumentMut, name: &str, entry: &Entry) {
    let servers = document.entry("mcp_servers").or_insert_with(|| {
        let mut table = Table::new();
        // Only the tables of its servers are shown.
        table.set_implicit(true);
        Item::Table(table)
    });
    let arguments: Array = entry.arguments.iter().map(String::as_str).collect();
    let Some(servers) = servers.as_table_like_mut() else {
        return;
    };
    let mut fresh = Table::new();
    fresh.insert("command", value(entry.command.as_str()));
    fresh.insert("args", value(arguments));
    match servers.get_mut(name).and_then(Item::as_table_like_mut) {
        // What else stands there (environment, time limits) is the person's.
        Some(there) => {
            for (key, item) in fresh {
                let same = |old: &Item| old.to_string().trim() == item.to_string().trim();
                if !there.get(&key).is_some_and(same) {
                    there.insert(&key, item);
                }
            }
        }
        None => {
            servers.insert(name, Item::Table(fresh));
        }
    }
}

/// Writes beside the file and puts it into its place, with the mode that it had.
fn replace(path: &Path, text: &str) -> anyhow::Result<()> {
    let folder = path.parent().context("it has no folder")?;
    fs::create_dir_all(folder)?;
    let temporary = folder.join(format!(".toolgate-{}.tmp", std::process::id()));
    let written = (|| {
        let mut file = fs::OpenOptions::new()
            .write(true)
            .create_new(true)
            .open(&temporary)?;
        if let Ok(old) = fs::metadata(path) {
            file.set_permissions(old.permissions())?;
        }
        file.write_all(text.as_bytes())?;
        file.sync_all()?;
        fs::rename(&temporary, path)
    })();
    if written.is_err() && temporary.exists() {
        fs::remove_file(&temporary)?;
    }
    Ok(written?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry() -> Entry {
        Entry {
            command: "/bin/toolgate".to_owned(),
            arguments: vec![
                "serve".to_owned(),
                "--workspace".to_owned(),
                "/ws".to_owned(),
            ],
        }
    }

    fn written(client: ClientKind, before: Option<&str>) -> (String, Change) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("below/file");
        if let Some(before) = before {
            fs::create_dir(folder.path().join("below")).unwrap();
            fs::write(&path, before).unwrap();
        }
        let change = write(client, &path, "toolgate", &entry()).unwrap();
        let after = fs::read_to_string(&path).unwrap();
        assert_eq!(
            write(client, &path, "toolgate", &entry()).unwrap(),
            Change::None
        );
        assert_eq!(fs::read_to_string(&path).unwrap(), after);
        assert_eq!(fs::read_dir(path.parent().unwrap()).unwrap().count(), 1);
        (after, change)
    }

    #[test]
    fn json_keeps_the_rest_its_order_and_its_indent() {
        let before = "{\n    \"z\": 1.50,\n    \"mcpServers\": {\n        \"other\": {\"command\": \"x\"}\n    },\n    \"a\": []\n}\n";
        let (after, change) = written(ClientKind::Claude, Some(before));
        assert_eq!(change, Change::Added);
        let order = [
            "\n    \"z\"",
            "\"other\"",
            "\"toolgate\"",
            "\"type\": \"stdio\"",
            "/bin/toolgate",
            "\n    \"a\"",
        ];
        let at: Vec<usize> = order
            .iter()
            .map(|part| after.find(part).expect(part))
            .collect();
        assert!(at.is_sorted(), "{after}");
        let (after, change) = written(ClientKind::Vscode, None);
        assert_eq!(change, Change::Added);
        let value: Value = serde_json::from_str(&after).unwrap();
        assert_eq!(value["servers"]["toolgate"]["args"][0], "serve");
        let old = "{\"mcpServers\": {\"toolgate\": {\"command\": \"old\"}}}";
        assert_eq!(written(ClientKind::Cursor, Some(old)).1, Change::Replaced);
    }

    #[test]
    fn toml_keeps_every_other_byte() {
        let before = "# mine\nmodel = \"x\"   # the best\n\n[mcp_servers.other]\ncommand = 'y'\n";
        let (after, change) = written(ClientKind::Codex, Some(before));
        assert_eq!(change, Change::Added);
        assert!(after.starts_with(before), "{after}");
        assert!(
            after.contains("[mcp_servers.toolgate]\ncommand = \"/bin/toolgate\"\n"),
            "{after}"
        );
        let own = "[mcp_servers.toolgate]\ncommand = \"old\"\nstartup_timeout_sec = 20 # slow\n";
        let (after, change) = written(ClientKind::Codex, Some(own));
        assert_eq!(change, Change::Replaced);
        assert!(
            after.contains("startup_timeout_sec = 20 # slow\n"),
            "{after}"
        );
        assert!(!after.contains("old"), "{after}");
    }

    #[test]
    fn what_is_not_understood_is_not_touched() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        for (client, before) in [
            (ClientKind::Vscode, "{\n  // mine\n  \"servers\": {}\n}\n"),
            (ClientKind::Claude, "[]"),
            (ClientKind::Claude, "{\"mcpServers\": []}"),
            (ClientKind::Codex, "model = "),
            (ClientKind::Codex, "mcp_servers = 3\n"),
        ] {
            fs::write(&path, before).unwrap();
            assert!(
                write(client, &path, "toolgate", &entry()).is_err(),
                "{before}"
            );
            assert_eq!(fs::read_to_string(&path).unwrap(), before);
        }
    }
}
