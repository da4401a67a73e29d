//! What an answer is bound to: the ticket of one execution, and the standing rule that "always" stands for.

use std::path::Path;

use serde_json::{Map, Value};
use sha2::{Digest as _, Sha256};

use super::g04_permission::Permitted;
use super::ports::{Remembered, SeenPath, Standing};
use super::seen::Seen;
use crate::model::{Subject, SubjectKind, ToolName, hex, mixes_scripts};
use crate::policy::{Basis, CommandLine, Policy, exact_rule};

/// SHA-256 over what was asked for: see [`ApprovalRequest::about`].
///
/// [`ApprovalRequest::about`]: super::ports::ApprovalRequest::about
pub(super) fn about(policy: &Policy, call: &Permitted) -> String {
    let tool = call.call().tool();
    digest(&serde_json::json!([
        policy.roots().workspace().as_os_str().as_encoded_bytes(),
        tool.name(),
        tool.digest(),
        canonical_json(&Value::Object(call.call().input().as_ref().clone())),
        call.subjects(),
        policy.version(),
    ]))
}

/// SHA-256 over everything that was decided about: another tool, input, subject, grant or policy is another ticket, and
/// so is another place that a path leads to, or another content of a file that would be changed or that "always" would be
/// bound to.
pub(super) fn ticket(
    about: &str,
    grants: &[String],
    seen: &[SeenPath],
    standing: Option<&Standing>,
) -> String {
    digest(&serde_json::json!([about, grants, places(seen), standing]))
}

/// What was seen, in a form that has one for every path, whatever its bytes.
fn places(seen: &[SeenPath]) -> Vec<Value> {
    let bytes = |path: &Path| path.as_os_str().as_encoded_bytes().to_vec();
    seen.iter()
        .map(|path| serde_json::json!([bytes(&path.named), bytes(&path.real), path.what]))
        .collect()
}

fn digest(whole: &Value) -> String {
    hex(&Sha256::digest(whole.to_string().as_bytes()))
}

/// The same value with the keys of every object in order.
pub fn canonical_json(value: &Value) -> Value {
    match value {
        Value::Object(object) => {
            let mut keys: Vec<&String> = object.keys().collect();
            keys.sort_unstable();
            let sorted: Map<String, Value> = keys
                .into_iter()
                .filter_map(|key| Some((key.clone(), canonical_json(object.get(key)?))))
                .collect();
            Value::Object(sorted)
        }
        Value::Array(items) => items.iter().map(canonical_json).collect(),
        plain @ (Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_)) => {
            plain.clone()
        }
    }
}

/// What "always" would stand for: the exact rule of the call's one subject, of a path the one of the place that it leads
/// to. There is none where an allow rule would not be enough (an ask rule, a hook, a file that programs run), and none for
/// a command that runs another one.
pub(super) fn standing(
    remembered: &dyn Remembered,
    policy: &Policy,
    call: &Permitted,
    seen: &Seen,
) -> Option<Standing> {
    let allow_is_enough = match &call.verdict().basis {
        Basis::ReadOnly | Basis::NamesUrl | Basis::Mode { .. } => true,
        Basis::Rules
        | Basis::AcceptEdits
        | Basis::Verified
        | Basis::Bypass
        | Basis::Unclear { .. }
        | Basis::RunsCode { .. }
        | Basis::Denial => false,
    };
    let [subject] = call.subjects() else {
        return None;
    };
    if !allow_is_enough || !seen.allow_is_enough() {
        return None;
    }
    let tool = call.call().tool();
    let mut files = Vec::new();
    if subject.kind == SubjectKind::Command {
        let line = CommandLine::analyse(&subject.value);
        if line.wraps() {
            return None;
        }
        let workspace = policy.roots().workspace();
        // What has a name that is no text cannot be written down.
        workspace.to_str()?;
        files = line
            .commands()?
            .iter()
            .flat_map(|command| command.words())
            .filter(|word| !word.starts_with('-'))
            .map(|word| policy.roots().absolute(word))
            .filter(|path| path.starts_with(workspace) && path != workspace)
            .collect();
        files.sort();
        files.dedup();
    }
    let subject = match (subject.kind, seen.paths()) {
        (SubjectKind::Path, [path]) => Subject {
            kind: SubjectKind::Path,
            // A name that is no text has no rule.
            value: path.real.to_str()?.to_owned(),
        },
        (SubjectKind::Path, _) => return None,
        (SubjectKind::Command | SubjectKind::Url, _) => subject.clone(),
    };
    Some(Standing {
        tool: tool.name().clone(),
        component: tool.digest().to_owned(),
        rule: exact_rule(tool.name(), &subject)?,
        files: remembered.bind(files).ok()?,
        // What a command does depends on where it runs, whatever its words are.
        workspace: (subject.kind == SubjectKind::Command)
            .then(|| policy.roots().workspace().to_owned()),
    })
}

/// The rule that would allow a call with these subjects: its exact one, or the tool's name for a call without a subject.
/// There is none for what only a wider rule could cover.
pub(super) fn allow_rule(policy: &Policy, tool: &ToolName, subjects: &[Subject]) -> Option<String> {
    match subjects {
        [] => Some(tool.to_string()),
        [subject] => exact_rule(tool, &absolute(policy, subject)),
        _ => None,
    }
}

/// The subject as the rules see it: a path on its root, so that its rule means the same in every workspace.
fn absolute(policy: &Policy, subject: &Subject) -> Subject {
    let value = match subject.kind {
        SubjectKind::Path => {
            let path = policy.roots().absolute(&subject.value);
            path.to_string_lossy().into_owned()
        }
        SubjectKind::Command | SubjectKind::Url => subject.value.clone(),
    };
    Subject {
        kind: subject.kind,
        value,
    }
}

/// What a person should look at twice.
pub(super) fn warnings(subjects: &[Subject]) -> Vec<String> {
    let mixed = subjects
        .iter()
        .flat_map(|subject| {
            subject
                .value
                .split(|c: char| c.is_whitespace() || matches!(c, '/' | '.' | ':'))
        })
        .filter(|word| mixes_scripts(word));
    let mut warnings: Vec<String> = mixed
        .map(|word| format!("the word '{word}' mixes letters of several scripts"))
        .collect();
    warnings.dedup();
    warnings
}
