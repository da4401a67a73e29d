//! The index: rules by tool and effect, and the deny rules that bind files whatever the tool.

use std::collections::HashMap;
use std::sync::Arc;

use super::evaluate::{PolicyError, PolicySettings, ToolFacts};
use super::rule_set::RuleSet;
use super::{Access, Decision, FileGuard, NamePattern, PathPattern, PatternError, Rule};
use crate::model::{RuleSource, SubjectKind, ToolName, suggestion};

/// The rules of one tool.
#[derive(Debug, Default)]
pub(super) struct ToolRules {
    pub(super) deny: RuleSet,
    pub(super) ask: RuleSet,
    pub(super) allow: RuleSet,
}

/// The rules of every tool that has some.
pub(super) type ByTool = HashMap<ToolName, Arc<ToolRules>>;

/// Builds the index; every rule that does not fit a tool is an error of its own.
pub(super) fn build(
    rules: &[Rule],
    settings: &PolicySettings,
    tools: &[ToolFacts],
) -> Result<(ByTool, FileGuard), Vec<PolicyError>> {
    let mut errors = Vec::new();
    let mut sorted: HashMap<ToolName, Sorted> = HashMap::new();
    let mut denied = Sorted::default();
    for rule in rules {
        if let Err(what) = sort_rule(rule, settings, tools, &mut sorted, &mut denied) {
            errors.push(PolicyError {
                rule: rule.source.clone(),
                what,
            });
        }
    }
    let built = finish(sorted).and_then(|rules| {
        let guard = FileGuard::new(&denied.reading, &denied.writing, &settings.protected)?;
        Ok((rules, guard))
    });
    match built {
        Ok(built) if errors.is_empty() => Ok(built),
        Ok(_) => Err(errors),
        Err(error) => {
            errors.push(PolicyError {
                rule: RuleSource {
                    rule: "(all together)".to_owned(),
                    effect: Decision::Deny.as_str(),
                    file: "policy".into(),
                    line: 0,
                },
                what: error.to_string(),
            });
            Err(errors)
        }
    }
}

/// Rules of one tool, on their way into the index.
#[derive(Default)]
struct Sorted {
    bare: HashMap<Decision, Vec<RuleSource>>,
    patterned: HashMap<Decision, Vec<(PathPattern, RuleSource)>>,
    reading: Vec<(PathPattern, RuleSource)>,
    writing: Vec<(PathPattern, RuleSource)>,
}

/// Puts one rule where its tools will look for it.
fn sort_rule(
    rule: &Rule,
    settings: &PolicySettings,
    tools: &[ToolFacts],
    sorted: &mut HashMap<ToolName, Sorted>,
    denied: &mut Sorted,
) -> Result<(), String> {
    let named: Vec<&ToolFacts> = tools
        .iter()
        .filter(|tool| rule.name.matches(&tool.name))
        .collect();
    if let (NamePattern::Exact(name), true) = (&rule.name, named.is_empty()) {
        let names = tools.iter().map(|tool| tool.name.as_str());
        return Err(format!(
            "names no tool.{}",
            suggestion(name.as_str(), names)
        ));
    }
    let Some(text) = &rule.pattern else {
        for tool in named {
            let rules = sorted.entry(tool.name.clone()).or_default();
            rules
                .bare
                .entry(rule.effect)
                .or_default()
                .push(rule.source.clone());
        }
        return Ok(());
    };
    let ignore_case = rule.effect == Decision::Deny;
    let workspace = settings.roots.workspace();
    let pattern = PathPattern::compile(text, workspace, settings.home.as_deref(), ignore_case)
        .map_err(|error| format!("does not hold: {error}"))?;
    for tool in named {
        match tool.subject {
            Some(SubjectKind::Path) => {}
            None if tool.computes_subjects => {}
            Some(kind) => {
                return Err(format!(
                    "has a pattern, and this host cannot judge {kind} subjects yet"
                ));
            }
            None => {
                return Err(format!(
                    "has a pattern, and {} has no permission subject",
                    tool.name
                ));
            }
        }
        let rules = sorted.entry(tool.name.clone()).or_default();
        let entry = (pattern.clone(), rule.source.clone());
        if rule.effect == Decision::Deny {
            match tool.files {
                Some((Access::Read, _)) => denied.reading.push(entry.clone()),
                Some((Access::Write, _)) => denied.writing.push(entry.clone()),
                None => {}
            }
        }
        rules.patterned.entry(rule.effect).or_default().push(entry);
    }
    Ok(())
}

fn finish(sorted: HashMap<ToolName, Sorted>) -> Result<ByTool, PatternError> {
    sorted
        .into_iter()
        .map(|(name, mut rules)| {
            let mut set = |effect| {
                let bare = rules.bare.remove(&effect).unwrap_or_default();
                RuleSet::new(
                    bare,
                    rules.patterned.remove(&effect).unwrap_or_default(),
                    effect == Decision::Deny,
                )
            };
            let rules = ToolRules {
                deny: set(Decision::Deny)?,
                ask: set(Decision::Ask)?,
                allow: set(Decision::Allow)?,
            };
            Ok((name, Arc::new(rules)))
        })
        .collect()
}
