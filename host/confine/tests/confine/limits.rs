//! The limits of a program: each is reached by a program that tries to.

use crate::ending::{mark, signal, supervisor_of, until_none_has};
use crate::lab::{Lab, Outcome, in_time, tiers, user};
use portcullis_confine::{ProgramExit, Tier};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

fn stopped(outcome: &Outcome, by: &str) {
    let ProgramExit::Stopped(why) = &outcome.report.exit else { panic!("{outcome:?}") };
    assert!(why.contains(by), "{outcome:?}");
}

#[tokio::test]
async fn time_ends_a_program() {
    for tier in tiers() {
        let mut lab = Lab::new(tier);
        lab.limits.time = Duration::from_millis(300);
        stopped(&lab.run("trap '' TERM INT; while :; do sleep 1; done").await, "limit of time");
    }
}

#[tokio::test]
async fn computing_ends_a_program_and_its_children() {
    for tier in tiers() {
        let mut lab = Lab::new(tier);
        lab.limits.cpu_time = Duration::from_millis(500);
        stopped(&lab.run("while :; do :; done").await, "limit of CPU time");
        // Each child alone is below the limit.
        stopped(&lab.run("while :; do timeout 0.2 bash -c 'while :; do :; done'; done").await, "limit of CPU time");
    }
}

/// The kernel limits one process by itself. It ends a program whose supervisor is stuck.
#[tokio::test]
async fn a_program_that_the_kernel_ends_for_its_cpu_time_is_reported_as_stopped() {
    for tier in tiers() {
        // One that ignores the first signal gets another one.
        for begin in ["true", "trap '' XCPU"] {
            let (mut lab, word) = (Lab::new(tier), mark("computing"));
            lab.limits.cpu_time = Duration::from_millis(500);
            let command = format!("{begin}; echo ready; read line; while :; do :; done # {word}");
            let mut running = lab.start(&command).await.unwrap();
            let mut streams = running.take_streams().unwrap();
            streams.stdout.read_exact(&mut [0; 6]).await.unwrap();
            let supervisor = supervisor_of(&word);
            signal("-STOP", &supervisor);
            streams.stdin.write_all(b"go\n").await.unwrap();
            // A process that has ended has no command line.
            until_none_has(&word).await;
            signal("-CONT", &supervisor);
            let report = in_time("a program that has ended", running.ended()).await.unwrap();
            let ProgramExit::Stopped(why) = &report.exit else { panic!("{tier}, {begin}: {report:?}") };
            assert!(why.contains("limit of CPU time"), "{tier}, {begin}: {report:?}");
        }
    }
}

/// Python that starts one child after the other, which no process waits for. Each computes for less than the limit.
const DISCARDED_CHILDREN: &str = r"
import os, signal, time
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
while True:
    child = os.fork()
    if child == 0:
        while time.process_time() < 0.2:
            pass
        os._exit(0)
    try:
        os.waitpid(child, 0)
    except ChildProcessError:
        pass
";

/// The kernel adds the time of such a child to no other process.
#[tokio::test]
async fn computing_in_children_that_no_process_waits_for_ends_a_program() {
    for tier in tiers() {
        let mut lab = Lab::new(tier);
        lab.limits.cpu_time = Duration::from_secs(1);
        lab.limits.time = Duration::from_secs(15);
        lab.put("children.py", DISCARDED_CHILDREN);
        let outcome = lab.run("exec python3 children.py").await;
        stopped(&outcome, "limit of CPU time");
        assert!(outcome.report.cpu > Duration::from_millis(500), "{tier}: {outcome:?}");
    }
}

#[tokio::test]
async fn a_fork_bomb_is_killed_whole() {
    for tier in tiers() {
        let mut lab = Lab::new(tier);
        lab.limits.processes = 50;
        // For a user other than root, the kernel refuses more processes, and the shell tries again and again.
        let kernel_refuses = tier == Tier::Namespaces && user() != 0;
        let limit = if kernel_refuses { "limit of time" } else { "processes" };
        lab.limits.time = Duration::from_secs(if kernel_refuses { 1 } else { 60 });
        // Both end by themselves: without the limit, they would take the machine.
        let bomb = "bomb() { [ $1 -gt 0 ] && { bomb $(($1-1)) & bomb $(($1-1)) & wait; sleep 5; }; }; bomb 10";
        for command in [bomb, "for i in $(seq 2000); do setsid sleep 5 & done; wait"] {
            let outcome = lab.run(command).await;
            stopped(&outcome, limit);
            assert_eq!(outcome.text.contains("Resource temporarily unavailable"), kernel_refuses, "{outcome:?}");
        }
        assert_eq!(lab.run("echo ok").await.text, "ok\n");
    }
}

#[tokio::test]
async fn memory_ends_one_process_or_many() {
    for tier in tiers() {
        let mut lab = Lab::new(tier);
        lab.limits.memory_bytes = 128 * 1024 * 1024;
        let one = lab.run("x=a; while :; do x=$x$x; done").await;
        assert_ne!(one.report.exit, ProgramExit::Code(0), "{one:?}");
        let many = lab
            .run("for i in 1 2 3 4 5 6; do (x=$(head -c 40000000 /dev/zero | tr '\\0' x); sleep 100) & done; wait")
            .await;
        stopped(&many, "memory");
    }
}

#[tokio::test]
async fn files_are_limited_in_size_and_number() {
    for tier in tiers() {
        let mut lab = Lab::new(tier);
        lab.limits.file_bytes = 1024 * 1024;
        lab.limits.open_files = 32;
        let outcome = lab.run("trap '' XFSZ; head -c 2000000 /dev/zero > big; stat -c %s big").await;
        assert!(outcome.text.ends_with("1048576\n"), "{tier}: {outcome:?}");
        let outcome = lab.run("for i in $(seq 10 60); do eval \"exec $i</dev/null\" || exit 9; done").await;
        assert_ne!(outcome.report.exit, ProgramExit::Code(0), "{tier}: {outcome:?}");
    }
}

/// The kernel starts the machine's crash handler unless the limit of core files is 1. A handler serves the whole
/// machine, so no test installs one. This test checks that the limit is 1 and that a program cannot change it.
#[tokio::test]
async fn a_crash_starts_no_handler_of_the_machine() {
    for tier in tiers() {
        let lab = Lab::new(tier);
        let script = format!(
            r#"
import ctypes, resource
libc = ctypes.CDLL(None, use_errno=True)
both = (ctypes.c_ulong * 2)(0, 0)
assert libc.syscall({}, 4, both) == -1
assert libc.syscall({}, 0, 4, both, 0) == -1
resource.setrlimit(resource.RLIMIT_NOFILE, (9, 9))
print(resource.getrlimit(resource.RLIMIT_CORE))
"#,
            libc::SYS_setrlimit,
            libc::SYS_prlimit64
        );
        lab.put("core.py", &script);
        assert_eq!(
            lab.run("python3 core.py; ulimit -c 0 2>/dev/null || ulimit -Hc").await.text,
            "(1, 1)\n0\n",
            "{tier}"
        );
    }
}
