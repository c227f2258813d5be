//! The system calls that a process leaves itself.

use super::system_calls::{REFUSED, absent_filter, compile, dangerous_calls, refuse_x32, rule};
use seccompiler::{BpfProgram, SeccompAction, SeccompCmpOp, SeccompFilter, SeccompRule, TargetArch};
use std::collections::BTreeMap;
use std::io;

/// All that a process needs that computes on several threads, from its open streams and to them: memory, threads, time,
/// and open descriptors. It cannot open a file, make a socket, start a program or signal another process.
const COMPUTING_CALLS: &[libc::c_long] = &[
    // Open descriptors.
    libc::SYS_read,
    libc::SYS_readv,
    libc::SYS_write,
    libc::SYS_writev,
    libc::SYS_close,
    libc::SYS_fstat,
    libc::SYS_lseek,
    libc::SYS_ppoll,
    libc::SYS_fcntl,
    // Memory.
    libc::SYS_brk,
    libc::SYS_mmap,
    libc::SYS_munmap,
    libc::SYS_mprotect,
    libc::SYS_mremap,
    libc::SYS_madvise,
    libc::SYS_membarrier,
    // Threads. `clone3` is absent by the other filter.
    libc::SYS_clone3,
    libc::SYS_futex,
    libc::SYS_set_robust_list,
    libc::SYS_get_robust_list,
    libc::SYS_rseq,
    libc::SYS_gettid,
    libc::SYS_getpid,
    libc::SYS_sched_yield,
    libc::SYS_sched_getaffinity,
    libc::SYS_exit,
    libc::SYS_exit_group,
    // Signals of the process itself.
    libc::SYS_rt_sigaction,
    libc::SYS_rt_sigprocmask,
    libc::SYS_rt_sigreturn,
    libc::SYS_sigaltstack,
    libc::SYS_restart_syscall,
    // Time and facts.
    libc::SYS_clock_gettime,
    libc::SYS_clock_nanosleep,
    libc::SYS_nanosleep,
    libc::SYS_gettimeofday,
    libc::SYS_getrandom,
    libc::SYS_getrusage,
    libc::SYS_sysinfo,
    libc::SYS_uname,
];

#[cfg(target_arch = "x86_64")]
const COMPUTING_CALLS_HERE: &[libc::c_long] = &[libc::SYS_poll, libc::SYS_arch_prctl, libc::SYS_time];
#[cfg(not(target_arch = "x86_64"))]
const COMPUTING_CALLS_HERE: &[libc::c_long] = &[];

/// Returns the filters of a process that only computes. The strictest counts.
pub(crate) fn computing_filters() -> io::Result<[BpfProgram; 2]> {
    let mut rules: BTreeMap<i64, Vec<SeccompRule>> = BTreeMap::new();
    for call in COMPUTING_CALLS.iter().chain(COMPUTING_CALLS_HERE) {
        rules.insert(*call, Vec::new());
    }
    let thread = u64::from(libc::CLONE_THREAD.unsigned_abs());
    // Without this flag, `clone` makes a process, which could use up each limit once more.
    rules.insert(libc::SYS_clone, vec![rule(&[(0, SeccompCmpOp::MaskedEq(thread), thread)])?]);
    // `abort` signals the process itself.
    let own = u64::from(std::process::id());
    rules.insert(libc::SYS_tgkill, vec![rule(&[(0, SeccompCmpOp::Eq, own)])?]);
    rules.insert(libc::SYS_prctl, vec![rule(&[(0, SeccompCmpOp::Eq, PR_SET_NAME)])?]);
    rules.insert(libc::SYS_prlimit64, vec![rule(&[(0, SeccompCmpOp::Eq, 0)])?]);
    let arch: TargetArch = std::env::consts::ARCH.try_into().map_err(io::Error::other)?;
    let filter = SeccompFilter::new(rules, REFUSED, SeccompAction::Allow, arch).map_err(io::Error::other)?;
    let filter = BpfProgram::try_from(filter).map_err(io::Error::other)?;
    Ok([absent_filter()?, filter])
}

/// Returns the filters of a process that confines itself while it runs: the calls that no program gets, and the start
/// of programs unless it keeps that. The strictest counts.
pub(crate) fn own_filters(starts_programs: bool) -> io::Result<[BpfProgram; 2]> {
    let mut rules = dangerous_calls()?;
    if !starts_programs {
        rules.insert(libc::SYS_execve, Vec::new());
        rules.insert(libc::SYS_execveat, Vec::new());
    }
    Ok([absent_filter()?, refuse_x32(compile(rules, REFUSED)?)])
}

/// Names a thread, prctl(2).
const PR_SET_NAME: u64 = 15;
