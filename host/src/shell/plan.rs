//! From what is asked for to the launcher's plan: everything that can be found wrong without starting a process is found here.

use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::command::{Command, CouldNotStart, Kind, Network, Sandbox};
use super::environment;
use super::pty::Session;
use super::service::{Ends, Program};
use super::settings::Settings;
use super::wire::{Hold, Layers, Plan, SCRIPT, Step};

/// Longer command lines travel as a file: the longest argument is 128 KiB.
const LONGEST_ARGUMENT: usize = 120_000;
/// Folders that each command has for itself.
const PRIVATE: [&str; 3] = ["/tmp", "/run", "/dev/shm"];

/// The longest time of a terminal.
const LONGEST_SESSION: Duration = Duration::from_secs(86_400);
/// The shell's arguments that stand before any command.
const OPTIONS: usize = 3;
/// Variables that say that nobody answers a prompt; on a terminal somebody does.
const UNANSWERED: [&[u8]; 2] = [b"GIT_TERMINAL_PROMPT=", b"DEBIAN_FRONTEND="];

/// A plan with what belongs to it.
#[derive(Debug)]
pub(super) struct Planned {
    pub(super) plan: Plan,
    /// The command line does not fit an argument.
    pub(super) script: bool,
    /// Where the command begins.
    pub(super) cwd: PathBuf,
    /// Protected names that did not exist.
    pub(super) absent: Vec<PathBuf>,
    /// How long a terminal may go without use.
    pub(super) idle: Option<Duration>,
    /// A service's ends of the pipes that it talks through.
    pub(super) ends: Option<Ends>,
    /// For the model.
    pub(super) notes: Vec<String>,
}

impl Planned {
    /// Whether the command line can be handed over as one argument, where it cannot travel as a file.
    ///
    /// # Errors
    /// It is too long for one.
    pub(super) fn fits_argument(&self) -> Result<(), CouldNotStart> {
        match self.script {
            true => Err(CouldNotStart::new(
                Step::Validate,
                "the command is longer than 120,000 bytes: put it into a file",
            )),
            false => Ok(()),
        }
    }
}

/// Makes the plan of a command.
pub(super) fn of(
    command: &Command,
    sandbox: &Sandbox,
    settings: &Settings,
    hold: Hold,
) -> Result<Planned, CouldNotStart> {
    validate(&command.line)?;
    let writable = roots(&sandbox.writable)?;
    let mut readable = roots(&sandbox.readable)?;
    let full = command.network == Network::Full;
    if full {
        readable.extend(resolver());
    }
    let cwd = cwd(command, &writable, &readable)?;
    let script = command.line.len() > LONGEST_ARGUMENT;
    let absent = sandbox.protected.iter().filter(|path| !exists(path));
    let hidden = sandbox.masks.iter().chain(&sandbox.hidden);
    let plan = Plan {
        hold,
        layers: settings.layers,
        // Without a sandbox nothing is kept from the network either.
        network: full || settings.layers == Layers::Off,
        shared_proc: settings.shared_proc,
        strict_sockets: settings.strict_sockets,
        bubblewrap: Vec::new(),
        run_as: settings.run_as.map(|who| (who.user, who.group)),
        program: bytes(&settings.shell),
        arguments: arguments(&command.line, script),
        environment: environment::of_command(settings, &writable),
        cwd: bytes(&cwd),
        writable: writable.iter().map(|path| bytes(path)).collect(),
        readable: readable.iter().map(|path| bytes(path)).collect(),
        hidden: hidden.map(|path| bytes(path)).collect(),
        protected: sandbox.protected.iter().map(|path| bytes(path)).collect(),
        processes: settings.processes,
        file_size: settings.file_size,
        open_files: settings.open_files,
        tmp_size: settings.tmp_size,
        cgroup: None,
        terminal: None,
        input: false,
    };
    Ok(Planned {
        plan,
        script,
        cwd,
        absent: absent.cloned().collect(),
        idle: None,
        ends: None,
        notes: Vec::new(),
    })
}

/// Makes the plan of a program that talks through its input and output.
pub(super) fn of_program(
    program: Program,
    sandbox: &Sandbox,
    settings: &Settings,
    hold: Hold,
    ends: Ends,
) -> Result<(Command, Planned), CouldNotStart> {
    let command = Command {
        line: program.path.display().to_string(),
        cwd: program.cwd.clone(),
        timeout: None,
        kind: Kind::Service,
        separate: true,
        network: program.network,
        spill: None,
    };
    let mut planned = of(&command, sandbox, settings, hold)?;
    planned.script = false;
    planned.plan.program = bytes(&program.path);
    let arguments = program
        .arguments
        .iter()
        .map(|word| word.as_bytes().to_vec());
    planned.plan.arguments = std::iter::once(bytes(&program.path))
        .chain(arguments)
        .collect();
    planned.plan.environment = environment::of_service(&program, settings, &sandbox.writable);
    planned.plan.input = true;
    planned.ends = Some(ends);
    Ok((command, planned))
}

/// Makes the plan of a command on a terminal. A shell that nobody gave a command reads its commands from there.
pub(super) fn of_session(
    session: Session,
    sandbox: &Sandbox,
    settings: &Settings,
    hold: Hold,
) -> Result<(Command, Planned), CouldNotStart> {
    let screen = session.screen()?;
    let (idle, note) = session.longest_idle();
    let interactive = session.command.is_none();
    let command = Command {
        line: session.command.unwrap_or_else(|| "bash".to_owned()),
        cwd: session.cwd,
        timeout: Some(session.timeout.unwrap_or(LONGEST_SESSION)),
        kind: Kind::Background,
        separate: false,
        network: session.network,
        spill: session.spill,
    };
    let mut planned = of(&command, sandbox, settings, hold)?;
    if interactive {
        planned.plan.arguments.truncate(OPTIONS);
    }
    let answered = |variable: &Vec<u8>| !UNANSWERED.iter().any(|name| variable.starts_with(name));
    planned.plan.environment.retain(answered);
    planned.plan.terminal = Some(screen);
    planned.idle = Some(idle);
    planned.notes.extend(note);
    Ok((command, planned))
}

fn validate(line: &str) -> Result<(), CouldNotStart> {
    let problem = if line.trim().is_empty() {
        "the command is empty: give a command line for bash"
    } else if line.contains('\0') {
        "the command holds a NUL character, which no command line can: write \\0 inside of $'' or printf instead"
    } else {
        return Ok(());
    };
    Err(CouldNotStart::new(Step::Validate, problem))
}

/// The shell's arguments. No startup file is read, and a line that begins with a dash is no option.
fn arguments(line: &str, script: bool) -> Vec<Vec<u8>> {
    let mut arguments = vec!["bash", "--norc", "--noprofile"];
    let path = format!("/dev/fd/{SCRIPT}");
    if script {
        arguments.push(&path);
    } else {
        arguments.extend(["-c", "--", line]);
    }
    arguments
        .into_iter()
        .map(|argument| argument.as_bytes().to_vec())
        .collect()
}

/// The real paths of roots, which must exist.
pub(super) fn roots(given: &[PathBuf]) -> Result<Vec<PathBuf>, CouldNotStart> {
    let mut real = Vec::new();
    for path in given {
        let root = path.canonicalize().map_err(|error| {
            let hint = format!("the root '{}' cannot be opened: {error}", path.display());
            CouldNotStart::system(Step::Root, &error, hint)
        })?;
        if root == Path::new("/") {
            let hint = "the whole file system cannot be a root of a command: name the folders that it needs";
            return Err(CouldNotStart::new(Step::Root, hint));
        }
        if !real.contains(&root) {
            real.push(root);
        }
    }
    Ok(real)
}

/// What name look-ups need from `/run`, where the network is open.
fn resolver() -> Option<PathBuf> {
    let real = Path::new("/etc/resolv.conf").canonicalize().ok()?;
    let hidden = PRIVATE.iter().any(|folder| real.starts_with(folder));
    hidden.then_some(real)
}

fn cwd(
    command: &Command,
    writable: &[PathBuf],
    readable: &[PathBuf],
) -> Result<PathBuf, CouldNotStart> {
    let Some(asked) = &command.cwd else {
        let first = writable.first().or_else(|| readable.first());
        return Ok(first.map_or_else(|| PathBuf::from("/"), Clone::clone));
    };
    let fail = |error: &std::io::Error| {
        let hint = format!(
            "the working directory '{}' cannot be entered: {error}",
            asked.display()
        );
        CouldNotStart::system(Step::Cwd, error, hint)
    };
    let real = asked.canonicalize().map_err(|error| fail(&error))?;
    if !real.is_dir() {
        return Err(fail(&std::io::ErrorKind::NotADirectory.into()));
    }
    let mut roots = writable.iter().chain(readable);
    if !roots.any(|root| real.starts_with(root)) {
        let hint = format!(
            "the working directory '{}' is outside of the folders that this command may use",
            asked.display()
        );
        return Err(CouldNotStart::new(Step::Cwd, hint));
    }
    Ok(real)
}

/// Whether there is something under this name, be it a link to nowhere.
pub(super) fn exists(path: &Path) -> bool {
    path.symlink_metadata().is_ok()
}

fn bytes(path: &Path) -> Vec<u8> {
    path.as_os_str().as_bytes().to_vec()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn planned(command: &Command, sandbox: &Sandbox) -> Result<Planned, CouldNotStart> {
        of(command, sandbox, &Settings::default(), Hold::PidNamespace)
    }

    #[test]
    fn what_is_no_command_is_found_before_anything_runs() {
        for line in ["", " \n", "echo \0"] {
            let refused = planned(&Command::new(line), &Sandbox::default()).unwrap_err();
            assert_eq!(refused.step, Step::Validate, "{line:?}");
        }
        let dashed = planned(&Command::new("-x"), &Sandbox::default()).unwrap();
        assert_eq!(
            dashed.plan.arguments[3..],
            [b"-c".to_vec(), b"--".to_vec(), b"-x".to_vec()]
        );
        let long = Command::new("#".repeat(LONGEST_ARGUMENT + 1));
        let long = planned(&long, &Sandbox::default()).unwrap();
        assert!(long.script && long.plan.arguments[3] == b"/dev/fd/100");
    }

    #[test]
    fn roots_and_working_directories_are_real() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        std::fs::create_dir(root.join("ws")).unwrap();
        std::os::unix::fs::symlink(root.join("ws"), root.join("link")).unwrap();
        let mut sandbox = Sandbox {
            writable: vec![root.join("link"), root.join("ws")],
            ..Sandbox::default()
        };
        let mut command = Command::new("true");
        let plan = planned(&command, &sandbox).unwrap();
        assert_eq!((plan.cwd, plan.plan.writable.len()), (root.join("ws"), 1));
        for (cwd, says) in [
            (root.join("gone"), "No such file"),
            (root.clone(), "outside of"),
            (PathBuf::from("/"), "outside of"),
        ] {
            command.cwd = Some(cwd);
            let refused = planned(&command, &sandbox).unwrap_err();
            assert_eq!(refused.step, Step::Cwd);
            assert!(refused.hint.contains(says), "{}", refused.hint);
        }
        command.cwd = None;
        for root in [root.join("gone"), PathBuf::from("/")] {
            sandbox.writable = vec![root];
            assert_eq!(planned(&command, &sandbox).unwrap_err().step, Step::Root);
        }
    }

    #[test]
    fn plans_and_reports_survive_the_way() {
        use super::super::wire::{Ask, Enforced, Force, Report};
        for ask in [Ask::Run, Ask::Count, Ask::Sweep] {
            assert_eq!(Ask::decode(&ask.encode()), Some(ask));
        }
        let command = Command::new("echo ä");
        let plan = planned(&command, &Sandbox::default()).unwrap().plan;
        let bytes = plan.encode();
        assert_eq!(Plan::decode(&bytes), Some(plan));
        for length in 0..bytes.len() {
            assert_eq!(Plan::decode(&bytes[..length]), None);
        }
        for report in [
            Report::First,
            Report::Started(Force {
                landlock_abi: 7,
                landlock: Enforced::Partly,
                seccomp: true,
                processes: 1_024,
                shared_proc: false,
            }),
            Report::Failed {
                step: Step::Containment,
                errno: -1,
                detail: b"/x".to_vec(),
            },
            Report::Leader {
                status: 0x8b,
                others: 3,
            },
            Report::Alive(1),
            Report::Swept { left: 1, pid: 2 },
        ] {
            assert_eq!(Report::decode(&report.encode()), Some(report));
        }
        assert_eq!(Report::decode(b"Fxxxxxxxxxxxx"), None);
    }
}
