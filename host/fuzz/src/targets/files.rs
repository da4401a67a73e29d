//! Files that the host reads: its configuration and its journal.

use std::path::Path;

use super::rules::{TOOLS, policy};
use crate::config::of_text;
use crate::policy::{Decision, ExemptLine, Rule};
use crate::suggest::{Basis, PastCalls, Suggestions};

/// A `toolgate.toml`. What is wrong with one has its file and a line that is there.
pub fn config(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else {
        return;
    };
    let file = Path::new("/etc/toolgate.toml");
    match of_text(file, text) {
        Ok(config) => {
            for rule in &config.rules {
                assert!(
                    (1..=text.lines().count()).contains(&rule.source.line),
                    "{rule:?}"
                );
            }
        }
        Err(error) => {
            assert_eq!(error.file, file);
            assert!(error.line <= text.split('\n').count(), "{error}");
            assert!(!error.what.is_empty());
        }
    }
}

/// Records of a journal. Every line is counted once, and what is proposed for what they say is a rule.
pub fn journal(data: &[u8]) {
    let mut past = PastCalls::default();
    let mut journal = data;
    past.add(&mut journal, None)
        .expect("reading from memory does not fail");
    let lines = data.split(|byte| *byte == b'\n');
    let filled = lines.filter(|line| !line.trim_ascii().is_empty()).count();
    assert_eq!(past.records + past.torn + past.foreign, filled);
    assert!(past.calls.len() <= past.records);

    let policy = policy(&[]).expect("no rule is a policy");
    let basis = Basis {
        policy: &policy,
        exempt: ExemptLine::ReadOnly,
        tools: &*TOOLS,
    };
    for suggested in Suggestions::least(&past.calls, basis).rules {
        Rule::parse(Decision::Allow, &suggested.rule, Path::new("fuzz"), 1)
            .expect("what is proposed is a rule");
    }
}
