//! The one door. Whatever wants a tool to run calls [`Chain::call`]; the order of the gates is written here and nowhere
//! else.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use futures::FutureExt as _;
use serde::Serialize;

use super::g02_resolve::Resolved;
use super::g05_schema::Validated;
use super::g06_pre_hooks::{Hooked, PreHooked, PreHooks};
use super::g10_post_hooks::Finished;
use super::g11_journal::Recorder;
use super::ports::{Approver, Journal, PostHook, PreHook, SpillStore};
use super::registry::Registry;
use super::trail::{GateNote, Step, Trail};
use super::{
    g01_parse, g02_resolve, g03_normalise, g04_permission, g05_schema, g06_pre_hooks, g07_approval,
    g08_execute, g09_output, g10_post_hooks,
};
use crate::model::{Denial, DenialReason, Ending, Gate, HostFailure, Outcome, RawCall};
use crate::policy::{ExemptLine, Policy};

/// How often hooks may send a call back to gate 3.
const MAX_REWRITES: usize = 3;

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
    /// Who is asked.
    pub approver: Arc<dyn Approver>,
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
    registry: Registry,
    policy: Policy,
    exempt: ExemptLine,
    pre_hooks: PreHooks,
    post_hooks: Vec<Arc<dyn PostHook>>,
    approver: Arc<dyn Approver>,
    spill: Arc<dyn SpillStore>,
    journal: Arc<dyn Journal>,
    session: String,
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

impl Chain {
    /// Puts a chain together.
    pub fn new(parts: ChainParts) -> Self {
        let roots = Arc::clone(parts.policy.roots());
        Self {
            registry: parts.registry,
            policy: parts.policy,
            exempt: parts.exempt,
            pre_hooks: PreHooks {
                hooks: parts.pre_hooks,
                session: parts.session.clone(),
                roots,
            },
            post_hooks: parts.post_hooks,
            approver: parts.approver,
            spill: parts.spill,
            journal: parts.journal,
            session: parts.session,
        }
    }

    /// The tools.
    pub fn registry(&self) -> &Registry {
        &self.registry
    }

    /// The rules.
    pub fn policy(&self) -> &Policy {
        &self.policy
    }

    /// One call through all gates: exactly one outcome and one record, whatever happens.
    pub async fn call(&self, raw: RawCall) -> Outcome {
        let mut recorder = Recorder::begin(Arc::clone(&self.journal), &self.session, raw);
        let (raw, trail) = recorder.parts();
        // Boxed: the walk's future is large, and would be copied on its way down.
        let walk = Box::pin(self.walk(raw, trail));
        let end = AssertUnwindSafe(walk)
            .catch_unwind()
            .await
            .unwrap_or_else(|_| {
                let message = "a gate panicked".to_owned();
                Err(Ending::HostError(HostFailure { message }))
            });
        recorder.finish(end)
    }

    /// The order of the gates.
    async fn walk(&self, raw: &RawCall, trail: &mut Trail) -> Result<Finished, Ending> {
        let hooked = self.decide(raw, trail).await?;
        let approver = self.approver.as_ref();
        let cleared = g07_approval::ask(&self.policy, self.exempt, approver, hooked, trail).await?;
        let executed = g08_execute::run(cleared, trail).await;
        let capped = g09_output::cap(self.spill.as_ref(), executed, trail);
        let workspace = self.policy.roots().workspace();
        Ok(g10_post_hooks::run(&self.post_hooks, &self.session, workspace, capped, trail).await)
    }

    /// Gates 1 to 6, with the way back that a rewrite takes.
    async fn decide(&self, raw: &RawCall, trail: &mut Trail) -> Result<Hooked, Denial> {
        let mut resolved = self.admit(raw, trail)?;
        let mut rewriter: Option<String> = None;
        let mut asked = None;
        for _ in 0..=MAX_REWRITES {
            let validated = self.judge(resolved, trail).await;
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

    /// Gates 1 and 2: there is such a call.
    fn admit(&self, raw: &RawCall, trail: &mut Trail) -> Result<Resolved, Denial> {
        let parsed = g01_parse::parse(raw)?;
        trail.note(
            Gate::Parse,
            GateNote::Passed,
            "one JSON object within the limits",
        );
        let resolved = g02_resolve::resolve(&self.registry, &self.policy, parsed)?;
        trail.note(
            Gate::Resolve,
            GateNote::Passed,
            "the tool exists and may be seen",
        );
        Ok(resolved)
    }

    /// Gates 3 to 5: what every version of an input passes.
    async fn judge(&self, call: Resolved, trail: &mut Trail) -> Result<Validated, Denial> {
        let call = g03_normalise::normalise(call, trail);
        let call = g04_permission::check(&self.policy, call, trail).await?;
        g05_schema::check(call, trail)
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
        let resolved = self.admit(raw, trail)?;
        let validated = self.judge(resolved, trail).await?;
        self.explain_rest(&validated, trail);
        Ok(())
    }

    fn explain_rest(&self, validated: &Validated, trail: &mut Trail) {
        let tool = validated.permitted().call().tool();
        let hooks = self
            .pre_hooks
            .hooks
            .iter()
            .filter(|hook| hook.wants(tool.name()));
        let names: Vec<&str> = hooks.map(|hook| hook.name()).collect();
        let hooks = match names.as_slice() {
            [] => "no hook for this tool".to_owned(),
            names => format!("would run: {}", names.join(", ")),
        };
        trail.note(Gate::PreHooks, GateNote::Passed, hooks);
        match g07_approval::question(self.exempt, validated.permitted(), None) {
            Some(reason) => trail.note(
                Gate::Approval,
                GateNote::Asked,
                format!("would ask: {reason}"),
            ),
            None => trail.note(Gate::Approval, GateNote::Passed, "nobody has to be asked"),
        }
    }
}
