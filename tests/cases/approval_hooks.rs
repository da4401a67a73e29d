//! Cases of the family `approval` about hooks: a hook that does not work is a refusal, and a rewrite is judged anew.

use std::path::Path;

use serde_json::{Value, json};
use toolgate::config::{HookFormat, HookRun, HookSetting};
use toolgate::model::{DenialReason, Gate, HookEventName, Outcome};
use toolgate_tests::{Scratch, Setup, TestHost};

use crate::command_host::{assert_ran, bash, with_bash};
use crate::run::{alone, is_alone};
use crate::support::{Asked, denial, holds, last_record, set_mode};

cases! {
    "A01" => a01_deny_rules_see_the_input_before_and_after_a_rewrite,
    "A03" => a03_a_rewrite_that_does_not_fit_is_no_way_back_to_the_old_input,
    "A04" => a04_a_reply_is_applied_whole_or_the_call_fails,
    "A06" => a06_a_hook_beyond_its_limit_is_a_refusal,
    "A07" => a07_a_hook_that_does_not_work_is_a_refusal,
}

/// A program outside of the workspace, as a hook before every call. `$HERE` in it is its folder.
fn script(scratch: &Scratch, name: &str, text: &str) -> HookSetting {
    let here = scratch.outside.display().to_string();
    let path = scratch.outside.join(name);
    std::fs::write(&path, format!("#!/bin/sh\nHERE='{here}'\n{text}\n")).expect("a script");
    set_mode(&path, 0o755);
    hook(&path)
}

fn hook(program: &Path) -> HookSetting {
    let program = program.to_str().expect("UTF-8").to_owned();
    HookSetting::new(HookEventName::PreToolUse, HookRun::command(vec![program]))
}

/// What a hook prints as a reply.
fn printing(reply: &Value) -> String {
    format!("cat >> \"$HERE/told\"; cat <<'END'\n{reply}\nEND")
}

/// A host with `Bash`, and somebody who says yes to everything.
async fn hooked(scratch: Scratch, mut setup: Setup, hooks: Vec<HookSetting>) -> (TestHost, Asked) {
    let asked = Asked::default();
    setup.config.hooks = hooks;
    let host = TestHost::with(scratch, setup, |builder| {
        with_bash(builder).approver(asked.clone())
    })
    .await;
    (host, asked)
}

/// Asserts that the hook broke, which the operator is told with its name, and gives what went wrong.
#[track_caller]
fn broken(outcome: &Outcome, name: &str) -> String {
    let denial = denial(outcome);
    assert_eq!(denial.gate, Gate::PreHooks);
    match &denial.reason {
        DenialReason::HookBroken { hook, what } => {
            assert!(hook.ends_with(name), "{hook}");
            holds(&denial.to_string(), &[hook, what]);
            what.clone()
        }
        other => panic!("the hook did not break: {other:?}"),
    }
}

/// Puts the command behind `guard -c`, once.
const GUARD: &str = r#"input=$(cat)
printf '%s\n' "$input" >> "$HERE/told"
command=$(printf '%s' "$input" | sed -n 's/.*"command":"\([^"]*\)".*/\1/p')
case $command in
  guard*) ;;
  *) printf '{"input":{"command":"guard -c '"'"'%s'"'"'"}}' "$command" ;;
esac"#;

async fn a01_deny_rules_see_the_input_before_and_after_a_rewrite() {
    let rules = || {
        Setup::default()
            .allow(&["Bash(guard:*)"])
            .deny(&["Bash(rm -rf:*)"])
    };
    let scratch = Scratch::new();
    let guard = script(&scratch, "guard.sh", GUARD);
    let told = scratch.outside.join("told");
    let (host, asked) = hooked(scratch, rules(), vec![guard]).await;
    let outcome = bash(&host, "rm -rf /ws/d").await;
    let refused = denial(&outcome);
    assert_eq!(refused.gate, Gate::Permission);
    assert!(
        matches!(refused.reason, DenialReason::Rule { .. }),
        "{refused:?}"
    );
    assert!(!told.exists(), "the hook was asked about a denied call");
    assert_eq!(asked.count(), 0);
    // What is not denied is rewritten, and runs by the rule on what it became.
    assert_ran(&host, "guard -c 'make'", &bash(&host, "make").await);
    assert_eq!(asked.count(), 0);
    assert!(told.exists());

    let scratch = Scratch::new();
    let reply = json!({"input": {"command": "rm -rf /outside/d"}});
    let worse = script(&scratch, "worse.sh", &printing(&reply));
    let (host, asked) = hooked(scratch, rules(), vec![worse]).await;
    let outcome = bash(&host, "guard -c make").await;
    let refused = denial(&outcome);
    assert_eq!(refused.gate, Gate::Permission);
    assert!(
        matches!(refused.reason, DenialReason::Rule { .. }),
        "{refused:?}"
    );
    assert_eq!(asked.count(), 0);
}

async fn a03_a_rewrite_that_does_not_fit_is_no_way_back_to_the_old_input() {
    for input in [
        json!({"command": "git status", "unknown": 1}),
        json!({"timeout": 5}),
        json!({"command": ["git", "status"]}),
        json!({"command": "git status", "timeout": "soon"}),
    ] {
        let scratch = Scratch::new();
        let bad = script(&scratch, "bad.sh", &printing(&json!({ "input": input })));
        let (host, asked) = hooked(scratch, Setup::default().allow(&["Bash"]), vec![bad]).await;
        let outcome = bash(&host, "git status").await;
        let refused = denial(&outcome);
        assert!(
            matches!(refused.reason, DenialReason::InvalidInput { .. }),
            "{input}: {refused:?}"
        );
        holds(refused.hint.as_deref().expect("a hint"), &["bad.sh"]);
        holds(&last_record(&host)["detail"].to_string(), &["bad.sh"]);
        assert_eq!(asked.count(), 0);
    }
    let scratch = Scratch::new();
    let reply = json!({"input": {"command": "git diff", "timeout": 5}});
    let good = script(&scratch, "good.sh", &printing(&reply));
    let (host, _) = hooked(scratch, Setup::default().allow(&["Bash"]), vec![good]).await;
    let text = host.done("Bash", json!({"command": "git status"})).await;
    assert_eq!(text, "ran: git diff\ntimeout: 5");
}

async fn a04_a_reply_is_applied_whole_or_the_call_fails() {
    // In our own format there is no allow: the reply as a whole is none.
    let scratch = Scratch::new();
    let reply = json!({"decision": "allow", "input": {"command": "git diff"}});
    let both = script(&scratch, "both.sh", &printing(&reply));
    let (host, asked) = hooked(scratch, Setup::default(), vec![both]).await;
    broken(&bash(&host, "git status").await, "both.sh");
    assert_eq!(asked.count(), 0);

    // In the other format it is written so: the rewrite is applied, and the allow is none.
    let scratch = Scratch::new();
    let reply = json!({"hookSpecificOutput": {
        "hookEventName": "PreToolUse",
        "permissionDecision": "allow",
        "updatedInput": {"command": "git diff"},
    }});
    let mut both = script(&scratch, "both.sh", &printing(&reply));
    let HookRun::Command { format, .. } = &mut both.run else {
        panic!("a command")
    };
    *format = HookFormat::Claude;
    let (host, asked) = hooked(scratch, Setup::default(), vec![both]).await;
    assert_ran(&host, "git diff", &bash(&host, "git status").await);
    executed_as_journalled(&host, &json!({"command": "git diff"}));
    let requests = asked.requests();
    assert_eq!(requests.len(), 1, "an allow of a hook was honoured");
    assert_eq!(json!(requests[0].input), json!({"command": "git diff"}));

    // A rewrite alone.
    let scratch = Scratch::new();
    let reply = json!({"input": {"command": "git diff"}});
    let rewrite = script(&scratch, "rewrite.sh", &printing(&reply));
    let setup = Setup::default().allow(&["Bash(git diff)"]);
    let (host, asked) = hooked(scratch, setup, vec![rewrite]).await;
    assert_ran(&host, "git diff", &bash(&host, "git status").await);
    executed_as_journalled(&host, &json!({"command": "git diff"}));
    assert_eq!(asked.count(), 0);
}

/// Asserts that the journal's last rewrite is this input.
fn executed_as_journalled(host: &TestHost, input: &Value) {
    let record = last_record(host);
    let rewrites = record["rewrites"].as_array().expect("rewrites");
    let last = rewrites.last().and_then(Value::as_str).expect("a rewrite");
    let last: Value = serde_json::from_str(last).expect("JSON");
    assert_eq!(&last, input, "{record}");
}

/// Calls Write, which everybody would let pass.
async fn write(host: &TestHost) -> Outcome {
    host.call("Write", json!({"file_path": "/ws/a.txt", "content": "x"}))
        .await
}

async fn a06_a_hook_beyond_its_limit_is_a_refusal() {
    let setup = || Setup::default().allow(&["Write(/ws/**)"]);
    let scratch = Scratch::new();
    let mut slow = script(&scratch, "slow.sh", "sleep 60");
    slow.timeout_ms = 300;
    let (host, asked) = hooked(scratch, setup(), vec![slow]).await;
    let started = std::time::Instant::now();
    let what = broken(&write(&host).await, "slow.sh");
    holds(&what, &["300 ms"]);
    assert!(started.elapsed() < std::time::Duration::from_secs(30));
    assert!(!host.scratch.ws.join("a.txt").exists());
    assert_eq!(asked.count(), 0);

    let scratch = Scratch::new();
    let quick = script(&scratch, "quick.sh", "exit 0");
    let (host, _) = hooked(scratch, setup(), vec![quick]).await;
    assert_eq!(write(&host).await.ending.word(), "done");
    assert!(host.scratch.ws.join("a.txt").exists());
}

/// Hooks that do not work, and what is said of each.
const BROKEN: [(&str, &str); 6] = [
    ("exit 1", "exit status: 1"),
    ("echo hello", "not a reply"),
    ("echo '{\"decision\":\"maybe\"}'", "not a reply"),
    ("kill -KILL $$", "signal: 9"),
    ("head -c 100000000 /dev/zero", "more than 1 MiB"),
    ("rm \"$0\"", "could not start"),
];

/// What the host may need for a hook that prints 100 MB, beyond what it needed before, KiB.
const MEMORY: u64 = 32 << 10;

async fn a07_a_hook_that_does_not_work_is_a_refusal() {
    const CASE: &str = "approval_hooks::case::a07_a_hook_that_does_not_work_is_a_refusal";
    if !is_alone(CASE) {
        return alone(CASE, &[], "exec \"$@\"");
    }
    for (text, said) in BROKEN {
        let scratch = Scratch::new();
        let mut bad = script(&scratch, "bad.sh", text);
        bad.timeout_ms = 60_000;
        let gone = text.starts_with("rm");
        let setup = Setup::default().allow(&["Write(/ws/**)"]);
        let (host, asked) = hooked(scratch, setup, vec![bad]).await;
        if gone {
            // A program that is missing: it was there when the host started.
            write(&host).await;
            std::fs::remove_file(host.scratch.ws.join("a.txt")).expect("the hook said nothing");
        }
        let before = peak_memory();
        let what = broken(&write(&host).await, "bad.sh");
        holds(&what, &[said]);
        let grown = peak_memory() - before;
        assert!(grown < MEMORY, "{text}: the host grew by {grown} KiB");
        assert!(!host.scratch.ws.join("a.txt").exists(), "{text}");
        assert_eq!(asked.count(), 0, "{text}");
    }
    // One that was never there stops the start.
    let mut setup = Setup::default();
    setup.config.hooks = vec![hook(Path::new("/ws/no/such/hook.sh"))];
    let built = TestHost::try_with(Scratch::new(), setup, |builder| builder).await;
    holds(&built.expect_err("no hook").to_string(), &["hook.sh"]);
}

/// The most memory that this process ever had, KiB.
fn peak_memory() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("its state");
    let line = status.lines().find(|line| line.starts_with("VmHWM:"));
    let number = line.and_then(|line| line.split_whitespace().nth(1));
    number
        .and_then(|number| number.parse().ok())
        .expect("a number")
}
