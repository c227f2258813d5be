//! A broker by itself, for the tests of this crate. With the argument `--without-namespaces`, it first refuses itself
//! the system calls that make namespaces, as a container does. With `--only-compute PATH PORT`, it leaves itself only
//! what a computation needs, and prints what it still reaches. With `--restrict KEPT SECRET PORT OTHER`, it restricts
//! itself while it runs. With `--only-landlock DIRECTORY TOOL PORT NAME`, it prints what it reaches before and after it
//! applies the Landlock rules of a program. With `--restrict-calls PROGRAM ARGUMENTS`, it gives up dangerous system
//! calls and becomes the program. With `--restrict-late`, it restricts itself while one of its threads takes no
//! signals. With `--no-rules-after-signal`, the broker gets no new Landlock rules from the kernel after SIGUSR1.

#[cfg(target_os = "linux")]
fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    if let [word, path, port] = &words[..]
        && word == "--only-compute"
    {
        return only_compute(path, port.parse().unwrap_or_default());
    }
    if let [word, kept, secret, port, other] = &words[..]
        && word == "--restrict"
    {
        return restrict(kept, secret, [port, other].map(|port| port.parse().unwrap_or_default()));
    }
    if let [word] = &words[..]
        && word == "--restrict-late"
    {
        return restrict_late();
    }
    if let [word, directory, tool, port, name] = &words[..]
        && word == "--only-landlock"
    {
        return only_landlock(directory.as_ref(), tool, port.parse().unwrap_or_default(), name);
    }
    if let [word, program, arguments @ ..] = &words[..]
        && word == "--restrict-calls"
    {
        return restrict_calls(program, arguments);
    }
    if words.iter().any(|word| word == "--without-namespaces") {
        portcullis_confine::refuse_namespaces().unwrap_or_else(|error| panic!("{error}"));
    }
    if words.iter().any(|word| word == "--no-rules-after-signal") {
        no_rules_after_signal();
    }
    std::process::exit(portcullis_confine::broker_main(|| 0));
}

#[cfg(target_os = "linux")]
#[expect(clippy::disallowed_methods, clippy::print_stdout, reason = "these are the attempts that must fail")]
fn only_compute(path: &str, port: u16) {
    use std::net::{TcpListener, TcpStream};
    let parent = rustix::process::getppid();
    portcullis_confine::only_compute().unwrap_or_else(|error| panic!("{error}"));
    let threads =
        (0..4u64).map(|number| std::thread::spawn(move || (0..1000u64).map(|step| step * number).sum::<u64>()));
    let sum: u64 = threads.collect::<Vec<_>>().into_iter().filter_map(|thread| thread.join().ok()).sum();
    println!("computed {sum}");
    let reached = [
        ("read a file", std::fs::read(path).is_ok()),
        ("write a file", std::fs::write(path, "changed").is_ok()),
        ("remove a file", std::fs::remove_file(path).is_ok()),
        ("list a directory", std::fs::read_dir("/").is_ok()),
        ("connect", TcpStream::connect(("127.0.0.1", port)).is_ok()),
        ("listen", TcpListener::bind("127.0.0.1:0").is_ok()),
        ("make a socket", std::os::unix::net::UnixDatagram::unbound().is_ok()),
        ("start a program", std::process::Command::new("/bin/true").status().is_ok()),
        ("signal its parent", parent.is_some_and(|parent| rustix::process::test_kill_process(parent).is_ok())),
        ("read another process", std::fs::read("/proc/1/stat").is_ok()),
    ];
    for (what, _) in reached.iter().filter(|(_, is_reached)| *is_reached) {
        println!("could {what}");
    }
}

/// Restricts itself while some threads already run and one starts others all the time. Then each thread tries what must
/// fail, as code would that broke out of the engine.
#[cfg(target_os = "linux")]
#[expect(
    clippy::disallowed_methods,
    clippy::expect_used,
    clippy::print_stdout,
    reason = "these are the attempts that must fail"
)]
fn restrict(kept: &str, secret: &str, [port, other]: [u16; 2]) {
    use std::net::{TcpListener, TcpStream};
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::sync::{Arc, Barrier};
    let (barrier, restricted) = (Arc::new(Barrier::new(4)), Arc::new(AtomicBool::new(false)));
    let (kept, secret) = (kept.to_owned(), secret.to_owned());
    let attempts = {
        let kept = kept.clone();
        move |thread: &str| {
            let connects = |port| TcpStream::connect(("127.0.0.1", port)).is_ok();
            let file = format!("{kept}/{thread}");
            let works = std::fs::write(&file, "x").is_ok() && std::fs::read(&file).is_ok() && connects(port);
            println!("{thread} works: {works}");
            let reached = [
                ("read the secret", std::fs::read(&secret).is_ok()),
                ("write the secret", std::fs::OpenOptions::new().append(true).open(&secret).is_ok()),
                ("list the root", std::fs::read_dir("/").is_ok()),
                ("make a file", std::fs::write(format!("{secret}.new"), "x").is_ok()),
                ("rename the file", std::fs::rename(&secret, format!("{secret}.moved")).is_ok()),
                ("start a program", std::process::Command::new("/bin/true").status().is_ok()),
                ("connect elsewhere", connects(other)),
                ("listen", TcpListener::bind("127.0.0.1:0").is_ok()),
            ];
            for (what, _) in reached.iter().filter(|(_, is_reached)| *is_reached) {
                println!("{thread} could {what}");
            }
        }
    };
    let early: Vec<_> = (0..3)
        .map(|number| {
            let (barrier, attempts) = (Arc::clone(&barrier), attempts.clone());
            std::thread::spawn(move || {
                barrier.wait();
                attempts(&format!("early-{number}"));
            })
        })
        .collect();
    let starter = {
        let restricted = Arc::clone(&restricted);
        std::thread::spawn(move || {
            while !restricted.load(Ordering::Relaxed) {
                let _ = std::thread::spawn(|| std::thread::sleep(std::time::Duration::from_micros(200))).join();
            }
        })
    };
    let mut rights = portcullis_confine::OwnRights::default();
    rights.keep(kept.as_ref(), portcullis_confine::ViewAccess::ReadWrite).expect("the directory is kept");
    rights.keep_port(port);
    portcullis_confine::restrict_own_process(&rights).expect("the process is restricted");
    restricted.store(true, Ordering::Relaxed);
    barrier.wait();
    for thread in early {
        thread.join().expect("an early thread");
    }
    starter.join().expect("the thread that starts others");
    let late = attempts.clone();
    std::thread::spawn(move || late("late")).join().expect("a late thread");
    attempts("main");
}

/// Tries to restrict itself while a thread blocks all signals. Then the thread takes them.
#[cfg(target_os = "linux")]
#[expect(clippy::expect_used, clippy::print_stdout, unsafe_code, reason = "a test's own thread blocks its signals")]
fn restrict_late() {
    use std::sync::mpsc;
    let ((blocked, is_blocked), (restricted, is_restricted)) = (mpsc::channel(), mpsc::channel());
    let slow = std::thread::spawn(move || {
        // SAFETY: all bytes of a set of signals may be zero, and the calls only read and fill it.
        let change = |how| unsafe {
            let mut all: libc::sigset_t = std::mem::zeroed();
            libc::sigfillset(&raw mut all) + libc::pthread_sigmask(how, &raw const all, std::ptr::null_mut())
        };
        assert_eq!(change(libc::SIG_BLOCK), 0);
        blocked.send(()).expect("the main thread waits");
        is_restricted.recv().expect("the main thread goes on");
        assert_eq!(change(libc::SIG_UNBLOCK), 0);
    });
    is_blocked.recv().expect("the thread has blocked its signals");
    let tried = portcullis_confine::restrict_own_process(&portcullis_confine::OwnRights::default());
    restricted.send(()).expect("the thread waits");
    slow.join().expect("the thread ends");
    println!("{}", tried.map_or_else(|error| error.to_string(), |()| "restricted".to_owned()));
}

#[cfg(target_os = "linux")]
#[expect(clippy::disallowed_methods, reason = "the program tries what this process gave up")]
fn restrict_calls(program: &str, arguments: &[String]) {
    use std::os::unix::process::CommandExt;
    let mut rights = portcullis_confine::OwnRights::default();
    rights.keep_all_but_calls();
    portcullis_confine::restrict_own_process(&rights).unwrap_or_else(|error| panic!("{error}"));
    panic!("{}", std::process::Command::new(program).args(arguments).exec());
}

/// A filter under which the kernel has no memory for new Landlock rules.
#[cfg(target_os = "linux")]
static NO_RULES: std::sync::OnceLock<seccompiler::BpfProgram> = std::sync::OnceLock::new();

/// Makes each cell that is prepared after SIGUSR1 fail, as on a machine that has no memory left.
#[cfg(target_os = "linux")]
#[expect(clippy::expect_used, unsafe_code, reason = "a test's own filter and its handler")]
fn no_rules_after_signal() {
    use seccompiler::{SeccompAction, SeccompFilter};
    extern "C" fn apply(_: libc::c_int) {
        // It allocates nothing unless it fails.
        let _ = NO_RULES.get().map(|filter| seccompiler::apply_filter(filter));
    }
    let refused = SeccompAction::Errno(libc::ENOMEM.unsigned_abs());
    let rules = [(libc::SYS_landlock_create_ruleset, Vec::new())].into();
    let arch = std::env::consts::ARCH.try_into().expect("the filters know this machine");
    let filter = SeccompFilter::new(rules, SeccompAction::Allow, refused, arch).expect("the filter is valid");
    NO_RULES.get_or_init(|| filter.try_into().expect("the filter is short"));
    // SAFETY: the handler makes only system calls, and is there for the whole life of the process.
    unsafe { libc::signal(libc::SIGUSR1, apply as *const () as libc::sighandler_t) };
}

/// Prints what it reaches without the rules, and with them.
#[cfg(target_os = "linux")]
#[expect(clippy::print_stdout, reason = "the test reads it")]
fn only_landlock(directory: &std::path::Path, tool: &str, port: u16, name: &str) {
    let parent = rustix::process::getppid();
    let tell = |when: &str| {
        let reached = landlock_attempts(directory, tool, port, name, parent);
        for (what, _) in reached.iter().filter(|(_, is_reached)| *is_reached) {
            println!("{when}: {what}");
        }
    };
    tell("before");
    portcullis_confine::only_landlock(directory).unwrap_or_else(|error| panic!("{error}"));
    tell("after");
}

/// Tries each thing below a directory, and removes what it made, so that it can try again.
#[cfg(target_os = "linux")]
#[expect(clippy::disallowed_methods, reason = "these are the attempts that must fail")]
fn landlock_attempts(
    directory: &std::path::Path,
    tool: &str,
    port: u16,
    name: &str,
    parent: Option<rustix::process::Pid>,
) -> [(&'static str, bool); 11] {
    use rustix::fs::{CWD, FileType, Mode, makedev, mknodat};
    use std::net::{TcpListener, TcpStream};
    use std::os::linux::net::SocketAddrExt;
    use std::os::unix::net::{SocketAddr, UnixListener, UnixStream};
    let made = directory.join("made");
    let is_made = |is_made: bool| is_made && std::fs::remove_file(&made).is_ok();
    let node = |kind, device| is_made(mknodat(CWD, &made, kind, Mode::RWXU, device).is_ok());
    let [from, to] = ["from", "to"].map(|name| directory.join(name));
    let moves = || {
        std::fs::create_dir_all(&from).is_ok()
            && std::fs::create_dir_all(&to).is_ok()
            && std::fs::write(from.join("file"), "x").is_ok()
            && std::fs::rename(from.join("file"), to.join("file")).is_ok()
    };
    let address = SocketAddr::from_abstract_name(name);
    [
        ("write a file", is_made(std::fs::write(&made, "x").is_ok())),
        ("move a file to another directory", moves()),
        ("link a file from outside", is_made(std::fs::hard_link(directory.with_file_name("outside"), &made).is_ok())),
        ("connect", TcpStream::connect(("127.0.0.1", port)).is_ok()),
        ("listen", TcpListener::bind("127.0.0.1:0").is_ok()),
        ("connect to an abstract socket", address.is_ok_and(|address| UnixStream::connect_addr(&address).is_ok())),
        ("signal its parent", parent.is_some_and(|parent| rustix::process::test_kill_process(parent).is_ok())),
        ("make a socket", is_made(UnixListener::bind(&made).is_ok())),
        // A whiteout, the one character device that a user without privileges may make.
        ("make a character device", node(FileType::CharacterDevice, 0)),
        ("make a block device", node(FileType::BlockDevice, makedev(7, 0))),
        ("execute a file that it may only read", std::process::Command::new(tool).status().is_ok()),
    ]
}

#[cfg(not(target_os = "linux"))]
fn main() {}
