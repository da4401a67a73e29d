//! The least rules: what is proposed, with what it is for.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use serde::Serialize;

use super::judge::{Basis, Judge, LeftOut, Wanted};
use super::past::{PastCall, PastEnd};
use crate::model::ToolName;
use crate::policy::literal_path;

/// So many files of one directory make the directory worth a thought.
const MANY_FILES: usize = 3;

/// One rule, and what it is for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SuggestedRule {
    /// The rule: `Name` or `Name(pattern)`.
    pub rule: String,
    /// Its tool.
    pub tool: ToolName,
    /// The file that it covers, if it covers one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<PathBuf>,
    /// Calls that somebody approved.
    pub approved: usize,
    /// Calls that were refused for want of it.
    pub wanting: usize,
    /// When the last of them ended.
    pub last: Timestamp,
}

/// A wider rule that could take the place of several. It is never among the rules.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Directory {
    /// The rule: `Name(DIR/*)`.
    pub rule: String,
    /// The directory.
    pub path: PathBuf,
    /// The rules that it would replace.
    pub instead_of: Vec<String>,
}

/// What is proposed, and what is not.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Suggestions {
    /// By rule.
    pub rules: Vec<SuggestedRule>,
    /// By tool and directory.
    pub directories: Vec<Directory>,
    /// How many calls were left out, by reason.
    pub left_out: BTreeMap<LeftOut, usize>,
}

impl Suggestions {
    /// The least rules for these calls.
    pub fn least(calls: &[PastCall], basis: Basis<'_>) -> Self {
        let judge = Judge::new(calls, basis);
        let mut rules: BTreeMap<String, SuggestedRule> = BTreeMap::new();
        let mut left_out = BTreeMap::new();
        for call in calls.iter().filter(|call| call.end != PastEnd::Refused) {
            match judge.rules(call) {
                Ok(wanted) => {
                    for rule in wanted {
                        count(&mut rules, rule, call);
                    }
                }
                Err(why) => *left_out.entry(why).or_default() += 1,
            }
        }
        let rules: Vec<SuggestedRule> = rules.into_values().collect();
        Self {
            directories: directories(&rules),
            rules,
            left_out,
        }
    }
}

fn count(rules: &mut BTreeMap<String, SuggestedRule>, wanted: Wanted, call: &PastCall) {
    let rule = rules
        .entry(wanted.rule.clone())
        .or_insert_with(|| SuggestedRule {
            rule: wanted.rule,
            tool: wanted.tool,
            path: wanted.path,
            approved: 0,
            wanting: 0,
            last: call.time,
        });
    match call.end {
        PastEnd::Approved => rule.approved += 1,
        PastEnd::Wanting | PastEnd::Refused => rule.wanting += 1,
    }
    rule.last = rule.last.max(call.time);
}

fn directories(rules: &[SuggestedRule]) -> Vec<Directory> {
    let mut by_directory: BTreeMap<(&ToolName, &Path), Vec<String>> = BTreeMap::new();
    for rule in rules {
        if let Some(parent) = rule.path.as_deref().and_then(Path::parent) {
            let of = by_directory.entry((&rule.tool, parent)).or_default();
            of.push(rule.rule.clone());
        }
    }
    by_directory
        .into_iter()
        .filter(|(_, rules)| rules.len() >= MANY_FILES)
        .filter_map(|((tool, path), instead_of)| {
            let directory = literal_path(path.to_str()?);
            Some(Directory {
                rule: format!("{tool}({}/*)", directory.trim_end_matches('/')),
                path: path.to_owned(),
                instead_of,
            })
        })
        .collect()
}
