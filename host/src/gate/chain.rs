//! The one door. Whatever wants a tool to run calls [`Chain::call`]; the order of the gates is written here and nowhere
//! else.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt as _;
use serde::Serialize;
use tokio::sync::watch;

use super::g02_resolve::Resolved;
use super::g05_schema::Validated;
use super::g06_pre_hooks::{Hooked, PreHooked, PreHooks};
use super::g07_approval::{Approval, Asked, Cleared};
use super::g10_post_hooks::Finished;
use super::g11_journal::Recorder;
use super::hook_run::EventHooks;
use super::in_force::{Ground, InForce, RefusedTool, ToolChange};
use super::ports::{
    Approver, EventHook, HookEvent, Journal, PostHook, PreHook, Remembered, Sight, SpillStore,
};
use super::registry::{RegisteredTool, Registry};
use super::running::Running;
use super::session::SessionEvent;
use super::trail::{GateNote, Step, Trail};
use super::{
    g01_parse, g02_resolve, g03_normalise, g04_permission, g05_schema, g06_pre_hooks, g07_approval,
    g08_execute, g09_output, g10_post_hooks,
};
use crate::model::{Denial, DenialReason, Ending, Gate, HostFailure, Outcome, RawCall, Stop};
use crate::policy::{Decision, ExemptLine, Policy, PolicyError, Rule};

/// How often hooks may send a call back to gate 3.
const MAX_REWRITES: usize = 3;
/// How often a call is decided again because the policy changed before it was cleared.
const MAX_POLICY_CHANGES: usize = 3;

/// What a chain is made of.
#[derive(Debug)]
pub struct ChainParts {
    /// The tools.
    pub registry: Registry,
    /// The rules.
    pub policy: Policy,
    /// Whom nobody has to ask.
    pub exempt: ExemptLine,
    /// Before the call, in order.
    pub pre_hooks: Vec<Arc<dyn PreHook>>,
    /// After the call.
    pub post_hooks: Vec<Arc<dyn PostHook>>,
    /// On permission requests and events of the session.
    pub event_hooks: Vec<Arc<dyn EventHook>>,
    /// How long a hook may take that has no limit of its own.
    pub hook_timeout: Duration,
    /// Who is asked.
    pub approver: Arc<dyn Approver>,
    /// What was said to "always"; none: that answer cannot be given.
    pub remembered: Option<Arc<dyn Remembered>>,
    /// Looks where the paths of a call lead before somebody is asked.
    pub sight: Arc<dyn Sight>,
    /// Where too long results go.
    pub spill: Arc<dyn SpillStore>,
    /// Where every end is written.
    pub journal: Arc<dyn Journal>,
    /// Names the session in hooks and records.
    pub session: String,
}

/// See the module.
#[derive(Debug)]
pub struct Chain {
    in_force: InForce,
    pre_hooks: PreHooks,
    approval: Approval,
    post_hooks: Vec<Arc<dyn PostHook>>,
    hook_timeout: Duration,
    spill: Arc<dyn SpillStore>,
    journal: Arc<dyn Journal>,
    session: String,
    running: Running,
}

/// What every gate would say to a call, without running anything.
#[derive(Clone, Debug, Serialize)]
pub struct Explanation {
    /// The tool that was asked for.
    pub tool: String,
    /// One or more steps for each gate.
    pub steps: Vec<Step>,
    /// The denial, if the call would be refused.
    pub denial: Option<Denial>,
}

impl Explanation {
    /// What would become of the call: `Deny` with a denial, `Ask` where somebody would be asked, `Allow` otherwise.
    pub fn decision(&self) -> Decision {
        let asks = |step: &Step| step.gate == Gate::Approval && step.note == GateNote::Asked;
        match &self.denial {
            Some(_) => Decision::Deny,
            None if self.steps.iter().any(asks) => Decision::Ask,
            None => Decision::Allow,
        }
    }
}

impl Chain {
    /// Puts a chain together.
    pub fn new(parts: ChainParts) -> Self {
        let roots = Arc::clone(parts.policy.roots());
        Self {
            in_force: InForce::new(parts.registry, parts.policy),
            pre_hooks: PreHooks {
                hooks: parts.pre_hooks,
                timeout: parts.hook_timeout,
                session: parts.session.clone(),
                roots,
            },
            approval: Approval {
                exempt: parts.exempt,
                approver: parts.approver,
                remembered: parts.remembered,
                sight: parts.sight,
                hooks: EventHooks::new(parts.event_hooks, parts.hook_timeout),
                session: parts.session.clone(),
            },
            post_hooks: parts.post_hooks,
            hook_timeout: parts.hook_timeout,
            spill: parts.spill,
            journal: parts.journal,
            session: parts.session,
            running: Running::default(),
        }
    }

    /// The tools of this moment.
    pub fn registry(&self) -> Arc<Registry> {
        self.in_force.current().registry
    }

    /// The tools of this moment that a model may see, by name.
    pub fn shown(&self) -> Vec<Arc<RegisteredTool>> {
        let Ground { registry, policy } = self.in_force.current();
        let shown = registry.tools().filter(|tool| policy.shows(tool.facts()));
        shown.cloned().collect()
    }

    /// Takes tools out and adds others, in one step. Calls that have passed gate 2 keep the tool that they have. A tool that
    /// cannot be added is reported, and the rest of the change takes place.
    ///
    /// # Errors
    /// The rules do not hold with these tools: nothing is changed.
    pub fn change_tools(&self, change: ToolChange) -> Result<Vec<RefusedTool>, Vec<PolicyError>> {
        self.in_force.change_tools(change)
    }

    /// A count that grows whenever what a model may see changes: other tools, other rules.
    pub fn tools_changed(&self) -> watch::Receiver<u64> {
        self.in_force.changed()
    }

    /// The policy in force.
    pub fn policy(&self) -> Arc<Policy> {
        self.in_force.current().policy
    }

    /// Puts other rules in force, with all other settings as they are. Calls that are not cleared yet are decided again.
    ///
    /// # Errors
    /// What is wrong with the rules: the old ones stay in force.
    pub fn set_rules(&self, rules: &[Rule]) -> Result<(), Vec<PolicyError>> {
        self.in_force.set_rules(rules)
    }

    /// Tells the hooks of an event of the session.
    ///
    /// # Errors
    /// A hook denied, or is broken.
    pub async fn raise(&self, event: SessionEvent) -> Result<(), Denial> {
        let event = HookEvent {
            hook_event_name: event.name(),
            session_id: self.session.clone(),
            cwd: self.pre_hooks.roots.workspace().to_owned(),
            tool_name: None,
            tool_use_id: None,
            tool_input: None,
            tool_response: None,
            details: event.details(),
        };
        let raised = self.approval.hooks.raise(&event).await;
        raised.map_err(|reason| Denial::new(Gate::PreHooks, reason))
    }

    /// One call through all gates: exactly one outcome and one record, whatever happens.
    pub async fn call(&self, raw: RawCall) -> Outcome {
        // Dropped last: whoever ends all calls waits for their records too.
        let _running = self.running.enter();
        let mut recorder = Recorder::begin(Arc::clone(&self.journal), &self.session, raw);
        let (raw, trail) = recorder.parts();
        // Boxed: the walk's future is large, and would be copied on its way down.
        let walk = self.running.unless_over(Box::pin(self.walk(raw, trail)));
        let end = match AssertUnwindSafe(walk).catch_unwind().await {
            Ok(Some(end)) => end,
            Ok(None) => Err(Ending::Stopped(Stop::Shutdown)),
            Err(_) => {
                let message = "a gate panicked".to_owned();
                Err(Ending::HostError(HostFailure { message }))
            }
        };
        recorder.finish(end)
    }

    /// Ends every call wherever it is, and each that comes later at once: its outcome and its record say
    /// [`Stop::Shutdown`]. Returns when the last record is written.
    pub async fn shutdown(&self) {
        self.running.end().await;
    }

    /// The order of the gates.
    async fn walk(&self, raw: &RawCall, trail: &mut Trail) -> Result<Finished, Ending> {
        let cleared = self.clear(raw, trail).await?;
        let executed = g08_execute::run(cleared, trail).await;
        let capped = g09_output::cap(self.spill.as_ref(), executed, trail);
        let workspace = self.pre_hooks.roots.workspace();
        let (hooks, timeout) = (&self.post_hooks, self.hook_timeout);
        Ok(g10_post_hooks::run(hooks, timeout, &self.session, workspace, capped, trail).await)
    }

    /// Gates 1 to 7, by one policy from the first to the last.
    async fn clear(&self, raw: &RawCall, trail: &mut Trail) -> Result<Cleared, Denial> {
        for _ in 0..=MAX_POLICY_CHANGES {
            let ground = self.in_force.current();
            let hooked = self.decide(&ground, raw, trail).await?;
            let asked = self
                .approval
                .ask(&self.in_force, &ground.policy, hooked, trail);
            match asked.await? {
                Asked::Cleared(cleared) => return Ok(*cleared),
                Asked::PolicyChanged => {}
            }
        }
        Err(Denial::new(Gate::Approval, DenialReason::PolicyChanged))
    }

    /// Gates 1 to 6, with the way back that a rewrite takes.
    async fn decide(
        &self,
        ground: &Ground,
        raw: &RawCall,
        trail: &mut Trail,
    ) -> Result<Hooked, Denial> {
        let policy = &ground.policy;
        let mut resolved = admit(ground, raw, trail)?;
        let mut rewriter: Option<String> = None;
        let mut asked = None;
        for _ in 0..=MAX_REWRITES {
            let validated = self.judge(policy, resolved, trail).await;
            let validated = validated.map_err(|denial| match &rewriter {
                Some(hook) => denial.with_hint(format!("the hook '{hook}' rewrote the input")),
                None => denial,
            })?;
            match g06_pre_hooks::run(&self.pre_hooks, validated, asked.take(), trail).await? {
                PreHooked::Pass(hooked) => return Ok(hooked),
                PreHooked::Rewritten { call, hook, ask } => {
                    resolved = call;
                    rewriter = Some(hook);
                    asked = ask;
                }
            }
        }
        let limit = MAX_REWRITES;
        Err(Denial::new(
            Gate::PreHooks,
            DenialReason::TooManyRewrites { limit },
        ))
    }

    /// Gates 3 to 5: what every version of an input passes.
    async fn judge(
        &self,
        policy: &Policy,
        call: Resolved,
        trail: &mut Trail,
    ) -> Result<Validated, Denial> {
        let call = g03_normalise::normalise(call, trail);
        let call = g04_permission::check(policy, call, trail).await?;
        g05_schema::check(call, trail)
    }

    /// Whom nobody has to ask.
    pub fn exempt(&self) -> ExemptLine {
        self.approval.exempt
    }

    /// The walk without hooks, people, tools and records: what `explain` shows.
    pub async fn explain(&self, raw: &RawCall) -> Explanation {
        let mut trail = Trail::default();
        let denial = self.explain_walk(raw, &mut trail).await.err();
        if let Some(denial) = &denial {
            trail.denied(denial);
        }
        let reached = trail.steps().last().map(|step| step.gate);
        for gate in Gate::ALL.into_iter().filter(|gate| Some(*gate) > reached) {
            trail.note(gate, GateNote::NotReached, "not reached");
        }
        Explanation {
            tool: raw.name.clone(),
            steps: trail.take(),
            denial,
        }
    }

    async fn explain_walk(&self, raw: &RawCall, trail: &mut Trail) -> Result<(), Denial> {
        let ground = self.in_force.current();
        let admitted = admit(&ground, raw, trail);
        let resolved = admitted.map_err(|denial| with_what_hides(&ground, raw, denial))?;
        let validated = self.judge(&ground.policy, resolved, trail).await?;
        self.explain_rest(&ground.policy, &validated, trail).await
    }

    async fn explain_rest(
        &self,
        policy: &Policy,
        validated: &Validated,
        trail: &mut Trail,
    ) -> Result<(), Denial> {
        let permitted = validated.permitted();
        let tool = permitted.call().tool().name();
        let hooks = self.pre_hooks.hooks.iter();
        let wanting = hooks.filter(|hook| hook.wants(tool));
        let names: Vec<&str> = wanting.map(|hook| hook.name()).collect();
        let hooks = match names.as_slice() {
            [] => "no hook for this tool".to_owned(),
            names => format!("would run: {}", names.join(", ")),
        };
        trail.note(Gate::PreHooks, GateNote::Passed, hooks);
        let reach = g07_approval::egress(policy, permitted);
        let (note, detail) = self.approval.foretell(policy, permitted).await?;
        let detail = match reach {
            Some(grant) => format!("{detail}; the call could {grant}"),
            None => detail,
        };
        trail.note(Gate::Approval, note, detail);
        Ok(())
    }
}

/// Gates 1 and 2: there is such a call.
fn admit(ground: &Ground, raw: &RawCall, trail: &mut Trail) -> Result<Resolved, Denial> {
    let parsed = g01_parse::parse(raw)?;
    trail.note(
        Gate::Parse,
        GateNote::Passed,
        "one JSON object within the limits",
    );
    let resolved = g02_resolve::resolve(&ground.registry, &ground.policy, parsed)?;
    trail.note(
        Gate::Resolve,
        GateNote::Passed,
        "the tool exists and may be seen",
    );
    Ok(resolved)
}

/// A model must not learn that a hidden tool exists; who asks for an explanation may.
fn with_what_hides(ground: &Ground, raw: &RawCall, denial: Denial) -> Denial {
    let hidden = ground
        .registry
        .get(&raw.name)
        .filter(|_| denial.gate == Gate::Resolve)
        .and_then(|tool| ground.policy.hidden_by(tool.facts()));
    match hidden {
        Some(reason) => denial
            .with_hint(format!("the tool is there and hidden: {reason}"))
            .with_matched(reason.sources().to_vec()),
        None => denial,
    }
}
