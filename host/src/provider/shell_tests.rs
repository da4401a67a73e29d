//! The provider over the real shell, without a component before it.

use std::path::{Path, PathBuf};
use std::time::Duration;

use super::shell::{NativeShell, ShellPlaces};
use crate::model::{
    Claim, Evidence, FileScope, ShellTarget, SideEffect, Subject, SubjectKind, ToolName, Traits,
    Trust,
};
use crate::policy::{
    Access, Decision, Mode, Policy, PolicySettings, Roots, Rule, ShellGrant, ToolFacts,
};
use crate::runtime::{CommandEnding, CommandOrder, ShellPort as _, StartedTask};
use crate::shell::{LocalShell, Network, Settings};

struct Place {
    _folder: tempfile::TempDir,
    base: PathBuf,
    policy: Policy,
    bash: ToolFacts,
    shell: NativeShell,
}

fn facts(name: &str, files: Option<Access>) -> ToolFacts {
    let claim = Claim {
        level: match files {
            Some(Access::Read) => SideEffect::ReadOnly,
            Some(Access::Write) | None => SideEffect::Mutating,
        },
        ..Claim::default()
    };
    ToolFacts {
        name: ToolName::try_from(name).unwrap(),
        traits: Traits::resolve(&claim, &Evidence::default(), Trust::Audited),
        subject: Some(files.map_or(SubjectKind::Command, |_| SubjectKind::Path)),
        computes_subjects: false,
        files: files.map(|access| (access, FileScope::Subject)),
        built_in: true,
    }
}

fn place(deny: &[&str]) -> Place {
    // Not below /tmp, which a command has for itself.
    let folder = tempfile::tempdir_in("/var/tmp").unwrap();
    let base = folder.path().canonicalize().unwrap();
    for name in ["ws", "state", "state/spill"] {
        std::fs::create_dir(base.join(name)).unwrap();
    }
    let bash = facts("Bash", None);
    let tools = [
        facts("Read", Some(Access::Read)),
        facts("Write", Some(Access::Write)),
        bash.clone(),
    ];
    let rules: Vec<Rule> = deny
        .iter()
        .map(|rule| Rule::parse(Decision::Deny, rule, Path::new("t.toml"), 1).unwrap())
        .collect();
    let ws = base.join("ws");
    let settings = PolicySettings {
        mode: Mode::Default,
        ceiling: SideEffect::Mutating,
        roots: Roots::new(ws.clone(), ws, Vec::new(), Vec::new()),
        home: None,
        protected: Vec::new(),
        coming: Vec::new(),
    };
    let places = ShellPlaces {
        home: None,
        hidden: vec![base.join("state")],
        own: Vec::new(),
        spill: base.join("state/spill"),
    };
    let local = LocalShell::new(Settings::default()).unwrap();
    Place {
        policy: Policy::build(&rules, settings, &tools).unwrap(),
        shell: NativeShell::new(std::sync::Arc::new(local), Network::Off, places),
        bash,
        base,
        _folder: folder,
    }
}

impl Place {
    fn file(&self, name: &str, content: &str) -> PathBuf {
        let path = self.base.join("ws").join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, content).unwrap();
        path
    }

    fn grant(&self, line: &str) -> ShellGrant {
        let subjects = [Subject {
            kind: SubjectKind::Command,
            value: line.to_owned(),
        }];
        let target = Some(ShellTarget::Run);
        let grant = self.policy.shell_grant(&self.bash, target, &subjects);
        grant.unwrap()
    }

    async fn run(&self, line: &str) -> String {
        let order = order(line);
        let ran = self.shell.run(order, &self.grant(line)).await;
        ran.unwrap_or_else(|error| panic!("{}", error.message)).text
    }
}

fn order(line: &str) -> CommandOrder {
    CommandOrder {
        line: line.to_owned(),
        cwd: None,
        timeout: None,
    }
}

#[tokio::test]
async fn deny_rules_over_files_bind_commands() {
    let place = place(&[
        "Read(.env)",
        "Read(secrets/**)",
        "Read(**/*.pem)",
        "Write(keep.txt)",
        "Write(**/*.lock)",
    ]);
    for name in [".env", "secrets/a/b", "deep/er/key.pem"] {
        place.file(name, "TOPSECRET");
    }
    for name in ["keep.txt", "deep/x.lock", "free.txt"] {
        place.file(name, "old");
    }
    let said = place
        .run(
            "cat .env secrets/a/b deep/er/key.pem; ln .env x; cat x; cp -r . /tmp/all; cat /tmp/all/.env; mv secrets s2; \
             cat s2/a/b; find . -type f -exec cat {} +",
        )
        .await;
    assert!(!said.contains("TOPSECRET"), "{said}");
    let line =
        "for f in keep.txt deep/x.lock free.txt; do echo new > $f; rm -f $f; done; mv deep d2";
    let said = place.run(line).await;
    for name in ["keep.txt", "deep/x.lock"] {
        let kept = std::fs::read(place.base.join("ws").join(name)).unwrap();
        assert_eq!(kept, b"old", "{name}");
    }
    assert!(!place.base.join("ws/free.txt").exists(), "{said}");
}

#[tokio::test]
async fn the_hosts_own_folder_is_out_of_reach() {
    let place = place(&[]);
    let state = place.base.join("state");
    std::fs::write(state.join("standing.json"), "{}").unwrap();
    let at = state.display();
    let said = place
        .run(&format!(
            "cat {at}/standing.json; echo x > {at}/standing.json; echo y > {at}/new; echo done"
        ))
        .await;
    assert!(said.contains("done") && !said.contains("{}"), "{said}");
    assert_eq!(std::fs::read(state.join("standing.json")).unwrap(), b"{}");
    assert!(!state.join("new").exists());
}

#[tokio::test]
async fn tasks_are_read_stopped_and_remembered() {
    let place = place(&[]);
    let line = "echo up; sleep 30";
    let grant = place.grant(line);
    let started = place
        .shell
        .start_task(order(line), "waits".to_owned(), &grant);
    let StartedTask { id, force } = started.await.unwrap();
    assert!(force.containment.is_some());
    let wait = Duration::from_secs(20);
    let page = place.shell.task_output(&id, 0, wait).await.unwrap();
    assert_eq!((page.text.as_str(), page.next), ("up\n", 3));
    assert_eq!(page.task.ending, None);
    let stopped = place.shell.stop_task(&id).await.unwrap();
    assert_eq!(stopped.ending, Some(CommandEnding::Cancelled));
    let again = place.shell.stop_task(&id).await.unwrap();
    assert_eq!(again.ending, stopped.ending);
    // What was not in force is told, as it is of commands that are waited for.
    let page = place.shell.task_output(&id, 0, wait).await.unwrap();
    let notes = page.notes.join("\n");
    assert!(force.gaps.iter().all(|gap| notes.contains(gap)), "{notes}");
    assert_eq!(place.shell.list_tasks().await.len(), 1);
    let unknown = place.shell.stop_task("task-9-nope").await.unwrap_err();
    assert_eq!(unknown.code, "not-found");
}

#[tokio::test]
async fn long_output_is_kept_and_short_output_is_not() {
    let place = place(&[]);
    let spilled = || {
        std::fs::read_dir(place.base.join("state/spill"))
            .unwrap()
            .count()
    };
    assert_eq!(place.run("echo a; exit 3").await, "a\n[exit code: 3]");
    assert_eq!(spilled(), 0);
    let text = place.run("seq 1 200000").await;
    assert!(text.chars().count() <= 30_000 + 4_000 && text.ends_with("200000\n"));
    assert_eq!(spilled(), 1);
}

#[test]
fn a_grant_is_for_its_own_line() {
    let place = place(&[]);
    let grant = place.grant("echo a");
    assert!(grant.judge("echo a").is_ok());
    for line in ["echo a ", "echo b", "", "echo a; touch b"] {
        assert!(grant.judge(line).is_err(), "{line}");
    }
}
