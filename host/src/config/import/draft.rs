//! A `toolgate.toml` that is being written.

use std::path::Path;

use toml::Value;

use super::{Carried, Imported, NotCarried};
use crate::model::visible;
use crate::policy::Decision;

/// What the new file will hold, and what was said of the old one.
#[derive(Debug, Default)]
pub(super) struct Draft {
    mode: Option<Setting>,
    rules: [Option<Setting>; 3],
    write: Option<Setting>,
    hooks: Vec<Hook>,
    carried: Vec<Carried>,
    left: Vec<NotCarried>,
}

/// Values of one key, and where they come from.
#[derive(Debug)]
struct Setting {
    pointer: String,
    values: Vec<String>,
}

/// One `[[hooks.…]]` table.
#[derive(Debug)]
pub(super) struct Hook {
    pub(super) pointer: String,
    pub(super) table: &'static str,
    pub(super) command: Vec<String>,
    pub(super) tools: Vec<String>,
    pub(super) timeout_ms: u64,
}

impl Draft {
    pub(super) fn mode(&mut self, pointer: &str, word: &str) {
        self.mode = Some(Setting {
            pointer: pointer.to_owned(),
            values: vec![word.to_owned()],
        });
    }

    /// Adds rules of the list at `pointer`.
    pub(super) fn rules(&mut self, effect: Decision, pointer: &str, rules: &[String]) {
        let [allow, ask, deny] = &mut self.rules;
        let setting = match effect {
            Decision::Allow => allow,
            Decision::Ask => ask,
            Decision::Deny => deny,
        };
        add(setting, pointer, rules);
    }

    /// Adds a directory of the list at `pointer`.
    pub(super) fn write(&mut self, pointer: &str, directory: &str) {
        add(&mut self.write, pointer, &[directory.to_owned()]);
    }

    pub(super) fn hook(&mut self, hook: Hook) {
        self.hooks.push(hook);
    }

    pub(super) fn carried(
        &mut self,
        pointer: &str,
        what: impl Into<String>,
        becomes: Vec<String>,
        note: Option<String>,
    ) {
        self.carried.push(Carried {
            pointer: pointer.to_owned(),
            what: what.into(),
            becomes,
            note,
        });
    }

    pub(super) fn left(
        &mut self,
        pointer: &str,
        what: impl Into<String>,
        why: impl Into<String>,
        weaker: bool,
    ) {
        self.left.push(NotCarried {
            pointer: pointer.to_owned(),
            what: what.into(),
            why: why.into(),
            weaker,
        });
    }

    /// Writes the file.
    pub(super) fn finish(self, file: &Path, format: &'static str) -> Imported {
        let mut toml = format!(
            "# Carried over from {}, {format}.\n# Relative paths stand on the workspace root.\n",
            comment(&file.to_string_lossy())
        );
        if !self.left.is_empty() {
            toml.push_str("#\n# Not carried over:\n");
        }
        for left in &self.left {
            toml.push_str(&format!(
                "# - {}{}: {}: {}\n",
                if left.weaker {
                    "LESS STRICT WITHOUT IT: "
                } else {
                    ""
                },
                comment(&left.pointer),
                comment(&left.what),
                comment(&left.why)
            ));
        }
        let [allow, ask, deny] = &self.rules;
        if self.mode.is_some() || self.rules.iter().any(Option::is_some) {
            toml.push_str("\n[permissions]\n");
        }
        if let Some(mode) = &self.mode {
            let word = mode.values.concat();
            toml.push_str(&format!(
                "# {}\nmode = {}\n",
                comment(&mode.pointer),
                string(&word)
            ));
        }
        list(&mut toml, "allow", allow.as_ref());
        list(&mut toml, "ask", ask.as_ref());
        list(&mut toml, "deny", deny.as_ref());
        if self.write.is_some() {
            toml.push_str("\n[files]\n");
        }
        list(&mut toml, "write", self.write.as_ref());
        for hook in &self.hooks {
            toml.push_str(&hook.to_toml());
        }
        Imported {
            toml,
            carried: self.carried,
            left: self.left,
        }
    }
}

impl Hook {
    fn to_toml(&self) -> String {
        let mut toml = format!(
            "\n# {}\n[[hooks.{}]]\nformat = \"claude\"\ncommand = {}\n",
            comment(&self.pointer),
            self.table,
            strings(&self.command)
        );
        if !self.tools.is_empty() {
            toml.push_str(&format!("tools = {}\n", strings(&self.tools)));
        }
        toml.push_str(&format!("timeout_ms = {}\n", self.timeout_ms));
        toml
    }
}

fn add(setting: &mut Option<Setting>, pointer: &str, values: &[String]) {
    let setting = setting.get_or_insert_with(|| Setting {
        pointer: pointer.to_owned(),
        values: Vec::new(),
    });
    for value in values {
        if !setting.values.contains(value) {
            setting.values.push(value.clone());
        }
    }
}

fn list(toml: &mut String, key: &str, setting: Option<&Setting>) {
    let Some(setting) = setting else {
        return;
    };
    toml.push_str(&format!("# {}\n{key} = [\n", comment(&setting.pointer)));
    for value in &setting.values {
        toml.push_str(&format!("    {},\n", string(value)));
    }
    toml.push_str("]\n");
}

fn string(text: &str) -> String {
    Value::String(text.to_owned()).to_string()
}

fn strings(texts: &[String]) -> String {
    Value::Array(texts.iter().cloned().map(Value::String).collect()).to_string()
}

/// A text that stays within its line, and hides nothing.
fn comment(text: &str) -> String {
    visible(text).replace('\n', "\\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_text_breaks_out_of_its_place() {
        let nasty = "x\"''' \n\r[permissions]\nmode = \"bypass\" # \\ \u{7}\u{202e}";
        let mut draft = Draft::default();
        draft.mode(nasty, "plan");
        draft.rules(Decision::Deny, nasty, &[nasty.to_owned(), nasty.to_owned()]);
        draft.write(nasty, nasty);
        draft.hook(Hook {
            pointer: nasty.to_owned(),
            table: "pre_tool_use",
            command: vec!["/bin/sh".to_owned(), nasty.to_owned()],
            tools: vec![nasty.to_owned()],
            timeout_ms: 7,
        });
        draft.left(nasty, nasty, nasty, true);
        let imported = draft.finish(Path::new(nasty), "settings");
        let table: toml::Table = imported.toml.parse().unwrap();
        let expected = toml::toml! {
            [permissions]
            mode = "plan"
            [files]
            [[hooks.pre_tool_use]]
            format = "claude"
            timeout_ms = 7
        };
        let mut expected = expected;
        let text = Value::String(nasty.to_owned());
        let list = |items: &[Value]| Value::Array(items.to_vec());
        expected["permissions"]
            .as_table_mut()
            .unwrap()
            .insert("deny".into(), list(std::slice::from_ref(&text)));
        expected["files"]
            .as_table_mut()
            .unwrap()
            .insert("write".into(), list(std::slice::from_ref(&text)));
        let hook = expected["hooks"]["pre_tool_use"][0].as_table_mut().unwrap();
        hook.insert("command".into(), list(&["/bin/sh".into(), text.clone()]));
        hook.insert("tools".into(), list(&[text]));
        assert_eq!(table, expected);
    }
}
