//! Suggestions as a piece of `toolgate.toml`.

use super::least::{SuggestedRule, Suggestions};

impl Suggestions {
    /// The rules as a table `[permissions]`, each under a comment that says what it is for. Wider rules stand in comments
    /// alone. Nothing where there is no rule.
    pub fn to_toml(&self) -> Option<String> {
        if self.rules.is_empty() {
            return None;
        }
        let rules = self
            .rules
            .iter()
            .map(|rule| format!("    # {}\n    {},\n", what_for(rule), quoted(&rule.rule)));
        let wider = self.directories.iter().map(|directory| {
            format!(
                "    # Wider, and so not proposed: {} covers {} of these files and every other one beside them.\n",
                quoted(&directory.rule),
                directory.instead_of.len()
            )
        });
        let lines: String = rules.chain(wider).collect();
        Some(format!("[permissions]\nallow = [\n{lines}]\n"))
    }
}

fn what_for(rule: &SuggestedRule) -> String {
    let parts = [
        (rule.approved, "approved"),
        (rule.wanting, "refused for want of a rule"),
    ];
    let parts: Vec<String> = parts
        .into_iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, how)| format!("{count} {how}"))
        .collect();
    let calls = rule.approved + rule.wanting;
    let plural = if calls == 1 { "call" } else { "calls" };
    format!(
        "{calls} {plural} ({}), the last at {}",
        parts.join(", "),
        rule.last
    )
}

/// The text as a TOML string. Rules hold no control characters, so it is one line.
fn quoted(text: &str) -> String {
    toml::Value::from(text).to_string()
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::super::least::Directory;
    use super::*;
    use crate::model::ToolName;

    fn suggested(rule: &str, approved: usize, wanting: usize) -> SuggestedRule {
        SuggestedRule {
            rule: rule.to_owned(),
            tool: ToolName::try_from("Write").unwrap(),
            path: None,
            approved,
            wanting,
            last: "2026-02-10T12:00:00Z".parse().unwrap(),
        }
    }

    #[test]
    fn the_text_is_toml_that_says_the_rules_and_nothing_wider() {
        let rules = [
            "Write(/ws/a)",
            "Write(/ws/\"b\\*')",
            "Write(/ws/'''\"\"\")",
            "Odd(é #)",
        ];
        let suggestions = Suggestions {
            rules: rules.iter().map(|rule| suggested(rule, 1, 2)).collect(),
            directories: vec![Directory {
                rule: "Write(/ws/*)".to_owned(),
                path: Path::new("/ws").to_owned(),
                instead_of: vec![String::new(); 3],
            }],
            ..Suggestions::default()
        };
        let text = suggestions.to_toml().unwrap();
        let parsed: toml::Table = text.parse().unwrap();
        let allow = parsed["permissions"]["allow"].as_array().unwrap();
        let allow: Vec<&str> = allow.iter().map(|rule| rule.as_str().unwrap()).collect();
        assert_eq!(allow, rules);
        for line in text.lines().filter(|line| line.contains("/ws/*)")) {
            assert!(line.trim_start().starts_with('#'), "{line}");
        }
        assert!(text.contains(
            "# 3 calls (1 approved, 2 refused for want of a rule), the last at 2026-02-10T12:00:00Z"
        ));
        assert!(
            text.contains("\"Write(/ws/*)\" covers 3 of these files"),
            "{text}"
        );
    }

    #[test]
    fn no_rule_is_no_text() {
        assert_eq!(Suggestions::default().to_toml(), None);
    }
}
