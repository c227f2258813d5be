//! Programs of the system, run by the conformance plugin in each language whose SDK has them.

use crate::desk::Desk;
use crate::row::Row;
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::fs;

/// Binds the program, and a directory that it sees.
const BOUND: &str = "[plugin.conformance]\n\
    process.sh = { program = \"/bin/bash\", directories = [\"workspace\"], time = \"20 s\" }\n\
    directory.workspace = { path = \"work\", access = \"read-write\" }\n";
/// More than a chunk, a pipe and the answer by default hold.
const LARGE_BYTES: usize = 5 * 1024 * 1024;
/// Less than the limit of all arguments (1 MiB), and more than a pipe and the host's buffer hold.
const INPUT_BYTES: usize = 900_000;
/// What the tool `run` keeps of each stream.
const KEPT_BYTES: usize = 100_000;

impl Desk {
    fn bound(row: Row) -> Self {
        Self::new(row, BOUND)
    }

    /// Starts a program that lacks something, without an approver. Returns the error.
    #[track_caller]
    fn refused(&self, argument: &str, what: &str) -> String {
        let arguments = json!({ "key": "sh", "arguments": ["-c", "echo started"], argument: what });
        let reply = self.call("run", &arguments).document();
        assert_eq!(reply["code"], "tool-failed", "{argument} {what}: {reply}");
        reply["message"].as_str().unwrap().to_owned()
    }

    /// Runs a command of the shell to its end. Returns the answer.
    #[track_caller]
    fn run(&self, command: &str, more: &Value) -> Value {
        let mut arguments = json!({ "key": "sh", "arguments": ["-c", command] });
        arguments.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        self.call("run", &arguments).ends(0).document()["output"]["value"].clone()
    }

    /// Passes on what a command of the shell writes. Returns the answer.
    #[track_caller]
    fn stream(&self, command: &str, more: &Value) -> String {
        let mut arguments = json!({ "key": "sh", "arguments": ["-c", command] });
        arguments.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let document = self.call("stream", &arguments).ends(0).document();
        document["output"]["text"].as_str().unwrap_or_else(|| panic!("{document}")).to_owned()
    }
}

/// Returns an answer of the tool `run`.
fn ran(exit: &str, stdout: &str, stderr: &str) -> Value {
    json!({ "exit": exit, "stdout": stdout, "stderr": stderr, "cut": false })
}

/// Returns numbered lines of this length, without repetitions.
fn numbered(bytes: usize) -> String {
    let mut text = String::with_capacity(bytes + 8);
    for number in 0.. {
        writeln!(text, "{number:07}").unwrap();
        if text.len() >= bytes {
            break;
        }
    }
    text.truncate(bytes);
    text
}

fn a_program_runs_to_its_end(row: Row) {
    let desk = Desk::bound(row);
    let command = "head -1 poem.txt; echo \"$CALLER: $0 $1\" >&2; exit 3";
    let arguments = json!({ "arguments": ["-c", command, "a b", "ü*"] });
    assert_eq!(desk.run("", &arguments), ran("exit code 3", "roses are red\n", "conformance: a b ü*\n"));
    assert_eq!(desk.run("kill -TERM $$", &json!({})), ran("signal 15", "", ""));
    // A program may write anything.
    assert_eq!(desk.run("printf 'a\\xffb'", &json!({})), ran("exit code 0", "a\u{fffd}b", ""));
}

fn a_program_starts_where_it_is_told(row: Row) {
    let desk = Desk::bound(row);
    fs::create_dir(desk.folder.path().join("work/below")).unwrap();
    let told = desk.run("echo new > file; ls ..", &json!({ "directory": "/workspace/below" }));
    assert_eq!(told, ran("exit code 0", "below\npoem.txt\n", ""));
    assert_eq!(fs::read_to_string(desk.folder.path().join("work/below/file")).unwrap(), "new\n");
    let failed = desk.call("run", &json!({ "key": "sh", "arguments": [], "directory": "/none" })).document();
    let message = failed["message"].as_str().unwrap();
    assert!(failed["code"] == "tool-failed" && message.contains("cannot start in \"/none\""), "{failed}");
}

fn the_order_of_merged_streams_is_kept(row: Row) {
    let desk = Desk::bound(row);
    let command = "for i in 1 2 3; do echo out; echo error >&2; done";
    let told = desk.run(command, &json!({ "merge": true }));
    assert_eq!(told, ran("exit code 0", "out\nerror\nout\nerror\nout\nerror\n", ""));
}

fn a_program_reads_its_input(row: Row) {
    let desk = Desk::bound(row);
    assert_eq!(desk.run("cat", &json!({})), ran("exit code 0", "", ""), "without input stdin ends");
    assert_eq!(desk.run("tr a-z A-Z", &json!({ "input": "grüße" })), ran("exit code 0", "GRüßE", ""));
    // The program reads nothing for a while, and the end of the input must still reach it.
    let input = numbered(INPUT_BYTES);
    let told = desk.run("sleep 0.3; wc -c; exit 4", &json!({ "input": input }));
    assert_eq!(told, ran("exit code 4", &format!("{INPUT_BYTES}\n"), ""));
    // The rest is not wanted.
    assert_eq!(desk.run("head -c 8", &json!({ "input": input })), ran("exit code 0", "0000000\n", ""));
}

fn more_than_a_pipe_holds_flows_in_both_directions(row: Row) {
    let desk = Desk::bound(row);
    let input = numbered(INPUT_BYTES);
    let text = desk.stream("tee /dev/stderr", &json!({ "input": input }));
    assert_eq!(text.len(), 2 * INPUT_BYTES + "[exit code 0]".len());
    let text = desk.stream("cat", &json!({ "input": input }));
    assert!(text.strip_suffix("[exit code 0]") == Some(&input), "{} bytes differ", text.len());
}

fn large_output_is_passed_on_or_cut(row: Row) {
    let desk = Desk::bound(row);
    let command = format!("seq -f %07.0f 0 {} | head -c {LARGE_BYTES}", LARGE_BYTES / 8);
    let text = desk.stream(&command, &json!({}));
    assert!(text.strip_suffix("[exit code 0]") == Some(&numbered(LARGE_BYTES)), "{} bytes differ", text.len());
    let told = desk.run(&format!("({command}) | tee /dev/stderr"), &json!({}));
    assert_eq!((&told["exit"], &told["cut"]), (&json!("exit code 0"), &json!(true)));
    for stream in ["stdout", "stderr"] {
        assert!(told[stream] == numbered(KEPT_BYTES), "{stream}: {} bytes", told[stream].as_str().unwrap().len());
    }
}

/// A library that is compiled, and has no garbage collector, keeps nothing of what it has passed on.
fn large_output_takes_little_memory(row: Row) {
    let desk = Desk::limited(row, BOUND, "memory = \"4 MiB\"\nhandles = 32\n");
    let command = format!("seq -f %07.0f 0 {} | head -c {}", 2 * LARGE_BYTES / 8, 2 * LARGE_BYTES);
    let text = desk.stream(&command, &json!({}));
    assert!(text.strip_suffix("[exit code 0]") == Some(&numbered(2 * LARGE_BYTES)), "{} bytes differ", text.len());
}

fn a_tool_talks_to_a_program(row: Row) {
    let desk = Desk::bound(row);
    let command = "while read -r line; do echo \"got ${#line}\"; done; echo last; exit 5";
    // A reply comes while stdin is open, and the program gets all bytes although nothing waits for them.
    let lines = ["one", &"x".repeat(INPUT_BYTES / 2), ""];
    let reply = desk.call("converse", &json!({ "key": "sh", "arguments": ["-c", command], "lines": lines }));
    let wanted = json!({
        "replies": ["got 3\n", format!("got {}\n", INPUT_BYTES / 2), "got 0\n"], "rest": "last\n", "exit": "exit code 5",
    });
    assert_eq!(reply.ends(0).document()["output"]["value"], wanted);
    // Closing stdin waits until the program, which reads late, has the bytes.
    let command = "echo ready; sleep 0.3; wc -c";
    let lines = [&"x".repeat(50_000)];
    let reply = desk.call("converse", &json!({ "key": "sh", "arguments": ["-c", command], "lines": lines }));
    let wanted = json!({ "replies": ["ready\n"], "rest": "50001\n", "exit": "exit code 0" });
    assert_eq!(reply.ends(0).document()["output"]["value"], wanted);
}

fn a_tool_ends_a_program(row: Row) {
    let desk = Desk::bound(row);
    let text = desk.stream("echo begun; sleep 1000 & sleep 1000", &json!({ "until": "begun" }));
    assert_eq!(text, "begun\n[the host ended it]");
}

fn a_limit_ends_a_program(row: Row) {
    let desk = Desk::new(row, &BOUND.replace("20 s", "300 ms"));
    let told = desk.run("echo begun; sleep 1000", &json!({}));
    assert!(told["stdout"] == "begun\n" && told["exit"].as_str().unwrap().contains("limit of time"), "{told}");
}

fn a_program_that_is_not_bound_or_not_declared_is_refused(row: Row) {
    let desk = Desk::new(row, "");
    for (key, code, words) in [("sh", "tool-denied", "grant"), ("git", "tool-failed", "ask for")] {
        let reply = desk.call("run", &json!({ "key": key, "arguments": [] })).document();
        let message = reply["message"].as_str().unwrap();
        assert!(reply["code"] == code && message.contains(key) && message.contains(words), "{reply}");
    }
}

fn a_program_asks_for_more_only_if_the_policy_lets_it(row: Row) {
    let desk = Desk::bound(row);
    for (argument, what) in [("needs_host", "files.example.org:443"), ("needs_read", "/usr"), ("needs_write", "/srv")] {
        let message = desk.refused(argument, what);
        assert!(message.contains("the policy does not let this program ask for more"), "{argument}: {message}");
    }
}

fn the_host_gets_what_a_program_lacks(row: Row) {
    let desk = Desk::new(row, &BOUND.replace("time = ", "escalate = \"ask\", time = "));
    let plugins = desk.plugins();
    let plugins = plugins.to_str().unwrap();
    // Each error is specific to the kind and the value. The tool does not declare `network`.
    for (argument, what, words) in [
        ("needs_host", "a b", "write a host and a port"),
        ("needs_host", "files.example.org:443", "does not declare the permission network"),
        ("needs_read", "grüße", "write the absolute path of a directory"),
        ("needs_read", plugins, "not approved"),
        ("needs_write", plugins, "change its own rights"),
    ] {
        let message = desk.refused(argument, what);
        assert!(message.contains(words), "{argument} {what}: {message}");
    }
}

fn an_argument_that_no_program_can_get_is_refused(row: Row) {
    let desk = Desk::bound(row);
    let reply = desk.call("run", &json!({ "key": "sh", "arguments": ["-c", "true\u{0}"] })).document();
    assert_eq!(reply["code"], "tool-failed", "{reply}");
}

macro_rules! each {
    ($($row:ident)*) => {
        $(mod $row {
            use crate::row::Row;

            each! { @tests $row
                a_program_runs_to_its_end
                a_program_starts_where_it_is_told
                the_order_of_merged_streams_is_kept
                a_program_reads_its_input
                more_than_a_pipe_holds_flows_in_both_directions
                large_output_is_passed_on_or_cut
                a_tool_talks_to_a_program
                a_tool_ends_a_program
                a_limit_ends_a_program
                a_program_that_is_not_bound_or_not_declared_is_refused
                a_program_asks_for_more_only_if_the_policy_lets_it
                the_host_gets_what_a_program_lacks
                an_argument_that_no_program_can_get_is_refused
            }
        })*

        #[test]
        fn every_row_with_programs_is_tested() {
            let with = crate::row::ROWS.into_iter().filter(|row| !row.gaps().contains_key("run"));
            assert_eq!(with.map(|row| row.name).collect::<Vec<_>>(), [$(stringify!($row)),*]);
        }
    };
    (@tests $row:ident $($name:ident)*) => {
        $(#[test]
        fn $name() {
            super::$name(Row::of(stringify!($row)));
        })*
    };
}

each! { rust quickjs starlingmonkey python go c cpp zig }

macro_rules! without_a_garbage_collector {
    ($($row:ident)*) => {
        mod without_a_garbage_collector {
            use crate::row::Row;

            $(#[test]
            fn $row() {
                super::large_output_takes_little_memory(Row::of(stringify!($row)));
            })*
        }
    };
}

without_a_garbage_collector! { rust c cpp zig }
