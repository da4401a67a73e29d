//! System calls that no command needs and that reach past the sandbox: refused with EPERM, so that programs can go on
//! without them. Programs of a foreign architecture are ended: their calls have other numbers.

use std::collections::BTreeMap;

use rustix::io::Errno;
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule, TargetArch, apply_filter,
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
/// The newest way to open a tree of mounts, which the C library's list does not have.
const OPEN_TREE_ATTR: libc::c_long = 467;
/// Numbers of the x32 calls, which the filter's check of the architecture lets through.
const X32: libc::c_long = 0x4000_0000;
/// The protocol of netlink that `ip` and the resolver use.
const NETLINK_ROUTE: u64 = 0;
const TIOCLINUX: u64 = 0x541C;
const TIOCSTI: u64 = 0x5412;

type Rules = BTreeMap<libc::c_long, Vec<SeccompRule>>;

/// Installs the filter for this process and its children, for good.
pub(crate) fn install(plan: &Plan) -> Result<(), Failure> {
    apply(refused(plan)?, Errno::PERM)?;
    // Its arguments lie in memory, where no filter sees them. Told that the call does not exist, the C library takes the
    // older one, whose flags can be read.
    let clone3 = both(libc::SYS_clone3).map(|number| (number, Vec::new()));
    apply(clone3.into(), Errno::NOSYS)
}

fn apply(rules: Rules, errno: Errno) -> Result<(), Failure> {
    let refuse = SeccompAction::Errno(errno.raw_os_error().cast_unsigned());
    let filter = SeccompFilter::new(rules, SeccompAction::Allow, refuse, architecture()?);
    let program: Result<BpfProgram, _> = filter.and_then(TryInto::try_into);
    let program = program.map_err(std::io::Error::other).at(Step::Seccomp)?;
    apply_filter(&program)
        .map_err(std::io::Error::other)
        .at(Step::Seccomp)
}

fn architecture() -> Result<TargetArch, Failure> {
    std::env::consts::ARCH
        .try_into()
        .map_err(|error: seccompiler::BackendError| std::io::Error::other(error))
        .at(Step::Seccomp)
}

fn both(number: libc::c_long) -> [libc::c_long; 2] {
    [number, X32 | number]
}

fn refused(plan: &Plan) -> Result<Rules, Failure> {
    let mut rules = Rules::new();
    for number in REFUSED.into_iter().chain([OPEN_TREE_ATTR]).flat_map(both) {
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
        for number in both(number) {
            rules.insert(number, list.clone());
        }
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
