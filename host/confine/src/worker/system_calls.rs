//! The system calls that a confined program does not get. The list is of calls that reach the kernel's less tested
//! parts, other processes, or more rights. Docker's and Flatpak's profiles refuse nearly the same.

use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule,
    TargetArch, sock_filter,
};
use std::collections::BTreeMap;
use std::io;

/// Fails with "Operation not permitted".
const REFUSED: SeccompAction = SeccompAction::Errno(libc::EPERM as u32);

/// The bit of the system calls of the x32 interface. A filter of numbers would not match them.
#[cfg(target_arch = "x86_64")]
const X32_BIT: u32 = 0x4000_0000;

/// The flags of `clone` that make namespaces.
const NAMESPACE_FLAGS: u64 = (libc::CLONE_NEWNS
    | libc::CLONE_NEWCGROUP
    | libc::CLONE_NEWUTS
    | libc::CLONE_NEWIPC
    | libc::CLONE_NEWUSER
    | libc::CLONE_NEWPID
    | libc::CLONE_NEWNET) as u64;

/// Which sockets a program gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sockets {
    /// Of the network namespace, which has nothing but what it was given, and between its own processes.
    OwnNamespace,
    /// Pairs for its own processes alone.
    Pairs,
}

/// The calls that are refused whatever their arguments.
const REFUSED_CALLS: &[libc::c_long] = &[
    // Other processes.
    libc::SYS_ptrace,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_process_madvise,
    libc::SYS_pidfd_getfd,
    libc::SYS_kcmp,
    // Namespaces and mounts.
    libc::SYS_unshare,
    libc::SYS_setns,
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_pivot_root,
    libc::SYS_chroot,
    libc::SYS_fsopen,
    libc::SYS_fsconfig,
    libc::SYS_fsmount,
    libc::SYS_fspick,
    libc::SYS_move_mount,
    libc::SYS_open_tree,
    libc::SYS_mount_setattr,
    // Files by number, around the view.
    libc::SYS_open_by_handle_at,
    libc::SYS_name_to_handle_at,
    // Parts of the kernel with many faults of their own.
    libc::SYS_bpf,
    libc::SYS_perf_event_open,
    libc::SYS_userfaultfd,
    libc::SYS_io_uring_setup,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
    libc::SYS_add_key,
    libc::SYS_request_key,
    libc::SYS_keyctl,
    libc::SYS_fanotify_init,
    libc::SYS_lookup_dcookie,
    libc::SYS_vmsplice,
    // The machine.
    libc::SYS_init_module,
    libc::SYS_finit_module,
    libc::SYS_delete_module,
    libc::SYS_kexec_load,
    libc::SYS_reboot,
    libc::SYS_swapon,
    libc::SYS_swapoff,
    libc::SYS_acct,
    libc::SYS_quotactl,
    libc::SYS_quotactl_fd,
    libc::SYS_syslog,
    libc::SYS_settimeofday,
    libc::SYS_clock_settime,
    libc::SYS_clock_adjtime,
    libc::SYS_adjtimex,
    libc::SYS_sethostname,
    libc::SYS_setdomainname,
    libc::SYS_vhangup,
    libc::SYS_nfsservctl,
    // Memory that no limit of a process counts.
    libc::SYS_shmget,
    libc::SYS_migrate_pages,
    libc::SYS_move_pages,
    libc::SYS_memfd_secret,
];

#[cfg(target_arch = "x86_64")]
const REFUSED_CALLS_HERE: &[libc::c_long] = &[
    libc::SYS_kexec_file_load,
    libc::SYS_iopl,
    libc::SYS_ioperm,
    libc::SYS_modify_ldt,
    libc::SYS_uselib,
    libc::SYS__sysctl,
];
#[cfg(not(target_arch = "x86_64"))]
const REFUSED_CALLS_HERE: &[libc::c_long] = &[];

/// The calls that seem not to exist, so that programs use an older one: its flags are in memory, where a filter cannot
/// read them.
const ABSENT_CALLS: &[libc::c_long] = &[libc::SYS_clone3];

/// The control codes of a terminal that put input into it or change its console.
const REFUSED_CONTROLS: &[u64] = &[libc::TIOCSTI, libc::TIOCLINUX];

/// Returns the filter of a program.
pub(super) fn filter(sockets: Sockets) -> io::Result<BpfProgram> {
    let failed = |error: seccompiler::BackendError| io::Error::other(error.to_string());
    let mut rules: BTreeMap<i64, Vec<SeccompRule>> = BTreeMap::new();
    for call in REFUSED_CALLS.iter().chain(REFUSED_CALLS_HERE) {
        rules.insert(*call, Vec::new());
    }
    rules.insert(libc::SYS_clone, clone_rules().map_err(failed)?);
    for code in REFUSED_CONTROLS {
        let is = SeccompCondition::new(1, SeccompCmpArgLen::Dword, SeccompCmpOp::Eq, *code).map_err(failed)?;
        rules.entry(libc::SYS_ioctl).or_default().push(SeccompRule::new(vec![is]).map_err(failed)?);
    }
    socket_rules(sockets, &mut rules).map_err(failed)?;
    Ok(refuse_x32(compile(rules, REFUSED)?))
}

/// Returns the filter of a container: no namespaces.
pub(super) fn namespaces_filter() -> io::Result<BpfProgram> {
    let mut rules = BTreeMap::from([(libc::SYS_unshare, Vec::new())]);
    rules.insert(libc::SYS_clone, clone_rules().map_err(|error| io::Error::other(error.to_string()))?);
    compile(rules, REFUSED)
}

fn compile(rules: BTreeMap<i64, Vec<SeccompRule>>, action: SeccompAction) -> io::Result<BpfProgram> {
    let failed = |error: seccompiler::BackendError| io::Error::other(error.to_string());
    let arch: TargetArch = std::env::consts::ARCH.try_into().map_err(failed)?;
    let filter = SeccompFilter::new(rules, SeccompAction::Allow, action, arch).map_err(failed)?;
    BpfProgram::try_from(filter).map_err(failed)
}

/// Returns a rule for each kind of namespace that `clone` can make.
fn clone_rules() -> Result<Vec<SeccompRule>, seccompiler::BackendError> {
    let flags = (0..u64::BITS).map(|bit| 1 << bit).filter(|flag| NAMESPACE_FLAGS & flag != 0);
    let rule = |flag| {
        let has = SeccompCondition::new(0, SeccompCmpArgLen::Qword, SeccompCmpOp::MaskedEq(flag), flag)?;
        SeccompRule::new(vec![has])
    };
    flags.map(rule).collect()
}

/// Returns the filter of calls that seem not to exist. A process can have many filters, and the strictest counts.
pub(super) fn absent_calls_filter() -> io::Result<BpfProgram> {
    let rules = ABSENT_CALLS.iter().map(|call| (*call, Vec::new())).collect();
    compile(rules, SeccompAction::Errno(libc::ENOSYS.unsigned_abs()))
}

fn socket_rules(
    sockets: Sockets,
    rules: &mut BTreeMap<i64, Vec<SeccompRule>>,
) -> Result<(), seccompiler::BackendError> {
    let argument = |index, op, value| SeccompCondition::new(index, SeccompCmpArgLen::Dword, op, value);
    match sockets {
        Sockets::OwnNamespace => {
            // Only these families belong to a network namespace and have no other way out, such as VSOCK has.
            let allowed = [libc::AF_UNIX, libc::AF_INET, libc::AF_INET6];
            let others = allowed.iter().map(|family| argument(0, SeccompCmpOp::Ne, family.unsigned_abs().into()));
            let other_family = SeccompRule::new(others.collect::<Result<_, _>>()?)?;
            // The type without its flags is in the low four bits.
            let raw = argument(1, SeccompCmpOp::MaskedEq(0xf), libc::SOCK_RAW.unsigned_abs().into())?;
            rules.insert(libc::SYS_socket, vec![other_family, SeccompRule::new(vec![raw])?]);
        }
        Sockets::Pairs => {
            for call in [libc::SYS_socket, libc::SYS_connect, libc::SYS_bind, libc::SYS_listen] {
                rules.insert(call, Vec::new());
            }
            // A pair of datagram sockets can send to any socket that has a path.
            let datagram = argument(1, SeccompCmpOp::MaskedEq(0xf), libc::SOCK_DGRAM.unsigned_abs().into())?;
            rules.insert(libc::SYS_socketpair, vec![SeccompRule::new(vec![datagram])?]);
        }
    }
    Ok(())
}

/// Puts a check of the x32 bit before a filter, because its numbers have none.
#[cfg(target_arch = "x86_64")]
fn refuse_x32(filter: BpfProgram) -> BpfProgram {
    const LOAD_WORD: u16 = 0x20;
    const JUMP_IF_GREATER_OR_EQUAL: u16 = 0x35;
    const RETURN: u16 = 0x06;
    /// `SECCOMP_RET_ERRNO` with `ENOSYS`.
    const ABSENT: u32 = 0x0005_0000 | libc::ENOSYS as u32;
    let check = [
        // The number of the call is the first word of `struct seccomp_data`.
        sock_filter { code: LOAD_WORD, jt: 0, jf: 0, k: 0 },
        sock_filter { code: JUMP_IF_GREATER_OR_EQUAL, jt: 0, jf: 1, k: X32_BIT },
        sock_filter { code: RETURN, jt: 0, jf: 0, k: ABSENT },
    ];
    check.into_iter().chain(filter).collect()
}

#[cfg(not(target_arch = "x86_64"))]
fn refuse_x32(filter: BpfProgram) -> BpfProgram {
    filter
}
