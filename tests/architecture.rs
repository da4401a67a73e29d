//! The import table and the size limits: one table, no column for exceptions.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// Who may import whom inside the host's library. A module in no row fails.
const MAY_IMPORT: &[(&str, &[&str])] = &[
    ("model", &[]),
    ("policy", &["model"]),
    ("egress", &["model", "policy"]),
    ("program", &[]),
    ("state", &[]),
    ("config", &["model", "policy", "program", "state"]),
    ("gate", &["model", "policy"]),
    ("policy_test", &["model", "policy", "gate"]),
    ("suggest", &["model", "policy"]),
    ("runtime", &["egress", "model", "policy", "state"]),
    ("store", &["model", "runtime", "state"]),
    (
        "provider",
        &["egress", "model", "gate", "runtime", "policy", "shell"],
    ),
    ("shell", &["model"]),
    (
        "upstream",
        &[
            "config", "gate", "model", "policy", "program", "provider", "shell", "state",
        ],
    ),
    ("approval", &["model", "gate", "program"]),
    ("hooks", &["model", "gate", "program", "runtime"]),
    ("journal", &["model", "gate"]),
    ("spill", &["model", "gate"]),
    (
        "error",
        &[
            "approval", "config", "gate", "journal", "model", "policy", "runtime", "state", "store",
        ],
    ),
    (
        "host",
        &[
            "approval", "config", "egress", "error", "gate", "hooks", "journal", "model", "policy",
            "program", "provider", "runtime", "shell", "spill", "state", "store", "upstream",
        ],
    ),
    ("mcp", &["model", "gate", "approval", "host"]),
    ("lib", &[]),
    // The binary uses the library as anybody would.
    ("main", &[]),
    ("cli", &[]),
];

/// The longest file, lines.
const MAX_LINES: usize = 500;

fn workspace() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .expect("the workspace")
        .to_owned()
}

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir()
            && path
                .file_name()
                .is_some_and(|name| name != "target" && name != ".git")
        {
            sources(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

fn all_sources() -> Vec<PathBuf> {
    let mut found = Vec::new();
    for folder in ["host", "guest-sdk", "tools", "tests"] {
        sources(&workspace().join(folder), &mut found);
    }
    assert!(found.len() > 100, "only {} sources were found", found.len());
    found
}

/// Modules of the crate that a line names.
fn imported(line: &str) -> Vec<String> {
    let code = line.split("//").next().unwrap_or_default();
    code.match_indices("crate::")
        .filter(|(at, _)| !code[..*at].ends_with(|c: char| c.is_alphanumeric() || c == '_'))
        .map(|(at, _)| {
            let rest = &code[at + "crate::".len()..];
            rest.chars()
                .take_while(|c| c.is_alphanumeric() || *c == '_')
                .collect()
        })
        .filter(|name: &String| name.starts_with(char::is_lowercase))
        .collect()
}

#[test]
fn modules_import_only_what_the_table_lets_them() {
    let table: BTreeMap<&str, &[&str]> = MAY_IMPORT.iter().copied().collect();
    let src = workspace().join("host/src");
    let mut found = Vec::new();
    sources(&src, &mut found);
    let mut wrong = Vec::new();
    for path in found {
        let below = path.strip_prefix(&src).expect("below src");
        let first = below
            .components()
            .next()
            .expect("a name")
            .as_os_str()
            .to_str()
            .expect("UTF-8");
        let module = first.trim_end_matches(".rs");
        let Some(allowed) = table.get(module) else {
            wrong.push(format!(
                "{}: the module `{module}` stands in no row",
                below.display()
            ));
            continue;
        };
        let text = fs::read_to_string(&path).expect("a source");
        for (number, line) in text.lines().enumerate() {
            for name in imported(line) {
                if name != module && !allowed.contains(&name.as_str()) {
                    wrong.push(format!(
                        "{}:{}: `{module}` may not import `{name}`",
                        below.display(),
                        number + 1
                    ));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn gates_are_files_in_the_order_of_the_chain() {
    let mut files: Vec<String> = fs::read_dir(workspace().join("host/src/gate"))
        .expect("the gates")
        .map(|entry| {
            entry
                .expect("an entry")
                .file_name()
                .into_string()
                .expect("UTF-8")
        })
        .filter(|name| name.starts_with('g') && name.as_bytes()[1].is_ascii_digit())
        .collect();
    files.sort();
    let expected: Vec<String> = toolgate::model::Gate::ALL
        .iter()
        .enumerate()
        .map(|(index, gate)| format!("g{:02}_{}.rs", index + 1, gate.as_str().replace('-', "_")))
        .collect();
    assert_eq!(files, expected);
}

#[test]
fn no_file_is_too_long_and_none_is_called_utils() {
    let mut wrong = Vec::new();
    for path in all_sources() {
        let lines = fs::read_to_string(&path).expect("a source").lines().count();
        if lines > MAX_LINES {
            wrong.push(format!("{}: {lines} lines", path.display()));
        }
        let stem = path
            .file_stem()
            .expect("a name")
            .to_string_lossy()
            .into_owned();
        if ["util", "utils", "helpers", "common", "misc"].contains(&stem.as_str()) {
            wrong.push(format!("{}: says nothing", path.display()));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_top_level_holds_what_it_should() {
    let known = [
        "Cargo.toml",
        "Cargo.lock",
        "CHANGELOG.md",
        "LICENSE-APACHE",
        "LICENSE-MIT",
        "README.md",
        "clippy.toml",
        "deny.toml",
        "rust-toolchain.toml",
        ".ci",
        ".git",
        ".gitignore",
        "guest-sdk",
        "host",
        "target",
        "tests",
        "tools",
        "wit",
    ];
    for entry in fs::read_dir(workspace()).expect("the workspace") {
        let name = entry
            .expect("an entry")
            .file_name()
            .into_string()
            .expect("UTF-8");
        assert!(
            known.contains(&name.as_str()),
            "{name} does not belong at the top level"
        );
    }
}
