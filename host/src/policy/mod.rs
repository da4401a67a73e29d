//! Pure decisions over the words: may this tool run with these subjects, and what may it then reach?
//!
//! Owns rules, patterns, modes and the two policy questions, each asked in one function: [`Policy::evaluate`] (may the
//! call run?) and [`FileGuard::judge`] (may this file be touched?). Never contains I/O.
#![warn(clippy::wildcard_enum_match_arm)]

mod address;
mod command;
mod decision;
mod egress_ask;
mod egress_grant;
mod egress_pattern;
mod evaluate;
mod exact;
mod file_guard;
mod grant;
mod index;
mod letter_case;
mod lines;
mod mode;
mod path_pattern;
mod paths;
mod pattern;
mod pattern_index;
mod policy_error;
mod roots;
mod rule;
mod rule_set;
mod shell_grant;
mod subjects;
mod url_glob;
mod url_host;
mod url_index;
mod url_path;
mod url_pattern;
mod url_subject;
mod verdict;

pub use address::{AddressFault, judge_address};
pub use command::{
    CommandIndex, CommandLine, CommandPattern, CommandPatternError, GuardedPaths, NotKnown,
    SimpleCommand, guarded,
};
pub use decision::Decision;
pub use egress_ask::{EgressOpenings, NetworkAsk, NetworkAskError};
pub use egress_grant::{EgressGrant, EgressRefusal, JudgedUrl};
pub use egress_pattern::{EgressAllow, EgressPattern, EgressPatternError, EgressPatterns};
pub use evaluate::{Policy, PolicySettings, Question, ToolFacts};
pub use exact::{exact_rule, literal_path};
pub use file_guard::{Access, FileGuard, Refusal};
pub use grant::{Deed, FileGrant, PlaceRules, RequestRefusal};
pub use lines::{ExemptLine, SchemaMode};
pub use mode::{Mode, ModeError};
pub use path_pattern::{PathPattern, PatternError};
pub use paths::fold;
pub use policy_error::PolicyError;
pub use roots::Roots;
pub use rule::{Examples, NamePattern, Rule, RuleError};
pub use shell_grant::{LineRefusal, ShellGrant, ShellGrants};
pub use url_host::HostFault;
pub use url_index::{UrlIndex, UrlReadings};
pub use url_path::PathRefusal;
pub use url_pattern::{UrlPattern, UrlPatternError, UrlPatternFault};
pub use url_subject::{UrlRefusal, UrlSubject};
pub use verdict::{Basis, Verdict};
