//! The system calls for which there is no safe wrapper: the only unsafe code of the launcher.
#![deny(unsafe_op_in_unsafe_fn)]
#![expect(
    unsafe_code,
    reason = "fork, execve, signals and mount attributes have no safe form"
)]

use std::ffi::{CStr, CString, c_char};
use std::os::fd::{AsRawFd as _, BorrowedFd, FromRawFd as _, OwnedFd};
use std::ptr;

use rustix::io::Errno;
use rustix::process::Pid;
use rustix::thread::UnshareFlags;

fn checked(result: libc::c_long) -> Result<libc::c_long, Errno> {
    if result < 0 {
        let error = std::io::Error::last_os_error();
        Err(Errno::from_io_error(&error).unwrap_or(Errno::IO))
    } else {
        Ok(result)
    }
}

/// Ends this process at once.
pub(crate) fn exit(code: i32) -> ! {
    // SAFETY: `_exit` takes any integer, touches no memory of this process and does not return.
    unsafe { libc::_exit(code) }
}

/// Splits this process in two; `None` in the new one.
pub(crate) fn fork() -> Result<Option<Pid>, Errno> {
    // SAFETY: the launcher has one thread, so the new process holds no lock of a thread that is not there.
    let id = unsafe { libc::fork() };
    checked(id.into())?;
    Ok(Pid::from_raw(id))
}

/// Leaves namespaces for new ones.
pub(crate) fn unshare(flags: UnshareFlags) -> Result<(), Errno> {
    // SAFETY: the descriptor table is not among the flags that the launcher uses, and there are no other threads.
    unsafe { rustix::thread::unshare_unsafe(flags) }
}

/// Takes a descriptor that was inherited under a number, and lets it close when a command is executed.
pub(crate) fn take(number: i32) -> Result<OwnedFd, Errno> {
    // SAFETY: the number is one that nothing in this process owns: it was handed over for this. That it is open is asked before
    // it gets an owner.
    let descriptor = unsafe {
        checked(libc::fcntl(number, libc::F_SETFD, libc::FD_CLOEXEC).into())?;
        OwnedFd::from_raw_fd(number)
    };
    Ok(descriptor)
}

/// Closes all descriptors from a number on. Nothing that owns one of them may be used afterwards.
pub(crate) fn close_from(first: u32) {
    // SAFETY: the call takes three integers. Descriptors are closed behind the back of their owners only where the
    // process goes on to wait, exit or execute, or before it owns any.
    unsafe { libc::syscall(libc::SYS_close_range, first, u32::MAX, 0) };
}

/// Lets all descriptors from a number on close when the command is executed.
pub(crate) fn close_on_exec_from(first: u32) -> Result<(), Errno> {
    // SAFETY: the call takes three integers and touches no memory.
    let done = unsafe {
        libc::syscall(
            libc::SYS_close_range,
            first,
            u32::MAX,
            libc::CLOSE_RANGE_CLOEXEC,
        )
    };
    checked(done).map(drop)
}

/// All signals to their default, none blocked: what a program may expect when it begins.
pub(crate) fn reset_signals() -> Result<(), Errno> {
    // Handler, flags, restorer and mask: all zero is the default, and the C library does not let its own two signals be set.
    let default = [0_u64; 4];
    for signal in 1..=64 {
        // SAFETY: the system reads no more than the four words, and the size is that of its mask. Signals that cannot be set
        // are refused, which is fine.
        unsafe {
            libc::syscall(
                libc::SYS_rt_sigaction,
                signal,
                default.as_ptr(),
                ptr::null::<u64>(),
                size_of::<u64>(),
            )
        };
    }
    // SAFETY: a zeroed set is filled by `sigemptyset` before it is read; the old set is not asked for.
    let done = unsafe {
        let mut none: libc::sigset_t = std::mem::zeroed();
        libc::sigemptyset(&raw mut none);
        libc::sigprocmask(libc::SIG_SETMASK, &raw const none, ptr::null_mut())
    };
    checked(done.into()).map(drop)
}

/// Blocks the signal of an ended child, and gives a descriptor that is readable when one is pending.
pub(crate) fn child_signals() -> Result<OwnedFd, Errno> {
    // SAFETY: a zeroed set is filled by `sigemptyset` and `sigaddset` before it is read; the new descriptor has no other
    // owner.
    unsafe {
        let mut set: libc::sigset_t = std::mem::zeroed();
        libc::sigemptyset(&raw mut set);
        libc::sigaddset(&raw mut set, libc::SIGCHLD);
        checked(libc::sigprocmask(libc::SIG_BLOCK, &raw const set, ptr::null_mut()).into())?;
        let descriptor = libc::signalfd(-1, &raw const set, libc::SFD_CLOEXEC | libc::SFD_NONBLOCK);
        checked(descriptor.into())?;
        Ok(OwnedFd::from_raw_fd(descriptor))
    }
}

/// Becomes another program. Returns only where that failed.
pub(crate) fn execute(program: &CStr, arguments: &[CString], environment: &[CString]) -> Errno {
    let pointers = |list: &[CString]| -> Vec<*const c_char> {
        let all = list.iter().map(|text| text.as_ptr());
        all.chain([ptr::null()]).collect()
    };
    let (arguments, environment) = (pointers(arguments), pointers(environment));
    // SAFETY: all three are terminated as the call demands, and live until it returns.
    let result =
        unsafe { libc::execve(program.as_ptr(), arguments.as_ptr(), environment.as_ptr()) };
    checked(result.into()).err().unwrap_or(Errno::IO)
}

/// Sets attributes of a mount, and of all below it where `recursive`. An empty path is the descriptor itself.
pub(crate) fn mount_attributes(
    place: BorrowedFd<'_>,
    path: &CStr,
    recursive: bool,
    set: u64,
    propagation: u64,
) -> Result<(), Errno> {
    let attributes = libc::mount_attr {
        attr_set: set,
        attr_clr: 0,
        propagation,
        userns_fd: 0,
    };
    let mut flags = libc::AT_SYMLINK_NOFOLLOW;
    if recursive {
        flags |= libc::AT_RECURSIVE;
    }
    if path.is_empty() {
        flags |= libc::AT_EMPTY_PATH;
    }
    // SAFETY: path and attributes live until the call returns, and the size is that of the attributes.
    let done = unsafe {
        libc::syscall(
            libc::SYS_mount_setattr,
            place.as_raw_fd(),
            path.as_ptr(),
            flags,
            &raw const attributes,
            size_of::<libc::mount_attr>(),
        )
    };
    checked(done).map(drop)
}

/// Takes a capability out of what this process and its children can ever have.
pub(crate) fn forgo_capability(number: u32) -> Result<(), Errno> {
    // SAFETY: this form of the call takes integers only.
    let done = unsafe { libc::prctl(libc::PR_CAPBSET_DROP, libc::c_ulong::from(number), 0, 0, 0) };
    checked(done.into()).map(drop)
}

/// Brings the loopback of this network namespace up.
pub(crate) fn loopback_up(socket: BorrowedFd<'_>) -> Result<(), Errno> {
    // SAFETY: the request is zeroed, its name is shorter than its field and stays terminated, both calls get a request of
    // the type they expect, and the flags are the union's member that they fill and read.
    unsafe {
        let mut request: libc::ifreq = std::mem::zeroed();
        for (to, from) in request.ifr_name.iter_mut().zip(c"lo".to_bytes()) {
            *to = from.cast_signed() as c_char;
        }
        let socket = socket.as_raw_fd();
        checked(libc::ioctl(socket, libc::SIOCGIFFLAGS as _, &raw mut request).into())?;
        request.ifr_ifru.ifru_flags |= libc::IFF_UP as libc::c_short;
        checked(libc::ioctl(socket, libc::SIOCSIFFLAGS as _, &raw const request).into()).map(drop)
    }
}
