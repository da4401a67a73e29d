//! A terminal of the command's own, from the sandbox's `/dev`, so that programs find it under its name.
//!
//! The host gets the other end. The first process keeps the command's end open as long as it lives: the terminal ends with the
//! tree, not with a program that closes its descriptors.

use std::os::fd::OwnedFd;

use rustix::pty::{OpenptFlags, ioctl_tiocgptpeer, openpt, unlockpt};
use rustix::termios::{InputModes, OptionalActions, Winsize, tcgetattr, tcsetattr, tcsetwinsize};

use crate::control::Control;
use crate::wire::{Plan, Report, Screen, Step};
use crate::{At as _, Failure};

/// Opens the terminal of the plan, hands the host's end over and gives the command's.
pub(crate) fn open(control: &Control, plan: &Plan) -> Result<Option<OwnedFd>, Failure> {
    let Some(screen) = plan.terminal else {
        return Ok(None);
    };
    // It becomes the terminal of the shell's session, not of this process.
    let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC;
    let host = openpt(flags).at(Step::Terminal)?;
    unlockpt(&host).at(Step::Terminal)?;
    let command = ioctl_tiocgptpeer(&host, flags).at(Step::Terminal)?;
    set_up(&command, screen).at(Step::Terminal)?;
    if let Some((user, group)) = plan.run_as {
        use rustix::process::{Gid, Uid};
        let (user, group) = (Uid::from_raw(user), Gid::from_raw(group));
        rustix::fs::fchown(&command, Some(user), Some(group)).at(Step::Terminal)?;
    }
    control.send_with(&Report::Terminal, &host);
    Ok(Some(command))
}

fn set_up(terminal: &OwnedFd, screen: Screen) -> rustix::io::Result<()> {
    let size = Winsize {
        ws_row: screen.rows,
        ws_col: screen.cols,
        ws_xpixel: 0,
        ws_ypixel: 0,
    };
    tcsetwinsize(terminal, size)?;
    let mut modes = tcgetattr(terminal)?;
    // Erasing takes a character, not a byte.
    modes.input_modes |= InputModes::IUTF8;
    if screen.raw {
        modes.make_raw();
    }
    tcsetattr(terminal, OptionalActions::Now, &modes)
}

/// Makes it the terminal of this session, and its input and output.
pub(crate) fn take(terminal: &OwnedFd) -> Result<(), Failure> {
    rustix::process::ioctl_tiocsctty(terminal).at(Step::Terminal)?;
    rustix::stdio::dup2_stdin(terminal).at(Step::Terminal)?;
    rustix::stdio::dup2_stdout(terminal).at(Step::Terminal)?;
    rustix::stdio::dup2_stderr(terminal).at(Step::Terminal)
}
