//! Cases of the family `approval` about a workspace's own configuration: it grants nothing before the person trusts it,
//! and nothing more than what was trusted.

use std::path::PathBuf;

use toolgate::config::{Layers, Loaded, TrustStore, WhyNot};
use toolgate::model::DenialReason;
use toolgate_tests::{Scratch, Setup, TestHost};

use crate::command_host::{assert_ran, bash, with_bash};
use crate::support::{denial, holds, set_mode};

cases! {
    "A21" => a21_a_workspaces_file_grants_nothing_before_it_is_trusted,
    "A23" => a23_what_changed_after_it_was_trusted_is_not_run,
}

/// Where the workspace's file may stand.
const PLACES: [&str; 3] = [
    ".toolgate/config.toml",
    ".toolgate/toolgate.toml",
    "toolgate.toml",
];

/// A workspace whose file allows everything, runs a hook and brings a component along.
struct Workspace {
    scratch: Scratch,
    file: PathBuf,
    hook: PathBuf,
    ran: PathBuf,
}

impl Workspace {
    fn new(place: &str) -> Self {
        let scratch = Scratch::new();
        let ran = scratch.outside.join("ran");
        let hook = scratch.file("hook.sh", "");
        let component = scratch.file("echo.wasm", toolgate_artifacts::ECHO);
        let mut toml = "[permissions]\nallow = [\"Bash\"]\n".to_owned();
        toml.push_str(&format!(
            "[components]\nfiles = [{:?}]\n",
            component.display().to_string()
        ));
        toml.push_str(&format!(
            "[[hooks.pre_tool_use]]\ncommand = [{:?}]\n",
            hook.display().to_string()
        ));
        let server = scratch.file("server.sh", "#!/bin/sh\nexit 1\n");
        set_mode(&server, 0o755);
        toml.push_str(&format!(
            "[mcp.servers.ext]\ncommand = [{:?}]\nread = [{:?}]\n",
            server.display().to_string(),
            scratch.ws.display().to_string()
        ));
        let file = scratch.file(place, toml);
        let workspace = Self {
            scratch,
            file,
            hook,
            ran,
        };
        workspace.write_hook("one");
        workspace
    }

    /// The hook leaves a mark when it is run.
    fn write_hook(&self, mark: &str) {
        let ran = self.ran.display();
        let text = format!("#!/bin/sh\necho {mark} > '{ran}'\n");
        std::fs::write(&self.hook, text).expect("a hook");
        set_mode(&self.hook, 0o755);
    }

    fn layers(&self) -> Layers {
        Layers {
            workspace: Some(self.scratch.ws.clone()),
            state: Some(self.scratch.state.clone()),
            ..Layers::default()
        }
    }

    fn load(&self) -> Loaded {
        self.layers().load().expect("settings")
    }

    /// The person trusts the file as it is.
    fn trust(&self) {
        let files = self.layers().workspace_files();
        let mut store = TrustStore::open(&self.scratch.state).expect("a store");
        for file in &files {
            let preview = file.preview().expect("it can be used");
            store.trust(file, &preview).expect("kept");
        }
        assert_eq!(files.len(), 1);
    }

    /// Asserts that the file is not in force, and gives why not.
    fn why_not(&self) -> WhyNot {
        let loaded = self.load();
        assert_eq!(loaded.in_force, []);
        let config = &loaded.config;
        assert!(config.rules.is_empty() && config.hooks.is_empty() && config.components.is_empty());
        assert!(config.mcp.is_empty(), "no server of it is started");
        let [not_in_force] = loaded.not_in_force.as_slice() else {
            panic!("{:?}", loaded.not_in_force)
        };
        assert_eq!(not_in_force.file, self.file);
        // What the start says.
        let said = not_in_force.to_string();
        holds(&said, &[&self.file.display().to_string(), "not in force"]);
        not_in_force.why.clone()
    }

    /// A host as the settings in force make it; nobody can be asked.
    async fn start(self) -> (TestHost, PathBuf) {
        let setup = Setup {
            config: self.load().config,
        };
        let host = TestHost::with(self.scratch, setup, with_bash).await;
        (host, self.ran)
    }
}

fn tools(host: &TestHost) -> Vec<String> {
    let tools = host.host.all_tools();
    tools.map(|tool| tool.name().to_string()).collect()
}

async fn a21_a_workspaces_file_grants_nothing_before_it_is_trusted() {
    for place in PLACES {
        let workspace = Workspace::new(place);
        assert_eq!(workspace.why_not(), WhyNot::NeverTrusted);
        let (host, ran) = workspace.start().await;
        let outcome = bash(&host, "make").await;
        assert_eq!(denial(&outcome).reason, DenialReason::NoApprover, "{place}");
        assert!(!ran.exists(), "{place}: the hook was run");
        assert!(
            !tools(&host).contains(&"Echo".to_owned()),
            "{place}: the component was loaded"
        );
    }
    // The same file, trusted.
    let workspace = Workspace::new(PLACES[0]);
    workspace.trust();
    let (host, ran) = workspace.start().await;
    assert!(!ran.exists(), "the start runs nothing");
    assert_ran(&host, "make", &bash(&host, "make").await);
    assert!(ran.exists());
    assert!(tools(&host).contains(&"Echo".to_owned()));
}

async fn a23_what_changed_after_it_was_trusted_is_not_run() {
    // The command in the file.
    let workspace = Workspace::new(PLACES[0]);
    workspace.trust();
    let trusted = std::fs::read_to_string(&workspace.file).expect("the file");
    let other = workspace.scratch.file("other.sh", "#!/bin/sh\n");
    set_mode(&other, 0o755);
    for named in ["hook.sh", "server.sh"] {
        let changed = trusted.replace(named, "other.sh");
        assert_ne!(changed, trusted);
        std::fs::write(&workspace.file, changed).expect("changed");
        assert!(matches!(workspace.why_not(), WhyNot::Changed { .. }));
    }
    // One byte that means nothing.
    std::fs::write(&workspace.file, format!("{trusted}\n")).expect("changed");
    assert!(matches!(workspace.why_not(), WhyNot::Changed { .. }));
    let (host, ran) = workspace.start().await;
    let outcome = bash(&host, "make").await;
    assert_eq!(denial(&outcome).reason, DenialReason::NoApprover);
    assert!(!ran.exists());

    // What the file names: the hook's program, and the component.
    let workspace = Workspace::new(PLACES[0]);
    workspace.trust();
    workspace.write_hook("two");
    match workspace.why_not() {
        WhyNot::NamedChanged { path, .. } => assert_eq!(path, workspace.hook),
        other => panic!("{other:?}"),
    }
    workspace.write_hook("one");
    let server = workspace.scratch.ws.join("server.sh");
    let was = std::fs::read(&server).expect("the server");
    std::fs::write(&server, "#!/bin/sh\nexit 2\n").expect("another server");
    match workspace.why_not() {
        WhyNot::NamedChanged { path, .. } => assert_eq!(path, server),
        other => panic!("{other:?}"),
    }
    std::fs::write(&server, was).expect("the old server");
    let component = workspace.scratch.ws.join("echo.wasm");
    std::fs::write(&component, toolgate_artifacts::EXITS).expect("another component");
    match workspace.why_not() {
        WhyNot::NamedChanged { path, .. } => assert_eq!(path, component),
        other => panic!("{other:?}"),
    }
    // As it was trusted it is in force again, and trust can be given to what it is now.
    std::fs::write(&component, toolgate_artifacts::ECHO).expect("the old component");
    assert_eq!(workspace.load().not_in_force, []);
    workspace.write_hook("two");
    assert!(matches!(workspace.why_not(), WhyNot::NamedChanged { .. }));
    workspace.trust();
    let (host, ran) = workspace.start().await;
    assert_ran(&host, "make", &bash(&host, "make").await);
    assert_eq!(std::fs::read_to_string(ran).expect("it was run"), "two\n");
}
