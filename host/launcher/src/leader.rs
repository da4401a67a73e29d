//! The process that becomes the shell.

use std::ffi::{CString, OsStr};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use rustix::io::Errno;

use crate::wire::{Force, MAX_MESSAGE, Plan, Report, SCRIPT, Step};
use crate::{At as _, Failure, guard, seccomp, sys, terminal};

/// Gives up what a command may not have and becomes the shell. What is in force, or why it failed, is told through `tells`,
/// which closes when the shell begins.
pub(crate) fn run(
    plan: &Plan,
    script: Option<OwnedFd>,
    screen: Option<&OwnedFd>,
    tells: &OwnedFd,
    force: &Force,
) -> ! {
    if let Err(failure) = become_shell(plan, script, screen, tells, *force) {
        tell(tells, &failure.report());
    }
    sys::exit(127);
}

/// What the new process told: its last word counts.
pub(crate) fn heard(told: &OwnedFd) -> Option<Report> {
    let mut bytes = Vec::new();
    let mut piece = [0; MAX_MESSAGE];
    loop {
        match rustix::io::read(told, &mut piece) {
            Ok(0) => break,
            Ok(length) => bytes.extend_from_slice(piece.get(..length).unwrap_or_default()),
            Err(Errno::INTR) => {}
            Err(_) => return None,
        }
    }
    let mut last = None;
    let mut rest = bytes.as_slice();
    while let Some((length, after)) = rest.split_first_chunk() {
        let length = usize::try_from(u32::from_le_bytes(*length)).ok()?;
        let (report, after) = after.split_at_checked(length)?;
        last = Report::decode(report);
        rest = after;
    }
    last
}

fn tell(tells: &OwnedFd, report: &Report) {
    let report = report.encode();
    let length = u32::try_from(report.len()).unwrap_or_default();
    let mut message = length.to_le_bytes().to_vec();
    message.extend_from_slice(&report);
    // The message is far shorter than what a pipe takes at once; a closed pipe means that nobody is left to tell.
    while rustix::io::write(tells, &message) == Err(Errno::INTR) {}
}

fn become_shell(
    plan: &Plan,
    script: Option<OwnedFd>,
    screen: Option<&OwnedFd>,
    tells: &OwnedFd,
    mut force: Force,
) -> Result<(), Failure> {
    let texts = |list: &[Vec<u8>]| -> Result<Vec<CString>, Failure> {
        list.iter().map(|bytes| text(bytes)).collect()
    };
    let program = text(&plan.program)?;
    let (arguments, environment) = (texts(&plan.arguments)?, texts(&plan.environment)?);
    rustix::process::setsid().at(Step::Descriptors)?;
    screen.map(terminal::take).transpose()?;
    sys::reset_signals().at(Step::Descriptors)?;
    rustix::process::umask(rustix::fs::Mode::WGRP | rustix::fs::Mode::WOTH);
    sys::close_on_exec_from(3).at(Step::Descriptors)?;
    let script = inherited(plan, script)?;
    guard::limits(plan, &mut force)?;
    guard::identity(plan)?;
    enter(&plan.cwd)?;
    if guard::is_guarded(plan) {
        guard::landlock(plan, &mut force)?;
        seccomp::install(plan)?;
        force.seccomp = true;
    }
    tell(tells, &Report::Started(force));
    let errno = sys::execute(&program, &arguments, &environment);
    drop(script);
    Err(Failure {
        step: Step::Shell,
        errno,
        detail: plan.program.clone(),
    })
}

/// What travelled along with the plan: the command's input in its place, or the script.
fn inherited(plan: &Plan, descriptor: Option<OwnedFd>) -> Result<Option<OwnedFd>, Failure> {
    match (plan.input, descriptor) {
        (true, Some(input)) => {
            rustix::stdio::dup2_stdin(&input).at(Step::Descriptors)?;
            Ok(None)
        }
        (true, None) => Err(Errno::PROTO).at(Step::Descriptors),
        (false, script) => script.map(for_the_shell).transpose(),
    }
}

/// The script under the number by which the shell's arguments name it.
fn for_the_shell(script: OwnedFd) -> Result<OwnedFd, Failure> {
    rustix::fs::seek(&script, rustix::fs::SeekFrom::Start(0)).at(Step::Descriptors)?;
    // Nothing else has so high a number, so the duplicate gets exactly this one.
    let inherited = rustix::io::fcntl_dupfd_cloexec(&script, SCRIPT).at(Step::Descriptors)?;
    rustix::io::fcntl_setfd(&inherited, rustix::io::FdFlags::empty()).at(Step::Descriptors)?;
    Ok(inherited)
}

fn enter(cwd: &[u8]) -> Result<(), Failure> {
    let path = Path::new(OsStr::from_bytes(cwd));
    rustix::process::chdir(path).at_path(Step::Cwd, path)
}

fn text(bytes: &[u8]) -> Result<CString, Failure> {
    CString::new(bytes)
        .map_err(|error| std::io::Error::new(std::io::ErrorKind::InvalidInput, error))
        .at(Step::Validate)
}
