//! What the settings grant to a tool by its name, in one place: so that it can be shown, and withheld from other bytes than
//! those it was given to.

use std::path::Path;

use super::settings::Config;
use super::source::Sourced;
use crate::model::{RuleSource, SubjectField, SubjectKind, ToolName};
use crate::policy::{Decision, Examples, NamePattern, Rule};

impl Config {
    /// Every setting that gives something to this tool, and where it stands.
    pub fn grants_of(&self, tool: &ToolName) -> Vec<String> {
        let rules = self.rules.iter().filter(|rule| allows(rule, tool));
        let mut found: Vec<String> = rules.map(|rule| rule.source.to_string()).collect();
        let name = tool.as_str();
        let trusted = self.trusted.iter().filter(|named| named.value == name);
        found.extend(trusted.map(|named| format!("trusted {name} ({})", named.source)));
        let shell = self.shell.granted.get(name);
        found.extend(shell.map(|named| format!("commands in [shell.grants] ({})", named.source)));
        let plain = self.plain.get(name).and_then(|plain| plain.files.as_ref());
        found.extend(plain.map(|files| format!("files in [plain] ({})", files.source)));
        let url = self.url_subject(name);
        found
            .extend(url.map(|subject| format!("the URL that its calls name ({})", subject.source)));
        let opened = self.egress.allow_of.get(name);
        found.extend(opened.map(|list| format!("the network in [egress.tools] ({})", list.source)));
        for (secret, setting) in &self.secrets {
            let tools = setting
                .value
                .tools
                .iter()
                .filter(|named| named.value == name);
            found.extend(tools.map(|named| format!("the secret '{secret}' ({})", named.source)));
        }
        let told = self.tool_settings.get(name).into_iter().flatten();
        found.extend(told.map(|(key, told)| format!("the setting '{key}' ({})", told.source)));
        found
    }

    /// Where the operator says that a field of a tool's input is a URL, which its calls then may reach.
    fn url_subject(&self, name: &str) -> Option<&Sourced<SubjectField>> {
        let subject = self.subjects.get(name)?;
        (subject.value.kind == SubjectKind::Url).then_some(subject)
    }

    /// Takes all that from this tool. Where a rule allows it, another one asks, in the name of the file that says why.
    pub fn withhold(&mut self, tool: &ToolName, why: &Path) {
        let name = tool.as_str();
        self.trusted.retain(|named| named.value != name);
        self.shell.granted.remove(name);
        self.shell.grants.remove(name);
        if let Some(plain) = self.plain.get_mut(name) {
            plain.files = None;
        }
        // An empty list: without one, what is opened for every tool would hold, and of what a call names the public part.
        if let Some(source) = self.url_subject(name).map(|subject| subject.source.clone()) {
            let none = Sourced {
                value: Vec::new(),
                source,
            };
            self.egress.allow_of.entry(name.to_owned()).or_insert(none);
        }
        if let Some(opened) = self.egress.allow_of.get_mut(name) {
            opened.value.clear();
        }
        for setting in self.secrets.values_mut() {
            setting.value.tools.retain(|named| named.value != name);
        }
        self.tool_settings.remove(name);
        if self.rules.iter().any(|rule| allows(rule, tool)) {
            self.rules.push(Rule {
                effect: Decision::Ask,
                name: NamePattern::Exact(tool.clone()),
                pattern: None,
                examples: Examples::default(),
                source: RuleSource {
                    rule: name.to_owned(),
                    effect: Decision::Ask.as_str(),
                    file: why.to_owned(),
                    line: 0,
                },
            });
        }
    }
}

fn allows(rule: &Rule, tool: &ToolName) -> bool {
    rule.effect == Decision::Allow && rule.name.matches(tool)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::config::{SecretOrigin, SecretSetting};
    use crate::policy::EgressAllow;

    #[test]
    fn what_is_shown_is_what_is_withheld() {
        let mut config = Config::default();
        let (tool, other) = (
            ToolName::try_from("acme__Resize").unwrap(),
            ToolName::try_from("acme__Rotate").unwrap(),
        );
        for (effect, text) in [
            (Decision::Allow, "acme__Resize"),
            (Decision::Allow, "acme__*"),
            (Decision::Deny, "acme__Resize(secret/**)"),
        ] {
            let rule = Rule::parse(effect, text, Path::new("toolgate.toml"), 2).unwrap();
            config.rules.push(rule);
        }
        config.trusted.push("acme__Resize".to_owned().into());
        let patterns = vec!["convert:*".to_owned().into()];
        config
            .shell
            .grants
            .insert("acme__Resize".to_owned(), patterns);
        config
            .shell
            .granted
            .insert("acme__Resize".to_owned(), ().into());
        let opened = vec![EgressAllow::Public];
        let list = &mut config.egress.allow_of;
        list.insert("acme__Resize".to_owned(), opened.into());
        let secret = SecretSetting {
            from: SecretOrigin::Env("TOKEN".to_owned()),
            url: "https://api.example.com".to_owned(),
            header: "authorization".to_owned(),
            prefix: "Bearer ".to_owned(),
            tools: vec!["acme__Resize".to_owned().into(), "Get".to_owned().into()],
        };
        config.secrets.insert("api".to_owned(), secret.into());
        let told = BTreeMap::from([("token".to_owned(), "x".to_owned().into())]);
        config.tool_settings.insert("acme__Resize".to_owned(), told);
        assert_eq!(
            config.grants_of(&tool).len(),
            7,
            "{:?}",
            config.grants_of(&tool)
        );
        assert_eq!(config.grants_of(&other).len(), 1);

        config.withhold(&tool, Path::new("toolgate.lock"));
        assert!(config.trusted.is_empty() && config.shell.grants.is_empty());
        assert!(config.shell.granted.is_empty() && config.tool_settings.is_empty());
        assert!(config.egress.allow_of["acme__Resize"].value.is_empty());
        let left: Vec<_> = config.secrets["api"].value.tools.iter().collect();
        assert!(left.len() == 1 && left[0].value == "Get");
        let asks = config.rules.last().unwrap();
        assert_eq!(asks.source.to_string(), "ask acme__Resize (toolgate.lock)");
        assert!(asks.name.matches(&tool) && !asks.name.matches(&other));
        let denies = config
            .rules
            .iter()
            .filter(|rule| rule.effect == Decision::Deny);
        assert_eq!(denies.count(), 1, "what denies stays");

        let mut bare = Config::default();
        bare.withhold(&tool, Path::new("toolgate.lock"));
        assert!(
            bare.rules.is_empty(),
            "nothing was granted, nothing is withheld"
        );
    }
}
