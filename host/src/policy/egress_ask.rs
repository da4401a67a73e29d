//! From what a tool declares, what the operator opens, and what the verdict says, to the grant of one call.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use sha2::{Digest as _, Sha256};

use super::egress_grant::{Asked, EgressGrant, Redirects};
use super::egress_pattern::{EgressAllow, EgressPattern, EgressPatternError, EgressPatterns};
use super::evaluate::{Policy, ToolFacts};
use super::{Basis, PatternError, UrlSubject, Verdict};
use crate::model::{CapabilityKind, Declaration, SideEffect, Subject, SubjectKind, hex};

/// What a tool declares of the network.
#[derive(Clone, Debug)]
pub struct NetworkAsk {
    /// What its calls name.
    subject: bool,
    /// What it lists beside that.
    declared: Arc<EgressPatterns>,
    /// It claims to change nothing, which its requests are held to.
    reads_only: bool,
    secrets: Vec<String>,
}

/// Why a declared network cannot be understood.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NetworkAskError {
    /// A pattern.
    #[error("{0}; or it is 'subject' or 'public'")]
    Pattern(#[from] EgressPatternError),
    /// All patterns together.
    #[error(transparent)]
    Together(#[from] PatternError),
}

impl NetworkAsk {
    /// What the declaration asks for; none: no network and no secrets.
    ///
    /// # Errors
    /// [`NetworkAskError`].
    pub fn read(declaration: &Declaration) -> Result<Option<Self>, NetworkAskError> {
        let mut subject = false;
        let mut listed = Vec::new();
        let mut secrets = Vec::new();
        let mut asks = false;
        for asked in &declaration.capabilities {
            match &asked.kind {
                CapabilityKind::Net(target) if target == "subject" => subject = true,
                CapabilityKind::Net(target) if target == "public" => {
                    listed.push(EgressAllow::Public);
                }
                CapabilityKind::Net(target) => {
                    listed.push(EgressAllow::Pattern(EgressPattern::parse(target)?));
                }
                CapabilityKind::Secret(name) => secrets.push(name.clone()),
                CapabilityKind::FsRead(_)
                | CapabilityKind::FsWrite(_)
                | CapabilityKind::Env(_)
                | CapabilityKind::Shell(_)
                | CapabilityKind::Store
                | CapabilityKind::ClockReal => continue,
            }
            asks = true;
        }
        if !asks {
            return Ok(None);
        }
        Ok(Some(Self {
            subject,
            declared: Arc::new(EgressPatterns::new(listed)?),
            reads_only: declaration.claim.level == SideEffect::ReadOnly,
            secrets,
        }))
    }
}

/// What the operator opens, for all tools and for single ones, and which tools each secret is for.
#[derive(Clone, Debug, Default)]
pub struct EgressOpenings {
    /// For every tool without a list of its own. None: nothing was said, so a tool whose calls name a URL reaches that one
    /// on the public Internet, and any other tool nothing.
    pub all: Option<Arc<EgressPatterns>>,
    /// For single tools, in the place of that.
    pub by_tool: BTreeMap<String, Arc<EgressPatterns>>,
    /// Names of secrets, each with the tools that it is for.
    pub secrets: BTreeMap<String, BTreeSet<String>>,
    /// By tool, secrets that the operator assigned to it, so that it need not declare them.
    pub assigned: BTreeMap<String, String>,
}

impl EgressOpenings {
    /// Whether nothing was said.
    pub fn is_empty(&self) -> bool {
        self.all.is_none()
            && self.by_tool.is_empty()
            && self.secrets.is_empty()
            && self.assigned.is_empty()
    }

    /// The very text of it, for digests.
    pub(super) fn fingerprint(&self) -> String {
        let of = |(tool, list): (&String, &Arc<EgressPatterns>)| {
            format!("{tool}={}", list.fingerprint())
        };
        let tools: Vec<String> = self.by_tool.iter().map(of).collect();
        let all = self.all.as_ref().map(|list| list.fingerprint());
        format!("{all:?}{tools:?}{:?}{:?}", self.secrets, self.assigned)
    }

    fn of(&self, tool: &str, by_subject: bool) -> Result<Arc<EgressPatterns>, PatternError> {
        if let Some(list) = self.by_tool.get(tool).or(self.all.as_ref()) {
            return Ok(Arc::clone(list));
        }
        let unsaid = by_subject.then_some(EgressAllow::Public);
        Ok(Arc::new(EgressPatterns::new(unsaid)?))
    }
}

impl Policy {
    /// The same with what the operator opens of the network.
    #[must_use]
    pub fn with_egress(mut self, openings: Arc<EgressOpenings>) -> Self {
        if !openings.is_empty() {
            let both = format!("{}{}", self.version, openings.fingerprint());
            self.version = hex(&Sha256::digest(both.as_bytes()));
        }
        self.egress = openings;
        self
    }

    /// The requests of a call that may run: what it declares, of what the operator opens, without what a deny rule over URLs
    /// touches. None: it asks for nothing.
    pub fn egress_grant(
        &self,
        tool: &ToolFacts,
        ask: Option<&NetworkAsk>,
        verdict: &Verdict,
        subjects: &[Subject],
    ) -> Option<EgressGrant> {
        let ask = ask?;
        let name = tool.name.as_str();
        let openings = &self.egress;
        let urls = || {
            let urls = subjects
                .iter()
                .filter(|named| named.kind == SubjectKind::Url);
            urls.filter_map(|named| UrlSubject::parse(&named.value).ok())
        };
        let asked = match ask.subject {
            false => Asked::Declared(Arc::clone(&ask.declared)),
            true => Asked::Subject {
                urls: urls().collect(),
                declared: Arc::clone(&ask.declared),
                redirects: Redirects {
                    rules: self.rules.get(&tool.name).map(Arc::clone),
                    need_allow: !matches!(verdict.basis, Basis::ReadOnly | Basis::Bypass),
                    unasked: verdict.basis == Basis::Bypass,
                },
            },
        };
        let mine = |secret: &&String| {
            let tools = openings.secrets.get(*secret);
            tools.is_some_and(|tools| tools.contains(name))
        };
        Some(EgressGrant {
            asked,
            opened: openings.of(name, ask.subject).ok()?,
            // Ours are audited: a question that a service wants by POST is a question.
            reads_only: ask.reads_only && !tool.built_in,
            denying: self.rules.values().map(Arc::clone).collect(),
            secrets: ask
                .secrets
                .iter()
                .filter(mine)
                .chain(openings.assigned.get(name))
                .cloned()
                .collect(),
        })
    }
}

#[cfg(test)]
mod tests;
