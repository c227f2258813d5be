//! Limits on what a run of cases uses, and on the files that it reads.

use crate::author::bench::Bench;
use portcullis_tests::{Manifest, built_guest, guest, shipped_plugin};
use serde_json::{Value, json};
use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

/// One byte over the maximum of a cases file.
const CASES_BYTES_TOO_MANY: u64 = 64 * 1024 * 1024 + 1;

/// One byte over the maximum of a component.
const COMPONENT_BYTES_TOO_MANY: u64 = 128 * 1024 * 1024 + 1;

/// One byte, and one entry, over the maximum of a copied folder.
const COPIED_BYTES_TOO_MANY: u64 = 256 * 1024 * 1024 + 1;
const COPIED_ENTRIES_TOO_MANY: usize = 10_001;

/// The limit on the program's open files: fewer than one host per case would need.
const OPEN_FILES_MAX: u32 = 128;

fn good() -> Bench {
    let bench = Bench::new();
    bench.component("good", &guest("good", &Manifest::of("good")));
    bench
}

fn case(name: &str) -> Value {
    json!({"name": name, "tool": "run", "expect": {"outcome": "completed"}})
}

fn fifo(path: &Path) {
    assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
}

/// Creates a sparse file of this length.
fn sparse(path: &Path, bytes: u64) {
    File::create(path).unwrap().set_len(bytes).unwrap();
}

#[test]
fn many_policies_use_few_files() {
    let bench = good();
    let case = |number: u32| {
        let mut case = case(&format!("case {number}"));
        case["limits"] = json!({"time": format!("{number} s")});
        case
    };
    bench.cases("a.json", &(1..=40).map(case).collect());
    let mut limited = bench.command();
    let command = format!("ulimit -n {OPEN_FILES_MAX} && exec \"$0\" test --component good.wasm");
    let program = limited.get_program().to_owned();
    let mut shell = Command::new("/bin/sh");
    shell.arg("-c").arg(command).arg(program).current_dir(bench.site.path("")).env("HOME", bench.site.path("home"));
    limited = shell;
    let ran = portcullis_tests::Ran::from(limited.output().unwrap()).ends(0);
    assert!(ran.out.ends_with("40 passed, 0 failed\n"), "{}", ran.out);
}

/// The state of a long run is recreated now and then. The log of a call must be found before and after that.
#[test]
fn many_cases_find_their_own_log() {
    let bench = Bench::new();
    bench.component("state-one", &built_guest("state"));
    let case = |number: usize| {
        let said = format!("said by {number}");
        json!({"name": said, "tool": "run", "arguments": {"steps": [{"op": "print", "text": said}]},
               "expect": {"outcome": "completed", "log": [said]}})
    };
    bench.cases("a.json", &(1..=300).map(case).collect());
    bench.passes("state-one");
}

#[test]
fn a_case_does_not_see_the_state_of_the_previous_one() {
    let bench = Bench::new();
    bench.component("state-one", &built_guest("state"));
    let case = |name: &str, step: Value| {
        json!({"name": name, "tool": "run", "arguments": {"steps": [step]}, "grants": {"store": {"notes": "plugin"}},
               "expect": {"outcome": "completed"}})
    };
    let written = |name: &str| case(name, json!({"op": "set", "store": "notes", "key": "a", "text": "b"}));
    let asleep = case("asleep", json!({"op": "sleep", "number": 20_000_000_000_u64}));
    bench.cases("a.json", &json!([written("one"), written("two"), written("three"), asleep]));
    let temporary = bench.site.directory("temporary");
    let mut command = bench.command();
    command.args(["test", "--component", "state-one.wasm"]).env("TMPDIR", &temporary);
    let mut child = command.spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    for name in ["one", "two", "three"] {
        let line = lines.next().unwrap().unwrap();
        assert!(line.starts_with(&format!("pass  {name} ")), "{line}");
    }
    let scratch = fs::read_dir(&temporary).unwrap().next().unwrap().unwrap().path();
    let names = fs::read_dir(scratch).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let own: Vec<String> = names.filter(|name| name.starts_with("state-")).collect();
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(own.len() <= 1, "{own:?}");
}

#[test]
fn a_component_must_be_a_regular_file_of_limited_length() {
    let bench = good();
    bench.cases("a.json", &case("first"));
    fifo(&bench.site.path("pipe.wasm"));
    let told = bench.test("pipe", &[]).ends(7).err;
    assert!(told.contains("pipe.wasm: the host refuses this plugin"), "{told}");
    sparse(&bench.site.path("large.wasm"), COMPONENT_BYTES_TOO_MANY);
    let told = bench.test("large", &[]).ends(7).err;
    assert!(told.contains("large.wasm: the host refuses this plugin"), "{told}");
    assert!(bench.test("nowhere", &[]).ends(2).err.contains("nowhere.wasm"));
}

#[test]
fn a_cases_file_must_be_a_regular_file_of_limited_length() {
    let bench = good();
    let cases = bench.site.directory("tests");
    fifo(&cases.join("a.json"));
    for path in ["tests", "tests/a.json"] {
        let told = bench.test("good", &["--cases", path]).ends(2).err;
        assert!(told.contains("tests/a.json: it is not a regular file"), "{told}");
    }
    fs::remove_file(cases.join("a.json")).unwrap();
    sparse(&cases.join("a.json"), CASES_BYTES_TOO_MANY);
    let told = bench.test("good", &[]).ends(2).err;
    assert!(told.contains("tests/a.json: it has more than 67108864 bytes"), "{told}");
    bench.cases("a.json", &case("first"));
    symlink("nowhere", cases.join("z.json")).unwrap();
    let told = bench.test("good", &[]).ends(2).err;
    assert!(told.contains("tests/z.json: No such file"), "{told}");
    fs::remove_file(cases.join("z.json")).unwrap();
    // A folder is ignored, whatever its name.
    fs::create_dir(cases.join("z.json")).unwrap();
    bench.test("good", &[]).ends(0);
}

/// The rest of `workspace//etc/passwd` after the first `/` is an absolute path.
#[test]
fn a_case_cannot_name_a_file_outside_its_directories() {
    let bench = good();
    let secret = bench.site.path("secret");
    fs::write(&secret, "secret").unwrap();
    let absolute = format!("workspace/{}", secret.display());
    for path in [&absolute, "workspace//etc/passwd", "workspace/../secret", "workspace/./a", "workspace/", "/a", ""] {
        let mut expecting = case("expects");
        expecting["grants"] = json!({"directory": {"workspace": {}}});
        expecting["expect"]["files"] = json!({path: "secret"});
        let mut given = case("is given");
        given["grants"] = json!({"directory": {"workspace": {"files": {path.trim_start_matches("workspace"): "x"}}}});
        for case in [expecting, given] {
            bench.cases("a.json", &case);
            let told = bench.test("good", &[]).ends(2).err;
            assert!(told.contains("is not a plain relative path") && !told.contains("root:"), "{path}: {told}");
        }
    }
    assert_eq!(fs::read_to_string(&secret).unwrap(), "secret");
}

/// A function that creates a file.
type Make = fn(&Path);

/// A project can come from another person. Its file may be a pipe, endless, or too large.
#[test]
fn a_project_file_must_be_a_regular_file_of_limited_length() {
    let bench = Bench::new();
    let project = bench.site.directory("project");
    let file = project.join("plugin.toml");
    let makes: [(&str, Make); 3] = [
        ("it is not a regular file", fifo),
        ("it is not a regular file", |file| symlink("/dev/zero", file).unwrap()),
        ("it has more than 1048576 bytes", |file| sparse(file, 1024 * 1024 + 1)),
    ];
    for (told, make) in makes {
        make(&file);
        for command in ["build", "dev"] {
            let ran = bench.run(&[command, "project"]);
            assert!(ran.code.is_some_and(|code| code != 0), "{command}: {:?}", ran.code);
            assert!(ran.err.contains("plugin.toml") && ran.err.contains(told), "{command}: {}", ran.err);
        }
        fs::remove_file(&file).unwrap();
    }
}

/// Builds the case in which the files plugin gets a copy of a folder.
fn copied(from: &str) -> Value {
    json!({"name": from, "tool": "read", "arguments": {"path": "b.txt"},
           "grants": {"directory": {"workspace": {"from": from}}},
           "expect": {"outcome": "completed", "contains": ["violets"]}})
}

#[test]
fn a_copied_folder_must_be_in_the_project_and_has_a_limit() {
    let bench = Bench::new();
    bench.component("files", &shipped_plugin("files"));
    for folder in ["tests/fixtures", "data", "elsewhere/fixtures"] {
        fs::write(bench.site.directory(folder).join("b.txt"), "violets are blue\n").unwrap();
    }
    let outside = tempfile::tempdir().unwrap();
    fs::write(outside.path().join("b.txt"), "violets are blue\n").unwrap();
    symlink(outside.path(), bench.site.path("tests/link")).unwrap();
    bench.cases("a.json", &json!([copied("fixtures"), copied("../data")]));
    bench.passes("files");
    bench.cases("a.json", &json!([copied("../../.."), copied("link")]));
    for told in bench.fails("files") {
        assert!(told.contains("this is neither in the project nor next to the case file"), "{told}");
    }
    bench.cases("a.json", &copied(outside.path().to_str().unwrap()));
    let told = bench.test("files", &[]).ends(2).err;
    assert!(told.contains("a.json") && told.contains("`from` must be relative to the case file"), "{told}");
    // Cases outside the project can copy their own folders.
    fs::write(bench.site.path("elsewhere/a.json"), copied("fixtures").to_string()).unwrap();
    let project = bench.site.directory("project");
    let arguments = ["--cases", "elsewhere", project.to_str().unwrap()];
    bench.test("files", &arguments).ends(0);
    fs::write(bench.site.path("elsewhere/a.json"), copied("../data").to_string()).unwrap();
    bench.test("files", &arguments).ends(1);

    sparse(&bench.site.path("tests/fixtures/large"), COPIED_BYTES_TOO_MANY);
    bench.cases("a.json", &copied("fixtures"));
    assert!(bench.fails("files")[0].contains("fixtures: its files have more than 268435456 bytes"));
    fs::remove_file(bench.site.path("tests/fixtures/large")).unwrap();
    for number in 0..COPIED_ENTRIES_TOO_MANY {
        File::create(bench.site.path(format!("tests/fixtures/{number}"))).unwrap();
    }
    assert!(bench.fails("files")[0].contains("fixtures: it contains more than 10000 files and folders"));
}
