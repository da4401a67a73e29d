//! What the operator set for the shell.

use std::path::PathBuf;

use super::ended::Containment;
use super::environment;
use super::wire::Layers;

/// A user that commands run as, where the host is root.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RunAs {
    /// User id.
    pub user: u32,
    /// Group id; there are no others.
    pub group: u32,
}

/// Settings of a shell.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Settings {
    /// The bash that runs commands; `/bin/bash`.
    pub shell: PathBuf,
    /// What keeps files and system calls; all of it. Less is for machines that cannot do better, and is said in each
    /// result.
    pub layers: Layers,
    /// The weakest containment that is accepted; a subreaper, and where there is none a process group.
    pub min_containment: Containment,
    /// The strongest containment that is tried; a PID namespace. A process group is what other systems than Linux have.
    pub max_containment: Containment,
    /// Who commands run as; the host's own user.
    pub run_as: Option<RunAs>,
    /// Whether the host's `/proc` is accepted where a fresh one is refused; no.
    pub shared_proc: bool,
    /// Whether Unix sockets are refused too; no. It breaks databases, tmux and Python's multiprocessing.
    pub strict_sockets: bool,
    /// The most processes of a command; 1,024.
    pub processes: u64,
    /// The longest file, bytes; 8 GiB.
    pub file_size: u64,
    /// The most open files of a process; 4,096.
    pub open_files: u64,
    /// The size of a command's own `/tmp`, bytes; 512 MiB.
    pub tmp_size: u64,
    /// The most memory of a command where there is a control group, bytes; 2 GiB.
    pub memory: u64,
    /// Variables of the host that commands see besides the ordinary ones.
    pub pass: Vec<String>,
    /// Variables that commands see, with their values.
    pub set: Vec<(String, String)>,
    /// A private folder for the launcher's file where the system does not run programs from memory; the host's temporary
    /// folder.
    pub folder: Option<PathBuf>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            shell: PathBuf::from("/bin/bash"),
            layers: Layers::All,
            min_containment: match cfg!(target_os = "linux") {
                true => Containment::Subreaper,
                false => Containment::ProcessGroup,
            },
            max_containment: Containment::PidNamespace,
            run_as: None,
            shared_proc: false,
            strict_sockets: false,
            processes: 1_024,
            file_size: 8 << 30,
            open_files: 4_096,
            tmp_size: 512 << 20,
            memory: 2 << 30,
            pass: Vec::new(),
            set: Vec::new(),
            folder: None,
        }
    }
}

/// A setting that cannot be.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SettingsError {
    /// A variable that would hand secrets or control to a command.
    #[error(
        "the variable '{0}' cannot be passed to commands: variables of this name carry secrets or change what programs \
         load; set it for the one program that needs it"
    )]
    Variable(String),
    /// A program that is not there.
    #[error(
        "the program '{}' is not there: install it, or give its absolute path as 'program' in [shell]", .0.display()
    )]
    Program(PathBuf),
    /// What bubblewrap does not do.
    #[error("bubblewrap {0}")]
    Bubblewrap(String),
    /// A sandbox on a system that has none.
    #[error(
        "commands are held by process groups alone here, without a sandbox: to have that, write sandbox = \"off\" in [shell], and \
         know that deny rules over files do not bind commands then"
    )]
    NoSandbox,
    /// What only Linux has.
    #[error("kind = \"{0}\" needs Linux: take kind = \"local\"")]
    NeedsLinux(&'static str),
    /// A containment that process groups do not give.
    #[error(
        "commands are held by process groups here, which is less than the '{0}' that 'min_containment' demands"
    )]
    OnlyGroups(&'static str),
    /// What a container does not do, or needs.
    #[error("a container {0}")]
    Container(String),
    /// A relative shell.
    #[error("the shell '{}' is no absolute path", .0.display())]
    Shell(PathBuf),
}

impl Settings {
    /// Looks the settings through.
    ///
    /// # Errors
    /// A variable that may not be passed, or a shell that is no absolute path.
    pub fn check(&self) -> Result<(), SettingsError> {
        if !self.shell.is_absolute() {
            return Err(SettingsError::Shell(self.shell.clone()));
        }
        let names = self
            .pass
            .iter()
            .chain(self.set.iter().map(|(name, _)| name));
        for name in names {
            if environment::is_refused(name) {
                return Err(SettingsError::Variable(name.clone()));
            }
        }
        Ok(())
    }
}
