//! The one door. Whatever wants a tool to run calls [`Chain::call`]; the order of the gates is written here and nowhere
//! else.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use futures::FutureExt as _;
use serde::Serialize;

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
        let walked = AssertUnwindSafe(self.walk(&mut recorder))
            .catch_unwind()
            .await;
        let end = walked.unwrap_or_else(|_| {
            let message = "a gate panicked".to_owned();
            Err(Ending::HostError(HostFailure { message }))
        });
        recorder.finish(end)
    }

    async fn walk(&self, recorder: &mut Recorder) -> Result<Finished, Ending> {
        let hooked = self.decide(recorder).await.map_err(Ending::Denied)?;
        let trail = &mut recorder.trail;
        let cleared = g07_approval::ask(
            &self.policy,
            self.exempt,
            self.approver.as_ref(),
            hooked,
            trail,
        )
        .await
        .map_err(|denial| Ending::Denied(noted(denial, trail)))?;
        let executed = g08_execute::run(cleared, trail).await;
        let capped = g09_output::cap(self.spill.as_ref(), executed, trail);
        let workspace = self.policy.roots().workspace();
        Ok(g10_post_hooks::run(&self.post_hooks, &self.session, workspace, capped, trail).await)
    }

    /// Gates 1 to 6, with the way back that a rewrite takes.
    async fn decide(&self, recorder: &mut Recorder) -> Result<Hooked, Denial> {
        let parsed = g01_parse::parse(recorder.raw());
        let trail = &mut recorder.trail;
        let resolved =
            parsed.and_then(|call| g02_resolve::resolve(&self.registry, &self.policy, call));
        let mut resolved = resolved.map_err(|denial| noted(denial, trail))?;
        let mut rewriter: Option<String> = None;
        let mut asked = None;
        for _ in 0..=MAX_REWRITES {
            let validated = self.judge(resolved, trail).await.map_err(|denial| {
                let denial = noted(denial, trail);
                match &rewriter {
                    Some(hook) => denial.with_hint(format!("the hook '{hook}' rewrote the input")),
                    None => denial,
                }
            })?;
            match g06_pre_hooks::run(&self.pre_hooks, validated, asked.take(), trail).await {
                Ok(PreHooked::Pass(hooked)) => return Ok(hooked),
                Ok(PreHooked::Rewritten { call, hook, ask }) => {
                    resolved = call;
                    rewriter = Some(hook);
                    asked = ask;
                }
                Err(denial) => return Err(noted(denial, trail)),
            }
        }
        let reason = DenialReason::TooManyRewrites {
            limit: MAX_REWRITES,
        };
        Err(noted(Denial::new(Gate::PreHooks, reason), trail))
    }

    /// Gates 3 to 5: what every version of an input passes.
    async fn judge(
        &self,
        call: g02_resolve::Resolved,
        trail: &mut Trail,
    ) -> Result<g05_schema::Validated, Denial> {
        let call = g03_normalise::normalise(call);
        match call.conversions() {
            [] => trail.note(Gate::Normalise, GateNote::Passed, "nothing to convert"),
            conversions => trail.note(Gate::Normalise, GateNote::Changed, conversions.join("; ")),
        }
        let call = g04_permission::check(&self.policy, call, trail).await?;
        g05_schema::check(call, trail)
    }

    /// The walk without hooks, people, tools and records: what `explain` shows.
    pub async fn explain(&self, raw: &RawCall) -> Explanation {
        let mut trail = Trail::default();
        let denial = self.explain_walk(raw, &mut trail).await.err();
        let reached = trail.steps().last().map(|step| step.gate);
        for gate in Gate::ALL.into_iter().filter(|gate| Some(*gate) > reached) {
            trail.note(gate, GateNote::NotReached, "not reached");
        }
        Explanation {
            tool: raw.name.clone(),
            steps: trail.steps().to_vec(),
            denial,
        }
    }

    async fn explain_walk(&self, raw: &RawCall, trail: &mut Trail) -> Result<(), Denial> {
        let parsed = g01_parse::parse(raw).map_err(|denial| noted(denial, trail))?;
        trail.note(
            Gate::Parse,
            GateNote::Passed,
            "one JSON object within the limits",
        );
        let resolved = g02_resolve::resolve(&self.registry, &self.policy, parsed);
        let resolved = resolved.map_err(|denial| noted(denial, trail))?;
        trail.note(
            Gate::Resolve,
            GateNote::Passed,
            "the tool exists and may be seen",
        );
        let validated = self
            .judge(resolved, trail)
            .await
            .map_err(|denial| noted(denial, trail))?;
        self.explain_rest(&validated, trail);
        Ok(())
    }

    fn explain_rest(&self, validated: &g05_schema::Validated, trail: &mut Trail) {
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

/// Leaves a denial in the trail too.
fn noted(denial: Denial, trail: &mut Trail) -> Denial {
    let rules = denial.sources().to_vec();
    trail.note_rules(
        denial.gate,
        GateNote::Denied,
        denial.reason.to_string(),
        rules,
    );
    denial
}
