//! The system calls that a confined program does not get. The list is of calls that reach the kernel's less tested
//! parts, other processes, or more rights. Docker's and Flatpak's profiles refuse nearly the same.

use crate::tier::Tier;
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule,
    TargetArch, sock_filter,
};
use std::collections::BTreeMap;
use std::io;

/// Fails with "Operation not permitted".
pub(super) const REFUSED: SeccompAction = SeccompAction::Errno(libc::EPERM as u32);

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
    SYS_OPEN_TREE_ATTR,
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

/// The calls that change or watch a file of the machine without opening it, or by a file that is open for reading.
/// Landlock does not cover them, so a program in the machine's own tree does not get them.
const REFUSED_WITHOUT_VIEW: &[libc::c_long] = &[
    libc::SYS_fchmod,
    libc::SYS_fchmodat,
    SYS_FCHMODAT2,
    libc::SYS_fchown,
    libc::SYS_fchownat,
    libc::SYS_setxattr,
    libc::SYS_lsetxattr,
    libc::SYS_fsetxattr,
    libc::SYS_removexattr,
    libc::SYS_lremovexattr,
    libc::SYS_fremovexattr,
    SYS_SETXATTRAT,
    SYS_REMOVEXATTRAT,
    SYS_FILE_SETATTR,
    libc::SYS_utimensat,
    libc::SYS_inotify_add_watch,
    // Sockets, besides pairs: `connect` to a socket with a path passes Landlock.
    libc::SYS_socket,
    libc::SYS_connect,
    libc::SYS_bind,
    libc::SYS_listen,
    // Shared memory, message queues and semaphores of the user's other processes. Landlock keeps a program only from
    // opening a queue with a name, and not from removing it.
    libc::SYS_shmat,
    libc::SYS_shmctl,
    libc::SYS_msgget,
    libc::SYS_msgsnd,
    libc::SYS_msgrcv,
    libc::SYS_msgctl,
    libc::SYS_semget,
    libc::SYS_semop,
    libc::SYS_semtimedop,
    libc::SYS_semctl,
    libc::SYS_mq_open,
    libc::SYS_mq_unlink,
];

/// The same calls in their older forms.
#[cfg(target_arch = "x86_64")]
const REFUSED_WITHOUT_VIEW_HERE: &[libc::c_long] =
    &[libc::SYS_chmod, libc::SYS_chown, libc::SYS_lchown, libc::SYS_utime, libc::SYS_utimes, libc::SYS_futimesat];
#[cfg(not(target_arch = "x86_64"))]
const REFUSED_WITHOUT_VIEW_HERE: &[libc::c_long] = &[];

/// Numbers of calls that are newer than the crate `libc`, the same on every architecture: Linux 6.6, 6.13, 6.13, 6.15
/// and 6.17.
const SYS_FCHMODAT2: libc::c_long = 452;
const SYS_SETXATTRAT: libc::c_long = 463;
const SYS_REMOVEXATTRAT: libc::c_long = 466;
const SYS_OPEN_TREE_ATTR: libc::c_long = 467;
const SYS_FILE_SETATTR: libc::c_long = 469;

/// The calls that change another process of the user, by the argument that names it. Zero is the caller itself.
const OWN_PROCESS_ONLY: &[(libc::c_long, u8)] = &[
    (libc::SYS_prlimit64, 0),
    (libc::SYS_sched_setaffinity, 0),
    (libc::SYS_sched_setscheduler, 0),
    (libc::SYS_sched_setparam, 0),
    (libc::SYS_sched_setattr, 0),
    (libc::SYS_setpriority, 1),
    (libc::SYS_ioprio_set, 1),
];

/// The calls that would change all processes of the user, with the value of their first argument that says so.
const WHOLE_USER: &[(libc::c_long, u64)] =
    &[(libc::SYS_setpriority, PRIO_USER), (libc::SYS_ioprio_set, IOPRIO_WHO_USER)];
const PRIO_USER: u64 = 2;
const IOPRIO_WHO_USER: u64 = 3;

/// The control codes of a terminal that put input into it or change its console.
const REFUSED_CONTROLS: &[u64] = &[libc::TIOCSTI, libc::TIOCLINUX];

/// The types of the control codes by which file systems change a file that is open for reading, or the entries of an
/// open directory: attributes, encryption and verity; versions; projects; FAT; F2FS. The type is a code's second byte.
const FILE_CONTROL_TYPES: &[u8] = b"fvXr\xf5";

/// The type of btrfs, of which only the codes that clone into a file open for writing are allowed.
const BTRFS_CONTROL_TYPE: u8 = 0x94;
const CLONE_CONTROLS: [u64; 2] = [libc::FICLONE, libc::FICLONERANGE];

/// Returns the filter of the calls that seem not to exist.
pub(super) fn absent_filter() -> io::Result<BpfProgram> {
    let absent = ABSENT_CALLS.iter().map(|call| (*call, Vec::new())).collect();
    compile(absent, SeccompAction::Errno(libc::ENOSYS.unsigned_abs()))
}

/// Returns the filters of a program. The strictest counts.
pub(super) fn filters(tier: Tier) -> io::Result<[BpfProgram; 2]> {
    let mut rules = dangerous_calls()?;
    refuse_core_limit(&mut rules)?;
    match tier {
        Tier::Namespaces => refuse_foreign_sockets(&mut rules)?,
        Tier::Landlock => refuse_without_view(&mut rules)?,
    }
    Ok([absent_filter()?, refuse_x32(compile(rules, REFUSED)?)])
}

/// Returns the rules of what no confined process gets.
pub(super) fn dangerous_calls() -> io::Result<BTreeMap<i64, Vec<SeccompRule>>> {
    let mut rules: BTreeMap<i64, Vec<SeccompRule>> = BTreeMap::new();
    for call in REFUSED_CALLS.iter().chain(REFUSED_CALLS_HERE) {
        rules.insert(*call, Vec::new());
    }
    rules.insert(libc::SYS_clone, clone_rules()?);
    for code in REFUSED_CONTROLS {
        rules.entry(libc::SYS_ioctl).or_default().push(rule(&[(1, SeccompCmpOp::Eq, *code)])?);
    }
    Ok(rules)
}

/// Keeps the limit of core files at the value that starts no crash handler. It can still be read.
fn refuse_core_limit(rules: &mut BTreeMap<i64, Vec<SeccompRule>>) -> io::Result<()> {
    let core = u64::from(libc::RLIMIT_CORE);
    rules.insert(libc::SYS_setrlimit, vec![rule(&[(0, SeccompCmpOp::Eq, core)])?]);
    let is_core =
        SeccompCondition::new(1, SeccompCmpArgLen::Dword, SeccompCmpOp::Eq, core).map_err(io::Error::other)?;
    // The address of the new limit.
    let is_set = SeccompCondition::new(2, SeccompCmpArgLen::Qword, SeccompCmpOp::Ne, 0).map_err(io::Error::other)?;
    let set_core = SeccompRule::new(vec![is_core, is_set]).map_err(io::Error::other)?;
    rules.insert(libc::SYS_prlimit64, vec![set_core]);
    Ok(())
}

/// Refuses the sockets that do not belong to a network namespace, such as VSOCK, and those that make packets.
fn refuse_foreign_sockets(rules: &mut BTreeMap<i64, Vec<SeccompRule>>) -> io::Result<()> {
    let allowed = [libc::AF_UNIX, libc::AF_INET, libc::AF_INET6];
    let others = allowed.map(|family| (0, SeccompCmpOp::Ne, family.unsigned_abs().into()));
    rules.insert(libc::SYS_socket, vec![rule(&others)?, socket_type(libc::SOCK_RAW)?]);
    rules.insert(libc::SYS_socketpair, vec![foreign_pair()?]);
    Ok(())
}

/// Refuses what Landlock does not cover.
fn refuse_without_view(rules: &mut BTreeMap<i64, Vec<SeccompRule>>) -> io::Result<()> {
    for call in REFUSED_WITHOUT_VIEW.iter().chain(REFUSED_WITHOUT_VIEW_HERE) {
        rules.insert(*call, Vec::new());
    }
    // A pair of datagram sockets can send to any socket that has a path. Linux makes such a pair for the raw type too.
    let datagrams = [socket_type(libc::SOCK_DGRAM)?, socket_type(libc::SOCK_RAW)?];
    rules.insert(libc::SYS_socketpair, [foreign_pair()?].into_iter().chain(datagrams).collect());
    rules.entry(libc::SYS_ioctl).or_default().extend(file_controls()?);
    for (call, argument) in OWN_PROCESS_ONLY {
        rules.entry(*call).or_default().push(rule(&[(*argument, SeccompCmpOp::Ne, 0)])?);
    }
    for (call, user) in WHOLE_USER {
        rules.entry(*call).or_default().push(rule(&[(0, SeccompCmpOp::Eq, *user)])?);
    }
    Ok(())
}

/// Returns the rules for the control codes of file systems.
fn file_controls() -> io::Result<Vec<SeccompRule>> {
    let of_type = |kind: u8| (1, SeccompCmpOp::MaskedEq(0xff00), u64::from(kind) << 8);
    let whole = FILE_CONTROL_TYPES.iter().map(|kind| rule(&[of_type(*kind)]));
    let [clone, clone_range] = CLONE_CONTROLS.map(|code| (1, SeccompCmpOp::Ne, code));
    whole.chain([rule(&[of_type(BTRFS_CONTROL_TYPE), clone, clone_range])]).collect()
}

/// Returns a rule for pairs of sockets that are not Unix sockets. A pair of another family could send to others.
fn foreign_pair() -> io::Result<SeccompRule> {
    rule(&[(0, SeccompCmpOp::Ne, libc::AF_UNIX.unsigned_abs().into())])
}

/// Returns a rule for sockets of a type. The type without its flags is in the low four bits of the second argument.
fn socket_type(wanted: libc::c_int) -> io::Result<SeccompRule> {
    rule(&[(1, SeccompCmpOp::MaskedEq(0xf), wanted.unsigned_abs().into())])
}

/// Returns a rule that matches if all of these arguments do: each with its index, an operator and a value.
pub(super) fn rule(arguments: &[(u8, SeccompCmpOp, u64)]) -> io::Result<SeccompRule> {
    let condition = |(index, operator, value): &(u8, SeccompCmpOp, u64)| {
        // The kernel ignores the upper half of these arguments. If a rule compared it, a caller could set bits there to
        // escape the rule.
        SeccompCondition::new(*index, SeccompCmpArgLen::Dword, operator.clone(), *value)
    };
    let conditions = arguments.iter().map(condition).collect::<Result<Vec<_>, _>>().map_err(io::Error::other)?;
    SeccompRule::new(conditions).map_err(io::Error::other)
}

/// Returns the filter of a container: no namespaces.
pub(super) fn namespaces_filter() -> io::Result<BpfProgram> {
    let mut rules = BTreeMap::from([(libc::SYS_unshare, Vec::new())]);
    rules.insert(libc::SYS_clone, clone_rules()?);
    compile(rules, REFUSED)
}

pub(super) fn compile(rules: BTreeMap<i64, Vec<SeccompRule>>, action: SeccompAction) -> io::Result<BpfProgram> {
    let arch: TargetArch = std::env::consts::ARCH.try_into().map_err(io::Error::other)?;
    let filter = SeccompFilter::new(rules, SeccompAction::Allow, action, arch).map_err(io::Error::other)?;
    BpfProgram::try_from(filter).map_err(io::Error::other)
}

/// Returns a rule for each kind of namespace that `clone` can make.
fn clone_rules() -> io::Result<Vec<SeccompRule>> {
    let flags = (0..u64::BITS).map(|bit| 1 << bit).filter(|flag| NAMESPACE_FLAGS & flag != 0);
    flags.map(|flag| rule(&[(0, SeccompCmpOp::MaskedEq(flag), flag)])).collect()
}

/// Puts a check of the x32 bit before a filter, because its numbers have none.
#[cfg(target_arch = "x86_64")]
pub(super) fn refuse_x32(filter: BpfProgram) -> BpfProgram {
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
pub(super) fn refuse_x32(filter: BpfProgram) -> BpfProgram {
    filter
}
