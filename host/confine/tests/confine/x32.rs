//! The system calls of the x32 interface, whose numbers have a bit that those of the rules do not have.
//!
//! A kernel without this interface gives the same error as the filters. So the program adds a filter that asks a
//! thread, which gives another error. The strictest filter counts: the thread is asked only about a call that the other
//! filters allow.

use crate::lab::{Lab, broker_path, tiers};
use std::path::Path;
use std::process::Command;

/// Python that prints how many calls pass the filters.
const X32: &str = r#"
import ctypes, fcntl, os, struct, threading
libc = ctypes.CDLL(None, use_errno=True)
SECCOMP, SET_FILTER, NEW_LISTENER, RECEIVE, SEND = 317, 1, 8, 0xc0502100, 0xc0182101
X32_BIT, ASK, ALLOW, ABSENT, ASKED = 0x40000000, 0x7fc00000, 0x7fff0000, 38, 18
rules = [(0x20, 0, 0, 0), (0x35, 0, 1, X32_BIT), (0x06, 0, 0, ASK), (0x06, 0, 0, ALLOW)]
code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *rule) for rule in rules))
program = struct.pack("HxxxxxxQ", len(rules), ctypes.addressof(code))
assert libc.prctl(38, 1, 0, 0, 0) == 0
listener = libc.syscall(SECCOMP, SET_FILTER, NEW_LISTENER, program)
assert listener >= 0, ctypes.get_errno()
def answer():
    while True:
        question = fcntl.ioctl(listener, RECEIVE, bytes(80))
        fcntl.ioctl(listener, SEND, question[:8] + struct.pack("qiI", 0, -ASKED, 0))
threading.Thread(target=answer, daemon=True).start()
passed = 0
for number in range(600):
    assert libc.syscall(ctypes.c_long(X32_BIT | number), 0, 0, 0, 0, 0, 0) == -1
    assert ctypes.get_errno() in (ABSENT, ASKED), (number, ctypes.get_errno())
    passed += ctypes.get_errno() == ASKED
print(passed, flush=True)
os._exit(0)
"#;

#[tokio::test]
async fn no_system_call_of_x32_passes_the_filters() {
    let unconfined = |program: &Path, arguments: &[&str]| {
        let output = Command::new(program).args(arguments).args(["-c", X32]).output().unwrap();
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    assert_eq!(unconfined(Path::new("/usr/bin/python3"), &[]), "600\n", "without other filters");
    let restricted = unconfined(&broker_path(), &["--restrict-calls", "/usr/bin/python3"]);
    assert_eq!(restricted, "0\n", "a process that restricts itself");
    for tier in tiers() {
        let lab = Lab::new(tier);
        lab.put("x32.py", X32);
        assert_eq!(lab.run("python3 x32.py").await.text, "0\n", "{tier}");
    }
}
