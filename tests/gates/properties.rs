//! What no order may change: a rule that denies denies wherever it stands, whichever layer it came from, and so does a hook.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use serde_json::json;
use toolgate::approval::Fixed;
use toolgate::config::{Layers, TrustStore};
use toolgate::gate::{HookEvent, HookReply, PortError, PreHook};
use toolgate::model::{Ending, Gate, SideEffect, Subject, SubjectKind, ToolName};
use toolgate::policy::{
    Decision, Mode, Policy, PolicySettings, Question, Roots, Rule, ToolFacts, Verdict,
};
use toolgate_tests::{Scratch, Setup, TestHost};

use crate::native::denial;

const MODES: [Mode; 6] = [
    Mode::Default,
    Mode::AcceptEdits,
    Mode::Plan,
    Mode::DontAsk,
    Mode::Auto,
    Mode::Bypass,
];

const EFFECTS: [Decision; 3] = [Decision::Allow, Decision::Ask, Decision::Deny];

/// A call, and patterns that a deny rule of its tool may hold: those that match it, and those that do not.
#[derive(Debug)]
struct Target {
    tool: &'static str,
    kind: SubjectKind,
    subjects: &'static [&'static str],
    matching: &'static [&'static str],
    others: &'static [&'static str],
}

const TARGETS: [Target; 3] = [
    Target {
        tool: "Write",
        kind: SubjectKind::Path,
        subjects: &[
            "src/main.rs",
            "./src/x/../main.rs",
            "/ws/src/main.rs",
            "SRC/Main.rs",
        ],
        matching: &[
            "",
            "src/main.rs",
            "src/*",
            "src/**",
            "**/*.rs",
            "**",
            "/ws/src/*.rs",
        ],
        others: &[
            "lib/**",
            "*.rs",
            "src/main.c",
            "src/*/main.rs",
            "/outside/**",
        ],
    },
    Target {
        tool: "Bash",
        kind: SubjectKind::Command,
        subjects: &[
            "git push origin main",
            "A=b git push origin main",
            "ls && git push origin main",
            "timeout 5 git push origin main > x",
            "sh -c 'git push origin main'",
            "'git' pu\\sh $'origin' main",
        ],
        matching: &[
            "",
            "git",
            "git:*",
            "git push:*",
            "git push origin main",
            "git push origin:*",
        ],
        others: &["rm:*", "gitk:*", "git push", "git pull:*", "push:*"],
    },
    Target {
        tool: "WebFetch",
        kind: SubjectKind::Url,
        subjects: &[
            "https://api.example.com/v1/x",
            "https://API.example.com:443/v1/x?q#f",
            "https://api.example.com/v1/y/../x",
        ],
        matching: &[
            "",
            "https://api.example.com",
            "https://api.example.com/**",
            "https://*.example.com/v1/*",
            "https://api.example.com:443/v1/x",
        ],
        others: &[
            "https://other.test/**",
            "http://api.example.com/**",
            "https://example.com/**",
        ],
    },
];

impl Target {
    fn rule(&self, effect: Decision, pattern: &str) -> (Decision, String) {
        let text = match pattern {
            "" => self.tool.to_owned(),
            pattern => format!("{}({pattern})", self.tool),
        };
        (effect, text)
    }

    /// Rules of every kind: by effect and pattern.
    fn any_rules(&'static self) -> impl Strategy<Value = Vec<(Decision, String)>> {
        let patterns: Vec<&str> = self.matching.iter().chain(self.others).copied().collect();
        let rule = (
            prop::sample::select(&EFFECTS[..]),
            prop::sample::select(patterns),
        )
            .prop_map(|(effect, pattern)| self.rule(effect, pattern));
        prop::collection::vec(rule, 0..12)
    }

    fn denying_rule(&'static self) -> impl Strategy<Value = (Decision, String)> {
        prop::sample::select(self.matching).prop_map(|pattern| self.rule(Decision::Deny, pattern))
    }

    fn subject(&'static self) -> impl Strategy<Value = &'static str> {
        prop::sample::select(self.subjects)
    }
}

fn target() -> impl Strategy<Value = &'static Target> {
    prop::sample::select(vec![0, 1, 2]).prop_map(|at| &TARGETS[at])
}

/// Tools as they are registered, and folders.
struct Ground {
    scratch: Scratch,
    facts: Vec<ToolFacts>,
}

impl Ground {
    fn new() -> Self {
        let runtime = tokio::runtime::Runtime::new().expect("a runtime");
        let host = runtime.block_on(TestHost::with(
            Scratch::new(),
            Setup::default(),
            |builder| builder.component("bash.wasm", toolgate_artifacts::BASH.to_vec()),
        ));
        let facts = host
            .host
            .all_tools()
            .map(|tool| tool.facts().clone())
            .collect();
        Self {
            scratch: host.scratch,
            facts,
        }
    }

    fn policy(&self, rules: &[Rule], mode: Mode) -> Policy {
        let ws = &self.scratch.ws;
        let settings = PolicySettings {
            mode,
            ceiling: SideEffect::Mutating,
            roots: Roots::new(ws.clone(), ws.clone(), Vec::new(), Vec::new()),
            home: None,
            protected: Vec::new(),
            coming: Vec::new(),
        };
        Policy::build(rules, settings, &self.facts).expect("a policy")
    }

    fn rules(&self, rules: &[(Decision, String)]) -> Vec<Rule> {
        let parse = |(at, (effect, text)): (usize, &(Decision, String))| {
            let text = self.scratch.mapped(text);
            Rule::parse(*effect, &text, Path::new("test.toml"), at + 1).expect("a rule")
        };
        rules.iter().enumerate().map(parse).collect()
    }

    fn verdict(&self, policy: &Policy, target: &Target, subject: &str) -> Verdict {
        let facts = self.facts.iter();
        let mut facts = facts.filter(|facts| facts.name.as_str() == target.tool);
        let subject = Subject {
            kind: target.kind,
            value: self.scratch.mapped(subject),
        };
        policy.evaluate(Question {
            tool: facts.next().expect("the tool"),
            subjects: &[subject],
        })
    }
}

fn check<S: Strategy>(
    cases: u32,
    strategy: &S,
    property: impl Fn(S::Value) -> Result<(), TestCaseError>,
) {
    let config = Config {
        cases,
        failure_persistence: None,
        ..Config::default()
    };
    if let Err(error) = TestRunner::new(config).run(strategy, property) {
        panic!("{error}");
    }
}

/// Rules of which at least one denies the call, in any order.
fn denied_call() -> impl Strategy<Value = (&'static Target, &'static str, Vec<(Decision, String)>)>
{
    target().prop_flat_map(|target| {
        let rules = (target.any_rules(), target.denying_rule()).prop_map(|(mut rules, denying)| {
            rules.push(denying);
            rules
        });
        (Just(target), target.subject(), rules.prop_shuffle())
    })
}

#[test]
fn no_rule_beside_it_and_no_mode_lifts_a_deny() {
    let ground = Ground::new();
    check(256, &denied_call(), |(target, subject, rules)| {
        for mode in MODES {
            let policy = ground.policy(&ground.rules(&rules), mode);
            let verdict = ground.verdict(&policy, target, subject);
            prop_assert_eq!(
                verdict.decision,
                Decision::Deny,
                "{} in mode {}",
                subject,
                mode
            );
            let denial = verdict.denial.expect("a reason");
            let by_rule = !denial.sources().is_empty();
            prop_assert!(by_rule, "{} in mode {}: {:?}", subject, mode, denial);
        }
        Ok(())
    });
}

#[test]
fn the_order_of_rules_decides_nothing() {
    let ground = Ground::new();
    let strategy = target().prop_flat_map(|target| {
        let orders = target
            .any_rules()
            .prop_flat_map(|rules| (Just(rules.clone()), Just(rules).prop_shuffle()));
        (Just(target), target.subject(), orders)
    });
    check(256, &strategy, |(target, subject, (one, other))| {
        for mode in MODES {
            let [one, other] = [&one, &other].map(|rules| {
                let policy = ground.policy(&ground.rules(rules), mode);
                let verdict = ground.verdict(&policy, target, subject);
                let denial = verdict.denial.as_ref().map(std::mem::discriminant);
                (verdict.decision, verdict.basis.to_string(), denial)
            });
            prop_assert_eq!(one, other, "{} in mode {}", subject, mode);
        }
        Ok(())
    });
}

/// The files of all layers: managed, user, project, local, named.
const LAYERS: usize = 5;

/// Writes each rule into the file of its layer, trusts the workspace's, and loads them.
fn loaded(rules: &[(Decision, String)], layer_of: &[usize], ws_rules: &Ground) -> Vec<Rule> {
    let scratch = Scratch::new();
    let file = |at: usize| -> PathBuf {
        match at {
            0 => scratch.outside.join("managed.toml"),
            1 => scratch.outside.join("user.toml"),
            2 => scratch.ws.join("toolgate.toml"),
            3 => scratch.ws.join(".toolgate/local.toml"),
            _ => scratch.outside.join("named.toml"),
        }
    };
    std::fs::create_dir(scratch.ws.join(".toolgate")).expect("a folder");
    for at in 0..LAYERS {
        let mut toml = "[permissions]\n".to_owned();
        for effect in EFFECTS {
            let own = rules.iter().zip(layer_of);
            let own = own.filter(|((of, _), layer)| *of == effect && **layer == at);
            let texts: Vec<String> = own
                .map(|((_, text), _)| ws_rules.scratch.mapped(text))
                .collect();
            toml.push_str(&format!("{effect} = {}\n", json!(texts)));
        }
        std::fs::write(file(at), toml).expect("a file");
    }
    let layers = Layers {
        managed: Some(file(0)),
        user: Some(file(1)),
        workspace: Some(scratch.ws.clone()),
        state: Some(scratch.state.clone()),
        named: vec![file(4)],
        ..Layers::default()
    };
    let mut store = TrustStore::open(&scratch.state).expect("a store");
    for file in layers.workspace_files() {
        let preview = file.preview().expect("it can be used");
        store.trust(&file, &preview).expect("kept");
    }
    let loaded = layers.load().expect("settings");
    assert_eq!(loaded.not_in_force, []);
    loaded.config.rules
}

#[test]
fn no_layer_lifts_the_deny_of_another() {
    let ground = Ground::new();
    let strategy = denied_call().prop_flat_map(|call| {
        let layers = prop::collection::vec(0..LAYERS, call.2.len());
        (Just(call), layers)
    });
    check(64, &strategy, |((target, subject, rules), layer_of)| {
        let from_layers = loaded(&rules, &layer_of, &ground);
        prop_assert_eq!(from_layers.len(), rules.len());
        for mode in MODES {
            let policy = ground.policy(&from_layers, mode);
            let verdict = ground.verdict(&policy, target, subject);
            prop_assert_eq!(
                verdict.decision,
                Decision::Deny,
                "{} in mode {}",
                subject,
                mode
            );
        }
        Ok(())
    });
}

/// What a hook does in one case.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Does {
    Nothing,
    Ask,
    AskAndRewrite,
    Rewrite,
    Deny,
    Break,
    Panic,
}

const HARMLESS: [Does; 4] = [Does::Nothing, Does::Ask, Does::AskAndRewrite, Does::Rewrite];
const ANYTHING: [Does; 7] = [
    Does::Nothing,
    Does::Ask,
    Does::AskAndRewrite,
    Does::Rewrite,
    Does::Deny,
    Does::Break,
    Does::Panic,
];

/// How many hooks the host has; those that a case has no use for say nothing.
const HOOKS: usize = 8;
const REWRITTEN: &str = "echo what a hook wrote";

/// The hooks of the case that runs.
type Plan = Arc<Mutex<Vec<Does>>>;

/// The hook at one place.
#[derive(Debug)]
struct Planned {
    at: usize,
    plan: Plan,
}

#[async_trait]
impl PreHook for Planned {
    fn name(&self) -> &str {
        "planned"
    }

    fn wants(&self, _tool: &ToolName) -> bool {
        true
    }

    async fn run(&self, _event: &HookEvent) -> Result<HookReply, PortError> {
        let plan = self
            .plan
            .lock()
            .expect("not poisoned")
            .get(self.at)
            .copied();
        let message = "planned".to_owned();
        let input = json!({ "command": REWRITTEN })
            .as_object()
            .expect("an object")
            .clone();
        match plan.unwrap_or(Does::Nothing) {
            Does::Nothing => Ok(HookReply::Nothing),
            Does::Ask => Ok(HookReply::Ask {
                message,
                input: None,
            }),
            Does::AskAndRewrite => Ok(HookReply::Ask {
                message,
                input: Some(input),
            }),
            Does::Rewrite => Ok(HookReply::Rewrite { input }),
            Does::Deny => Ok(HookReply::Deny { message }),
            Does::Break => Err(PortError("planned".to_owned())),
            Does::Panic => panic!("planned"),
        }
    }
}

/// A host with hooks that do what the plan says, and with somebody who says yes to everything.
async fn planned_host(plan: &Plan) -> TestHost {
    let setup = Setup::default().allow(&["Bash"]);
    TestHost::with(Scratch::new(), setup, |builder| {
        let builder = builder
            .component("bash.wasm", toolgate_artifacts::BASH.to_vec())
            .approver(Fixed::approve("the test"));
        (0..HOOKS).fold(builder, |builder, at| {
            builder.pre_hook(Planned {
                at,
                plan: Arc::clone(plan),
            })
        })
    })
    .await
}

#[test]
fn no_order_of_hooks_lifts_a_deny() {
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    let plan = Plan::default();
    let host = runtime.block_on(planned_host(&plan));
    let call = |does: Vec<Does>| {
        *plan.lock().expect("not poisoned") = does;
        runtime.block_on(host.call("Bash", json!({ "command": "make" })))
    };
    let others = prop::collection::vec(prop::sample::select(&ANYTHING[..]), 0..HOOKS);
    let denied = others.prop_flat_map(|mut hooks| {
        hooks.push(Does::Deny);
        Just(hooks).prop_shuffle()
    });
    check(256, &denied, |hooks| {
        let outcome = call(hooks.clone());
        let Ending::Denied(_) = &outcome.ending else {
            return Err(TestCaseError::fail(format!(
                "{hooks:?}: {:?}",
                outcome.ending
            )));
        };
        prop_assert_eq!(denial(&outcome).gate, Gate::PreHooks);
        Ok(())
    });
    // Where none denies and none breaks, the call runs, with what the last rewrite made of it.
    let harmless = prop::collection::vec(prop::sample::select(&HARMLESS[..]), 0..=HOOKS);
    check(64, &harmless, |hooks| {
        let rewrites = [Does::Rewrite, Does::AskAndRewrite];
        let rewritten = hooks.iter().any(|does| rewrites.contains(does));
        let command = if rewritten { REWRITTEN } else { "make" };
        let outcome = call(hooks);
        prop_assert_eq!(outcome.ending.text(), format!("ran: {command}"));
        Ok(())
    });
}
