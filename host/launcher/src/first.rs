//! The first process of the tree: sets the sandbox up, starts the shell, and stays.

use std::os::fd::{AsFd as _, OwnedFd};

use rustix::pipe::PipeFlags;

use crate::control::Control;
use crate::supervise::Tree;
use crate::wire::{Force, Hold, Plan, Report, Step};
use crate::{At as _, Failure, guard, layout, leader, mounts, sys, terminal};

/// Sets up, starts and stays. Returns only where a step failed.
pub(crate) fn run(control: &Control, plan: &Plan, script: Option<OwnedFd>) -> Result<(), Failure> {
    let mut force = Force::default();
    match plan.hold {
        Hold::Subreaper => {}
        Hold::Bubblewrap => layout::check(plan, &mut force)?,
        Hold::PidNamespace | Hold::UserNamespace => {
            mounts::set_up(plan, &mut force)?;
            if !plan.network {
                loopback()?;
            }
        }
    }
    // Held to this process's end, which is the terminal's.
    let screen = terminal::open(control, plan)?;
    let ended = sys::child_signals().at(Step::Descriptors)?;
    let (told, tells) = rustix::pipe::pipe_with(PipeFlags::CLOEXEC).at(Step::Descriptors)?;
    let Some(shell) = sys::fork().at(Step::Fork)? else {
        leader::run(plan, script, screen.as_ref(), &tells, &force);
    };
    drop((tells, script));
    silence()?;
    if plan.hold != Hold::Subreaper {
        // A command of the same user could otherwise look into this process, which holds the lifeline.
        guard::become_opaque()?;
    }
    match leader::heard(&told) {
        Some(report @ Report::Failed { .. }) => {
            control.send(&report);
            Ok(())
        }
        Some(report) => {
            control.send(&report);
            Tree::new(control, shell, plan.hold, force).stay(&ended)
        }
        None => Err(Failure {
            step: Step::Shell,
            errno: rustix::io::Errno::IO,
            detail: plan.program.clone(),
        }),
    }
}

/// The output belongs to the command: held open here, it would never end.
fn silence() -> Result<(), Failure> {
    let null = rustix::stdio::stdin();
    rustix::stdio::dup2_stdout(null).at(Step::Descriptors)?;
    rustix::stdio::dup2_stderr(null).at(Step::Descriptors)
}

fn loopback() -> Result<(), Failure> {
    use rustix::net::{AddressFamily, SocketFlags, SocketType, socket_with};
    let socket = socket_with(
        AddressFamily::INET,
        SocketType::DGRAM,
        SocketFlags::CLOEXEC,
        None,
    )
    .at(Step::Loopback)?;
    sys::loopback_up(socket.as_fd()).at(Step::Loopback)
}
