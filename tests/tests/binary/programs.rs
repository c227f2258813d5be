//! The plugin `shell` with real programs: what the policy binds, what a person reads, and that nothing is left.

use crate::binary::desk::Desk;
use serde_json::json;
use std::env;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};

const ALLOW: &str = "[[rule]]\ntool = \"shell.*\"\ndecision = \"allow\"\n";
const ASK: &str = "[[rule]]\ntool = \"shell.*\"\ndecision = \"ask\"\n";

/// A site with the plugin `shell`, whose programs see the directory `work`.
fn desk(more: &str, rule: &str) -> Desk {
    let policy = format!(
        "[plugin.shell]\nprocess.sh = {{ program = \"/bin/bash\", directories = [\"workspace\"]{more} }}\n\
         directory.workspace = {{ path = \"work\", access = \"read-write\" }}\n{rule}"
    );
    Desk::with_shell(&policy)
}

/// Runs a command. Returns the answer's text.
#[track_caller]
fn run(desk: &Desk, command: &str) -> String {
    let reply = desk.call("shell.run", &json!({ "command": command }), 0);
    reply["output"]["text"].as_str().unwrap_or_else(|| panic!("{reply}")).to_owned()
}

/// Returns the processes of the machine whose command line has a word.
fn processes_with(word: &str) -> usize {
    let has = |entry: &fs::DirEntry| {
        let text = fs::read(entry.path().join("cmdline")).unwrap_or_default();
        String::from_utf8_lossy(&text).contains(word)
    };
    fs::read_dir("/proc").unwrap().flatten().filter(has).count()
}

#[test]
fn a_command_runs_in_the_directory_of_its_binding() {
    let desk = desk("", ALLOW);
    let text = run(&desk, "cat poem.txt | head -1; echo more > new.txt; echo no >&2; (exit 3)");
    assert!(text.starts_with("roses are red\nno\n[exit code 3, "), "{text}");
    assert_eq!(fs::read_to_string(desk.site.path("work/new.txt")).unwrap(), "more\n");
    let text =
        run(&desk, "cat ../portcullis.toml; ls ../state; ls ~; env | grep -i home; curl -sm 2 http://127.0.0.1:1");
    assert!(text.contains("No such file") && !text.contains("decision") && text.contains("HOME=/tmp"), "{text}");
    desk.verifies();
}

#[test]
fn the_masks_of_a_directory_hold_for_programs() {
    let desk = desk("", ALLOW);
    fs::create_dir_all(desk.site.path("work/.git/hooks")).unwrap();
    fs::write(desk.site.path("work/.git/config"), "[core]\n").unwrap();
    let text = run(
        &desk,
        "echo x >> .git/config; echo x > .git/hooks/pre-commit; mv .git old; rm -rf .git; cp poem.txt .git/copy; echo end",
    );
    assert!(text.contains("Read-only file system") && text.contains("end\n"), "{text}");
    assert_eq!(fs::read_to_string(desk.site.path("work/.git/config")).unwrap(), "[core]\n");
    assert!(!desk.site.path("work/.git/hooks/pre-commit").exists());
    assert!(desk.site.path("work/.git/copy").exists());
}

#[test]
fn a_program_without_a_binding_is_refused_and_named() {
    let desk = desk("", ALLOW);
    let reply = desk.run(&["--json", "call", "shell.exec", r#"{"program":"git","arguments":["status"]}"#]);
    assert!(reply.out.contains("git") && !reply.out.contains("On branch"), "{}", reply.out);
    let none = Desk::with_shell(ALLOW);
    let reply = none.run(&["--json", "call", "shell.run", r#"{"command":"true"}"#]);
    assert!(reply.out.contains("dependency-not-granted") && reply.out.contains("`sh`"), "{}", reply.out);
}

#[test]
fn an_approver_reads_what_a_program_may_do() {
    let desk = desk("", ASK);
    let work = desk.site.path("work").canonicalize().unwrap();
    let pending = desk.run(&["call", "shell.run", r#"{"command":"echo hi"}"#]);
    let listed = desk.run(&["approvals", "list", "--json"]).ends(0).out;
    let wanted = format!("may run /bin/bash with read-write access to {}, no network, time 2 min", work.display());
    assert!(listed.contains(&wanted), "{listed}\n{}", pending.err);
    let explained = desk.run(&["inspect", "shell"]).ends(0).out;
    assert!(explained.split_whitespace().collect::<Vec<_>>().join(" ").contains("may run /bin/bash with read-write"));
}

#[test]
fn a_program_that_was_replaced_needs_another_approval() {
    let desk = desk("", ALLOW);
    let script = desk.site.path("tool");
    let put = |text: &str| {
        let new = desk.site.path("tool.new");
        fs::write(&new, text).unwrap();
        fs::set_permissions(&new, fs::Permissions::from_mode(0o755)).unwrap();
        fs::rename(new, &script).unwrap();
    };
    put("#!/bin/bash\necho first\n");
    desk.policy(&format!(
        "[plugin.shell]\nprocess.sh = {{ program = \"/bin/bash\" }}\nprocess.make = {{ program = \"{}\" }}\n{ASK}",
        script.display()
    ));
    let call = || desk.run(&["--json", "call", "shell.exec", r#"{"program":"make","arguments":[]}"#]);
    let first = call().document()["approval_request"].as_str().unwrap().to_owned();
    put("#!/bin/bash\necho second\n");
    desk.run(&["approvals", "approve", &first, "--yes"]);
    let second = call();
    assert!(!second.out.contains("second"), "the approval was of another file: {}", second.out);
}

#[test]
fn limits_end_a_program_and_the_answer_says_which() {
    let desk = desk(", time = \"500 ms\", output-bytes = \"64 KiB\"", ALLOW);
    let text = run(&desk, "echo begun; sleep 100");
    assert!(text.contains("begun") && text.contains("limit of time"), "{text}");
    let text = run(&desk, "yes");
    assert!(text.contains("printed more than 65536 bytes"), "{}", &text[text.len() - 200..]);
    let text = run(&desk, "sleep 100 & sleep 100 & echo begun");
    assert!(text.contains("2 background processes were ended"), "{text}");
}

#[test]
fn a_killed_host_leaves_no_program() {
    let desk = desk("", ALLOW);
    let word = format!("portcullis-left-{}", std::process::id());
    let command =
        format!("for i in 1 2 3; do setsid bash -c 'sleep 100; true' {word} & done; sleep 100; true # {word}");
    let arguments = json!({ "command": command }).to_string();
    let mut host = desk.command();
    let mut host = host.args(["call", "shell.run", "-"]).stdin(Stdio::piped()).spawn().unwrap();
    std::io::Write::write_all(&mut host.stdin.take().unwrap(), arguments.as_bytes()).unwrap();
    let began = Instant::now();
    let wait = |done: &dyn Fn(usize) -> bool| {
        while !done(processes_with(&word)) {
            assert!(began.elapsed() < Duration::from_secs(60), "{} processes", processes_with(&word));
            std::thread::sleep(Duration::from_millis(10));
        }
    };
    wait(&|count| count >= 4);
    host.kill().unwrap();
    host.wait().unwrap();
    wait(&|count| count == 0);
}

#[test]
fn a_binding_that_names_nothing_is_refused_when_the_host_opens() {
    for (more, told) in [(", http = \"none\"", "http"), (", directories = [\"none\"]", "directories")] {
        let desk = Desk::with_shell(ALLOW);
        desk.policy(&format!("[plugin.shell]\nprocess.sh = {{ program = \"/bin/bash\"{more} }}\n{ALLOW}"));
        let ran = desk.run(&["list"]);
        assert!(ran.code != Some(0) && ran.err.contains(told), "{more}: {} {}", ran.out, ran.err);
    }
    let desk = Desk::with_shell(ALLOW);
    desk.policy(&format!("[plugin.shell]\nprocess.sh = {{ program = \"/bin/none\" }}\n{ALLOW}"));
    let ran = desk.run(&["list"]);
    assert!(ran.code != Some(0) && ran.err.contains("/bin/none"), "{} {}", ran.out, ran.err);
}

/// Copies a directory with everything below it.
fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().flatten() {
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &target)
        } else {
            drop(fs::copy(entry.path(), target))
        }
    }
}

/// Builds and runs the tests of a crate that somebody else wrote, as an agent would.
#[test]
fn the_tests_of_another_project_are_built_and_run_without_network() {
    let cargo = env::var_os("CARGO").map(PathBuf::from).expect("cargo sets the variable for tests");
    let toolchain = cargo.canonicalize().unwrap().parent().and_then(Path::parent).unwrap().to_owned();
    let home = env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = home.or_else(|| Some(PathBuf::from(env::var_os("HOME")?).join(".cargo"))).unwrap();
    // What the workspace itself depends on is there.
    let registries = fs::read_dir(home.join("registry/src")).unwrap().flatten().map(|registry| registry.path());
    let crates = registries.flat_map(|registry| fs::read_dir(registry).unwrap().flatten());
    let source = crates
        .map(|found| found.path())
        .find(|path| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("percent-encoding-")));
    let policy = format!(
        "[plugin.shell]\ndirectory.workspace = {{ path = \"work\", access = \"read-write\" }}\n\
         directory.toolchain = {{ path = \"{0}\" }}\n\
         process.sh = {{ program = \"/bin/bash\", directories = [\"workspace\", \"toolchain\"], environment = {{ \
         PATH = \"{0}/bin:/usr/bin:/bin\" }} }}\n{ALLOW}",
        toolchain.display()
    );
    let desk = Desk::with_shell(&policy);
    copy(&source.unwrap(), &desk.site.path("work/crate"));
    let text = run(&desk, "cd crate && cargo test --offline 2>&1 | grep 'test result'");
    let passed = text.lines().any(|line| line.starts_with("test result: ok. ") && !line.contains(" 0 passed"));
    assert!(passed && !text.contains("FAILED"), "{text}");
    desk.verifies();
}
