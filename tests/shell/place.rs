//! A workspace with a shell in it.

use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock};
use std::time::{Duration, Instant};

use tempfile::TempDir;
use toolgate::shell::{
    BubblewrapShell, Command, CommandEnd, ContainerShell, Containment, CouldNotStart, Ended,
    Layers, LocalShell, Running, Sandbox, Session, Sessions, Settings, SettingsError, Shell,
    Terminal,
};

use crate::engine::podman;

/// Bounds in the table are for a quiet machine.
pub const SLACK: u32 = 4;

/// Which launcher the whole table is run against: `local` where nothing is set.
pub const LAUNCHER: &str = "TOOLGATE_TEST_SHELL";

/// Who makes the sandboxes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Launcher {
    Local,
    Bubblewrap,
    Podman,
}

/// Who makes the sandboxes of this run.
pub fn launcher() -> Launcher {
    match std::env::var(LAUNCHER).as_deref() {
        Ok("bubblewrap") => Launcher::Bubblewrap,
        Ok("podman") => Launcher::Podman,
        Ok("local") | Err(_) => Launcher::Local,
        Ok(other) => panic!("{LAUNCHER} is '{other}'"),
    }
}

/// A shell by the launcher that the table is run against.
pub fn made(settings: Settings) -> Result<Box<dyn Shell>, SettingsError> {
    Ok(match launcher() {
        Launcher::Bubblewrap => Box::new(BubblewrapShell::new(settings, None)?),
        Launcher::Podman => Box::new(ContainerShell::new(settings, podman())?),
        Launcher::Local => Box::new(LocalShell::new(settings)?),
    })
}

static SHELL: LazyLock<Box<dyn Shell>> =
    LazyLock::new(|| made(Settings::default()).unwrap_or_else(|error| panic!("{error}")));

static WITH_SUPERVISOR: LazyLock<LocalShell> = LazyLock::new(|| weaker(Containment::Subreaper));
static WITH_CGROUP: LazyLock<LocalShell> = LazyLock::new(|| weaker(Containment::Cgroup));

fn weaker(max_containment: Containment) -> LocalShell {
    let mut settings = Settings::default();
    settings.layers = Layers::Landlock;
    settings.max_containment = max_containment;
    LocalShell::new(settings).expect("settings")
}

/// Where commands run.
pub struct Place {
    shell: &'static dyn Shell,
    _folder: TempDir,
    pub ws: PathBuf,
    pub outside: PathBuf,
    pub sandbox: Sandbox,
}

impl Place {
    pub fn new() -> Self {
        // Not below /tmp, which a command has for itself: what is outside would be absent for another reason.
        let folder = tempfile::tempdir_in("/var/tmp").expect("a folder");
        let base = folder.path().canonicalize().expect("a path");
        let make = |name: &str| {
            let path = base.join(name);
            std::fs::create_dir(&path).expect("a folder");
            path
        };
        let ws = make("ws");
        let home = make("home");
        Self {
            sandbox: Sandbox::new(vec![ws.clone()], Some(&home)),
            outside: home,
            ws,
            shell: SHELL.as_ref(),
            _folder: folder,
        }
    }

    /// The same on a machine that has no namespaces.
    pub fn without_namespaces() -> Self {
        Self {
            shell: &*WITH_SUPERVISOR,
            ..Self::new()
        }
    }

    /// On one that has control groups, if this one has.
    pub fn with_cgroup() -> Self {
        Self {
            shell: &*WITH_CGROUP,
            ..Self::new()
        }
    }

    pub fn file(&self, name: &str, content: &str) -> PathBuf {
        let path = self.ws.join(name);
        std::fs::create_dir_all(path.parent().expect("a parent")).expect("folders");
        std::fs::write(&path, content).expect("a file");
        path
    }

    pub async fn start(&self, command: Command) -> Result<Running, CouldNotStart> {
        self.shell.start(command, &self.sandbox).await
    }

    pub async fn open(&self, session: Session) -> Result<Terminal, CouldNotStart> {
        self.shell.open(session, &self.sandbox).await
    }

    /// The same among the terminals of a host.
    pub async fn open_in(
        &self,
        sessions: &Sessions,
        session: Session,
    ) -> Result<(String, Arc<Terminal>), CouldNotStart> {
        sessions.open(self.shell, session, &self.sandbox).await
    }

    pub async fn command(&self, command: Command) -> Ended {
        let running = self.start(command).await;
        running
            .unwrap_or_else(|error| panic!("{error}"))
            .wait()
            .await
    }

    pub async fn run(&self, line: &str) -> Ended {
        self.command(Command::new(line)).await
    }

    /// Runs with a timeout, and gives how long it took in all.
    pub async fn timed(&self, line: &str, timeout: u64) -> (Ended, Duration) {
        let begun = Instant::now();
        let ended = self.command(with_timeout(line, timeout)).await;
        (ended, begun.elapsed())
    }
}

pub fn with_timeout(line: &str, millis: u64) -> Command {
    let mut command = Command::new(line);
    command.timeout = Some(Duration::from_millis(millis));
    command
}

pub fn exit(code: i32) -> CommandEnd {
    CommandEnd::Exit { code }
}

pub fn signal(name: &str) -> CommandEnd {
    CommandEnd::Signal {
        name: name.to_owned(),
    }
}

pub fn timed_out(millis: u64) -> CommandEnd {
    CommandEnd::TimedOut {
        after: Duration::from_millis(millis),
    }
}

pub fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

/// How long a file is; 0 where there is none.
pub fn length(path: &Path) -> u64 {
    std::fs::metadata(path).map_or(0, |metadata| metadata.len())
}

/// What a command must print.
pub enum Prints {
    Exactly(&'static str),
    Among(&'static str),
}

pub async fn check(line: &str, outcome: CommandEnd, prints: Prints) {
    let ended = Place::new().run(line).await;
    let text = &ended.output.text;
    assert_eq!(ended.outcome, outcome, "{ended:?}");
    match prints {
        Prints::Exactly(expected) => assert_eq!(text, expected),
        Prints::Among(expected) => assert!(text.contains(expected), "{text}"),
    }
    assert_eq!(
        (ended.background_killed, &ended.kill_incomplete),
        (0, &None)
    );
}

/// Tests of one command each.
#[macro_export]
macro_rules! commands {
    ($($id:ident: $line:expr => $outcome:expr, $prints:expr;)*) => {
        $(
            #[tokio::test]
            async fn $id() {
                $crate::place::check($line, $outcome, $prints).await;
            }
        )*
    };
}
