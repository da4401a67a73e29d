//! The index: rules by tool and effect, and the deny rules that bind files and command lines whatever the tool.

use std::collections::HashMap;
use std::sync::Arc;

use super::PolicyError;
use super::evaluate::{PolicySettings, ToolFacts};
use super::pattern::{self, Ground, Pattern};
use super::rule_set::{RuleSet, Rules};
use super::subjects::ReadSubject;
use super::{Access, Decision, FileGuard, NamePattern, PathPattern, PatternError, Rule};
use crate::model::{RuleSource, Subject, SubjectKind, ToolName, suggestion};

/// The rules of one tool.
#[derive(Debug)]
pub(super) struct ToolRules {
    pub(super) deny: RuleSet,
    pub(super) ask: RuleSet,
    pub(super) allow: RuleSet,
}

/// The rules of every tool that has some.
pub(super) type ByTool = HashMap<ToolName, Arc<ToolRules>>;

/// What binds calls.
#[derive(Debug)]
pub(super) struct Index {
    pub(super) by_tool: ByTool,
    /// Deny rules over the command lines of any tool: a line that one tool may not run, no other one runs either.
    pub(super) commands: RuleSet,
    pub(super) guard: FileGuard,
}

/// Whether a rule must name a tool that is there, or one that is coming.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Names {
    /// A name that no tool has is an error.
    Checked,
    /// Such a rule waits for its tool.
    AsTheyAre,
}

/// Builds the index; every rule that does not fit a tool is an error of its own.
pub(super) fn build(
    rules: &[Rule],
    settings: &PolicySettings,
    tools: &[ToolFacts],
    names: Names,
) -> Result<Index, Vec<PolicyError>> {
    let mut errors = Vec::new();
    let mut sorted = Sorted::default();
    let by_name: HashMap<&ToolName, &ToolFacts> =
        tools.iter().map(|tool| (&tool.name, tool)).collect();
    for rule in rules {
        let named = match named(rule, tools, &by_name) {
            Ok(named) => named,
            Err(_) if names == Names::AsTheyAre || is_coming(rule, settings) => Vec::new(),
            Err(what) => {
                errors.push(wrong(rule, what));
                continue;
            }
        };
        for tool in named {
            if let Err(what) = sorted.add(rule, tool, settings) {
                errors.push(wrong(rule, what));
                break;
            }
        }
    }
    if !errors.is_empty() {
        return Err(errors);
    }
    sorted.finish(settings).map_err(|error| {
        vec![PolicyError {
            rule: RuleSource {
                rule: "(all together)".to_owned(),
                effect: Decision::Deny.as_str(),
                file: "policy".into(),
                line: 0,
            },
            what: error.to_string(),
        }]
    })
}

/// Whether every rule that names this tool fits it.
pub(super) fn fits(
    rules: &[Rule],
    settings: &PolicySettings,
    tool: &ToolFacts,
) -> Result<(), PolicyError> {
    let mut sorted = Sorted::default();
    let naming = rules.iter().filter(|rule| rule.name.matches(&tool.name));
    for rule in naming {
        let added = sorted.add(rule, tool, settings);
        added.map_err(|what| wrong(rule, what))?;
    }
    Ok(())
}

/// A rule for a tool that comes while the host runs.
fn is_coming(rule: &Rule, settings: &PolicySettings) -> bool {
    let NamePattern::Exact(name) = &rule.name else {
        return false;
    };
    let mut coming = settings.coming.iter();
    coming.any(|beginning| name.as_str().starts_with(beginning.as_str()))
}

fn wrong(rule: &Rule, what: String) -> PolicyError {
    PolicyError {
        rule: rule.source.clone(),
        what,
    }
}

/// The tools that a rule speaks of. A whole name must be a tool's; the beginning of one may be of tools to come.
fn named<'a>(
    rule: &Rule,
    tools: &'a [ToolFacts],
    by_name: &HashMap<&ToolName, &'a ToolFacts>,
) -> Result<Vec<&'a ToolFacts>, String> {
    match &rule.name {
        NamePattern::Exact(name) => by_name.get(name).map(|tool| vec![*tool]).ok_or_else(|| {
            let names = tools.iter().map(|tool| tool.name.as_str());
            format!("names no tool.{}", suggestion(name.as_str(), names))
        }),
        NamePattern::Prefix(_) => Ok(tools
            .iter()
            .filter(|tool| rule.name.matches(&tool.name))
            .collect()),
    }
}

/// Rules on their way into the index.
#[derive(Default)]
struct Sorted {
    by_tool: HashMap<ToolName, HashMap<Decision, Rules>>,
    reading: Vec<(PathPattern, RuleSource)>,
    writing: Vec<(PathPattern, RuleSource)>,
    /// The last source, since a rule is added once for each tool that it names.
    commands: (Rules, Option<RuleSource>),
}

impl Sorted {
    /// Puts one rule where its tool will look for it.
    fn add(
        &mut self,
        rule: &Rule,
        tool: &ToolFacts,
        settings: &PolicySettings,
    ) -> Result<(), String> {
        let effects = self.by_tool.entry(tool.name.clone()).or_default();
        let rules = effects.entry(rule.effect).or_default();
        let Some(text) = &rule.pattern else {
            if rule.examples.expected(rule.effect).next().is_some() {
                return Err("has examples, and no pattern that they could match".to_owned());
            }
            rules.add_bare(&rule.source);
            return Ok(());
        };
        let ground = Ground {
            roots: &settings.roots,
            home: settings.home.as_deref(),
        };
        let patterns = pattern::compile(text, rule.effect, tool, ground)?;
        check_examples(rule, tool, &patterns, settings)?;
        rules.add(&patterns, &rule.source);
        if rule.effect == Decision::Deny {
            self.bind_commands(&patterns, tool, &rule.source);
            let bound = match tool.files {
                Some((Access::Read, _)) => &mut self.reading,
                Some((Access::Write, _)) => &mut self.writing,
                None => return Ok(()),
            };
            bound.extend(patterns.into_iter().filter_map(|pattern| match pattern {
                Pattern::Path(path) => Some((path, rule.source.clone())),
                Pattern::Command(_) | Pattern::Url(_) => None,
            }));
        }
        Ok(())
    }

    /// The pattern of a tool that computes its subjects may mean something else than commands, and binds that tool alone.
    fn bind_commands(&mut self, patterns: &[Pattern], tool: &ToolFacts, source: &RuleSource) {
        let (rules, last) = &mut self.commands;
        if tool.subject == Some(SubjectKind::Command) && last.as_ref() != Some(source) {
            rules.add(patterns, source);
            *last = Some(source.clone());
        }
    }

    fn finish(self, settings: &PolicySettings) -> Result<Index, PatternError> {
        let guard = FileGuard::new(&self.reading, &self.writing, &settings.protected)?;
        let commands = RuleSet::new(Decision::Deny, self.commands.0)?;
        let by_tool = self.by_tool.into_iter().map(|(name, mut effects)| {
            let mut set =
                |effect| RuleSet::new(effect, effects.remove(&effect).unwrap_or_default());
            let rules = ToolRules {
                deny: set(Decision::Deny)?,
                ask: set(Decision::Ask)?,
                allow: set(Decision::Allow)?,
            };
            Ok((name, Arc::new(rules)))
        });
        Ok(Index {
            by_tool: by_tool.collect::<Result<_, PatternError>>()?,
            commands,
            guard,
        })
    }
}

/// Asks the rule alone about its own examples, as the policy would ask it.
fn check_examples(
    rule: &Rule,
    tool: &ToolFacts,
    patterns: &[Pattern],
    settings: &PolicySettings,
) -> Result<(), String> {
    let mut expected = rule.examples.expected(rule.effect).peekable();
    if expected.peek().is_none() {
        return Ok(());
    }
    let mut alone = Rules::default();
    alone.add(patterns, &rule.source);
    let alone = RuleSet::new(rule.effect, alone).map_err(|error| error.to_string())?;
    for (example, must_match) in expected {
        let matches = patterns.iter().any(|pattern| {
            let subject = Subject {
                kind: pattern.kind(),
                value: example.to_owned(),
            };
            let read = ReadSubject::read(&subject, &settings.roots);
            read.is_ok_and(|subject| match rule.effect {
                Decision::Allow => !alone.every(&[subject]).is_empty(),
                Decision::Ask | Decision::Deny => !alone.any(&[subject]).is_empty(),
            })
        });
        let shown = example.escape_debug();
        match (matches, must_match) {
            (true, true) | (false, false) => {}
            (false, true) => {
                return Err(format!(
                    "does not cover its example '{shown}' of {}",
                    tool.name
                ));
            }
            (true, false) => {
                return Err(format!(
                    "covers '{shown}' of {}, which its examples say it must not",
                    tool.name
                ));
            }
        }
    }
    Ok(())
}
