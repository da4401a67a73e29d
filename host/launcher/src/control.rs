//! The socket to the host.

use std::fs::File;
use std::io::{IoSlice, IoSliceMut, Read as _, Seek as _};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::io::Errno;
use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags,
};

use crate::wire::{Ask, MAX_MESSAGE, MAX_PLAN, Plan, Report, Step};
use crate::{At as _, Failure, sys};

/// The socket, away from descriptor 0.
pub(crate) struct Control(OwnedFd);

impl Control {
    /// Takes descriptor 0 and closes whatever else the host may have leaked.
    pub(crate) fn take() -> Result<Self, Errno> {
        sys::close_from(3);
        let socket = rustix::io::fcntl_dupfd_cloexec(rustix::stdio::stdin(), 3)?;
        let null = rustix::fs::open(
            c"/dev/null",
            rustix::fs::OFlags::RDONLY | rustix::fs::OFlags::CLOEXEC,
            rustix::fs::Mode::empty(),
        )?;
        rustix::stdio::dup2_stdin(null)?;
        Ok(Self(socket))
    }

    /// The socket as it came through another program.
    pub(crate) fn from_passed(socket: OwnedFd) -> Self {
        Self(socket)
    }

    /// For `poll`.
    pub(crate) fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }

    /// Tells the host. That the host is gone is found out where the socket is polled, so a failure here says nothing.
    pub(crate) fn send(&self, report: &Report) {
        while rustix::net::send(&self.0, &report.encode(), SendFlags::NOSIGNAL) == Err(Errno::INTR)
        {
        }
    }

    /// Tells the host and hands a descriptor over.
    pub(crate) fn send_with(&self, report: &Report, descriptor: &OwnedFd) {
        let bytes = report.encode();
        let descriptors = [descriptor.as_fd()];
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
        let mut ancillary = SendAncillaryBuffer::new(&mut space);
        if ancillary.push(SendAncillaryMessage::ScmRights(&descriptors)) {
            let message = [IoSlice::new(&bytes)];
            while rustix::net::sendmsg(&self.0, &message, &mut ancillary, SendFlags::NOSIGNAL)
                == Err(Errno::INTR)
            {}
        }
    }

    /// The next request; `None` when the host has closed its end.
    pub(crate) fn next(&self) -> Option<Ask> {
        let mut bytes = [0; MAX_MESSAGE];
        loop {
            match rustix::net::recv(&self.0, &mut bytes, RecvFlags::empty()) {
                Ok((0, _)) => return None,
                Ok((length, _)) => {
                    if let Some(ask) = bytes.get(..length).and_then(Ask::decode) {
                        return Some(ask);
                    }
                }
                Err(Errno::INTR) => {}
                Err(_) => return None,
            }
        }
    }

    /// Waits for the plan, and for what goes with it: the script where the command is too long for an argument, or its input.
    pub(crate) fn plan(&self) -> Result<(Plan, Option<OwnedFd>), Failure> {
        let mut descriptors = self.descriptors().at(Step::Control)?.into_iter();
        let plan = descriptors.next().ok_or(Errno::PROTO).at(Step::Control)?;
        let mut bytes = Vec::new();
        let mut file = File::from(plan);
        file.rewind().at(Step::Control)?;
        file.take(MAX_PLAN as u64)
            .read_to_end(&mut bytes)
            .at(Step::Control)?;
        let plan = Plan::decode(&bytes).ok_or(Errno::PROTO);
        Ok((plan.at(Step::Control)?, descriptors.next()))
    }

    fn descriptors(&self) -> Result<Vec<OwnedFd>, Errno> {
        let mut bytes = [0; 16];
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(2))];
        let mut ancillary = RecvAncillaryBuffer::new(&mut space);
        let got = loop {
            let mut message = [IoSliceMut::new(&mut bytes)];
            let flags = RecvFlags::CMSG_CLOEXEC;
            match rustix::net::recvmsg(&self.0, &mut message, &mut ancillary, flags) {
                Err(Errno::INTR) => {}
                got => break got?,
            }
        };
        if bytes.get(..got.bytes).and_then(Ask::decode) != Some(Ask::Run) {
            return Err(Errno::PROTO);
        }
        let mut descriptors = Vec::new();
        for message in ancillary.drain() {
            if let RecvAncillaryMessage::ScmRights(rights) = message {
                descriptors.extend(rights);
            }
        }
        Ok(descriptors)
    }
}
