//! Why a sandbox cannot be had here, in words that say what to do: what failed, the setting behind it, what is lost, and the ways
//! out.

use std::fs;
use std::path::Path;

use rustix::io::Errno;

use super::command::CouldNotStart;
use super::wire::Step;
use crate::model::visible;

/// What the machine says of itself.
#[derive(Clone, Debug, Default)]
struct Machine {
    apparmor: Option<u64>,
    unprivileged: Option<u64>,
    namespaces: Option<u64>,
    container: bool,
    filtered: bool,
}

impl Machine {
    fn here() -> Self {
        let number = |path: &str| fs::read_to_string(path).ok()?.trim().parse().ok();
        let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
        Self {
            apparmor: number("/proc/sys/kernel/apparmor_restrict_unprivileged_userns"),
            unprivileged: number("/proc/sys/kernel/unprivileged_userns_clone"),
            namespaces: number("/proc/sys/user/max_user_namespaces"),
            container: ["/.dockerenv", "/run/.containerenv"]
                .iter()
                .any(|path| Path::new(path).exists()),
            filtered: status
                .lines()
                .any(|line| line.starts_with("Seccomp:") && line.ends_with('2')),
        }
    }

    fn cause(&self, step: Step, errno: Errno) -> &'static str {
        if errno == Errno::NOSPC || self.namespaces == Some(0) {
            "user.max_user_namespaces is 0 or exhausted"
        } else if self.filtered && self.container {
            "the container's seccomp profile forbids unshare and mount"
        } else if self.apparmor == Some(1) {
            "kernel.apparmor_restrict_unprivileged_userns=1"
        } else if self.unprivileged == Some(0) {
            "kernel.unprivileged_userns_clone=0"
        } else if self.filtered {
            "a system call filter around this process forbids it"
        } else if step == Step::Proc {
            "parts of /proc are covered here, as in most containers, and the kernel mounts no fresh one beside them"
        } else if errno == Errno::NOSYS || errno == Errno::INVAL {
            "this kernel is too old (5.12 or newer is needed)"
        } else {
            "this process may not do it"
        }
    }

    fn fix(&self, step: Step, errno: Errno) -> &'static str {
        if errno == Errno::NOSPC || self.namespaces == Some(0) {
            "set user.max_user_namespaces to some thousands with sysctl"
        } else if self.container {
            "start the container with --security-opt seccomp=<profile> or --cap-add SYS_ADMIN"
        } else if self.apparmor == Some(1) {
            "install bubblewrap, which the system lets make one, and set kind = \"bubblewrap\" in [shell]"
        } else if self.unprivileged == Some(0) {
            "set kernel.unprivileged_userns_clone to 1 with sysctl"
        } else if step == Step::Proc {
            "let the container have a /proc of its own that is not covered"
        } else {
            "run Toolgate as a user who may, or on a newer kernel"
        }
    }
}

/// Says why a step of the set-up failed.
pub(super) fn of_step(step: Step, errno: i32, detail: &[u8]) -> CouldNotStart {
    let errno = Errno::from_raw_os_error(errno);
    let hint = hint(
        step,
        errno,
        &String::from_utf8_lossy(detail),
        &Machine::here(),
    );
    CouldNotStart {
        step,
        errno: Some(errno.raw_os_error()),
        hint,
    }
}

fn hint(step: Step, errno: Errno, detail: &str, machine: &Machine) -> String {
    let system = std::io::Error::from(errno);
    let system = system.to_string();
    let system = system.split(" (os error").next().unwrap_or_default();
    match step {
        Step::Shell if errno == Errno::NOENT => {
            format!("bash not found at {detail}; set shell.path")
        }
        Step::Shell => format!("the shell {detail} cannot be run: {system}; set shell.path"),
        Step::Cwd => format!("the working directory '{detail}' cannot be entered: {system}"),
        Step::Root => format!("the root '{detail}' cannot be opened: {system}"),
        Step::UserNamespace
        | Step::Identity
        | Step::Namespaces
        | Step::ReadOnlyRoot
        | Step::PrivateFolder
        | Step::Devices
        | Step::Proc
        | Step::Loopback
        | Step::Fork => unavailable(step, errno, system, machine),
        Step::Landlock => format!(
            "shell sandbox unavailable: cannot {} ({system}). Cause: this kernel has no Landlock, or it is not enabled. Without \
             it sandbox = \"landlock\" limits nothing, so nothing was run. Fix: boot with lsm=...,landlock on Linux 5.13 or \
             newer, or set sandbox = \"off\" in [shell].",
            step.as_str()
        ),
        Step::Bubblewrap => bubblewrap(detail, system),
        Step::Validate
        | Step::Container
        | Step::Launcher
        | Step::Control
        | Step::Protected
        | Step::Hidden
        | Step::Limits
        | Step::Capabilities
        | Step::Seccomp
        | Step::Descriptors
        | Step::Cgroup
        | Step::Containment
        | Step::Terminal => {
            let place = if detail.is_empty() {
                String::new()
            } else {
                format!(" at '{detail}'")
            };
            format!(
                "the shell cannot {}{place}: {system}. Nothing was run.",
                step.as_str()
            )
        }
    }
}

/// What bubblewrap said, which knows best.
fn bubblewrap(words: &str, system: &str) -> String {
    let words = words.trim().trim_start_matches("bwrap:").trim();
    let said = match words.is_empty() {
        true => system,
        false => words,
    };
    format!(
        "shell sandbox unavailable: bubblewrap could not set it up: {}. Nothing was run. Fix: see that 'bwrap --ro-bind / / true' \
         works for this user (version 0.8 or later), or set kind = \"local\" in [shell].",
        visible(said.trim_end_matches('.'))
    )
}

/// No namespaces, or no mounts in them.
fn unavailable(step: Step, errno: Errno, system: &str, machine: &Machine) -> String {
    let (cause, fix) = (machine.cause(step, errno), machine.fix(step, errno));
    let call = match step {
        Step::UserNamespace | Step::Namespaces => "unshare",
        Step::Fork => "fork",
        _ => "mount",
    };
    format!(
        "shell sandbox unavailable: cannot {} ({call}: {system}). Cause: {cause}. Without it the file system and \
         network limits of this policy cannot be enforced, so nothing was run. Fix: {fix}, or set sandbox = \
         \"landlock\" in [shell] (weaker: reads unrestricted, chmod outside the workspace possible, no network \
         block for UDP), or \"off\".",
        step.as_str()
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cause_and_the_fix_are_named() {
        let userns = Step::UserNamespace;
        let ubuntu = Machine {
            apparmor: Some(1),
            ..Machine::default()
        };
        let text = hint(userns, Errno::PERM, "", &ubuntu);
        assert_eq!(
            text,
            "shell sandbox unavailable: cannot create a user namespace (unshare: Operation not permitted). Cause: \
             kernel.apparmor_restrict_unprivileged_userns=1. Without it the file system and network limits of this policy \
             cannot be enforced, so nothing was run. Fix: install bubblewrap, which the system lets make one, and set \
             kind = \"bubblewrap\" in [shell], or set sandbox = \"landlock\" in [shell] (weaker: reads unrestricted, chmod \
             outside the workspace possible, no network block for UDP), or \"off\"."
        );
        let docker = Machine {
            container: true,
            filtered: true,
            ..Machine::default()
        };
        let text = hint(userns, Errno::PERM, "", &docker);
        assert!(text.contains("the container's seccomp profile forbids unshare and mount"));
        assert!(text.contains("--cap-add SYS_ADMIN"));
        let text = hint(userns, Errno::NOSPC, "", &Machine::default());
        assert!(text.contains("user.max_user_namespaces is 0 or exhausted"));
        let text = hint(Step::Shell, Errno::NOENT, "/x/bash", &Machine::default());
        assert_eq!(text, "bash not found at /x/bash; set shell.path");
    }
}
