//! Staying with the tree: burying what ends, telling of the shell's end, counting, and ending with the host.

use std::os::fd::OwnedFd;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use rustix::process::{Pid, WaitOptions, wait};

use crate::control::Control;
use crate::sweep;
use crate::sys;
use crate::wire::{Ask, Force, Hold, Report};

/// What is stayed with.
pub(crate) struct Tree<'a> {
    control: &'a Control,
    shell: Pid,
    shell_ended: bool,
    hold: Hold,
    /// `/proc` shows the processes of this namespace.
    counts: bool,
}

impl<'a> Tree<'a> {
    pub(crate) fn new(control: &'a Control, shell: Pid, hold: Hold, force: Force) -> Self {
        Self {
            control,
            shell,
            shell_ended: false,
            hold,
            counts: !force.shared_proc,
        }
    }

    /// Stays until the host asks for the end or is gone. As the first process of a PID namespace, its own end is the end of all
    /// others.
    pub(crate) fn stay(mut self, ended: &OwnedFd) -> ! {
        loop {
            self.bury();
            let mut watched = [
                PollFd::from_borrowed_fd(self.control.as_fd(), PollFlags::IN),
                PollFd::new(ended, PollFlags::IN),
            ];
            if poll(&mut watched, None).is_err() {
                continue;
            }
            let [asked, has_ended] = watched.each_ref().map(|fd| !fd.revents().is_empty());
            if has_ended {
                // One record stands for any number of ended children, so all that matters is that it is taken.
                let mut record = [0; 128];
                while rustix::io::read(ended, &mut record) == Err(Errno::INTR) {}
            }
            if asked {
                self.answer();
            }
        }
    }

    fn answer(&mut self) {
        match self.control.next() {
            Some(Ask::Count) => {
                let left = self.bury();
                self.control.send(&Report::Alive(self.others(left)));
            }
            Some(Ask::Sweep) => {
                let (left, pid) = self.finish();
                self.control.send(&Report::Swept { left, pid });
                sys::exit(0);
            }
            Some(Ask::Run) => {}
            None => {
                self.finish();
                sys::exit(0);
            }
        }
    }

    /// Ends what does not end with this process.
    fn finish(&self) -> (u32, u32) {
        match self.hold {
            Hold::Subreaper => sweep::sweep(),
            Hold::PidNamespace | Hold::UserNamespace | Hold::Bubblewrap => (0, 0),
        }
    }

    /// Waits for all children that have ended, and says whether any is left. The shell's end is told once everything else that
    /// ended is buried, so that the count beside it says who lives.
    fn bury(&mut self) -> bool {
        let mut shell = None;
        let left = loop {
            match wait(WaitOptions::NOHANG) {
                Ok(Some((pid, status))) => {
                    // Its number may be used again once it is buried.
                    if pid == self.shell && !self.shell_ended {
                        self.shell_ended = true;
                        shell = Some(status.as_raw());
                    }
                }
                Err(Errno::INTR) => {}
                Ok(None) => break true,
                Err(_) => break false,
            }
        };
        if let Some(status) = shell {
            let others = self.others(left);
            self.control.send(&Report::Leader { status, others });
        }
        left
    }

    /// How many processes besides the shell and this one live. Everything below this process is a child of it or of a child, so
    /// without children there is nothing; with children there is something, also where a process that forks and ends without
    /// rest was passed over by the count.
    fn others(&self, left: bool) -> u32 {
        if !left {
            return 0;
        }
        let own = rustix::process::getpid();
        let living = match self.hold {
            Hold::PidNamespace | Hold::UserNamespace | Hold::Bubblewrap if self.counts => {
                sweep::processes()
            }
            Hold::PidNamespace | Hold::UserNamespace | Hold::Bubblewrap => Vec::new(),
            Hold::Subreaper => sweep::descendants(),
        };
        let others = living.iter().filter(|process| {
            let shell = process.id == self.shell && !self.shell_ended;
            process.lives && process.id != own && !shell
        });
        let others = u32::try_from(others.count()).unwrap_or(u32::MAX);
        others.max(u32::from(self.shell_ended))
    }
}
