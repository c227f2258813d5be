//! The instructions of a call's own parts, counted by valgrind: a count is the same however busy the machine is. It is
//! that of the unoptimized code of the tests, so it tells nothing about the time of a call. That is in
//! `docs/performance.md`. But work that is added to each call shows. So does room in the future of a call.

use portcullis::{Code, Compiler, Host, Request};
use portcullis_tests::{BlockOn, Site};
use std::env;
use std::path::Path;
use std::process::Command;

/// The variable with the directory of the site, of a process that valgrind runs.
const SITE: &str = "PORTCULLIS_TEST_COUNTED_SITE";

/// The variable with the kind and the number of the calls that the process makes.
const CALLS: &str = "PORTCULLIS_TEST_COUNTED_CALLS";

/// The numbers of calls of two processes. The first calls of a host do more than later ones.
const FEW: u64 = 20;
const MANY: u64 = 220;

/// A call, its result, and the instructions that it took when this was measured with Rust 1.95, in thousands. Three
/// runs differed by a thousand, one of them on busy cores.
const KINDS: [(&str, Code, u64); 2] = [("denied", Code::PolicyDenied, 391), ("completed", Code::Completed, 552)];

/// How many more instructions than measured a call may take, in per cent.
const ROOM_PERCENT: u64 = 3;

/// From how many fewer instructions on the measured number must be written down anew, in per cent. Else as much could
/// be added without notice.
const FEWER_PERCENT: u64 = 10;

/// Maximum size of the future of a call, in bytes. A call in progress needs that much memory, and copies of it take
/// time. It was 13,760 before rare branches had boxes of their own, and 7,512 after that.
const FUTURE_BYTES_MAX: usize = 8 * 1024;

/// Denies calls whose text is `denied`. A place for a call reserves addresses for each memory, of which a process has
/// few under valgrind.
const POLICY: &str = r#"
[limits]
memories = 1
[approvals]
repeats = 1000000
[[rule]]
tool = "good.run"
when = { text = "denied" }
decision = "deny"
[[rule]]
tool = "good.run"
decision = "allow"
"#;

#[test]
fn a_call_takes_no_more_instructions_than_measured() {
    if let (Ok(site), Ok(calls)) = (env::var(SITE), env::var(CALLS)) {
        return make_calls(Path::new(&site), &calls);
    }
    // The number also depends on how the tests are compiled, so it is that of `.ci/run`.
    if env::var_os("CI").is_none() {
        return;
    }
    let site = Site::new();
    // The plugin is compiled for the processor that valgrind shows.
    count(&site, "completed", 1);
    let took = KINDS.map(|(kind, _, measured)| (kind, instructions(&site, kind), measured));
    for (_, took_now, measured) in took {
        let room = measured * (100 - FEWER_PERCENT) / 100..=measured * (100 + ROOM_PERCENT) / 100;
        assert!(room.contains(&took_now), "a kind, its thousand instructions, and those when measured: {took:?}");
    }
}

#[test]
fn the_future_of_a_call_is_small() {
    fn bytes<F>(_: impl FnOnce(&'static Host, Request) -> F) -> usize {
        size_of::<F>()
    }
    let bytes = bytes(|host, request| host.call(request));
    assert!(bytes <= FUTURE_BYTES_MAX, "{bytes} bytes");
}

/// Returns the instructions of one call, in thousands.
fn instructions(site: &Site, kind: &str) -> u64 {
    (count(site, kind, MANY) - count(site, kind, FEW)) / (MANY - FEW) / 1000
}

/// Returns the instructions of a process that opens a host and makes calls.
fn count(site: &Site, kind: &str, calls: u64) -> u64 {
    let mut command = Command::new("valgrind");
    command.args(["--tool=cachegrind", "--cache-sim=no", "--branch-sim=no", "--cachegrind-out-file=/dev/null"]);
    command.arg(env::current_exe().unwrap()).args(["--nocapture", "--exact"]);
    command.arg("calls::instructions::a_call_takes_no_more_instructions_than_measured");
    let output = command.env(SITE, site.path("")).env(CALLS, format!("{kind} {calls}")).output();
    let output = output.expect("Debian's package valgrind counts instructions");
    let printed = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{}{printed}", String::from_utf8_lossy(&output.stdout));
    let count = printed.lines().find_map(|line| line.split_once("I   refs:")).expect(&printed).1;
    count.trim().replace(',', "").parse().unwrap()
}

/// Makes calls, as `KIND NUMBER` says.
fn make_calls(site: &Path, calls: &str) {
    let (kind, number) = calls.split_once(' ').unwrap();
    let code = KINDS.iter().find(|(name, ..)| *name == kind).unwrap().1;
    let text = if kind == "denied" { "denied" } else { "allowed" };
    async {
        let builder = Host::builder(site.join("plugins"), site.join("state")).compiler(Compiler::InProcess);
        let host = builder.calls(1).policy_text(POLICY, site).open().await.unwrap();
        for _ in 0..number.parse::<u64>().unwrap() {
            let reply = host.call(Request::new("good.run", format!(r#"{{"text":"{text}"}}"#))).await;
            assert_eq!(reply.code, code, "{}", reply.message);
        }
    }
    .block_on();
}
