//! The sandbox by bubblewrap: it makes the namespaces and mounts where the system lets only that program make them.
//!
//! The launcher becomes bubblewrap with the mounts of the plan, and is started by it once more as the first process of the new
//! PID namespace. From there on everything is as it is without bubblewrap: limits, filter, Landlock, the lifeline. What
//! bubblewrap was asked for is looked at before the shell begins, and what is not there is a failure: its versions differ, and a
//! workspace may change while it works.

use std::ffi::{CString, OsString};
use std::fs::File;
use std::io::Read as _;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStringExt as _;

use rustix::fs::{MemfdFlags, Mode, OFlags, SeekFrom};
use rustix::io::{Errno, FdFlags};
use rustix::pipe::PipeFlags;
use rustix::process::{Pid, PidfdFlags, WaitOptions, pidfd_open, waitpid};

use crate::control::Control;
use crate::layout;
use crate::wire::{Plan, Report, Step};
use crate::{At as _, Failure, first, sys};

/// The argument by which the launcher knows that bubblewrap started it.
const WITHIN: &str = "within";
/// The most words that bubblewrap says before they are cut.
const LONGEST_WORDS: u64 = 2_000;
/// The most arguments that bubblewrap takes.
const MOST_ARGUMENTS: usize = 9_000;

/// Descriptors that go through bubblewrap, from this number on, in the order of [`Passed`].
const FIRST_PASSED: i32 = 200;

/// What goes through bubblewrap under fixed numbers: bubblewrap's own streams must not be the command's, because the half of it
/// that stays outside never closes them.
#[derive(Clone, Copy)]
enum Passed {
    Control,
    Output,
    Errors,
    Plan,
    Program,
    Arguments,
    Script,
}

impl Passed {
    fn number(self) -> i32 {
        FIRST_PASSED + self as i32
    }
}

/// Whether this process was started by bubblewrap.
pub(crate) fn is_within() -> bool {
    std::env::args_os()
        .nth(1)
        .is_some_and(|word| word == WITHIN)
}

/// Starts bubblewrap, hears what it has to say, and buries it.
pub(crate) fn run(control: &Control, plan: &Plan, script: Option<OwnedFd>) -> Result<(), Failure> {
    let arguments = layout::arguments(plan)?;
    if arguments.len() > MOST_ARGUMENTS {
        return Err(Failure {
            step: Step::Bubblewrap,
            errno: Errno::TOOBIG,
            detail: format!(
                "it takes {MOST_ARGUMENTS} arguments, and this sandbox needs {}: let deny rules name whole directories",
                arguments.len()
            )
            .into_bytes(),
        });
    }
    let (told, tells) = rustix::pipe::pipe_with(PipeFlags::CLOEXEC).at(Step::Bubblewrap)?;
    let Some(bubblewrap) = sys::fork().at(Step::Fork)? else {
        let failed = become_bubblewrap(control, plan, script, &arguments, &tells);
        control.send(&failed.report());
        sys::exit(127);
    };
    drop((tells, script));
    silence()?;
    let words = words(told);
    if let Some(failed) = buried(bubblewrap, words) {
        // Where the command has begun, nobody listens to this any more.
        control.send(&failed.report());
    }
    sys::exit(0);
}

/// The output belongs to the command: held open here, it would never end.
fn silence() -> Result<(), Failure> {
    let null = rustix::stdio::stdin();
    rustix::stdio::dup2_stdout(null).at(Step::Descriptors)?;
    rustix::stdio::dup2_stderr(null).at(Step::Descriptors)
}

/// What bubblewrap prints until it has ended.
fn words(told: OwnedFd) -> Vec<u8> {
    let mut told = File::from(told);
    let mut words = Vec::new();
    let mut rest = [0; 512];
    // What cannot be read, or is too much, is not worth more than the beginning.
    if (&mut told)
        .take(LONGEST_WORDS)
        .read_to_end(&mut words)
        .is_ok()
    {
        while told.read(&mut rest).is_ok_and(|length| length > 0) {}
    }
    words
}

/// Waits for bubblewrap's end. A failure, where it failed.
fn buried(bubblewrap: Pid, words: Vec<u8>) -> Option<Failure> {
    let status = loop {
        match waitpid(Some(bubblewrap), WaitOptions::empty()) {
            Err(Errno::INTR) => {}
            Ok(Some((_, status))) => break status.exit_status(),
            Ok(None) | Err(_) => break None,
        }
    };
    (status != Some(0) || !words.is_empty()).then_some(Failure {
        step: Step::Bubblewrap,
        errno: Errno::IO,
        detail: words,
    })
}

/// Becomes bubblewrap. Returns only where that failed.
fn become_bubblewrap(
    control: &Control,
    plan: &Plan,
    script: Option<OwnedFd>,
    arguments: &[Vec<u8>],
    tells: &OwnedFd,
) -> Failure {
    let prepared = || -> Result<(), Failure> {
        let mut lines = Vec::new();
        for argument in arguments {
            lines.extend_from_slice(argument);
            lines.push(0);
        }
        let lines = in_memory("arguments", &lines)?;
        let written = in_memory("plan", &plan.encode())?;
        let flags = OFlags::RDONLY | OFlags::CLOEXEC;
        let program = rustix::fs::open("/proc/self/exe", flags, Mode::empty());
        let program = program.at(Step::Launcher)?;
        pass(control.as_fd(), Passed::Control)?;
        pass(rustix::stdio::stdout(), Passed::Output)?;
        pass(rustix::stdio::stderr(), Passed::Errors)?;
        pass(written.as_fd(), Passed::Plan)?;
        pass(program.as_fd(), Passed::Program)?;
        pass(lines.as_fd(), Passed::Arguments)?;
        if let Some(script) = &script {
            pass(script.as_fd(), Passed::Script)?;
        }
        rustix::stdio::dup2_stdout(tells).at(Step::Descriptors)?;
        rustix::stdio::dup2_stderr(tells).at(Step::Descriptors)
    };
    if let Err(failure) = prepared() {
        return failure;
    }
    let lines = Passed::Arguments.number().to_string();
    let program = format!("/proc/self/fd/{}", Passed::Program.number());
    let words = ["bwrap", "--args", &lines, "--", &program, WITHIN];
    let words: Result<Vec<_>, _> = words.into_iter().map(CString::new).collect();
    let errno = match (CString::new(plan.bubblewrap.clone()), words) {
        (Ok(path), Ok(words)) => sys::execute(&path, &words, &[]),
        (_, _) => Errno::INVAL,
    };
    Failure {
        step: Step::Bubblewrap,
        errno,
        detail: Vec::new(),
    }
}

fn in_memory(name: &str, bytes: &[u8]) -> Result<OwnedFd, Failure> {
    let memory = rustix::fs::memfd_create(name, MemfdFlags::CLOEXEC).at(Step::Bubblewrap)?;
    let mut rest = bytes;
    while !rest.is_empty() {
        let written = rustix::io::write(&memory, rest).at(Step::Bubblewrap)?;
        rest = rest.get(written..).unwrap_or_default();
    }
    rustix::fs::seek(&memory, SeekFrom::Start(0)).at(Step::Bubblewrap)?;
    Ok(memory)
}

/// Duplicates a descriptor under the number that the other side expects, to be inherited.
fn pass(descriptor: impl AsFd, to: Passed) -> Result<(), Failure> {
    // Nothing else has so high a number, but what may be left out lies last.
    let passed = rustix::io::fcntl_dupfd_cloexec(descriptor, to.number()).at(Step::Descriptors)?;
    rustix::io::fcntl_setfd(&passed, FdFlags::empty()).at(Step::Descriptors)?;
    // It lives on in the program that this process becomes.
    let number = std::os::fd::IntoRawFd::into_raw_fd(passed);
    if number == to.number() {
        Ok(())
    } else {
        Err(Errno::BADF).at(Step::Descriptors)
    }
}

/// The first process of the namespace that bubblewrap made. Returns only where a step failed before anybody could be told.
pub(crate) fn run_within() {
    let Ok(passed) = take_passed() else {
        return;
    };
    if let Err(failure) = go_on(&passed.control, passed.plan, passed.script) {
        passed.control.send(&failure.report());
    }
}

struct Taken {
    control: Control,
    plan: OwnedFd,
    script: Option<OwnedFd>,
}

fn take_passed() -> Result<Taken, Errno> {
    let taken = |passed: Passed| sys::take(passed.number());
    let control = Control::from_passed(taken(Passed::Control)?);
    rustix::stdio::dup2_stdout(taken(Passed::Output)?)?;
    rustix::stdio::dup2_stderr(taken(Passed::Errors)?)?;
    let passed = Taken {
        control,
        plan: taken(Passed::Plan)?,
        script: taken(Passed::Script).ok(),
    };
    drop((taken(Passed::Program), taken(Passed::Arguments)));
    Ok(passed)
}

fn go_on(control: &Control, plan: OwnedFd, script: Option<OwnedFd>) -> Result<(), Failure> {
    rustix::thread::set_name(c"toolgate-shell").at(Step::Descriptors)?;
    let mut bytes = Vec::new();
    File::from(plan).read_to_end(&mut bytes).at(Step::Control)?;
    let plan = Plan::decode(&bytes).ok_or(Errno::PROTO).at(Step::Control)?;
    let own = pidfd_open(rustix::process::getpid(), PidfdFlags::empty()).at(Step::Fork)?;
    control.send_with(&Report::First, &own);
    drop(own);
    first::run(control, &plan, script)
}

/// A path as an argument.
pub(crate) fn argument(path: &std::path::Path) -> Vec<u8> {
    OsString::from(path).into_vec()
}
