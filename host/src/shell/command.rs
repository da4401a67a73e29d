//! What is asked for: a command, what it may reach, and why it did not start.

use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::capture::Spill;
use super::wire::Step;

/// A command line with its bounds.
#[derive(Debug)]
pub struct Command {
    /// For bash, as it stands: not empty, no NUL.
    pub line: String,
    /// Where it begins; the first writable root by default.
    pub cwd: Option<PathBuf>,
    /// By default 120 s in the foreground and 1 h in the background; clamped to 1 s ..= 600 s and 1 s ..= 24 h.
    pub timeout: Option<Duration>,
    /// Whether somebody waits for it.
    pub kind: Kind,
    /// Whether stderr is kept apart. Both in one pipe keep their order, two pipes do not.
    pub separate: bool,
    /// What it may dial.
    pub network: Network,
    /// Where all of the output goes, up to 64 MiB.
    pub spill: Option<Box<dyn Spill>>,
}

/// A time that no service of this process sees the end of.
const A_YEAR: Duration = Duration::from_secs(31_536_000);

/// Whether somebody waits for a command.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Kind {
    /// Somebody does.
    #[default]
    Foreground,
    /// Nobody does: it has more time.
    Background,
    /// Somebody talks with it as long as they like: a year.
    Service,
}

/// What a command may dial.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Network {
    /// A loopback of its own.
    #[default]
    Off,
    /// What the host may.
    Full,
}

impl Command {
    /// A foreground command with the defaults: 120 s, both streams in one, no network, nothing spilled.
    pub fn new(line: impl Into<String>) -> Self {
        Self {
            line: line.into(),
            cwd: None,
            timeout: None,
            kind: Kind::Foreground,
            separate: false,
            network: Network::Off,
            spill: None,
        }
    }

    /// The deadline that counts, and a note where it is not the one that was asked for.
    pub(crate) fn deadline(&self) -> (Duration, Option<String>) {
        let (default, longest) = match self.kind {
            Kind::Foreground => (Duration::from_secs(120), Duration::from_secs(600)),
            Kind::Background => (Duration::from_secs(3_600), Duration::from_secs(86_400)),
            Kind::Service => (A_YEAR, A_YEAR),
        };
        let asked = self.timeout.unwrap_or(default);
        let taken = asked.clamp(Duration::from_secs(1), longest);
        let note = (taken != asked).then(|| {
            format!(
                "the timeout of {} ms is outside of 1000 to {}: {} ms was used",
                asked.as_millis(),
                longest.as_millis(),
                taken.as_millis()
            )
        });
        (taken, note)
    }
}

/// What a command may reach, all paths absolute. Everything else is readable and cannot be changed; `/tmp` and `/run` are
/// its own, and vanish with it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sandbox {
    /// Folders and files that may be written. They must exist.
    pub writable: Vec<PathBuf>,
    /// Folders and files in `/tmp` or `/run` that stay readable. They must exist.
    pub readable: Vec<PathBuf>,
    /// Files and folders that a rule denies to be read. What does not exist is passed over.
    pub masks: Vec<PathBuf>,
    /// Names in a writable root that cannot be changed. What does not exist is passed over; what exists only afterwards
    /// stands in [`Ended::notes`](super::Ended::notes).
    pub protected: Vec<PathBuf>,
    /// Secrets: like masks, and stronger than any root.
    pub hidden: Vec<PathBuf>,
}

/// In a home directory: where credentials are kept.
const SECRETS: [&str; 14] = [
    ".ssh",
    ".aws",
    ".azure",
    ".gnupg",
    ".config/gcloud",
    ".config/gh",
    ".kube",
    ".docker",
    ".netrc",
    ".npmrc",
    ".pypirc",
    ".git-credentials",
    ".cargo/credentials",
    ".cargo/credentials.toml",
];

/// In a workspace: what programs outside of the sandbox execute or obey.
const OBEYED: [&str; 13] = [
    ".git/hooks",
    ".git/config",
    ".mcp.json",
    ".vscode",
    ".idea",
    ".claude",
    ".toolgate",
    ".bashrc",
    ".bash_profile",
    ".profile",
    ".zshrc",
    ".zprofile",
    ".envrc",
];

impl Sandbox {
    /// A sandbox with writable roots and the defaults: what programs obey in the roots is protected, and credentials in the
    /// home directory are hidden.
    pub fn new(writable: Vec<PathBuf>, home: Option<&Path>) -> Self {
        let protected = writable.iter().flat_map(|root| below(root, &OBEYED));
        Self {
            protected: protected.collect(),
            hidden: home.map_or_else(Vec::new, |home| below(home, &SECRETS).collect()),
            writable,
            ..Self::default()
        }
    }
}

fn below<'a>(root: &'a Path, names: &'a [&str]) -> impl Iterator<Item = PathBuf> {
    names.iter().map(move |name| root.join(name))
}

/// Why nothing was executed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CouldNotStart {
    /// The step that failed.
    pub step: Step,
    /// The system's error number, where the system refused.
    pub errno: Option<i32>,
    /// For people: what is wrong, where, and what to do about it.
    pub hint: String,
}

impl CouldNotStart {
    pub(crate) fn new(step: Step, hint: impl Into<String>) -> Self {
        Self {
            step,
            errno: None,
            hint: hint.into(),
        }
    }

    pub(crate) fn system(step: Step, error: &std::io::Error, hint: impl Into<String>) -> Self {
        Self {
            step,
            errno: error.raw_os_error(),
            hint: hint.into(),
        }
    }

    /// What the model reads.
    pub fn text(&self) -> String {
        format!("Command failed: {self}")
    }
}

impl fmt::Display for CouldNotStart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.hint)
    }
}

impl std::error::Error for CouldNotStart {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn deadlines_are_clamped_and_it_is_said() {
        let mut command = Command::new("true");
        assert_eq!(command.deadline(), (Duration::from_secs(120), None));
        for (asked, taken) in [(0, 1_000), (200, 1_000), (9_999_000, 600_000)] {
            command.timeout = Some(Duration::from_millis(asked));
            let (deadline, note) = command.deadline();
            assert_eq!(deadline, Duration::from_millis(taken));
            assert!(note.unwrap().contains(&format!("{taken} ms was used")));
        }
        command.kind = Kind::Background;
        assert_eq!(command.deadline(), (Duration::from_millis(9_999_000), None));
        command.timeout = None;
        assert_eq!(command.deadline(), (Duration::from_secs(3_600), None));
    }

    #[test]
    fn the_default_sandbox_protects_and_hides() {
        let sandbox = Sandbox::new(vec!["/ws".into()], Some(Path::new("/home/u")));
        assert!(sandbox.protected.contains(&"/ws/.git/hooks".into()));
        assert!(sandbox.hidden.contains(&"/home/u/.ssh".into()));
    }
}
