//! Gate 7: the human.
//!
//! Asks where the decision is `ask`, where a hook wants it, or where no rule allows the call and the tool's traits demand
//! it: above the exempt line, or destructive. An approval is a one-use ticket over the final input: `Cleared` is used up
//! by the one execution. Refuses what is not approved, and what nobody can approve.

use std::sync::Arc;

use serde_json::{Map, Value};
use sha2::{Digest as _, Sha256};

use super::g01_parse::Header;
use super::g04_permission::Permitted;
use super::g06_pre_hooks::Hooked;
use super::ports::{Answer, ApprovalRequest, Approver};
use super::registry::RegisteredTool;
use super::trail::{GateNote, Trail};
use crate::model::{Denial, DenialReason, Gate, Subject, hex};
use crate::policy::{Basis, Decision, ExemptLine, FileGrant, Policy, Verdict};

/// A call that every gate let pass, with what it may reach. Providers take it by value: it is good for one execution.
#[derive(Debug)]
pub struct Cleared {
    call: Hooked,
    approved_by: Option<String>,
    files: Option<FileGrant>,
}

impl Cleared {
    /// The tool.
    pub fn tool(&self) -> &Arc<RegisteredTool> {
        self.call.validated().permitted().call().tool()
    }

    /// The final input.
    pub fn input(&self) -> &Arc<Map<String, Value>> {
        self.call.validated().permitted().call().input()
    }

    /// What of the file system the call may reach.
    pub fn files(&self) -> Option<&FileGrant> {
        self.files.as_ref()
    }

    pub(super) fn header(&self) -> &Header {
        self.call.validated().permitted().call().header()
    }

    pub(super) fn approved_by(&self) -> Option<&str> {
        self.approved_by.as_deref()
    }
}

/// Why somebody would have to be asked; none: nobody.
pub(super) fn question(exempt: ExemptLine, call: &Permitted, hook: Option<&str>) -> Option<String> {
    let verdict = call.verdict();
    let traits = &call.call().tool().facts().traits;
    if let Some(reason) = hook {
        return Some(reason.to_owned());
    }
    match &verdict.basis {
        Basis::Rules | Basis::RunsCode { .. } | Basis::Denial => {
            (verdict.decision != Decision::Allow).then(|| format!("asked {}", verdict.basis))
        }
        Basis::AcceptEdits | Basis::Bypass => None,
        Basis::ReadOnly | Basis::Mode { .. } => (!exempt.covers(traits)).then(|| {
            let destructive = if traits.destructive {
                " and destructive"
            } else {
                ""
            };
            format!(
                "the tool is {}{destructive}, and no rule allows the call",
                traits.level
            )
        }),
    }
}

/// Asks, where it must be asked.
pub(super) async fn ask(
    policy: &Policy,
    exempt: ExemptLine,
    approver: &dyn Approver,
    call: Hooked,
    trail: &mut Trail,
) -> Result<Cleared, Denial> {
    let verdict = call.validated().permitted().verdict();
    let facts = call.validated().permitted().call().tool().facts();
    let bypassed = verdict.basis == Basis::Bypass;
    let Some(reason) = question(exempt, call.validated().permitted(), call.ask()) else {
        trail.note(Gate::Approval, GateNote::Passed, "nobody has to be asked");
        let files = policy.file_grant(facts, verdict, bypassed);
        return Ok(Cleared {
            call,
            approved_by: None,
            files,
        });
    };
    let files = policy.file_grant(facts, verdict, true);
    let request = request(&call, files.as_ref(), reason);
    let denied = |reason| Err(Denial::new(Gate::Approval, reason));
    match approver.ask(&request).await {
        Answer::Approved { by, always: _ } => {
            trail.note(Gate::Approval, GateNote::Asked, format!("approved by {by}"));
            Ok(Cleared {
                call,
                approved_by: Some(by),
                files,
            })
        }
        Answer::Refused { by, message } => denied(DenialReason::NotApproved { by, message }),
        Answer::Pending { id } => denied(DenialReason::ApprovalPending { id }),
        Answer::TimedOut { after } => denied(DenialReason::ApprovalTimeout { after }),
        Answer::Nobody => {
            let hint = allow_hint(&call, verdict);
            Err(Denial::new(Gate::Approval, DenialReason::NoApprover).with_hint(hint))
        }
    }
}

fn allow_hint(call: &Hooked, verdict: &Verdict) -> String {
    let tool = call.validated().permitted().call().tool().name();
    match verdict.paths.first() {
        Some(path) => format!(
            "call from a terminal to be asked, or allow it with --allow '{tool}({})'",
            path.display()
        ),
        None => format!("call from a terminal to be asked, or allow it with --allow '{tool}'"),
    }
}

fn request(call: &Hooked, files: Option<&FileGrant>, reason: String) -> ApprovalRequest {
    let permitted = call.validated().permitted();
    let normalised = permitted.call();
    let tool = normalised.tool();
    let grants: Vec<String> = files
        .map(|grant| {
            let paths = permitted
                .verdict()
                .paths
                .iter()
                .map(|path| path.display().to_string());
            format!(
                "{} files: {}",
                grant.access().as_str(),
                paths.collect::<Vec<_>>().join(", ")
            )
        })
        .into_iter()
        .collect();
    ApprovalRequest {
        call: normalised.header().id,
        tool: tool.name().clone(),
        input: Arc::clone(normalised.input()),
        subjects: permitted.subjects().to_vec(),
        reason,
        ticket: ticket(tool, normalised.input(), permitted.subjects(), &grants),
        grants,
        paths: permitted.verdict().paths.clone(),
        built_in: tool.facts().built_in,
        warnings: Vec::new(),
        always: None,
    }
}

fn ticket(
    tool: &RegisteredTool,
    input: &Map<String, Value>,
    subjects: &[Subject],
    grants: &[String],
) -> String {
    let canonical = serde_json::json!([tool.name(), tool.digest(), input, subjects, grants]);
    let digest = Sha256::digest(canonical.to_string().as_bytes());
    hex(&digest)
}
