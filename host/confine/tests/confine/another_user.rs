//! The tests again as a user without privileges. A run as root would otherwise show only what holds for root, for whom
//! the kernel sets up namespaces and limits in other ways.

use crate::lab::{BROKER_VARIABLE, SCRATCH_VARIABLE, broker_path, kernel_allows, report, user};
use portcullis_confine::Tier;
use std::os::unix::fs::{PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A user and a group that no machine has.
const USER: u32 = 59_999;

/// What is left out: this module itself, and what takes seconds and does not depend on the user.
const LEFT_OUT: [&str; 4] = [
    "--skip=another_user::",
    "--skip=bypasses::every_bypass_works_in_the_own_directory",
    "--skip=limits::computing_ends_a_program_and_its_children",
    "--skip=limits::memory_ends_one_process_or_many",
];

/// A directory with copies of the programs, which the user may not be able to read where they are.
struct Copies(PathBuf);

impl Copies {
    fn new() -> Self {
        let copies = Self(std::env::temp_dir().join(format!("portcullis-another-user-{}", std::process::id())));
        std::fs::create_dir(&copies.0).unwrap();
        std::fs::set_permissions(&copies.0, PermissionsExt::from_mode(0o755)).unwrap();
        std::fs::copy(std::env::current_exe().unwrap(), copies.tests()).unwrap();
        std::fs::copy(broker_path(), copies.broker()).unwrap();
        std::fs::create_dir(copies.scratch()).unwrap();
        chown(copies.scratch(), Some(USER), Some(USER)).unwrap();
        copies
    }

    fn tests(&self) -> PathBuf {
        self.0.join("tests")
    }

    fn broker(&self) -> PathBuf {
        self.0.join("portcullis-confine-broker")
    }

    fn scratch(&self) -> PathBuf {
        self.0.join("scratch")
    }
}

impl Drop for Copies {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Reports which tiers this run covers. `.config/nextest.toml` shows the report although the test passes.
#[test]
fn the_covered_tiers_are_reported() {
    for tier in [Tier::Namespaces, Tier::Landlock] {
        let text = if kernel_allows(tier) { "TESTED" } else { "SKIPPED" };
        report(&format!("{text}: every test of {tier} as user {}\n", user()));
    }
}

#[test]
fn the_tests_hold_for_a_user_without_privileges() {
    if user() != 0 {
        report(
            "SKIPPED: the tests as another user: this run is of a user without privileges itself, and not of root\n",
        );
        return;
    }
    let copies = Copies::new();
    let mut tests = Command::new(copies.tests());
    tests.arg("--test-threads=2").args(LEFT_OUT).current_dir(copies.scratch()).uid(USER).gid(USER);
    tests.env(BROKER_VARIABLE, copies.broker()).env(SCRATCH_VARIABLE, copies.scratch());
    let output = tests.env("HOME", copies.scratch()).env("TMPDIR", Path::new("/tmp")).output().unwrap();
    let text = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
    for line in text.lines().filter(|line| line.starts_with("SKIPPED")) {
        report(&format!("as user {USER}: {line}\n"));
    }
    assert!(output.status.success() && text.contains("test result: ok"), "as user {USER}:\n{text}");
}
