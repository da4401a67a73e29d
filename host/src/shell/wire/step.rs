//! The steps of starting a command.

/// A step of starting a command, as it is named where it fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Step {
    /// The command is no command.
    Validate = 1,
    /// The shell itself cannot be run.
    Shell,
    /// The working directory.
    Cwd,
    /// Starting the launcher.
    Launcher,
    /// Talking with the launcher.
    Control,
    /// A user namespace.
    UserNamespace,
    /// The user's identity inside of it.
    Identity,
    /// The other namespaces.
    Namespaces,
    /// The first process.
    Fork,
    /// The read-only tree.
    ReadOnlyRoot,
    /// A private folder, such as `/tmp`.
    PrivateFolder,
    /// The devices.
    Devices,
    /// A fresh `/proc`.
    Proc,
    /// A writable or readable root.
    Root,
    /// A protected name.
    Protected,
    /// A hidden or masked path.
    Hidden,
    /// The loopback.
    Loopback,
    /// Limits.
    Limits,
    /// Capabilities.
    Capabilities,
    /// The system call filter.
    Seccomp,
    /// Landlock, where nothing else keeps files.
    Landlock,
    /// Signals and descriptors of the command.
    Descriptors,
    /// The control group.
    Cgroup,
    /// The containment is below what the operator demands.
    Containment,
    /// A terminal.
    Terminal,
    /// Bubblewrap.
    Bubblewrap,
    /// The container, or the engine that runs it.
    Container,
}

/// All steps, in the order of their numbers.
const STEPS: [Step; 27] = [
    Step::Validate,
    Step::Shell,
    Step::Cwd,
    Step::Launcher,
    Step::Control,
    Step::UserNamespace,
    Step::Identity,
    Step::Namespaces,
    Step::Fork,
    Step::ReadOnlyRoot,
    Step::PrivateFolder,
    Step::Devices,
    Step::Proc,
    Step::Root,
    Step::Protected,
    Step::Hidden,
    Step::Loopback,
    Step::Limits,
    Step::Capabilities,
    Step::Seccomp,
    Step::Landlock,
    Step::Descriptors,
    Step::Cgroup,
    Step::Containment,
    Step::Terminal,
    Step::Bubblewrap,
    Step::Container,
];

impl Step {
    /// The step in words, to stand after "cannot".
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Validate => "run this command",
            Self::Shell => "run the shell",
            Self::Cwd => "enter the working directory",
            Self::Launcher => "start the launcher",
            Self::Control => "talk with the launcher",
            Self::UserNamespace => "create a user namespace",
            Self::Identity => "keep the user's identity in the user namespace",
            Self::Namespaces => "create namespaces",
            Self::Fork => "create a process",
            Self::ReadOnlyRoot => "make the file system read-only",
            Self::PrivateFolder => "mount a private folder",
            Self::Devices => "set up /dev",
            Self::Proc => "mount a fresh /proc",
            Self::Root => "bind a root",
            Self::Protected => "protect a name",
            Self::Hidden => "hide a path",
            Self::Loopback => "bring the loopback up",
            Self::Limits => "set limits",
            Self::Capabilities => "drop capabilities",
            Self::Seccomp => "install the system call filter",
            Self::Landlock => "limit writing with Landlock",
            Self::Descriptors => "set up signals and descriptors",
            Self::Cgroup => "join the control group",
            Self::Containment => "contain the command as demanded",
            Self::Terminal => "open a terminal",
            Self::Bubblewrap => "have bubblewrap set the sandbox up",
            Self::Container => "run a container",
        }
    }

    pub(super) fn from_number(number: u8) -> Option<Self> {
        STEPS.into_iter().find(|step| *step as u8 == number)
    }
}
