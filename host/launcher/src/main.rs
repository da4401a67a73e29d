//! The launcher: puts one command into namespaces and a sandbox, and stays with it as its first process.
//!
//! The host starts it with a socket as descriptor 0 and the command's output as 1 and 2, and sends a plan. Everything a
//! command may not do is settled here before the shell is executed, or the command does not run: each step that fails is
//! reported by name with the system's error number. The socket is the lifeline: when the host closes it, or dies, the tree
//! ends. Single-threaded and synchronous. Never contains a decision: the plan says all.

mod bubblewrap;
mod control;
mod devices;
mod first;
mod guard;
mod layout;
mod leader;
mod mounts;
mod names;
mod seccomp;
mod supervise;
mod sweep;
mod sys;
mod terminal;
#[path = "../../src/shell/wire/mod.rs"]
#[expect(
    dead_code,
    unreachable_pub,
    reason = "shared with the host, which encodes what is decoded here"
)]
mod wire;

use std::path::Path;

use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, WaitOptions, pidfd_open, waitpid};

use control::Control;
use wire::{Hold, Report, Step};

/// A step that failed.
struct Failure {
    step: Step,
    errno: Errno,
    detail: Vec<u8>,
}

impl Failure {
    fn report(self) -> Report {
        Report::Failed {
            step: self.step,
            errno: self.errno.raw_os_error(),
            detail: self.detail,
        }
    }
}

/// Names the step of a system call that may fail.
trait At<T> {
    fn at(self, step: Step) -> Result<T, Failure>;
    fn at_path(self, step: Step, path: &Path) -> Result<T, Failure>;
}

impl<T, E: Into<std::io::Error>> At<T> for Result<T, E> {
    fn at(self, step: Step) -> Result<T, Failure> {
        self.at_path(step, Path::new(""))
    }

    fn at_path(self, step: Step, path: &Path) -> Result<T, Failure> {
        self.map_err(|error| Failure {
            step,
            errno: Errno::from_io_error(&error.into()).unwrap_or(Errno::IO),
            detail: path.as_os_str().as_encoded_bytes().to_vec(),
        })
    }
}

fn main() {
    if bubblewrap::is_within() {
        bubblewrap::run_within();
        sys::exit(0);
    }
    // Without the socket there is nobody to tell.
    if let Ok(control) = Control::take()
        && let Err(failure) = run(&control)
    {
        control.send(&failure.report());
    }
    sys::exit(0);
}

fn run(control: &Control) -> Result<(), Failure> {
    // A process group of its own: an interrupt at the host's terminal is the host's.
    rustix::process::setsid().at(Step::Descriptors)?;
    rustix::thread::set_name(c"toolgate-shell").at(Step::Descriptors)?;
    let (plan, script) = control.plan()?;
    if let Some(group) = &plan.cgroup {
        names::join(group)?;
    }
    match plan.hold {
        Hold::Subreaper => {
            let own = pidfd_open(rustix::process::getpid(), PidfdFlags::empty());
            control.send_with(&Report::First, &own.at(Step::Fork)?);
            sweep::adopt().at(Step::Fork)?;
            first::run(control, &plan, script)
        }
        Hold::Bubblewrap => bubblewrap::run(control, &plan, script),
        Hold::PidNamespace | Hold::UserNamespace => {
            names::enter(&plan)?;
            let Some(first) = sys::fork().at(Step::Fork)? else {
                return first::run(control, &plan, script);
            };
            stay_outside(control, first)
        }
    }
}

/// The half outside of the namespaces: hands the first process over and buries it. Its own end proves nothing.
fn stay_outside(control: &Control, first: Pid) -> Result<(), Failure> {
    let descriptor = pidfd_open(first, PidfdFlags::empty()).at(Step::Fork)?;
    control.send_with(&Report::First, &descriptor);
    drop(descriptor);
    // Neither the output nor the lifeline may hang on this half.
    sys::close_from(0);
    while let Err(Errno::INTR) = waitpid(Some(first), WaitOptions::empty()) {}
    sys::exit(0);
}
