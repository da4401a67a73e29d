//! Gate 7: the human.
//!
//! Asks where the decision is `ask`, where a hook wants it, or where no rule allows the call and the tool's traits demand
//! it: above the exempt line, or destructive. An approval is a one-use ticket over the final input: `Cleared` is used up
//! by the one execution. What was said to "always" is not asked again. Hooks on permission requests may deny before
//! anybody is asked. Refuses what is not approved, and what nobody can approve.

use std::sync::Arc;

use serde_json::{Map, Value};

use super::g01_parse::Header;
use super::g04_permission::Permitted;
use super::g06_pre_hooks::Hooked;
use super::hook_run::EventHooks;
use super::in_force::InForce;
use super::ports::{Answer, ApprovalRequest, Approver, HookEvent, PortError, Remembered, Standing};
use super::registry::RegisteredTool;
use super::ticket;
use super::trail::{GateNote, Trail};
use crate::model::{Denial, DenialReason, Gate, HookEventName};
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

/// Who is asked, and when.
#[derive(Debug)]
pub(super) struct Approval {
    pub(super) exempt: ExemptLine,
    pub(super) approver: Arc<dyn Approver>,
    pub(super) remembered: Option<Arc<dyn Remembered>>,
    pub(super) hooks: EventHooks,
    pub(super) session: String,
}

/// What the gate came to.
pub(super) enum Asked {
    /// On to gate 8.
    Cleared(Box<Cleared>),
    /// Another policy came into force: everything is decided again.
    PolicyChanged,
}

/// Why somebody would have to be asked; none: nobody.
pub(super) fn question(exempt: ExemptLine, call: &Permitted, hook: Option<&str>) -> Option<String> {
    let verdict = call.verdict();
    let traits = &call.call().tool().facts().traits;
    if let Some(reason) = hook {
        return Some(reason.to_owned());
    }
    match &verdict.basis {
        Basis::Rules | Basis::Unclear { .. } | Basis::RunsCode { .. } | Basis::Denial => {
            (verdict.decision != Decision::Allow).then(|| format!("asked {}", verdict.basis))
        }
        Basis::AcceptEdits | Basis::Verified | Basis::Bypass => None,
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

impl Approval {
    /// Asks, where it must be asked.
    pub(super) async fn ask(
        &self,
        policies: &InForce,
        policy: &Policy,
        call: Hooked,
        trail: &mut Trail,
    ) -> Result<Asked, Denial> {
        let permitted = call.validated().permitted();
        let (tool, verdict) = (permitted.call().tool(), permitted.verdict());
        let bypassed = verdict.basis == Basis::Bypass;
        let (files, approved_by) = match question(self.exempt, permitted, call.ask()) {
            None => {
                trail.note(Gate::Approval, GateNote::Passed, "nobody has to be asked");
                (policy.file_grant(tool.facts(), verdict, bypassed), None)
            }
            Some(reason) => {
                let files = policy.file_grant(tool.facts(), verdict, true);
                let by = self.answer(policy, &call, files.as_ref(), reason).await?;
                trail.note(Gate::Approval, GateNote::Asked, format!("approved by {by}"));
                (files, Some(by))
            }
        };
        if !policies.still(policy) {
            let what = "the policy changed meanwhile: decided again";
            trail.note(Gate::Approval, GateNote::Changed, what);
            return Ok(Asked::PolicyChanged);
        }
        Ok(Asked::Cleared(Box::new(Cleared {
            call,
            approved_by,
            files,
        })))
    }

    /// Who approved.
    async fn answer(
        &self,
        policy: &Policy,
        call: &Hooked,
        files: Option<&FileGrant>,
        reason: String,
    ) -> Result<String, Denial> {
        let standing = self.standing(policy, call);
        if let Some(by) = self.recalled(standing.as_ref()) {
            return Ok(by);
        }
        let request = request(policy, call, files, reason, standing.as_ref());
        self.announce(policy, call, &request).await?;
        let denied = |reason| Err(Denial::new(Gate::Approval, reason));
        match self.approver.ask(&request).await {
            Answer::Approved { by, always } => {
                if always {
                    self.keep(standing.as_ref(), &by);
                }
                Ok(by)
            }
            Answer::Refused { by, message } => denied(DenialReason::NotApproved { by, message }),
            Answer::Pending { id } => {
                let hint = format!(
                    "look at it with 'toolgate approvals show {id}', answer with 'toolgate approvals allow {id}'"
                );
                let denial = Denial::new(Gate::Approval, DenialReason::ApprovalPending { id });
                Err(denial.with_hint(hint))
            }
            Answer::TimedOut { after } => denied(DenialReason::ApprovalTimeout { after }),
            Answer::Nobody => {
                let denial = Denial::new(Gate::Approval, DenialReason::NoApprover);
                Err(denial.with_hint(allow_hint(policy, call)))
            }
        }
    }

    /// What "always" would stand for, where it can be said.
    fn standing(&self, policy: &Policy, call: &Hooked) -> Option<Standing> {
        let remembered = self.remembered.as_deref()?;
        match call.ask() {
            Some(_) => None,
            None => ticket::standing(remembered, policy, call.validated().permitted()),
        }
    }

    /// Who said "always" to this call.
    fn recalled(&self, standing: Option<&Standing>) -> Option<String> {
        self.remembered.as_ref()?.recall(standing?)
    }

    /// The same for a call that is only explained.
    pub(super) fn would_recall(&self, policy: &Policy, call: &Permitted) -> Option<String> {
        let remembered = self.remembered.as_deref()?;
        self.recalled(ticket::standing(remembered, policy, call).as_ref())
    }

    fn keep(&self, standing: Option<&Standing>, by: &str) {
        let (Some(remembered), Some(standing)) = (&self.remembered, standing) else {
            return;
        };
        if let Err(PortError(what)) = remembered.keep(standing, by) {
            tracing::warn!(rule = %standing.rule, "the answer 'always' holds only this once: {what}");
        }
    }

    /// Tells the hooks that somebody is about to be asked.
    async fn announce(
        &self,
        policy: &Policy,
        call: &Hooked,
        request: &ApprovalRequest,
    ) -> Result<(), Denial> {
        let mut details = Map::new();
        details.insert("reason".to_owned(), Value::from(request.reason.as_str()));
        let event = HookEvent {
            hook_event_name: HookEventName::PermissionRequest,
            session_id: self.session.clone(),
            cwd: policy.roots().workspace().to_owned(),
            tool_name: Some(request.tool.clone()),
            tool_use_id: Some(request.call),
            tool_input: Some(Arc::clone(call.validated().permitted().call().input())),
            tool_response: None,
            details,
        };
        let raised = self.hooks.raise(&event).await;
        raised.map_err(|reason| Denial::new(Gate::Approval, reason))
    }
}

fn allow_hint(policy: &Policy, call: &Hooked) -> String {
    let permitted = call.validated().permitted();
    let tool = permitted.call().tool().name();
    let ways = "call from a terminal to be asked, or let 'queue' stand in 'approvers' of [approval] to answer later";
    match ticket::allow_rule(policy, tool, permitted.subjects()) {
        Some(rule) => format!("{ways}, or allow it with --allow '{rule}'"),
        None => ways.to_owned(),
    }
}

fn request(
    policy: &Policy,
    call: &Hooked,
    files: Option<&FileGrant>,
    reason: String,
    standing: Option<&Standing>,
) -> ApprovalRequest {
    let permitted = call.validated().permitted();
    let normalised = permitted.call();
    let tool = normalised.tool();
    let grants: Vec<String> = files
        .map(|grant| granted(grant, permitted.verdict()))
        .into_iter()
        .collect();
    ApprovalRequest {
        call: normalised.header().id,
        tool: tool.name().clone(),
        input: Arc::clone(normalised.input()),
        subjects: permitted.subjects().to_vec(),
        reason,
        ticket: ticket::ticket(policy, permitted, &grants, standing),
        grants,
        paths: permitted.verdict().paths.clone(),
        built_in: tool.facts().built_in,
        warnings: ticket::warnings(permitted.subjects()),
        always: standing.map(|standing| standing.rule.clone()),
    }
}

fn granted(grant: &FileGrant, verdict: &Verdict) -> String {
    let paths = verdict.paths.iter().map(|path| path.display().to_string());
    format!(
        "{} files: {}",
        grant.access().as_str(),
        paths.collect::<Vec<_>>().join(", ")
    )
}
