//! Shared memory, message queues and semaphores of the user's other processes. They belong to no directory, so a rule
//! about files does not cover them.

use crate::lab::{Lab, tiers};
use std::process::Command;

/// Python that makes one of each, with a text in it. Prints the numbers of the first three.
const MAKE: &str = r#"
import ctypes, sys
libc = ctypes.CDLL(None, use_errno=True)
libc.shmat.restype = ctypes.c_void_p
memory = libc.shmget(0, 4096, 0o600)
ctypes.memmove(libc.shmat(memory, None, 0), b"the secret", 10)
messages = libc.msgget(0, 0o600)
libc.msgsnd(messages, ctypes.create_string_buffer((1).to_bytes(8, sys.byteorder) + b"the secret", 18), 10, 0)
semaphore = libc.semget(0, 1, 0o600)
libc.mq_open.argtypes = [ctypes.c_char_p, ctypes.c_int, ctypes.c_uint, ctypes.c_void_p]
assert libc.mq_open(sys.argv[1].encode(), 0o102, 0o600, None) >= 0
print(memory, messages, semaphore)
"#;

/// Python that prints what it reaches of them.
const REACH: &str = r#"
import ctypes, sys
libc = ctypes.CDLL(None, use_errno=True)
libc.shmat.restype = ctypes.c_void_p
name, memory, messages, semaphore = sys.argv[1].encode(), *map(int, sys.argv[2:])
place = libc.shmat(memory, None, 0)
if place != 2 ** 64 - 1:
    print("memory:", ctypes.string_at(place, 10))
text = ctypes.create_string_buffer(18)
if libc.msgrcv(messages, text, 10, 0, 0o4000) >= 0:
    print("message:", text.raw[8:])
if libc.msgsnd(messages, ctypes.create_string_buffer(b"\1" + bytes(17), 18), 10, 0o4000) == 0:
    print("sent")
if libc.semctl(semaphore, 0, 16, 7) == 0:
    print("semaphore")
if libc.mq_open(name, 2) >= 0:
    print("queue")
if libc.mq_unlink(name) == 0:
    print("removed")
if libc.shmctl(memory, 0, None) == 0 and libc.msgctl(messages, 0, None) == 0 and libc.semctl(semaphore, 0, 0) == 0:
    print("all removed")
"#;

/// What a process of the same user has made.
struct Shared {
    queue: String,
    numbers: String,
}

impl Shared {
    fn new() -> Self {
        let queue = format!("/portcullis-test-{}", std::process::id());
        let numbers = python(MAKE, &[&queue]);
        Self { queue, numbers: numbers.trim().to_owned() }
    }

    /// Reaches it from a process that nothing confines. It is gone then.
    fn reach_unconfined(&self) -> String {
        let numbers: Vec<&str> = self.numbers.split(' ').collect();
        let arguments: Vec<&str> = [self.queue.as_str()].into_iter().chain(numbers).collect();
        python(REACH, &arguments)
    }
}

fn python(script: &str, arguments: &[&str]) -> String {
    let output = Command::new("/usr/bin/python3").args(["-c", script]).args(arguments).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap()
}

#[tokio::test]
async fn what_other_processes_share_is_out_of_reach() {
    for tier in tiers() {
        let (lab, shared) = (Lab::new(tier), Shared::new());
        lab.put("reach.py", REACH);
        let outcome = lab.run(&format!("python3 reach.py {} {}", shared.queue, shared.numbers)).await;
        let unconfined = shared.reach_unconfined();
        assert_eq!(outcome.text, "", "{tier}");
        // All of it was there, untouched, and another process of the user reaches it.
        let all = "memory: b'the secret'\nmessage: b'the secret'\nsent\nsemaphore\nqueue\nremoved\nall removed\n";
        assert_eq!(unconfined, all, "{tier}");
    }
}
