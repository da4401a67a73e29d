//! What the host and its launcher tell each other, as bytes.
//!
//! Owns the plan of a command and the reports that come back. Shared by both programs: no I/O, no dependencies, and
//! nothing here can panic on what it is given. A plan never travels as arguments, because a command can read those.

mod bytes;
mod step;

pub use step::Step;

/// What the launcher is to do. Paths are absolute bytes without NUL.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Plan {
    /// How the tree is held together.
    pub hold: Hold,
    /// What keeps files and system calls.
    pub layers: Layers,
    /// Whether the command shares the host's network; otherwise it sees a loopback of its own.
    pub network: bool,
    /// Whether the host's `/proc` is used where a fresh one is refused.
    pub shared_proc: bool,
    /// Whether Unix sockets are refused too.
    pub strict_sockets: bool,
    /// Bubblewrap's own path, where it makes the sandbox.
    pub bubblewrap: Vec<u8>,
    /// User and group to become, where the host is root.
    pub run_as: Option<(u32, u32)>,
    /// The shell.
    pub program: Vec<u8>,
    /// Its arguments, its name first.
    pub arguments: Vec<Vec<u8>>,
    /// `NAME=value`.
    pub environment: Vec<Vec<u8>>,
    /// Where the command begins.
    pub cwd: Vec<u8>,
    /// Existing files and folders that may be written.
    pub writable: Vec<Vec<u8>>,
    /// Existing files and folders that stay readable although they lie in `/tmp` or `/run`.
    pub readable: Vec<Vec<u8>>,
    /// What cannot be read; what does not exist is passed over.
    pub hidden: Vec<Vec<u8>>,
    /// What cannot be changed although it lies in a writable folder; what does not exist is passed over.
    pub protected: Vec<Vec<u8>>,
    /// The most processes, where that can be bounded.
    pub processes: u64,
    /// The longest file, bytes.
    pub file_size: u64,
    /// The most open files of a process.
    pub open_files: u64,
    /// The size of `/tmp`, bytes.
    pub tmp_size: u64,
    /// A control group that the tree joins.
    pub cgroup: Option<Vec<u8>>,
    /// A terminal of the command's own instead of pipes.
    pub terminal: Option<Screen>,
    /// A pipe as the command's input travels along, in the place of a script.
    pub input: bool,
}

/// A terminal as it begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Screen {
    /// Lines.
    pub rows: u16,
    /// Characters of a line.
    pub cols: u16,
    /// Whether bytes pass as they are both ways: no echo, no line editing, no signals from keys, no limit of a line's length.
    pub raw: bool,
}

/// How the tree is held together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Hold {
    /// A PID namespace, made as root.
    #[default]
    PidNamespace,
    /// A PID namespace in a user namespace.
    UserNamespace,
    /// A supervisor that adopts what is left behind.
    Subreaper,
    /// A PID namespace that bubblewrap makes, with the mounts.
    Bubblewrap,
}

/// What keeps files and system calls.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Layers {
    /// Mounts, Landlock and a system call filter.
    #[default]
    All,
    /// Landlock and a system call filter.
    Landlock,
    /// Nothing.
    Off,
}

/// How far Landlock went.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Enforced {
    /// Not at all.
    #[default]
    Not,
    /// The kernel knows less than was asked for.
    Partly,
    /// As asked for.
    Fully,
}

/// What is in force as the command begins.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Force {
    /// The kernel's Landlock version; 0 without Landlock.
    pub landlock_abi: u32,
    /// How far it went.
    pub landlock: Enforced,
    /// The system call filter.
    pub seccomp: bool,
    /// The most processes of the tree; 0: not bounded.
    pub processes: u64,
    /// The fresh `/proc` was refused and the host's one is seen.
    pub shared_proc: bool,
}

/// What the launcher tells.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Report {
    /// The first process is there; its descriptor travels along.
    First,
    /// The command's terminal is there; its other end travels along.
    Terminal,
    /// The command runs.
    Started(Force),
    /// It does not.
    Failed {
        /// Where.
        step: Step,
        /// The system's error number.
        errno: i32,
        /// The path in question, or nothing.
        detail: Vec<u8>,
    },
    /// The shell has ended.
    Leader {
        /// As `waitpid` gave it.
        status: i32,
        /// How many other processes of the tree live.
        others: u32,
    },
    /// How many processes besides the shell live now.
    Alive(u32),
    /// A supervisor's kill is over.
    Swept {
        /// Processes that did not end; 0 is a clean end.
        left: u32,
        /// One of them.
        pid: u32,
    },
}

/// What the host asks the launcher.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ask {
    /// Run the plan in the descriptors that travel along.
    Run,
    /// Count what lives.
    Count,
    /// End everything (a supervisor only).
    Sweep,
}

/// The longest message, bytes.
pub const MAX_MESSAGE: usize = 8 << 10;
/// The descriptor under which the shell finds a script that is too long for an argument.
pub const SCRIPT: i32 = 100;
/// The longest plan, bytes.
pub const MAX_PLAN: usize = 16 << 20;
