//! The socket to the launcher: the plan goes out, reports and the first process's descriptor come back. It is the command's
//! lifeline: where it closes, the tree ends.

use std::fs::File;
use std::io::{self, IoSlice, IoSliceMut, Write as _};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd as _, OwnedFd};
use std::sync::Arc;

use rustix::fs::{MemfdFlags, memfd_create};
use rustix::net::{
    AddressFamily, RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, Shutdown, SocketFlags, SocketType,
};
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

use super::streams::watched;
use super::wire::{Ask, MAX_MESSAGE, MAX_PLAN, Report};

/// The host's end.
#[derive(Clone, Debug)]
pub(super) struct Control(Arc<AsyncFd<OwnedFd>>);

impl Control {
    /// A pair: the host's end, and the launcher's.
    pub(super) fn pair() -> io::Result<(Self, OwnedFd)> {
        let (ours, theirs) = rustix::net::socketpair(
            AddressFamily::UNIX,
            SocketType::SEQPACKET,
            SocketFlags::CLOEXEC,
            None,
        )?;
        rustix::io::ioctl_fionbio(&ours, true)?;
        Ok((Self(Arc::new(watched(ours)?)), theirs))
    }

    /// Sends the plan, and the script or the input that goes with it.
    pub(super) fn run(
        &self,
        plan: &[u8],
        script: Option<&str>,
        input: Option<&OwnedFd>,
    ) -> io::Result<()> {
        if plan.len() > MAX_PLAN {
            return Err(io::ErrorKind::ArgumentListTooLong.into());
        }
        let mut files = vec![in_memory("plan", plan)?];
        if let Some(script) = script {
            files.push(in_memory("script", script.as_bytes())?);
        }
        let files = files.iter().map(|file| file.as_fd());
        let descriptors: Vec<_> = files.chain(input.map(|input| input.as_fd())).collect();
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(2))];
        let mut ancillary = SendAncillaryBuffer::new(&mut space);
        if !ancillary.push(SendAncillaryMessage::ScmRights(&descriptors)) {
            return Err(io::ErrorKind::OutOfMemory.into());
        }
        let bytes = Ask::Run.encode();
        let message = [IoSlice::new(&bytes)];
        let flags = SendFlags::NOSIGNAL;
        rustix::net::sendmsg(self.0.get_ref(), &message, &mut ancillary, flags)?;
        Ok(())
    }

    /// Asks. A launcher that is gone shows where its answer is awaited.
    pub(super) fn ask(&self, ask: Ask) {
        let sent = rustix::net::send(self.0.get_ref(), &ask.encode(), SendFlags::NOSIGNAL);
        tracing::trace!(?sent, ?ask, "to the launcher");
    }

    /// Cuts the lifeline.
    pub(super) fn cut(&self) {
        let cut = rustix::net::shutdown(self.0.get_ref(), Shutdown::Both);
        tracing::trace!(?cut, "the lifeline of a command");
    }

    /// The next report, with the descriptor that came along; `None` when the launcher has closed its end.
    pub(super) async fn next(&self) -> io::Result<Option<(Report, Option<OwnedFd>)>> {
        let received = self.0.async_io(Interest::READABLE, receive);
        let (bytes, descriptor) = match received.await {
            // A process that dies with unread messages resets the connection.
            Err(error) if error.kind() == io::ErrorKind::ConnectionReset => return Ok(None),
            received => received?,
        };
        if bytes.is_empty() {
            return Ok(None);
        }
        let report = Report::decode(&bytes).ok_or(io::ErrorKind::InvalidData)?;
        Ok(Some((report, descriptor)))
    }
}

fn receive(socket: &OwnedFd) -> io::Result<(Vec<u8>, Option<OwnedFd>)> {
    let mut bytes = [0; MAX_MESSAGE];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut ancillary = RecvAncillaryBuffer::new(&mut space);
    let mut message = [IoSliceMut::new(&mut bytes)];
    let flags = RecvFlags::CMSG_CLOEXEC;
    let got = rustix::net::recvmsg(socket, &mut message, &mut ancillary, flags)?;
    let descriptor = ancillary.drain().find_map(|message| match message {
        RecvAncillaryMessage::ScmRights(mut rights) => rights.next(),
        _ => None,
    });
    Ok((
        bytes.get(..got.bytes).unwrap_or_default().to_vec(),
        descriptor,
    ))
}

/// A file without a name that holds some bytes.
fn in_memory(name: &str, bytes: &[u8]) -> io::Result<File> {
    let mut file = File::from(memfd_create(name, MemfdFlags::CLOEXEC)?);
    file.write_all(bytes)?;
    Ok(file)
}
