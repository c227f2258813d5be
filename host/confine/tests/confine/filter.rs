//! Which system calls a program gets, exactly: every number is tried, and every rule about arguments.
//!
//! The program adds a filter of its own. By it, the kernel answers "not implemented" to every call that has a mark as its
//! last argument. The strictest filter counts: a call with the mark fails with "not permitted" if the broker's filter
//! refuses it. It is never made.

use crate::lab::{Lab, tiers};
use portcullis_confine::{ProgramExit, Tier};
use std::collections::BTreeSet;

/// Python that defines `refused(number, *arguments)`.
const REFUSED: &str = r#"
import ctypes, struct, sys
libc = ctypes.CDLL(None, use_errno=True)
MARK = 0x5eccab1e
rules = [(0x20, 0, 0, 56), (0x15, 0, 1, MARK), (0x06, 0, 0, 0x7ff00000), (0x06, 0, 0, 0x7fff0000)]
code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *rule) for rule in rules))
program = struct.pack("HxxxxxxQ", len(rules), ctypes.addressof(code))
assert libc.prctl(22, 2, program, 0, 0) == 0
def refused(number, *arguments):
    words = [ctypes.c_ulong(word) for word in [*arguments, 0, 0, 0, 0, 0][:5]]
    ctypes.set_errno(0)
    assert libc.syscall(ctypes.c_long(number), *words, ctypes.c_ulong(MARK)) == -1
    assert ctypes.get_errno() in (1, 38), (number, ctypes.get_errno())
    return ctypes.get_errno() == 1
"#;

/// The numbers that are tried: more than Linux has.
const NUMBERS: libc::c_long = 600;

/// The numbers of `uretprobe` and `uprobe` on x86-64. The kernel applies no filter to them, and ends a program that
/// makes them itself.
const UNFILTERED: [libc::c_long; 2] = [335, 336];

async fn run(lab: &Lab, body: &str) -> String {
    lab.put("filter.py", &format!("{REFUSED}\n{body}"));
    let outcome = lab.run("python3 filter.py").await;
    assert_eq!(outcome.report.exit, ProgramExit::Code(0), "{outcome:?}");
    outcome.text
}

macro_rules! calls {
    ($($name:ident)*) => { vec![$((stringify!($name), libc::$name)),*] };
}

/// The calls that no program gets.
fn refused_always() -> Vec<(&'static str, libc::c_long)> {
    let mut calls = calls![
        SYS_ptrace SYS_process_vm_readv SYS_process_vm_writev SYS_process_madvise SYS_pidfd_getfd SYS_kcmp
        SYS_unshare SYS_setns SYS_mount SYS_umount2 SYS_pivot_root SYS_chroot SYS_fsopen SYS_fsconfig SYS_fsmount
        SYS_fspick SYS_move_mount SYS_open_tree SYS_mount_setattr SYS_open_by_handle_at SYS_name_to_handle_at SYS_bpf
        SYS_perf_event_open SYS_userfaultfd SYS_io_uring_setup SYS_io_uring_enter SYS_io_uring_register SYS_add_key
        SYS_request_key SYS_keyctl SYS_fanotify_init SYS_lookup_dcookie SYS_vmsplice SYS_init_module SYS_finit_module
        SYS_delete_module SYS_kexec_load SYS_reboot SYS_swapon SYS_swapoff SYS_acct SYS_quotactl SYS_quotactl_fd
        SYS_syslog SYS_settimeofday SYS_clock_settime SYS_clock_adjtime SYS_adjtimex SYS_sethostname SYS_setdomainname
        SYS_vhangup SYS_nfsservctl SYS_shmget SYS_migrate_pages SYS_move_pages SYS_memfd_secret
        // Of the families of sockets, zero is none that a program gets.
        SYS_socket SYS_socketpair
    ];
    calls.push(("open_tree_attr", 467));
    #[cfg(target_arch = "x86_64")]
    calls.extend(calls![
        SYS_kexec_file_load SYS_iopl SYS_ioperm SYS_modify_ldt SYS_uselib SYS__sysctl
    ]);
    calls
}

/// The calls that a program does not get without namespaces either.
fn refused_without_view() -> Vec<(&'static str, libc::c_long)> {
    let mut calls = calls![
        SYS_fchmod SYS_fchmodat SYS_fchown SYS_fchownat SYS_setxattr SYS_lsetxattr SYS_fsetxattr SYS_removexattr
        SYS_lremovexattr SYS_fremovexattr SYS_utimensat SYS_inotify_add_watch SYS_connect SYS_bind SYS_listen SYS_shmat
        SYS_shmctl SYS_msgget SYS_msgsnd SYS_msgrcv SYS_msgctl SYS_semget SYS_semop SYS_semtimedop SYS_semctl
        SYS_mq_open SYS_mq_unlink
    ];
    calls.extend([("fchmodat2", 452), ("setxattrat", 463), ("removexattrat", 466), ("file_setattr", 469)]);
    #[cfg(target_arch = "x86_64")]
    calls.extend(calls![SYS_chmod SYS_chown SYS_lchown SYS_utime SYS_utimes SYS_futimesat]);
    calls
}

#[tokio::test]
async fn exactly_these_system_calls_are_refused() {
    for tier in tiers() {
        let mut wanted = refused_always();
        if tier == Tier::Landlock {
            wanted.extend(refused_without_view());
        }
        let body = format!(
            "for number in set(range({NUMBERS})) - set({UNFILTERED:?}):\n    if refused(number): print(number)"
        );
        let text = run(&Lab::new(tier), &body).await;
        let refused: BTreeSet<libc::c_long> = text.lines().map(|line| line.parse().unwrap()).collect();
        let missing: Vec<_> = wanted.iter().filter(|(_, number)| !refused.contains(number)).collect();
        let known: BTreeSet<libc::c_long> = wanted.iter().map(|(_, number)| *number).collect();
        let others: Vec<_> = refused.difference(&known).collect();
        assert!(missing.is_empty() && others.is_empty(), "{tier}: not refused: {missing:?}, but refused: {others:?}");
    }
}

/// A call with arguments, and whether it is refused with and without namespaces.
type Row = (&'static str, libc::c_long, &'static [u64], [bool; 2]);

const BOTH: [bool; 2] = [true, true];
const WITHOUT_NAMESPACES: [bool; 2] = [false, true];
const NEVER: [bool; 2] = [false, false];

const UNIX: u64 = libc::AF_UNIX as u64;
const INTERNET: u64 = libc::AF_INET as u64;
const STREAM: u64 = libc::SOCK_STREAM as u64;
const DATAGRAM: u64 = libc::SOCK_DGRAM as u64;
const PACKETS: u64 = libc::SOCK_SEQPACKET as u64;
const RAW: u64 = libc::SOCK_RAW as u64;
const CLOSED: u64 = libc::SOCK_CLOEXEC as u64;
const CORE: u64 = libc::RLIMIT_CORE as u64;
const FILES: u64 = libc::RLIMIT_NOFILE as u64;

/// Some address of a program. Also one whose lower half is zero.
const ADDRESS: u64 = 0x1000;
const HIGH_ADDRESS: u64 = 1 << 32;

const ROWS: &[Row] = &[
    ("fork", libc::SYS_clone, &[libc::SIGCHLD as u64], NEVER),
    ("mount namespace", libc::SYS_clone, &[libc::CLONE_NEWNS as u64], BOTH),
    ("cgroup namespace", libc::SYS_clone, &[libc::CLONE_NEWCGROUP as u64], BOTH),
    ("host name namespace", libc::SYS_clone, &[libc::CLONE_NEWUTS as u64], BOTH),
    ("shared memory namespace", libc::SYS_clone, &[libc::CLONE_NEWIPC as u64], BOTH),
    ("user namespace", libc::SYS_clone, &[libc::CLONE_NEWUSER as u64 | libc::SIGCHLD as u64], BOTH),
    ("process namespace", libc::SYS_clone, &[libc::CLONE_NEWPID as u64], BOTH),
    ("network namespace", libc::SYS_clone, &[libc::CLONE_NEWNET as u64], BOTH),
    ("terminal attributes", libc::SYS_ioctl, &[0, libc::TCGETS], NEVER),
    ("terminal input", libc::SYS_ioctl, &[0, libc::TIOCSTI], BOTH),
    ("terminal input with a high bit", libc::SYS_ioctl, &[0, libc::TIOCSTI | 1 << 32], BOTH),
    ("console", libc::SYS_ioctl, &[0, libc::TIOCLINUX], BOTH),
    ("file flags", libc::SYS_ioctl, &[3, 0x4008_6602], WITHOUT_NAMESPACES),
    ("file verity", libc::SYS_ioctl, &[3, 0x4080_6685], WITHOUT_NAMESPACES),
    ("file version", libc::SYS_ioctl, &[3, 0x4008_7602], WITHOUT_NAMESPACES),
    ("file project", libc::SYS_ioctl, &[3, 0x401c_5820], WITHOUT_NAMESPACES),
    ("FAT attributes", libc::SYS_ioctl, &[3, 0x4004_7211], WITHOUT_NAMESPACES),
    ("F2FS", libc::SYS_ioctl, &[3, 0xf501], WITHOUT_NAMESPACES),
    ("btrfs subvolume", libc::SYS_ioctl, &[3, 0x5000_940e], WITHOUT_NAMESPACES),
    ("clone", libc::SYS_ioctl, &[3, libc::FICLONE], NEVER),
    ("clone of a range", libc::SYS_ioctl, &[3, libc::FICLONERANGE], NEVER),
    ("core limit", libc::SYS_setrlimit, &[CORE, ADDRESS], BOTH),
    ("file limit", libc::SYS_setrlimit, &[FILES, ADDRESS], NEVER),
    ("core limit by prlimit", libc::SYS_prlimit64, &[0, CORE, ADDRESS], BOTH),
    ("core limit at a high address", libc::SYS_prlimit64, &[0, CORE, HIGH_ADDRESS], BOTH),
    ("core limit read", libc::SYS_prlimit64, &[0, CORE, 0, ADDRESS], NEVER),
    ("file limit by prlimit", libc::SYS_prlimit64, &[0, FILES, ADDRESS], NEVER),
    ("file limit of another process", libc::SYS_prlimit64, &[1, FILES, ADDRESS], WITHOUT_NAMESPACES),
    ("processors of another process", libc::SYS_sched_setaffinity, &[1], WITHOUT_NAMESPACES),
    ("scheduler of another process", libc::SYS_sched_setscheduler, &[1], WITHOUT_NAMESPACES),
    ("parameters of another process", libc::SYS_sched_setparam, &[1], WITHOUT_NAMESPACES),
    ("attributes of another process", libc::SYS_sched_setattr, &[1], WITHOUT_NAMESPACES),
    ("priority of another process", libc::SYS_setpriority, &[0, 1], WITHOUT_NAMESPACES),
    ("priority of the user", libc::SYS_setpriority, &[2, 0], WITHOUT_NAMESPACES),
    ("I/O priority of another process", libc::SYS_ioprio_set, &[1, 1], WITHOUT_NAMESPACES),
    ("I/O priority of the user", libc::SYS_ioprio_set, &[3, 0], WITHOUT_NAMESPACES),
    ("Unix socket", libc::SYS_socket, &[UNIX, STREAM], WITHOUT_NAMESPACES),
    ("internet socket", libc::SYS_socket, &[INTERNET, STREAM | CLOSED], WITHOUT_NAMESPACES),
    ("internet socket, version 6", libc::SYS_socket, &[libc::AF_INET6 as u64, DATAGRAM], WITHOUT_NAMESPACES),
    ("raw socket", libc::SYS_socket, &[INTERNET, RAW | CLOSED], BOTH),
    ("kernel socket", libc::SYS_socket, &[libc::AF_NETLINK as u64, DATAGRAM], BOTH),
    ("socket of the virtual machine", libc::SYS_socket, &[libc::AF_VSOCK as u64, STREAM], BOTH),
    ("packet socket", libc::SYS_socket, &[libc::AF_PACKET as u64, DATAGRAM], BOTH),
    ("stream pair", libc::SYS_socketpair, &[UNIX, STREAM | CLOSED], NEVER),
    ("packet pair", libc::SYS_socketpair, &[UNIX, PACKETS], NEVER),
    ("datagram pair", libc::SYS_socketpair, &[UNIX, DATAGRAM | CLOSED], WITHOUT_NAMESPACES),
    ("raw pair", libc::SYS_socketpair, &[UNIX, RAW], WITHOUT_NAMESPACES),
    ("pair of another family", libc::SYS_socketpair, &[libc::AF_TIPC as u64, STREAM], BOTH),
];

#[tokio::test]
async fn the_arguments_of_a_system_call_decide() {
    for tier in tiers() {
        let calls =
            ROWS.iter().map(|(name, number, arguments, _)| format!("    ({name:?}, {number}, {arguments:?}),\n"));
        let rows: String = calls.collect();
        let body = format!(
            "rows = [\n{rows}]\nfor name, number, arguments in rows:\n    print(name, refused(number, *arguments), sep=': ')"
        );
        let text = run(&Lab::new(tier), &body).await;
        let wanted = ROWS.iter().map(|(name, _, _, [namespaces, landlock])| {
            let refused = if tier == Tier::Namespaces { namespaces } else { landlock };
            format!("{name}: {}", if *refused { "True" } else { "False" })
        });
        assert_eq!(text.lines().collect::<Vec<_>>(), wanted.collect::<Vec<_>>(), "{tier}");
    }
}

/// The numbers of 32-bit programs are others, so a filter of numbers would not match them.
#[cfg(target_arch = "x86_64")]
#[tokio::test]
async fn a_system_call_of_32_bit_programs_ends_the_program() {
    // mov eax, 20 (getpid); int 0x80; ret
    let script = "
import ctypes, mmap
code = mmap.mmap(-1, 4096, prot=7)
code.write(bytes.fromhex('b814000000cd80c3'))
ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(code)))()
";
    for tier in tiers() {
        let lab = Lab::new(tier);
        lab.put("old.py", script);
        let signal = u8::try_from(libc::SIGSYS).unwrap();
        assert_eq!(lab.run("exec python3 old.py").await.report.exit, ProgramExit::Signal(signal), "{tier}");
    }
}
