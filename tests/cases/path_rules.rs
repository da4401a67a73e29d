//! Cases of the family `path` about rules: a deny rule binds the file under every spelling and for every tool.

use serde_json::{Value, json};
use toolgate::approval::Fixed;
use toolgate::model::{DenialReason, Ending, Outcome};
use toolgate_tests::{Scratch, Setup, TestHost};

use crate::shell_host::with_any_command;
use crate::support::{always, asking, bytes, holds, lacks, link, names, refused};

cases! {
    "P01" => p01_a_sibling_with_the_same_prefix_is_outside,
    "P11" => p11_relative_deny_patterns_bind_every_spelling,
    "P12" => p12_deny_rules_ignore_letter_case,
    "P14" => p14_special_characters_in_names_match_allow_rules,
    "P15" => p15_an_answer_covers_no_other_path,
    "P34" => p34_a_deny_rule_on_read_binds_the_searching_tools,
    "P36" => p36_git_control_files_are_never_writable,
    "P38" => p38_files_that_run_code_need_a_yes_although_a_rule_allows_them,
}

fn write(path: &str) -> Value {
    json!({"file_path": path, "content": "x"})
}

fn reason(outcome: &Outcome) -> &DenialReason {
    match &outcome.ending {
        Ending::Denied(denial) => &denial.reason,
        other => panic!("not denied: {other:?}"),
    }
}

async fn p01_a_sibling_with_the_same_prefix_is_outside() {
    let scratch = Scratch::new();
    let sibling = scratch.ws.with_file_name("ws_evil");
    std::fs::create_dir(&sibling).expect("a folder");
    std::fs::write(sibling.join("secret.txt"), "abc123\n").expect("a file");
    let (host, asked) = asking(scratch, Setup::default()).await;
    for path in ["/ws_evil/secret.txt", "../ws_evil/secret.txt"] {
        let outcome = host.call("Read", json!({"file_path": path})).await;
        assert!(
            matches!(reason(&outcome), DenialReason::OutsideRoots { .. }),
            "{:?}",
            outcome.ending
        );
        lacks(&outcome.ending.text(), &["abc123"]);
    }
    assert_eq!(asked.count(), 0);
}

async fn p11_relative_deny_patterns_bind_every_spelling() {
    let scratch = Scratch::new();
    for path in [
        ".env",
        "server/.env",
        "server/.env.local",
        "server/plain.txt",
    ] {
        scratch.file(path, "KEY=abc123\n");
    }
    std::fs::create_dir(scratch.ws.join("server/x")).expect("a folder");
    let (host, _) = asking(
        scratch,
        Setup::default().deny(&["Read(./.env)", "Read(**/.env*)"]),
    )
    .await;
    for path in [
        "/ws/.env",
        ".env",
        "/ws/server/.env.local",
        "server/./x/../.env",
    ] {
        let outcome = host.call("Read", json!({"file_path": path})).await;
        assert!(
            matches!(reason(&outcome), DenialReason::Rule { .. }),
            "{path}: {:?}",
            outcome.ending
        );
        lacks(&outcome.ending.text(), &["abc123"]);
    }
    holds(
        &host
            .done("Read", json!({"file_path": "server/plain.txt"}))
            .await,
        &["abc123"],
    );
}

async fn p12_deny_rules_ignore_letter_case() {
    let rule = "Write(**/.toolgate/config.toml)";
    let (host, asked) = asking(Scratch::new(), Setup::default().deny(&[rule])).await;
    let outcome = host.call("Write", write("/ws/.ToolGate/Config.TOML")).await;
    let DenialReason::Rule { rules } = reason(&outcome) else {
        panic!("{:?}", outcome.ending)
    };
    assert_eq!(rules.first().map(|source| source.rule.as_str()), Some(rule));
    assert_eq!(asked.count(), 0);
    assert!(names(&host.scratch.ws).is_empty());

    // A class of characters is no one letter: it holds as written and in the other letter case.
    let scratch = Scratch::new();
    let denied = ["Ab.key", "bc.key", "Sd.pem", "x.d", "ΑΣΒ.gr"];
    let free = ["ab.key", "e.pem", "1.d", "ΑΒ.gr"];
    for path in denied.iter().chain(&free) {
        scratch.file(path, "abc123\n");
    }
    let rules = [
        "Read([!a]*.key)",
        "Read([R-d]D.pem)",
        "Read([X].d)",
        "Read(ας*)",
    ];
    let (host, _) = asking(scratch, Setup::default().deny(&rules)).await;
    for path in denied {
        let outcome = host.call("Read", json!({"file_path": path})).await;
        let is_rule = matches!(reason(&outcome), DenialReason::Rule { .. });
        assert!(is_rule, "{path}: {:?}", outcome.ending);
    }
    for path in free {
        holds(
            &host.done("Read", json!({"file_path": path})).await,
            &["abc123"],
        );
    }
    let found = host.done("Grep", json!({"pattern": "abc123"})).await;
    holds(&found, &free);
    lacks(&found, &denied);
}

async fn p14_special_characters_in_names_match_allow_rules() {
    let scratch = Scratch::new();
    scratch.file("app/$slug+/pivot.$t.($cur).tsx", "export {}\n");
    let (host, asked) = asking(scratch, Setup::default().allow(&["Read(**)"])).await;
    let path = "/ws/app/$slug+/pivot.$t.($cur).tsx";
    holds(
        &host.done("Read", json!({"file_path": path})).await,
        &["export {}"],
    );
    assert_eq!(asked.count(), 0);
    let explanation = host.explain("Read", json!({"file_path": path})).await;
    let rules: Vec<&str> = explanation
        .steps
        .iter()
        .flat_map(|step| &step.rules)
        .map(|source| source.rule.as_str())
        .collect();
    assert_eq!(rules, ["Read(**)"], "the rule must be what allows it");
}

async fn p15_an_answer_covers_no_other_path() {
    // A yes is for one call.
    let (host, asked) = asking(Scratch::new(), Setup::default()).await;
    for before in 0..2 {
        host.done("Write", write("/ws/r[ab].txt")).await;
        assert_eq!(asked.count(), before + 1, "it ran on an earlier yes");
    }
    // "Always" is for the exact path.
    let (host, asked) = always(Scratch::new()).await;
    for (path, is_asked) in [
        ("/ws/r[ab].txt", true),
        ("/ws/r[ab].txt", false),
        ("/ws/ra.txt", true),
        ("/ws/*.md", true),
        ("/ws/*.md", false),
        ("/ws/other.md", true),
    ] {
        let before = asked.count();
        host.done("Write", write(path)).await;
        assert_eq!(asked.count() - before, usize::from(is_asked), "{path}");
    }
    assert_eq!(
        names(&host.scratch.ws),
        ["*.md", "other.md", "r[ab].txt", "ra.txt"]
    );
}

async fn p34_a_deny_rule_on_read_binds_the_searching_tools() {
    let scratch = Scratch::new();
    scratch.file(".env", "KEY=abc123\n");
    scratch.file("secrets/key.pem", "KEY=abc123\n");
    scratch.file("open.txt", "KEY=public\n");
    let setup = Setup::default().deny(&["Read(.env)", "Read(secrets/**)"]);
    let host = TestHost::with(scratch, setup, |builder| {
        builder
            .approver(Fixed::approve("the test"))
            .component("word_count.wasm", toolgate_artifacts::WORD_COUNT.to_vec())
            .component("same_file.wasm", toolgate_artifacts::SAME_FILE.to_vec())
    })
    .await;
    let absolute = host.scratch.ws.join("secrets/key.pem");
    let absolute = absolute.to_str().expect("UTF-8");
    let grep = |path: &str| json!({"pattern": "KEY", "path": path, "output_mode": "content"});
    for (tool, input) in [
        ("Grep", json!({"pattern": "KEY", "path": "/ws"})),
        ("Grep", json!({"pattern": "KEY", "path": "/ws/secrets"})),
        ("Glob", json!({"pattern": "**/*"})),
        ("LS", json!({"path": "/ws/secrets"})),
        // The same with what would show the most.
        ("Grep", grep("/ws")),
        ("Grep", grep("/ws/.env")),
        ("Grep", grep("/ws/secrets/key.pem")),
        ("Glob", json!({"pattern": "secrets/key.pem"})),
        ("Glob", json!({"pattern": "*.pem", "path": "/ws/secrets"})),
        ("LS", json!({"path": "/ws"})),
        // Tools that read in order to write, and strangers' tools.
        (
            "Edit",
            json!({"file_path": "/ws/.env", "old_string": "KEY=abc", "new_string": "KEY=xyz"}),
        ),
        ("WordCount", json!({"file_path": "/ws/.env"})),
        (
            "SameFile",
            json!({"left": "/ws/open.txt", "right": "/ws/.env"}),
        ),
    ] {
        let text = host.call(tool, input.clone()).await.ending.text();
        // What the call itself named may be repeated.
        let named = input.to_string();
        let hidden: Vec<&str> = ["abc123", "key.pem"]
            .into_iter()
            .filter(|secret| !named.contains(secret))
            .collect();
        lacks(&text, &hidden);
        lacks(&text, &["1 found", "same", "different", "Edited"]);
        if tool == "Glob" {
            lacks(&text, &[absolute]);
        }
    }
    assert_eq!(bytes(host.scratch.ws.join(".env")), b"KEY=abc123\n");
    let text = host.done("Grep", grep("/ws")).await;
    holds(&text, &["open.txt", "KEY=public"]);
}

async fn p36_git_control_files_are_never_writable() {
    let scratch = Scratch::new();
    let config = scratch.file("a/b/c/d/e/.git/config", "[core]\n");
    scratch.file(".git/hooks/sample", "");
    link(".git/hooks", scratch.ws.join("linked"));
    let (host, asked) = asking(scratch, Setup::default().allow(&["Write(/ws/**)"])).await;
    for path in [
        "/ws/.git/hooks/pre-commit",
        "/ws/a/b/c/d/e/.git/config",
        "/ws/.GIT/Hooks/pre-commit",
    ] {
        let outcome = host.call("Write", write(path)).await;
        assert!(
            matches!(reason(&outcome), DenialReason::Protected { .. }),
            "{path}: {:?}",
            outcome.ending
        );
    }
    refused(&host.call("Write", write("/ws/linked/pre-commit")).await);
    assert_eq!(asked.count(), 0);
    assert_eq!(bytes(&config), b"[core]\n");
    assert_eq!(names(&host.scratch.ws), [".git", "a", "linked"]);
    assert_eq!(names(&host.scratch.ws.join(".git/hooks")), ["sample"]);
    commands_leave_what_git_obeys().await;
}

/// The same through commands.
async fn commands_leave_what_git_obeys() {
    let host = with_any_command().await;
    let make = "git init -q . && git init -q a/sub && cp .git/config a/before";
    host.done("Bash", json!({ "command": make })).await;
    for line in [
        "git config core.fsmonitor 'touch /ws/m'",
        "cd a/sub && git config core.fsmonitor 'touch /ws/m'",
        "printf x > .git/hooks/pre-commit",
        "printf x > a/sub/.git/hooks/pre-commit",
        "mv .git v && mkdir -p .git/hooks && printf x > .git/hooks/pre-commit",
    ] {
        let said = host.done("Bash", json!({ "command": line })).await;
        holds(&said, &["[exit code: "]);
    }
    for repository in [".git", "a/sub/.git"] {
        let repository = host.scratch.ws.join(repository);
        assert!(!repository.join("hooks/pre-commit").exists());
        let before = bytes(host.scratch.ws.join("a/before"));
        assert_eq!(bytes(repository.join("config")), before);
    }
}

async fn p38_files_that_run_code_need_a_yes_although_a_rule_allows_them() {
    let calls = [
        "/ws/.vscode/tasks.json",
        "/ws/.mcp.json",
        "/ws/sub/.envrc",
        "/ws/.github/hooks/h.json",
    ];
    let setup = || Setup::default().allow(&["Write(/ws/**)"]);
    let nobody = TestHost::with(Scratch::new(), setup(), |builder| builder).await;
    link(".envrc", nobody.scratch.ws.join("innocent"));
    nobody.done("Write", write("/ws/plain.txt")).await;
    for path in calls.into_iter().chain(["/ws/innocent"]) {
        refused(&nobody.call("Write", write(path)).await);
    }
    assert_eq!(names(&nobody.scratch.ws), ["innocent", "plain.txt"]);

    let (host, asked) = asking(Scratch::new(), setup()).await;
    host.done("Write", write("/ws/plain.txt")).await;
    assert_eq!(asked.count(), 0);
    for (before, path) in calls.into_iter().enumerate() {
        host.done("Write", write(path)).await;
        let reasons = asked.reasons();
        assert_eq!(reasons.len(), before + 1, "{path}");
        let reason = reasons.last().expect("a question").to_lowercase();
        holds(&reason, &["may run", "later"]);
        assert!(
            host.scratch
                .ws
                .join(path.trim_start_matches("/ws/"))
                .is_file()
        );
    }
}
