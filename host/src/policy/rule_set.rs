//! The rules of one tool and one effect, indexed so that a call's price does not grow with their number.

use std::collections::HashMap;
use std::path::Path;

use super::pattern::Pattern;
use super::pattern_index::PatternIndex;
use super::subjects::ReadSubject;
use super::{
    CommandIndex, CommandLine, CommandPattern, Decision, PathPattern, PatternError, UrlIndex,
    UrlPattern, UrlReadings, UrlSubject,
};
use crate::model::{RuleSource, SubjectKind};

/// Rules on their way into a set.
#[derive(Debug, Default)]
pub(super) struct Rules {
    bare: Vec<RuleSource>,
    first_patterned: Option<RuleSource>,
    foreign: HashMap<SubjectKind, RuleSource>,
    paths: Vec<(PathPattern, RuleSource)>,
    commands: Vec<(CommandPattern, RuleSource)>,
    urls: Vec<(UrlPattern, RuleSource)>,
}

const KINDS: [SubjectKind; 3] = [SubjectKind::Path, SubjectKind::Command, SubjectKind::Url];

impl Rules {
    /// Adds a rule that speaks of every call.
    pub(super) fn add_bare(&mut self, source: &RuleSource) {
        self.bare.push(source.clone());
    }

    /// Adds a rule with a pattern, in every kind that it was compiled for.
    pub(super) fn add(&mut self, patterns: &[Pattern], source: &RuleSource) {
        self.first_patterned.get_or_insert_with(|| source.clone());
        for kind in KINDS {
            if !patterns.iter().any(|pattern| pattern.kind() == kind) {
                self.foreign.entry(kind).or_insert_with(|| source.clone());
            }
        }
        for pattern in patterns {
            match pattern {
                Pattern::Path(path) => self.paths.push((path.clone(), source.clone())),
                Pattern::Command(command) => self.commands.push((command.clone(), source.clone())),
                Pattern::Url(url) => self.urls.push((url.clone(), source.clone())),
            }
        }
    }
}

/// Rules without a pattern, and patterns of every kind.
#[derive(Clone, Debug)]
pub(super) struct RuleSet {
    effect: Decision,
    bare: Vec<RuleSource>,
    first_patterned: Option<RuleSource>,
    /// For each kind of subject, the first rule whose pattern is of other kinds only.
    foreign: HashMap<SubjectKind, RuleSource>,
    paths: PatternIndex,
    path_rules: Vec<RuleSource>,
    commands: CommandIndex,
    command_rules: Vec<RuleSource>,
    urls: UrlIndex,
    url_rules: Vec<RuleSource>,
}

impl RuleSet {
    pub(super) fn new(effect: Decision, rules: Rules) -> Result<Self, PatternError> {
        let ignore_case = effect == Decision::Deny;
        let readings = match effect {
            Decision::Allow => UrlReadings::Every,
            Decision::Ask | Decision::Deny => UrlReadings::Any,
        };
        let (paths, path_rules) = rules.paths.into_iter().unzip::<_, _, Vec<_>, _>();
        let (commands, command_rules) = rules.commands.into_iter().unzip::<_, _, Vec<_>, _>();
        let (urls, url_rules) = rules.urls.into_iter().unzip::<_, _, Vec<_>, _>();
        Ok(Self {
            effect,
            bare: rules.bare,
            first_patterned: rules.first_patterned,
            foreign: rules.foreign,
            paths: PatternIndex::new(&paths, ignore_case)?,
            path_rules,
            commands: CommandIndex::new(&commands),
            command_rules,
            urls: UrlIndex::new(&urls, readings)?,
            url_rules,
        })
    }

    /// Rules that speak of every call.
    pub(super) fn bare(&self) -> &[RuleSource] {
        &self.bare
    }

    /// A rule with a pattern that cannot be compared with the call: one that names no subject, or one of another kind,
    /// which is given too.
    pub(super) fn incomparable(
        &self,
        subjects: &[ReadSubject],
    ) -> Option<(&RuleSource, Option<SubjectKind>)> {
        let first = self.first_patterned.as_ref()?;
        if subjects.is_empty() {
            return Some((first, None));
        }
        subjects.iter().find_map(|subject| {
            let kind = subject.kind();
            self.foreign.get(&kind).map(|rule| (rule, Some(kind)))
        })
    }

    /// A rule with a pattern of the subject's kind, where the subject's text cannot be understood.
    pub(super) fn undecided<'a>(
        &self,
        subjects: &'a [ReadSubject],
    ) -> Option<(&RuleSource, &'a str)> {
        subjects.iter().find_map(|subject| {
            let what = subject.undecidable()?;
            Some((self.of_kind(subject.kind()).first()?, what))
        })
    }

    /// Rules whose pattern matches this command line in any reading; rules without a pattern are left out.
    pub(super) fn touching(&self, line: &CommandLine) -> Vec<RuleSource> {
        let bare_covers = self.effect == Decision::Deny;
        picked(
            &self.command_rules,
            self.commands.touching(line, bare_covers),
        )
    }

    /// Rules whose pattern matches this URL; rules without a pattern are left out.
    pub(super) fn matching_url(&self, url: &UrlSubject) -> Vec<RuleSource> {
        picked(&self.url_rules, self.urls.matching(url))
    }

    fn of_kind(&self, kind: SubjectKind) -> &[RuleSource] {
        match kind {
            SubjectKind::Path => &self.path_rules,
            SubjectKind::Command => &self.command_rules,
            SubjectKind::Url => &self.url_rules,
        }
    }

    /// Rules that speak of the call through any of its subjects, in any reading.
    pub(super) fn any(&self, subjects: &[ReadSubject]) -> Vec<RuleSource> {
        let mut sources = self.bare.clone();
        for subject in subjects {
            match subject {
                ReadSubject::Path(path) => sources.extend(self.matching(path)),
                ReadSubject::Command(line) => sources.extend(picked(
                    &self.command_rules,
                    self.commands.touching(line, self.effect == Decision::Deny),
                )),
                ReadSubject::Url(url) => sources.extend(self.matching_url(url)),
            }
        }
        sources
    }

    /// Rules that speak of the call through all of its subjects: an allowed path does not carry another one, and an
    /// allowed command not the one behind its `&&`.
    pub(super) fn every(&self, subjects: &[ReadSubject]) -> Vec<RuleSource> {
        let mut sources = self.bare.clone();
        let mut patterned = Vec::new();
        for subject in subjects {
            let matching = match subject {
                ReadSubject::Path(path) => self.matching(path),
                ReadSubject::Command(line) => {
                    picked(&self.command_rules, self.commands.allowing(line))
                }
                ReadSubject::Url(url) => self.matching_url(url),
            };
            if matching.is_empty() {
                return sources;
            }
            patterned.extend(matching);
        }
        sources.append(&mut patterned);
        sources
    }

    /// Rules whose pattern matches this path.
    pub(super) fn matching(&self, path: &Path) -> Vec<RuleSource> {
        picked(&self.path_rules, self.paths.matching(path))
    }
}

fn picked(rules: &[RuleSource], positions: Vec<usize>) -> Vec<RuleSource> {
    positions
        .into_iter()
        .filter_map(|at| rules.get(at))
        .cloned()
        .collect()
}
