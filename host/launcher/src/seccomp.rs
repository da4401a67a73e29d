//! System calls that no command needs and that reach past the sandbox: refused with EPERM, so that programs can go on
//! without them. Programs of a foreign architecture are ended: their calls have other numbers.

use std::collections::BTreeMap;

use rustix::io::Errno;
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule, TargetArch, apply_filter, sock_filter,
};

use crate::wire::{Hold, Plan, Step};
use crate::{At as _, Failure};

/// Refused whatever the arguments.
const REFUSED: [libc::c_long; 42] = [
    // Does in the kernel what the filter refuses at its door.
    libc::SYS_io_uring_setup,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
    // Other processes.
    libc::SYS_ptrace,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_pidfd_getfd,
    // The kernel.
    libc::SYS_bpf,
    libc::SYS_userfaultfd,
    libc::SYS_perf_event_open,
    libc::SYS_kexec_load,
    libc::SYS_kexec_file_load,
    libc::SYS_init_module,
    libc::SYS_finit_module,
    libc::SYS_delete_module,
    libc::SYS_swapon,
    libc::SYS_swapoff,
    libc::SYS_reboot,
    libc::SYS_acct,
    libc::SYS_quotactl,
    libc::SYS_syslog,
    libc::SYS_settimeofday,
    libc::SYS_clock_settime,
    libc::SYS_adjtimex,
    libc::SYS_clock_adjtime,
    // Keys of the user.
    libc::SYS_keyctl,
    libc::SYS_add_key,
    libc::SYS_request_key,
    // Mounts and namespaces.
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_pivot_root,
    libc::SYS_move_mount,
    libc::SYS_open_tree,
    libc::SYS_fsopen,
    libc::SYS_fsconfig,
    libc::SYS_fsmount,
    libc::SYS_fspick,
    libc::SYS_mount_setattr,
    libc::SYS_setns,
    libc::SYS_unshare,
    libc::SYS_open_by_handle_at,
    libc::SYS_vhangup,
];
/// The same number on every architecture.
const CLONE3: u32 = 435;
/// The newest way to open a tree of mounts, which the C library's list does not have.
const OPEN_TREE_ATTR: libc::c_long = 467;
/// From here on the numbers of the x32 calls, which the filter's check of the architecture lets through.
const X32: u32 = 0x4000_0000;
/// What a filter answers, with an error number in its lower half.
const ANSWER_ERRNO: u32 = 0x0005_0000;
/// The protocol of netlink that `ip` and the resolver use.
const NETLINK_ROUTE: u64 = 0;
const TIOCLINUX: u64 = 0x541C;
const TIOCSTI: u64 = 0x5412;

type Rules = BTreeMap<libc::c_long, Vec<SeccompRule>>;

/// Installs the filter for this process and its children, for good.
pub(crate) fn install(plan: &Plan) -> Result<(), Failure> {
    let refuse = SeccompAction::Errno(Errno::PERM.raw_os_error().cast_unsigned());
    let filter = SeccompFilter::new(
        refused(plan)?,
        SeccompAction::Allow,
        refuse,
        architecture()?,
    );
    let rest: Result<BpfProgram, _> = filter.and_then(TryInto::try_into);
    let mut program = by_number().to_vec();
    program.extend(rest.map_err(std::io::Error::other).at(Step::Seccomp)?);
    apply_filter(&program)
        .map_err(std::io::Error::other)
        .at(Step::Seccomp)
}

/// What goes by the number alone and needs another answer, or stands for many: before the rest, in one filter, because the
/// kernel walks each filter once for every call that there is when it is installed.
fn by_number() -> [sock_filter; 5] {
    let answer = |errno: Errno| ANSWER_ERRNO | errno.raw_os_error().cast_unsigned();
    let step = |code, jt, jf, k| sock_filter { code, jt, jf, k };
    let (load, at_least, equal, end) = (0x20, 0x35, 0x15, 0x06);
    [
        // The number stands first in what a filter sees.
        step(load, 0, 0, 0),
        step(at_least, 0, 1, X32),
        step(end, 0, 0, answer(Errno::PERM)),
        // Its arguments lie in memory, where no filter sees them. Told that the call does not exist, the C library takes the
        // older one, whose flags can be read.
        step(equal, 0, 1, CLONE3),
        step(end, 0, 0, answer(Errno::NOSYS)),
    ]
}

fn architecture() -> Result<TargetArch, Failure> {
    std::env::consts::ARCH
        .try_into()
        .map_err(|error: seccompiler::BackendError| std::io::Error::other(error))
        .at(Step::Seccomp)
}

fn refused(plan: &Plan) -> Result<Rules, Failure> {
    let mut rules = Rules::new();
    for number in REFUSED.into_iter().chain([OPEN_TREE_ATTR]) {
        rules.insert(number, Vec::new());
    }
    let user_namespace = libc::CLONE_NEWUSER.cast_unsigned().into();
    let sets = SeccompCmpOp::MaskedEq(user_namespace);
    let conditional = [
        (libc::SYS_clone, vec![rule(&[(0, sets, user_namespace)])?]),
        (
            libc::SYS_ioctl,
            vec![
                rule(&[(1, SeccompCmpOp::Eq, TIOCSTI)])?,
                rule(&[(1, SeccompCmpOp::Eq, TIOCLINUX)])?,
            ],
        ),
        (libc::SYS_socket, sockets(plan)?),
    ];
    for (number, list) in conditional {
        rules.insert(number, list);
    }
    Ok(rules)
}

/// Families of sockets that are refused.
fn sockets(plan: &Plan) -> Result<Vec<SeccompRule>, Failure> {
    let mut families = vec![libc::AF_VSOCK, libc::AF_PACKET, libc::AF_ALG];
    if plan.strict_sockets {
        families.push(libc::AF_UNIX);
    }
    if plan.hold == Hold::Subreaper && !plan.network {
        families.extend([libc::AF_INET, libc::AF_INET6, libc::AF_NETLINK]);
    }
    let mut rules = families
        .into_iter()
        .map(|family| rule(&[(0, SeccompCmpOp::Eq, family.cast_unsigned().into())]))
        .collect::<Result<Vec<_>, _>>()?;
    let netlink = libc::AF_NETLINK.cast_unsigned().into();
    rules.push(rule(&[
        (0, SeccompCmpOp::Eq, netlink),
        (2, SeccompCmpOp::Ne, NETLINK_ROUTE),
    ])?);
    Ok(rules)
}

/// All conditions on 32-bit arguments.
fn rule(conditions: &[(u8, SeccompCmpOp, u64)]) -> Result<SeccompRule, Failure> {
    let conditions: Result<Vec<_>, _> = conditions
        .iter()
        .map(|(argument, compare, value)| {
            SeccompCondition::new(*argument, SeccompCmpArgLen::Dword, compare.clone(), *value)
        })
        .collect();
    conditions
        .and_then(SeccompRule::new)
        .map_err(std::io::Error::other)
        .at(Step::Seccomp)
}
