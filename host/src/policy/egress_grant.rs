//! Egress grants: which requests a call may make. The approval gate makes them, the connector keeps to them.
//!
//! Guarantees that a tool reaches only what it declared, the operator opened and no deny rule over URLs touches; that a
//! tool whose call names a URL reaches that one, and from there only what the rules allow; and that an address outside of
//! the public Internet is reached only by an entry that names it.

use std::fmt;
use std::net::IpAddr;
use std::sync::Arc;

use ipnet::IpNet;

use super::address::{AddressFault, judge_address};
use super::egress_pattern::{EgressAllow, EgressPattern, EgressPatterns, Opened, never_sent};
use super::index::ToolRules;
use super::{PatternError, UrlRefusal, UrlSubject};
use crate::model::RuleSource;

/// The requests of one call, or of the host itself.
#[derive(Clone, Debug)]
pub struct EgressGrant {
    pub(super) asked: Asked,
    /// What the operator opens.
    pub(super) opened: Arc<EgressPatterns>,
    /// The tool changes nothing, so it sends nothing that could.
    pub(super) reads_only: bool,
    pub(super) denying: Vec<Arc<ToolRules>>,
    /// Names of the secrets that may be put in.
    pub(super) secrets: Vec<String>,
}

/// What the tool asks for.
#[derive(Clone, Debug)]
pub(super) enum Asked {
    /// Everything that is opened: the host's own requests.
    Everything,
    /// What its declaration lists.
    Declared(Arc<EgressPatterns>),
    /// What the call names.
    Subject {
        /// The URLs.
        urls: Vec<UrlSubject>,
        /// What a server's redirect to another URL must satisfy.
        redirects: Redirects,
        /// What the declaration lists beside it.
        declared: Arc<EgressPatterns>,
    },
}

/// Where redirects may lead.
#[derive(Clone, Debug)]
pub(super) struct Redirects {
    /// The tool's own rules.
    pub(super) rules: Option<Arc<ToolRules>>,
    /// The call runs because a rule allows it, or because somebody said yes to this URL: another place needs a rule too.
    pub(super) need_allow: bool,
    /// Ask rules do not matter: mode `bypass`.
    pub(super) unasked: bool,
}

/// A URL that may be dialled at the addresses that [`JudgedUrl::judge_address`] lets through.
#[derive(Clone, Debug)]
pub struct JudgedUrl {
    pub(super) url: UrlSubject,
    pub(super) named: Vec<IpNet>,
}

/// Why a request is not sent.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EgressRefusal {
    /// The URL.
    #[error("{0}")]
    Url(#[from] UrlRefusal),
    /// Neither `http` nor `https`.
    #[error("requests are made to 'http' and 'https' URLs only")]
    Scheme,
    /// A method that makes a tunnel.
    #[error("requests with this method are never sent")]
    Method,
    /// The tool's level.
    #[error("the tool is read-only, so it sends no requests but GET and HEAD, and no body")]
    ReadsOnly,
    /// Nothing is granted at all.
    #[error("the call was not granted the network")]
    NoNetwork,
    /// Another URL than the call names.
    #[error("the tool asked for another URL than the call names")]
    NotOfThisCall,
    /// A redirect to what no rule allows.
    #[error("the redirect leads to what no rule allows: make a call for that URL")]
    RedirectNotAllowed,
    /// From https to http.
    #[error("the redirect leads from https to http")]
    Downgrade,
    /// The declaration does not list it.
    #[error("the tool does not declare that it reaches this URL")]
    NotDeclared,
    /// No entry of the operator's covers it.
    #[error("no entry of the operator opens this URL: it would stand in 'allow' under [egress]")]
    NotOpened,
    /// An entry covers it, for other methods.
    #[error("the operator opens this URL for other methods only")]
    OtherMethods,
    /// A deny rule.
    #[error("the URL is denied by {}", .0.first().map(ToString::to_string).unwrap_or_default())]
    Denied(Vec<RuleSource>),
    /// An ask rule, behind a redirect.
    #[error("the redirect leads to what {0} asks for: make a call for that URL")]
    Asked(RuleSource),
    /// The address.
    #[error("the host has {0}")]
    Address(AddressFault),
}

impl EgressGrant {
    /// A grant of the host's own, which nobody's call stands behind: everything that these entries open, and nothing else.
    ///
    /// # Errors
    /// The paths of one place are too large to be compiled together.
    pub fn of_operator(
        patterns: impl IntoIterator<Item = EgressPattern>,
    ) -> Result<Self, PatternError> {
        let entries = patterns.into_iter().map(EgressAllow::Pattern);
        Ok(Self {
            asked: Asked::Everything,
            opened: Arc::new(EgressPatterns::new(entries)?),
            reads_only: false,
            denying: Vec::new(),
            secrets: Vec::new(),
        })
    }

    /// The same, with secrets that the host may put into its requests.
    #[must_use]
    pub fn with_secrets(mut self, names: impl IntoIterator<Item = String>) -> Self {
        self.secrets.extend(names);
        self
    }

    /// The same for GET and HEAD without a body only.
    #[must_use]
    pub fn reading(mut self) -> Self {
        self.reads_only = true;
        self
    }

    /// May this request be sent? `redirected`: a server's redirect led to the URL, within this call.
    ///
    /// # Errors
    /// [`EgressRefusal`].
    pub fn judge(
        &self,
        method: &str,
        url: &str,
        redirected: bool,
    ) -> Result<JudgedUrl, EgressRefusal> {
        let url = UrlSubject::parse(url)?;
        if url.scheme() != "http" && url.scheme() != "https" {
            return Err(EgressRefusal::Scheme);
        }
        if never_sent(method) {
            return Err(EgressRefusal::Method);
        }
        if self.reads_only && method != "GET" && method != "HEAD" {
            return Err(EgressRefusal::ReadsOnly);
        }
        let denied: Vec<RuleSource> = self
            .denying
            .iter()
            .flat_map(|rules| rules.deny.matching_url(&url))
            .collect();
        if !denied.is_empty() {
            return Err(EgressRefusal::Denied(denied));
        }
        self.judge_asked(&url, method, redirected)?;
        match self.opened.judge(&url, method) {
            Opened::Yes(named) => Ok(JudgedUrl { url, named }),
            Opened::OtherMethods => Err(EgressRefusal::OtherMethods),
            Opened::No => Err(EgressRefusal::NotOpened),
        }
    }

    fn judge_asked(
        &self,
        url: &UrlSubject,
        method: &str,
        redirected: bool,
    ) -> Result<(), EgressRefusal> {
        let declared =
            |patterns: &EgressPatterns| matches!(patterns.judge(url, method), Opened::Yes(_));
        match &self.asked {
            Asked::Everything => Ok(()),
            Asked::Declared(patterns) if declared(patterns) => Ok(()),
            Asked::Declared(_) => Err(EgressRefusal::NotDeclared),
            Asked::Subject {
                urls,
                declared: patterns,
                ..
            } if urls.contains(url) || declared(patterns) => Ok(()),
            Asked::Subject { .. } if !redirected => Err(EgressRefusal::NotOfThisCall),
            Asked::Subject {
                urls, redirects, ..
            } => redirects.judge(urls, url),
        }
    }

    /// Whether the tool changes nothing, so that no body is sent.
    pub fn reads_only(&self) -> bool {
        self.reads_only
    }

    /// Names of the secrets that may be put in.
    pub fn secrets(&self) -> &[String] {
        &self.secrets
    }
}

impl Redirects {
    fn judge(&self, from: &[UrlSubject], to: &UrlSubject) -> Result<(), EgressRefusal> {
        let by_rule = |rules: &ToolRules| !rules.allow.matching_url(to).is_empty();
        let downgrade = to.scheme() == "http" && from.iter().all(|url| url.scheme() == "https");
        if downgrade && !self.rules.as_deref().is_some_and(by_rule) {
            return Err(EgressRefusal::Downgrade);
        }
        // The same host, or the same by https.
        let same_place = |url: &UrlSubject| {
            url.host() == to.host() && (url.port() == to.port() || to.port() == Some(443))
        };
        let Some(rules) = &self.rules else {
            let free = !self.need_allow || from.iter().any(same_place);
            return free.then_some(()).ok_or(EgressRefusal::RedirectNotAllowed);
        };
        let allowed = !rules.allow.bare().is_empty() || !rules.allow.matching_url(to).is_empty();
        let asks = rules
            .ask
            .bare()
            .iter()
            .cloned()
            .chain(rules.ask.matching_url(to))
            .next();
        match asks.filter(|_| !self.unasked) {
            Some(rule) if !from.iter().any(same_place) => Err(EgressRefusal::Asked(rule)),
            Some(_) => Ok(()),
            None if allowed || !self.need_allow || from.iter().any(same_place) => Ok(()),
            None => Err(EgressRefusal::RedirectNotAllowed),
        }
    }
}

impl JudgedUrl {
    /// The URL.
    pub fn url(&self) -> &UrlSubject {
        &self.url
    }

    /// May it be dialled at this address?
    ///
    /// # Errors
    /// [`EgressRefusal::Address`].
    pub fn judge_address(&self, address: IpAddr) -> Result<(), EgressRefusal> {
        judge_address(address, &self.named).map_err(EgressRefusal::Address)
    }
}

/// What is granted, in words for whoever approves it.
impl fmt::Display for EgressGrant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let methods = if self.reads_only {
            "read"
        } else {
            "send requests to"
        };
        match &self.asked {
            Asked::Everything | Asked::Declared(_) => {
                write!(f, "{methods} {}", self.opened.describe().join(", "))?;
                if let Asked::Declared(patterns) = &self.asked {
                    write!(
                        f,
                        ", of which it declares {}",
                        patterns.describe().join(", ")
                    )?;
                }
            }
            Asked::Subject { urls, .. } => {
                let urls: Vec<String> = urls.iter().map(ToString::to_string).collect();
                write!(f, "{methods} {}", urls.join(", "))?;
            }
        }
        if !self.secrets.is_empty() {
            write!(
                f,
                "; the host puts in the secrets {}",
                self.secrets.join(", ")
            )?;
        }
        Ok(())
    }
}
