//! What a process takes from itself.

use crate::lab::{Scratch, broker_path, kernel_allows, report};
use portcullis_confine::Tier;
use std::net::TcpListener;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::{SocketAddr, UnixListener};
use std::process::Command;

/// What a process still does with the Landlock rules of a program.
const ALLOWED: [&str; 2] = ["write a file", "move a file to another directory"];

/// What the rules refuse, although the process could do it before.
const REFUSED: [&str; 8] = [
    "link a file from outside",
    "connect",
    "listen",
    "connect to an abstract socket",
    "signal its parent",
    "make a socket",
    "make a character device",
    "execute a file that it may only read",
];

/// The same, of which only root is capable.
const REFUSED_TO_ROOT: &str = "make a block device";

/// The filters refuse most of this to a program before Landlock sees it.
#[test]
fn the_rules_of_landlock_alone_refuse_what_the_filters_refuse_too() {
    // The tool is mounted where a program may read, and not execute.
    if !kernel_allows(Tier::Landlock) || !kernel_allows(Tier::Namespaces) {
        return;
    }
    let scratch = Scratch::new();
    let [own, tools, outside] = ["own", "tools", "outside"].map(|name| scratch.path().join(name));
    std::fs::create_dir(&own).unwrap();
    std::fs::create_dir(&tools).unwrap();
    std::fs::write(&outside, "outside").unwrap();
    std::fs::write(tools.join("tool"), "#!/bin/sh\n").unwrap();
    std::fs::set_permissions(tools.join("tool"), PermissionsExt::from_mode(0o755)).unwrap();
    let tcp = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = tcp.local_addr().unwrap().port().to_string();
    let name = format!("portcullis-landlock-{}", std::process::id());
    let _abstract = UnixListener::bind_addr(&SocketAddr::from_abstract_name(&name).unwrap()).unwrap();
    // Only in the user namespace of the machine, root may make block devices.
    let is_capable = Command::new("unshare").args(["--mount", "true"]).output().unwrap().status.success();
    let namespaces: &[&str] = if is_capable { &["--mount"] } else { &["--mount", "--user", "--map-root-user"] };
    let mount = r#"mount --bind "$0" /etc/ssl/certs && exec "$@""#;
    let output = Command::new("unshare")
        .args(namespaces)
        .args(["/bin/bash", "--norc", "-c", mount, tools.to_str().unwrap(), broker_path().to_str().unwrap()])
        .args(["--only-landlock", own.to_str().unwrap(), "/etc/ssl/certs/tool", &port, &name])
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    let text = String::from_utf8(output.stdout).unwrap();
    let reached = |when: &str| text.lines().filter_map(|line| line.strip_prefix(when)).collect::<Vec<_>>();
    let mut wanted = [&ALLOWED[..], &REFUSED[..]].concat();
    let mut before = reached("before: ");
    if before.contains(&REFUSED_TO_ROOT) {
        wanted.push(REFUSED_TO_ROOT);
    } else {
        report(&format!("SKIPPED: Landlock without filters: {REFUSED_TO_ROOT}: this user cannot\n"));
    }
    before.sort_unstable();
    wanted.sort_unstable();
    assert_eq!(before, wanted, "without the rules");
    assert_eq!(reached("after: "), ALLOWED, "with the rules");
}

#[test]
fn a_process_that_only_computes_reaches_no_file_socket_program_or_process() {
    let scratch = Scratch::new();
    let file = scratch.path().join("file");
    std::fs::write(&file, "kept").unwrap();
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port().to_string();
    let output = Command::new(env!("CARGO_BIN_EXE_portcullis-confine-broker"))
        .args(["--only-compute", file.to_str().unwrap(), &port])
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    assert_eq!(String::from_utf8_lossy(&output.stdout), "computed 2997000\n");
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "kept");
}

#[test]
fn a_process_that_runs_restricts_all_of_its_threads() {
    let scratch = Scratch::new();
    let (kept, secret) = (scratch.path().join("kept"), scratch.path().join("secret"));
    std::fs::create_dir(&kept).unwrap();
    std::fs::write(&secret, "secret").unwrap();
    let listeners = [(); 2].map(|()| std::net::TcpListener::bind("127.0.0.1:0").unwrap());
    let ports = listeners.each_ref().map(|listener| listener.local_addr().unwrap().port().to_string());
    let output = Command::new(env!("CARGO_BIN_EXE_portcullis-confine-broker"))
        .args(["--restrict", kept.to_str().unwrap(), secret.to_str().unwrap(), &ports[0], &ports[1]])
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    let text = String::from_utf8(output.stdout).unwrap();
    let mut lines: Vec<&str> = text.lines().collect();
    lines.sort_unstable();
    let wanted = ["early-0", "early-1", "early-2", "late", "main"].map(|thread| format!("{thread} works: true"));
    assert_eq!(lines, wanted);
    assert_eq!(std::fs::read_to_string(&secret).unwrap(), "secret");
}

/// The thread gets the signal to limit itself after the process has given up. By default, the signal ends a process.
#[test]
fn a_thread_that_is_too_slow_to_restrict_itself_does_not_end_the_process() {
    if !kernel_allows(Tier::Landlock) {
        return;
    }
    // Without variables, because another test looks for those of the host in each broker.
    let output = Command::new(broker_path()).arg("--restrict-late").env_clear().output().unwrap();
    assert!(output.status.success(), "{output:?}");
    assert_eq!(String::from_utf8_lossy(&output.stdout), "a thread did not limit itself in time\n");
}
