//! What a program has of its own when it starts: privileges, limits, descriptors and a session.

use crate::lab::{Lab, kernel_allows, report, tiers};
use portcullis_confine::{ConfineError, Tier};
use std::path::Path;

/// Python that prints the privileges of its process.
const PRIVILEGES: &str = r#"
import ctypes, os, sys
libc = ctypes.CDLL(None, use_errno=True)
NUMBERS = range(41)
header, sets = (ctypes.c_uint32 * 2)(0x20080522, 0), (ctypes.c_uint32 * 6)()
assert libc.capget(header, sets) == 0
print("capabilities:", sum(sets))
print("ambient:", sum(libc.prctl(47, 1, number, 0, 0) for number in NUMBERS))
print("bounding:", sum(libc.prctl(23, number, 0, 0, 0) for number in NUMBERS))
print("secure bits:", hex(libc.prctl(27, 0, 0, 0, 0)))
print("no new privileges:", libc.prctl(39, 0, 0, 0, 0))
print("filtered:", libc.prctl(21, 0, 0, 0, 0) == 2)
"#;

/// Also where the capabilities of a user would count: in the user namespace of the program, and for user 0.
#[tokio::test]
async fn a_program_has_no_privilege_and_gets_none() {
    for tier in tiers() {
        let lab = Lab::new(tier);
        lab.put("privileges.py", PRIVILEGES);
        let outcome = lab.run("id -u; python3 privileges.py").await;
        // A user without capabilities cannot give up those that it does not have.
        let (user, found) = outcome.text.split_once('\n').unwrap();
        let of_host = || {
            let status = std::fs::read_to_string("/proc/self/status").unwrap();
            let set = status.lines().find_map(|line| line.strip_prefix("CapBnd:\t")).unwrap().to_owned();
            u64::from_str_radix(&set, 16).unwrap().count_ones()
        };
        let (bounding, bits) = if tier == Tier::Landlock && user != "0" { (of_host(), "0x0") } else { (0, "0x2f") };
        let wanted = format!(
            "capabilities: 0\nambient: 0\nbounding: {bounding}\nsecure bits: {bits}\nno new privileges: 1\nfiltered: True\n"
        );
        assert_eq!(found, wanted, "{tier}");
    }
}

/// The kernel keeps these limits by itself, also between two looks of the supervisor.
#[tokio::test]
async fn the_kernel_limits_each_process() {
    // Whatever the host allows itself.
    let raise = "{ ulimit -l unlimited && ulimit -e 40 && ulimit -r 99; } 2>/dev/null";
    let mut shell = std::process::Command::new("/bin/bash");
    if !shell.args(["--norc", "-c", raise]).status().unwrap().success() {
        report("SKIPPED: MEMLOCK, NICE and RTPRIO of a host that has higher limits: this user cannot raise them\n");
    }
    for tier in tiers() {
        let launcher = format!("umask 0; {raise}; exec \"$@\"");
        let lab = Lab::started_by(tier, Path::new("/bin/bash"), &["--norc", "-c", &launcher, "bash"]);
        let script = "
import resource
for name in ['CORE', 'CPU', 'DATA', 'FSIZE', 'NOFILE', 'MEMLOCK', 'MSGQUEUE', 'NICE', 'RTPRIO', 'NPROC']:
    print(name, *resource.getrlimit(getattr(resource, 'RLIMIT_' + name)))
";
        lab.put("limits.py", script);
        let text = lab.run("umask; python3 limits.py").await.text;
        let processes = format!("NPROC {0} {0}", lab.limits.processes);
        // A lower maximum of the host stays.
        let host = std::fs::read_to_string("/proc/self/limits").unwrap();
        let locked = host.lines().find(|line| line.starts_with("Max locked memory")).unwrap();
        let locked = locked.split_whitespace().nth(4).unwrap().parse().unwrap_or(u64::MAX).min(8 * 1024 * 1024);
        let wanted = format!(
            "0022\nCORE 1 1\nCPU 121 122\nDATA 1073741824 1073741824\nFSIZE 1073741824 1073741824\n\
             NOFILE 1024 1024\nMEMLOCK {locked} {locked}\nMSGQUEUE 0 0\nNICE 0 0\nRTPRIO 0 0\n"
        );
        let (rest, last) = text.trim_end().rsplit_once("NPROC").unwrap();
        assert_eq!(rest, wanted, "{tier}");
        // Without a user namespace, the kernel would count all processes of the user.
        assert_eq!(format!("NPROC{last}") == processes, tier == Tier::Namespaces, "{tier}: {text}");
    }
}

/// Python that makes the kernel refuse this process the change of one limit, and becomes another program.
const REFUSE_LIMIT: &str = r#"
import ctypes, os, struct, sys
libc = ctypes.CDLL(None, use_errno=True)
call, resource, error = map(int, sys.argv[1:4])
rules = [
    (0x20, 0, 0, 0), (0x15, 0, 5, call),
    (0x20, 0, 0, 24), (0x15, 0, 3, resource),
    # Without the address of a new limit, the call only reads it.
    (0x20, 0, 0, 32), (0x15, 1, 0, 0),
    (0x06, 0, 0, 0x00050000 | error), (0x06, 0, 0, 0x7fff0000),
]
code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *rule) for rule in rules))
program = struct.pack("HxxxxxxQ", len(rules), ctypes.addressof(code))
assert libc.prctl(38, 1, 0, 0, 0) == 0 and libc.prctl(22, 2, program, 0, 0) == 0
os.execv(sys.argv[4], sys.argv[4:])
"#;

/// A host may have the same limits already, or lower ones. So this test shows for each limit that it is set: the start
/// fails if the kernel refuses it.
#[tokio::test]
async fn no_limit_is_left_to_the_host() {
    let mut limits = vec![
        ("CORE", libc::RLIMIT_CORE),
        ("CPU", libc::RLIMIT_CPU),
        ("DATA", libc::RLIMIT_DATA),
        ("FSIZE", libc::RLIMIT_FSIZE),
        ("NOFILE", libc::RLIMIT_NOFILE),
        ("MEMLOCK", libc::RLIMIT_MEMLOCK),
        ("MSGQUEUE", libc::RLIMIT_MSGQUEUE),
        ("NICE", libc::RLIMIT_NICE),
        ("RTPRIO", libc::RLIMIT_RTPRIO),
        ("NPROC", libc::RLIMIT_NPROC),
    ];
    for tier in tiers() {
        if tier == Tier::Landlock {
            limits.retain(|(name, _)| *name != "NPROC");
        }
        for (name, resource) in &limits {
            let words = [libc::SYS_prlimit64.to_string(), resource.to_string(), libc::EDOM.to_string()];
            let arguments = ["-c", REFUSE_LIMIT, &words[0], &words[1], &words[2]];
            let lab = Lab::started_by(tier, Path::new("/usr/bin/python3"), &arguments);
            let started = lab.start("true").await;
            let is_refused = matches!(&started, Err(ConfineError::Refused(why)) if why.contains("out of domain"));
            assert!(is_refused, "{tier}: {name} is not set: {started:?}");
        }
    }
}

/// The host may have descriptors that a program must not get.
#[tokio::test]
async fn no_descriptor_of_the_host_is_inherited() {
    for tier in tiers() {
        let script = "exec 7</etc/passwd 99>/dev/null; exec \"$@\"";
        let lab = Lab::started_by(tier, Path::new("/bin/bash"), &["--norc", "-c", script, "bash"]);
        let script = "
import os
def is_open(number):
    try:
        os.fstat(number)
        return True
    except OSError:
        return False
print([number for number in range(1024) if is_open(number)])
";
        lab.put("descriptors.py", script);
        assert_eq!(lab.run("python3 descriptors.py").await.text, "[0, 1, 2]\n", "{tier}");
    }
}

#[test]
fn the_broker_has_no_variable_of_the_host() {
    for tier in tiers() {
        let _lab = Lab::new(tier);
        let mut seen = 0;
        for entry in std::fs::read_dir("/proc").unwrap().flatten() {
            let read = |name: &str| std::fs::read_to_string(entry.path().join(name)).unwrap_or_default();
            let is_child = read("status").lines().any(|line| line == format!("PPid:\t{}", std::process::id()));
            if is_child && read("cmdline").contains("portcullis-confine-broker") {
                seen += 1;
                // A launcher of another test may add variables of its own, but knows no path.
                assert!(!read("environ").contains("PATH="), "{tier}: {}", read("environ"));
            }
        }
        assert!(seen > 0, "{tier}");
    }
}

#[tokio::test]
async fn a_program_has_a_session_of_its_own_without_a_terminal() {
    for tier in tiers() {
        let lab = Lab::new(tier);
        let script = "
import os
print(os.getsid(0) == os.getpid(), os.getpgid(0) == os.getpid())
try:
    os.open('/dev/tty', os.O_RDWR)
    print('terminal')
except OSError:
    pass
";
        lab.put("session.py", script);
        assert_eq!(lab.run("exec python3 session.py").await.text, "True True\n", "{tier}");
    }
}

#[tokio::test]
async fn without_namespaces_the_private_directory_is_the_users_alone_and_gone_at_the_end() {
    if !kernel_allows(Tier::Landlock) {
        return;
    }
    let outcome = Lab::new(Tier::Landlock).run("echo x > $TMPDIR/x; stat -c %a $TMPDIR; echo $TMPDIR").await;
    let (mode, path) = outcome.text.trim_end().split_once('\n').unwrap();
    assert_eq!(mode, "700");
    assert!(path.starts_with("/tmp/") && !Path::new(path).exists(), "{path}");
}
