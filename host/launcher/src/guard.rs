//! What a process gives up before it becomes the shell: resources, identity, capabilities, and writing outside of the roots.

use std::path::PathBuf;

use landlock::{
    ABI, Access as _, AccessFs, AccessNet, CompatLevel, Compatible as _, LandlockStatus, Ruleset,
    RulesetAttr as _, RulesetCreatedAttr as _, RulesetStatus, Scope, path_beneath_rules,
};
use rustix::io::Errno;
use rustix::process::{DumpableBehavior, Resource, Rlimit, getrlimit, setrlimit};
use rustix::thread::{CapabilitySet, CapabilitySets, set_capabilities};

use crate::mounts::as_path;
use crate::wire::{Enforced, Force, Hold, Layers, Plan, Step};
use crate::{At as _, Failure, sys};

/// What root keeps: enough to work in a folder that belongs to somebody else, nothing that reaches the machine.
const ROOT_KEEPS: CapabilitySet = CapabilitySet::CHOWN
    .union(CapabilitySet::DAC_OVERRIDE)
    .union(CapabilitySet::FOWNER)
    .union(CapabilitySet::FSETID)
    .union(CapabilitySet::SETUID)
    .union(CapabilitySet::SETGID)
    .union(CapabilitySet::KILL);
/// Numbers that a capability can have.
const CAPABILITIES: u32 = 64;
/// Writable beside the roots: folders of the command's own, and `/proc`, where each process changes itself.
const OWN: [&str; 4] = ["/tmp", "/run", "/dev", "/proc"];

/// Whether system calls and files are limited at all.
pub(crate) fn is_guarded(plan: &Plan) -> bool {
    match plan.layers {
        Layers::All | Layers::Landlock => true,
        Layers::Off => false,
    }
}

/// Limits of each process, and where the tree has no limit of its own, of the user's processes.
pub(crate) fn limits(plan: &Plan, force: &mut Force) -> Result<(), Failure> {
    lower(Resource::Core, 0)?;
    lower(Resource::Nofile, plan.open_files)?;
    lower(Resource::Fsize, plan.file_size)?;
    if force.processes == 0 && !rustix::process::geteuid().is_root() {
        lower(Resource::Nproc, plan.processes)?;
        force.processes = plan.processes;
    }
    Ok(())
}

fn lower(resource: Resource, limit: u64) -> Result<(), Failure> {
    let most = getrlimit(resource).maximum;
    let limit = Some(most.map_or(limit, |most| most.min(limit)));
    let both = Rlimit {
        current: limit,
        maximum: limit,
    };
    setrlimit(resource, both).at(Step::Limits)
}

/// Becomes the user of the plan, and gives up all capabilities but those that root needs for files.
pub(crate) fn identity(plan: &Plan) -> Result<(), Failure> {
    let stays_root = rustix::process::geteuid().is_root() && plan.run_as.is_none();
    if plan.layers != Layers::Off {
        forgo(if stays_root {
            ROOT_KEEPS
        } else {
            CapabilitySet::empty()
        })?;
    }
    if let Some((user, group)) = plan.run_as {
        use rustix::process::{Gid, Uid};
        use rustix::thread::{set_thread_groups, set_thread_res_gid, set_thread_res_uid};
        let (user, group) = (Uid::from_raw(user), Gid::from_raw(group));
        set_thread_groups(&[]).at(Step::Identity)?;
        set_thread_res_gid(group, group, group).at(Step::Identity)?;
        set_thread_res_uid(user, user, user).at(Step::Identity)?;
    }
    if plan.layers != Layers::Off {
        keep(if stays_root {
            ROOT_KEEPS
        } else {
            CapabilitySet::empty()
        })?;
        rustix::thread::set_no_new_privs(true).at(Step::Capabilities)?;
    }
    Ok(())
}

fn forgo(kept: CapabilitySet) -> Result<(), Failure> {
    for number in 0..CAPABILITIES {
        if kept.bits() & (1 << number) != 0 {
            continue;
        }
        match sys::forgo_capability(number) {
            Ok(()) => {}
            // Past the last one that this kernel knows.
            Err(Errno::INVAL) => break,
            // A user who has no capability cannot give up possible ones either; without new privileges there are none.
            Err(Errno::PERM) if !rustix::process::geteuid().is_root() => break,
            Err(error) => return Err(error).at(Step::Capabilities),
        }
    }
    Ok(())
}

fn keep(kept: CapabilitySet) -> Result<(), Failure> {
    let had = rustix::thread::capabilities(None).at(Step::Capabilities)?;
    let kept = kept & had.permitted;
    let sets = CapabilitySets {
        effective: kept,
        permitted: kept,
        inheritable: CapabilitySet::empty(),
    };
    set_capabilities(None, sets).at(Step::Capabilities)
}

/// Makes this process opaque to others of its user, and takes all power from it.
pub(crate) fn become_opaque() -> Result<(), Failure> {
    rustix::process::set_dumpable_behavior(DumpableBehavior::NotDumpable).at(Step::Capabilities)?;
    keep(CapabilitySet::empty())
}

/// The second layer under the mounts: the kernel may know less than is asked for, and what came of it is told. Where there are no
/// mounts it is the first layer, and must be there.
pub(crate) fn landlock(plan: &Plan, force: &mut Force) -> Result<(), Failure> {
    if let Ok((enforced, abi)) = restrict(plan) {
        force.landlock = enforced;
        force.landlock_abi = abi;
    }
    if plan.layers == Layers::Landlock && force.landlock == Enforced::Not {
        return Err(Errno::OPNOTSUPP).at(Step::Landlock);
    }
    Ok(())
}

fn restrict(plan: &Plan) -> Result<(Enforced, u32), landlock::RulesetError> {
    let abi = ABI::V5;
    let writing = AccessFs::from_write(abi);
    let roots = plan.writable.iter().map(|root| as_path(root).to_owned());
    let own: &[&str] = match plan.layers {
        Layers::All => &OWN,
        // The rest is the host's.
        Layers::Landlock | Layers::Off => &["/dev/null", "/dev/zero", "/dev/full", "/dev/tty"],
    };
    let places: Vec<PathBuf> = roots.chain(own.iter().map(PathBuf::from)).collect();
    let mut rules = Ruleset::default()
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(writing)?
        .scope(Scope::from_all(ABI::V6))?;
    if plan.hold == Hold::Subreaper && !plan.network {
        rules = rules.handle_access(AccessNet::from_all(ABI::V4))?;
    }
    let status = rules
        .create()?
        .add_rules(path_beneath_rules(places, writing))?
        .restrict_self()?;
    let enforced = match status.ruleset {
        RulesetStatus::FullyEnforced => Enforced::Fully,
        RulesetStatus::PartiallyEnforced => Enforced::Partly,
        RulesetStatus::NotEnforced => Enforced::Not,
    };
    let abi = match status.landlock {
        LandlockStatus::Available { effective_abi, .. } => effective_abi as u32,
        LandlockStatus::NotEnabled | LandlockStatus::NotImplemented => 0,
    };
    Ok((enforced, abi))
}
