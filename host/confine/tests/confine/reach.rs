//! What a program reaches over sockets, and which system calls it gets. A Python script makes the calls, because a
//! shell cannot.

use crate::lab::{Lab, kernel_allows, outcome, tiers};
use portcullis_confine::{PROXY_PORT, ProgramExit, ProgramNetwork, Tier};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram, UnixListener};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

/// Python that makes system calls by number and prints the name of each that did not fail.
const CALLS: &str = r#"
import ctypes, os, socket, sys
libc = ctypes.CDLL(None, use_errno=True)
def call(name, number, *arguments):
    ctypes.set_errno(0)
    if libc.syscall(number, *arguments) >= 0:
        print("succeeded:", name)
    elif ctypes.get_errno() not in (1, 38):
        print("reached the kernel:", name, os.strerror(ctypes.get_errno()))
def opened(name, *arguments):
    try:
        socket.socket(*arguments)
        print("socket:", name)
    except OSError:
        pass
"#;

fn script(body: &str) -> String {
    format!("python3 - <<'EOF'\n{CALLS}\n{body}\nEOF")
}

/// The program's Python is that of the system, or this test would not know what it runs.
async fn run(lab: &Lab, body: &str) -> String {
    let outcome = lab.run(&script(body)).await;
    assert_eq!(outcome.report.exit, ProgramExit::Code(0), "{outcome:?}");
    outcome.text
}

#[tokio::test]
async fn dangerous_system_calls_do_not_reach_the_kernel() {
    for tier in tiers() {
        let lab = Lab::new(tier);
        let calls = [
            ("ptrace", libc::SYS_ptrace),
            ("process_vm_readv", libc::SYS_process_vm_readv),
            ("process_vm_writev", libc::SYS_process_vm_writev),
            ("perf_event_open", libc::SYS_perf_event_open),
            ("userfaultfd", libc::SYS_userfaultfd),
            ("io_uring_setup", libc::SYS_io_uring_setup),
            ("io_uring_register", libc::SYS_io_uring_register),
            ("bpf", libc::SYS_bpf),
            ("add_key", libc::SYS_add_key),
            ("request_key", libc::SYS_request_key),
            ("keyctl", libc::SYS_keyctl),
            ("mount", libc::SYS_mount),
            ("umount2", libc::SYS_umount2),
            ("fsopen", libc::SYS_fsopen),
            ("open_tree", libc::SYS_open_tree),
            ("move_mount", libc::SYS_move_mount),
            ("mount_setattr", libc::SYS_mount_setattr),
            ("pivot_root", libc::SYS_pivot_root),
            ("chroot", libc::SYS_chroot),
            ("setns", libc::SYS_setns),
            ("unshare", libc::SYS_unshare),
            ("clone3", libc::SYS_clone3),
            ("open_by_handle_at", libc::SYS_open_by_handle_at),
            ("init_module", libc::SYS_init_module),
            ("finit_module", libc::SYS_finit_module),
            ("kexec_load", libc::SYS_kexec_load),
            ("reboot", libc::SYS_reboot),
            ("swapon", libc::SYS_swapon),
            ("settimeofday", libc::SYS_settimeofday),
            ("shmget", libc::SYS_shmget),
            ("fanotify_init", libc::SYS_fanotify_init),
            ("pidfd_getfd", libc::SYS_pidfd_getfd),
            // The same numbers by the x32 interface.
            ("x32 ptrace", 0x4000_0000 | 521),
            ("x32 mount", 0x4000_0000 | libc::SYS_mount),
        ];
        let body: String =
            calls.iter().map(|(name, number)| format!("call({name:?}, {number}, 0, 0, 0, 0, 0)\n")).collect();
        assert_eq!(run(&lab, &body).await, "", "{tier}");
        // Each flag of `clone` that makes a namespace, in a child that would end at once.
        let flags =
            [libc::CLONE_NEWUSER, libc::CLONE_NEWNS, libc::CLONE_NEWPID, libc::CLONE_NEWNET, libc::CLONE_NEWIPC];
        let body: String = flags
            .iter()
            .map(|flag| format!("call('clone', {}, {} | 17, 0, 0, 0, 0)\n", libc::SYS_clone, flag))
            .collect();
        assert_eq!(run(&lab, &body).await, "", "{tier}");
        let body = "import fcntl\ntry:\n  fcntl.ioctl(0, 0x5412, b'x')\n  print('TIOCSTI')\nexcept OSError as e:\n  assert e.errno == 1, e";
        assert_eq!(run(&lab, body).await, "", "{tier}");
    }
}

#[tokio::test]
async fn no_socket_leads_out() {
    for tier in tiers() {
        let lab = Lab::new(tier);
        let tcp = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let port = tcp.local_addr().unwrap().port();
        let place = std::env::temp_dir().join(format!("portcullis-socket-{}", std::process::id()));
        let inside = lab.file("socket");
        for path in [&place, &inside, &place.with_extension("datagram")] {
            let _ = std::fs::remove_file(path);
        }
        let (_outside, _inside) = (UnixListener::bind(&place).unwrap(), UnixListener::bind(&inside).unwrap());
        let name = format!("portcullis-abstract-{}", std::process::id());
        let abstract_address = SocketAddr::from_abstract_name(&name).unwrap();
        let _abstract = UnixListener::bind_addr(&abstract_address).unwrap();
        let outside = place.display();
        let body = format!(
            r#"
opened("raw", socket.AF_INET, socket.SOCK_RAW, 1)
opened("packet", 17, socket.SOCK_RAW, 0)
opened("netlink", 16, socket.SOCK_RAW, 0)
opened("vsock", 40, socket.SOCK_STREAM, 0)
opened("alg", 38, socket.SOCK_SEQPACKET, 0)
def paired(name, *arguments):
    try:
        socket.socketpair(*arguments)
        print("pair:", name)
    except OSError as error:
        # Without the filter, the kernel says that it does not know the family or has no pairs of it.
        assert error.errno == 1, (name, error)
paired("inet", socket.AF_INET, socket.SOCK_STREAM)
paired("tipc", 30, 4)
paired("vsock", 40, socket.SOCK_STREAM)
def reach(what, make):
    try:
        make()
        print("reached:", what)
    except OSError:
        pass
def unix(address):
    socket.socket(socket.AF_UNIX).connect(address)
reach("tcp", lambda: socket.create_connection(("127.0.0.1", {port}), 1))
reach("tcp6", lambda: socket.create_connection(("::1", {port}), 1))
reach("internet", lambda: socket.create_connection(("192.0.2.1", 80), 1))
reach("name", lambda: socket.getaddrinfo("example.com", 80))
reach("path outside", lambda: unix("{outside}"))
reach("abstract", lambda: unix("\0{name}"))
"#
        );
        assert_eq!(run(&lab, &body).await, "", "{tier}");
        std::fs::remove_file(place).unwrap();
    }
}

#[tokio::test]
async fn a_program_signals_only_its_own_processes() {
    for tier in tiers() {
        let lab = Lab::new(tier);
        let mut victim = std::process::Command::new("/bin/sleep").arg("100").spawn().unwrap();
        let outcome = lab
            .run(&format!("kill -9 {}; kill -9 -1; kill -9 1; kill -9 {}; true", victim.id(), std::process::id()))
            .await;
        assert!(victim.try_wait().unwrap().is_none(), "{tier}: {outcome:?}");
        victim.kill().unwrap();
        victim.wait().unwrap();
        assert_eq!(lab.run("echo ok").await.text, "ok\n", "{tier}");
    }
}

/// Where a program has the machine's own tree, the sockets of its own directory are out of reach too.
#[tokio::test]
async fn without_namespaces_no_socket_with_a_path_can_be_reached() {
    if !kernel_allows(Tier::Landlock) {
        return;
    }
    let lab = Lab::new(Tier::Landlock);
    let _stream = UnixListener::bind(lab.file("stream")).unwrap();
    let datagram = UnixDatagram::bind(lab.file("datagram")).unwrap();
    datagram.set_nonblocking(true).unwrap();
    let body = r#"
def attempt(what, make):
    try:
        make()
        print("reached:", what)
    except OSError:
        pass
def send(kind):
    a, b = socket.socketpair(socket.AF_UNIX, kind)
    a.sendto(b"x", "datagram")
def pair():
    a, b = socket.socketpair()
    a.connect("stream")
attempt("datagram", lambda: send(socket.SOCK_DGRAM))
attempt("raw", lambda: send(socket.SOCK_RAW))
attempt("pair", pair)
attempt("stream", lambda: socket.socket(socket.AF_UNIX).connect("stream"))
a, b = socket.socketpair()
a.send(b"x")
assert b.recv(1) == b"x"
"#;
    assert_eq!(run(&lab, body).await, "");
    assert!(datagram.recv(&mut [0]).is_err());
}

/// A user's processes may change each other's limits and priorities, without a signal.
#[tokio::test]
async fn a_program_changes_only_its_own_processes() {
    for tier in tiers() {
        let lab = Lab::new(tier);
        let mut victim = std::process::Command::new("/bin/sleep").arg("100").spawn().unwrap();
        let body = format!(
            r#"
import resource
def attempt(what, make):
    try:
        make()
        print("changed:", what)
    except OSError:
        pass
victim = {}
attempt("limits", lambda: resource.prlimit(victim, resource.RLIMIT_NOFILE, (1, 1)))
attempt("processors", lambda: os.sched_setaffinity(victim, [0]))
attempt("scheduler", lambda: os.sched_setscheduler(victim, os.SCHED_IDLE, os.sched_param(0)))
attempt("parameters", lambda: os.sched_setparam(victim, os.sched_param(0)))
attempt("priority", lambda: os.setpriority(os.PRIO_PROCESS, victim, 19))
attempt("all priorities", lambda: os.setpriority(os.PRIO_USER, os.getuid(), 19))
call("ioprio_set", {}, 1, victim, 3 << 13)
call("sched_setattr", {}, victim, 0, 0)
resource.prlimit(0, resource.RLIMIT_NOFILE)
"#,
            victim.id(),
            libc::SYS_ioprio_set,
            libc::SYS_sched_setattr
        );
        let text = run(&lab, &body).await;
        victim.kill().unwrap();
        victim.wait().unwrap();
        // In its own namespaces, the number names no process.
        let own = match tier {
            Tier::Namespaces => {
                "reached the kernel: ioprio_set No such process\nreached the kernel: sched_setattr Invalid argument\n"
            }
            Tier::Landlock => "",
        };
        assert_eq!(text, own, "{tier}");
    }
}

/// With namespaces, the caller gets the listener of the program's own loopback interface. Nothing else leads to it.
#[tokio::test]
async fn the_listener_of_a_proxy_belongs_to_the_program_alone() {
    let mut lab = Lab::new(Tier::Namespaces);
    lab.network = ProgramNetwork::Proxy;
    let command = "exec 3<>/dev/tcp/127.0.0.1/3128 && echo hello >&3 && read line <&3 && echo \"$line\"; ls -l /proc/self/fd | grep -c socket";
    let mut running = lab.start(command).await.unwrap();
    let listener = running.take_listener().unwrap();
    assert!(running.take_listener().is_none());
    assert!(std::net::TcpStream::connect(("127.0.0.1", PROXY_PORT)).is_err(), "the machine itself does not see it");
    let listener = tokio::net::TcpListener::from_std(listener).unwrap();
    let (mut stream, _) = listener.accept().await.unwrap();
    let mut word = [0; 6];
    stream.read_exact(&mut word).await.unwrap();
    assert_eq!(&word, b"hello\n");
    stream.write_all(b"answer\n").await.unwrap();
    let outcome = outcome(running).await;
    // The connection is the only socket that the program has: it did not inherit the listener.
    assert_eq!(outcome.text, "answer\n1\n", "{outcome:?}");
    let lab = Lab { network: ProgramNetwork::Proxy, ..Lab::new(Tier::Landlock) };
    let refused = lab.start("true").await.unwrap_err();
    assert!(refused.to_string().contains("remove `http`"), "{refused}");
}

/// Without namespaces, devices are the machine's own.
#[tokio::test]
async fn without_namespaces_a_device_takes_no_control_code() {
    if !kernel_allows(Tier::Landlock) {
        return;
    }
    let body = r#"
import fcntl
try:
    fcntl.ioctl(os.open("/dev/null", os.O_RDWR), 0x5401, bytes(64))
except OSError as error:
    print(os.strerror(error.errno))
"#;
    // The device itself would answer that it does not know the code.
    assert_eq!(run(&Lab::new(Tier::Landlock), body).await, "Permission denied\n");
}
