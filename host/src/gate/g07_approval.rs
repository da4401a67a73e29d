//! Gate 7: the human.
//!
//! Asks where the decision is `ask`, where a hook wants it, or where no rule allows the call and the tool's traits demand
//! it: above the exempt line, or destructive. An approval is a one-use ticket over the final input and over what was seen
//! where its paths lead: `Cleared` is used up by the one execution, reaches only the places that were shown, and what
//! changed while somebody was asked is asked again. What was said to "always" is not asked again. Hooks on permission
//! requests may deny before anybody is asked. Refuses what is not approved, what nobody can approve, and, before anybody
//! is asked, what could not be opened whatever they answer.

use std::sync::Arc;

use serde_json::{Map, Value};

use super::g01_parse::Header;
use super::g04_permission::Permitted;
use super::g06_pre_hooks::Hooked;
use super::hook_run::EventHooks;
use super::in_force::InForce;
use super::ports::{
    Answer, ApprovalRequest, Approver, HookEvent, PortError, Remembered, Sight, Standing,
};
use super::registry::RegisteredTool;
use super::seen::Seen;
use super::ticket;
use super::trail::{GateNote, Trail};
use crate::model::{CallId, Denial, DenialReason, Gate, HookEventName, Left};
use crate::policy::{
    Access, Basis, Decision, EgressGrant, ExemptLine, FileGrant, Policy, ShellGrant,
};

/// How often somebody is asked about a call whose files change while they are asked.
const MAX_ROUNDS: usize = 3;

/// A call that every gate let pass, with what it may reach. Providers take it by value: it is good for one execution.
#[derive(Debug)]
pub struct Cleared {
    call: Hooked,
    approved_by: Option<String>,
    files: Option<FileGrant>,
    shell: Option<ShellGrant>,
    egress: Option<EgressGrant>,
    left: Arc<Left>,
}

impl Cleared {
    /// The call.
    pub fn id(&self) -> CallId {
        self.header().id
    }

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

    /// Which commands the call may run.
    pub fn shell(&self) -> Option<&ShellGrant> {
        self.shell.as_ref()
    }

    /// Which requests the call may make.
    pub fn egress(&self) -> Option<&EgressGrant> {
        self.egress.as_ref()
    }

    /// Where what the call does is left while it runs.
    pub fn left(&self) -> &Arc<Left> {
        &self.left
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
    pub(super) sight: Arc<dyn Sight>,
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
            (verdict.decision != Decision::Allow).then(|| match verdict.matched.first() {
                Some(rule) if verdict.basis == Basis::Rules => format!("asked by the rule {rule}"),
                Some(_) | None => format!("asked {}", verdict.basis),
            })
        }
        Basis::AcceptEdits | Basis::Verified | Basis::Bypass => None,
        // Whatever line was drawn: a line is about what tools change, and this is about what they tell.
        Basis::NamesUrl => Some(format!("asked {}", verdict.basis)),
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
        in_force: &InForce,
        policy: &Policy,
        call: Hooked,
        trail: &mut Trail,
    ) -> Result<Asked, Denial> {
        let permitted = call.validated().permitted();
        let (tool, verdict) = (permitted.call().tool(), permitted.verdict());
        let shell = policy.shell_grant(
            tool.facts(),
            tool.declaration().shell(),
            permitted.subjects(),
        );
        let egress = egress(policy, permitted);
        let bypassed = verdict.basis == Basis::Bypass;
        let (files, approved_by) = match question(self.exempt, permitted, call.ask()) {
            None => {
                trail.note(Gate::Approval, GateNote::Passed, "nobody has to be asked");
                (policy.file_grant(tool.facts(), verdict, bypassed), None)
            }
            Some(reason) => {
                let settled = self.settle(policy, &call, shell.as_ref(), &reason, trail);
                let (files, by) = settled.await?;
                trail.note(Gate::Approval, GateNote::Asked, format!("approved by {by}"));
                (files, Some(by))
            }
        };
        if !in_force.still(policy) {
            let what = "the policy changed meanwhile: decided again";
            trail.note(Gate::Approval, GateNote::Changed, what);
            return Ok(Asked::PolicyChanged);
        }
        Ok(Asked::Cleared(Box::new(Cleared {
            call,
            approved_by,
            files,
            shell,
            egress,
            left: Arc::clone(trail.left()),
        })))
    }

    /// Asks until the answer is to what is there, with what the answer lets the call reach, and who gave it.
    async fn settle(
        &self,
        policy: &Policy,
        call: &Hooked,
        shell: Option<&ShellGrant>,
        reason: &str,
        trail: &mut Trail,
    ) -> Result<(Option<FileGrant>, String), Denial> {
        let permitted = call.validated().permitted();
        let (facts, verdict) = (permitted.call().tool().facts(), permitted.verdict());
        let mut seen = Seen::look(self.sight.as_ref(), policy, permitted).await?;
        let mut reason = seen.reason(reason);
        let mut round = 1;
        loop {
            let places = seen.places();
            let standing = self.standing(policy, call, &seen);
            if let Some(by) = self.recalled(standing.as_ref()) {
                return Ok((policy.standing_grant(facts, verdict, &places), by));
            }
            let request = request(policy, call, &seen, shell, reason.clone(), standing);
            let (by, always) = self.answer(policy, call, &request).await?;
            // A yes is for what was shown.
            let now = Seen::look(self.sight.as_ref(), policy, permitted).await?;
            let Some(changed) = now.since(&seen) else {
                if always {
                    self.keep(request.standing.as_ref(), &by);
                }
                return Ok((policy.approved_grant(facts, verdict, &places), by));
            };
            if round == MAX_ROUNDS {
                let message = Some(format!(
                    "each of {MAX_ROUNDS} times something was changed while it was asked; at last, {changed}"
                ));
                let reason = DenialReason::NotApproved { by, message };
                return Err(Denial::new(Gate::Approval, reason));
            }
            let note = format!("{changed} while {by} was asked: asked again");
            reason = now.reason(&format!(
                "asked again, because {changed} since the last yes"
            ));
            trail.note(Gate::Approval, GateNote::Changed, note);
            seen = now;
            round += 1;
        }
    }

    /// Who approved, and whether from now on.
    async fn answer(
        &self,
        policy: &Policy,
        call: &Hooked,
        request: &ApprovalRequest,
    ) -> Result<(String, bool), Denial> {
        self.announce(policy, call, request).await?;
        let denied = |reason| Err(Denial::new(Gate::Approval, reason));
        match self.approver.ask(request).await {
            Answer::Approved { by, always } => Ok((by, always)),
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
    fn standing(&self, policy: &Policy, call: &Hooked, seen: &Seen) -> Option<Standing> {
        let remembered = self.remembered.as_deref()?;
        match call.ask() {
            Some(_) => None,
            None => ticket::standing(remembered, policy, call.validated().permitted(), seen),
        }
    }

    /// Who said "always" to this call.
    fn recalled(&self, standing: Option<&Standing>) -> Option<String> {
        self.remembered.as_ref()?.recall(standing?)
    }

    /// What would become of a call that is only explained: a note, and its words.
    ///
    /// # Errors
    /// It would be denied without a question.
    pub(super) async fn foretell(
        &self,
        policy: &Policy,
        call: &Permitted,
    ) -> Result<(GateNote, String), Denial> {
        let Some(reason) = question(self.exempt, call, None) else {
            return Ok((GateNote::Passed, "nobody has to be asked".to_owned()));
        };
        let seen = Seen::look(self.sight.as_ref(), policy, call).await?;
        let standing = self.remembered.as_deref();
        let standing =
            standing.and_then(|remembered| ticket::standing(remembered, policy, call, &seen));
        Ok(match self.recalled(standing.as_ref()) {
            Some(by) => (GateNote::Passed, format!("approved by {by}")),
            None => (
                GateNote::Asked,
                format!("would ask: {}", seen.reason(&reason)),
            ),
        })
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

/// What a foreign server says of its tool that is not believed, for whoever decides.
fn claims(tool: &RegisteredTool) -> Vec<String> {
    match tool.is_foreign() {
        true => tool.facts().traits.reductions.clone(),
        false => Vec::new(),
    }
}

fn request(
    policy: &Policy,
    call: &Hooked,
    seen: &Seen,
    shell: Option<&ShellGrant>,
    reason: String,
    standing: Option<Standing>,
) -> ApprovalRequest {
    let permitted = call.validated().permitted();
    let normalised = permitted.call();
    let tool = normalised.tool();
    let files = tool.facts().files.map(|(access, _)| granted(access, seen));
    let shell = shell.map(ToString::to_string);
    let egress = egress(policy, permitted).map(|grant| grant.to_string());
    let grants: Vec<String> = files.into_iter().chain(shell).chain(egress).collect();
    let about = ticket::about(policy, permitted);
    ApprovalRequest {
        call: normalised.header().id,
        tool: tool.name().clone(),
        input: Arc::clone(normalised.input()),
        subjects: permitted.subjects().to_vec(),
        reason,
        ticket: ticket::ticket(&about, &grants, seen.paths(), standing.as_ref()),
        about,
        grants,
        workspace: policy.roots().workspace().to_owned(),
        seen: seen.paths().to_vec(),
        built_in: tool.facts().built_in,
        warnings: ticket::warnings(permitted.subjects())
            .into_iter()
            .chain(claims(tool))
            .collect(),
        standing,
    }
}

/// Which requests the call may make.
pub(super) fn egress(policy: &Policy, call: &Permitted) -> Option<EgressGrant> {
    let tool = call.call().tool();
    policy.egress_grant(
        tool.facts(),
        tool.network(),
        call.verdict(),
        call.subjects(),
    )
}

fn granted(access: Access, seen: &Seen) -> String {
    let places = seen.paths().iter();
    let places = places.map(|path| path.real.display().to_string());
    format!(
        "{} files: {}",
        access.as_str(),
        places.collect::<Vec<_>>().join(", ")
    )
}
