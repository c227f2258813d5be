//! What a program has of its own when it starts: privileges, limits, descriptors and a session.

use crate::lab::{Lab, kernel_allows, tiers};
use portcullis_confine::Tier;
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
    for tier in tiers() {
        // Whatever the host allows itself.
        let launcher = "umask 0; { ulimit -l unlimited; ulimit -e 40; ulimit -r 99; } 2>/dev/null; exec \"$@\"";
        let lab = Lab::started_by(tier, Path::new("/bin/bash"), &["--norc", "-c", launcher, "bash"]);
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
            "0022\nCORE 1 1\nCPU 121 121\nDATA 1073741824 1073741824\nFSIZE 1073741824 1073741824\n\
             NOFILE 1024 1024\nMEMLOCK {locked} {locked}\nMSGQUEUE 0 0\nNICE 0 0\nRTPRIO 0 0\n"
        );
        let (rest, last) = text.trim_end().rsplit_once("NPROC").unwrap();
        assert_eq!(rest, wanted, "{tier}");
        // Without a user namespace, the kernel would count all processes of the user.
        assert_eq!(format!("NPROC{last}") == processes, tier == Tier::Namespaces, "{tier}: {text}");
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
