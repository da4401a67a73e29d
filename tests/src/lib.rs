//! A host for tests: a scratch workspace, a scratch folder outside of it, and everything that was journalled.

pub mod beside;
#[path = "../sandbox/fixture.rs"]
pub mod fixture;
pub mod net;
pub mod soak;

use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock};

use serde_json::Value;
use tempfile::TempDir;
use toolgate::approval::Fixed;
use toolgate::config::Config;
use toolgate::gate::Explanation;
use toolgate::journal::Memory;
use toolgate::model::{Ending, Outcome, RawCall};
use toolgate::policy::{Decision, Mode, Rule};
use toolgate::runtime::ToolEngine;
use toolgate::{Host, HostBuilder, HostError};

/// One engine for all tests of a process.
static ENGINE: LazyLock<ToolEngine> = LazyLock::new(|| ToolEngine::new(64).expect("an engine"));

/// The engine of all test hosts.
pub fn engine() -> &'static ToolEngine {
    &ENGINE
}

/// Scratch folders, `ws` and `outside` beside each other, resolved.
#[derive(Debug)]
pub struct Scratch {
    _root: TempDir,
    /// The workspace.
    pub ws: PathBuf,
    /// Outside of it.
    pub outside: PathBuf,
    /// Where the host keeps its own files.
    pub state: PathBuf,
}

impl Scratch {
    /// New, empty folders.
    pub fn new() -> Self {
        let root = tempfile::tempdir().expect("a scratch folder");
        let base = root.path().canonicalize().expect("its path");
        let folder = |name: &str| {
            let folder = base.join(name);
            std::fs::create_dir(&folder).expect("a folder");
            folder
        };
        Self {
            ws: folder("ws"),
            outside: folder("outside"),
            state: folder("state"),
            _root: root,
        }
    }

    /// Writes a file of the workspace, making its folders.
    pub fn file(&self, path: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.ws.join(path);
        std::fs::create_dir_all(path.parent().expect("a parent")).expect("folders");
        std::fs::write(&path, content).expect("a file");
        path
    }

    /// A text of a case with `/ws` and `/outside` in the places of this scratch.
    pub fn mapped(&self, text: &str) -> String {
        let ws = self.ws.to_str().expect("UTF-8");
        let outside = self.outside.to_str().expect("UTF-8");
        text.replace("/ws", "\u{fdd0}")
            .replace("/outside", outside)
            .replace('\u{fdd0}', ws)
    }
}

impl Default for Scratch {
    fn default() -> Self {
        Self::new()
    }
}

/// How a test host is set up.
#[derive(Debug, Default)]
pub struct Setup {
    /// Everything that a file could say.
    pub config: Config,
}

impl Setup {
    /// Adds rules. `/ws` and `/outside` stand for the scratch folders.
    pub fn rules(mut self, effect: Decision, rules: &[&str]) -> Self {
        for (index, rule) in rules.iter().enumerate() {
            let parsed =
                Rule::parse(effect, rule, Path::new("test.toml"), index + 1).expect("a rule");
            self.config.rules.push(parsed);
        }
        self
    }

    /// Adds allow rules.
    pub fn allow(self, rules: &[&str]) -> Self {
        self.rules(Decision::Allow, rules)
    }

    /// Adds deny rules.
    pub fn deny(self, rules: &[&str]) -> Self {
        self.rules(Decision::Deny, rules)
    }

    /// Sets the mode.
    pub fn mode(mut self, mode: Mode) -> Self {
        self.config.mode = Some(mode.into());
        self
    }
}

/// A host with its scratch folders and its journal.
#[derive(Debug)]
pub struct TestHost {
    /// The folders.
    pub scratch: Scratch,
    /// The host.
    pub host: Host,
    /// What was journalled.
    pub journal: Arc<Memory>,
}

impl TestHost {
    /// A host that denies what has to be asked.
    pub async fn new() -> Self {
        Self::with(Scratch::new(), Setup::default(), |builder| builder).await
    }

    /// A host in which every question gets a yes: for what the tools do, rather than who may call them.
    pub async fn approving(scratch: Scratch) -> Self {
        Self::with(scratch, Setup::default(), |builder| {
            builder.approver(Fixed::approve("the test"))
        })
        .await
    }

    /// A host with a setup of its own.
    pub async fn with(
        scratch: Scratch,
        setup: Setup,
        more: impl FnOnce(HostBuilder) -> HostBuilder,
    ) -> Self {
        Self::try_with(scratch, setup, more).await.expect("a host")
    }

    /// The same, where building it may fail.
    pub async fn try_with(
        scratch: Scratch,
        mut setup: Setup,
        more: impl FnOnce(HostBuilder) -> HostBuilder,
    ) -> Result<Self, HostError> {
        for rule in &mut setup.config.rules {
            rule.pattern = rule
                .pattern
                .as_deref()
                .map(|pattern| scratch.mapped(pattern));
        }
        let journal = Arc::new(Memory::default());
        let builder = Host::builder(&scratch.ws)
            .config(setup.config)
            .state_dir(&scratch.state)
            .engine(ENGINE.clone())
            .journal(Arc::clone(&journal) as _);
        Ok(Self {
            host: more(builder).build().await?,
            scratch,
            journal,
        })
    }

    /// A call; `/ws` and `/outside` in the input stand for the scratch folders.
    pub async fn call(&self, tool: &str, input: Value) -> Outcome {
        self.call_raw(tool, &self.scratch.mapped(&input.to_string()))
            .await
    }

    /// A call with exactly this input.
    pub async fn call_raw(&self, tool: &str, input: &str) -> Outcome {
        self.host.call(RawCall::new(tool, input)).await
    }

    /// What the gates would say.
    pub async fn explain(&self, tool: &str, input: Value) -> Explanation {
        let input = self.scratch.mapped(&input.to_string());
        self.host.explain(&RawCall::new(tool, input)).await
    }

    /// The text of a call that must have been done.
    pub async fn done(&self, tool: &str, input: Value) -> String {
        let outcome = self.call(tool, input).await;
        assert!(
            matches!(outcome.ending, Ending::Done(_)),
            "{:?}",
            outcome.ending
        );
        outcome.ending.text()
    }

    /// The text of a call that the tool must have said no to.
    pub async fn failed(&self, tool: &str, input: Value) -> String {
        let outcome = self.call(tool, input).await;
        assert!(
            matches!(outcome.ending, Ending::Failed(_)),
            "{:?}",
            outcome.ending
        );
        outcome.ending.text()
    }

    /// The text of a call that a gate must have denied.
    pub async fn denied(&self, tool: &str, input: Value) -> String {
        let outcome = self.call(tool, input).await;
        assert!(
            matches!(outcome.ending, Ending::Denied(_)),
            "{:?}",
            outcome.ending
        );
        outcome.ending.text()
    }
}
