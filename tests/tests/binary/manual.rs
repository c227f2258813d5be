//! Completion scripts, manual pages, help and version: generated from the parser, and accepted by the tools that read
//! them.

use crate::binary::desk::{Desk, OPEN};
use portcullis_tests::Ran;
use std::env;
use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};

/// Returns the path of a program, if it is installed.
fn installed(program: &str) -> Option<PathBuf> {
    env::split_paths(&env::var_os("PATH")?).map(|folder| folder.join(program)).find(|path| path.is_file())
}

/// Returns a program that CI has. It may only be missing on a developer's machine.
fn required_in_ci(program: &str) -> Option<PathBuf> {
    let found = installed(program);
    assert!(found.is_some() || env::var_os("CI").is_none(), "CI must have {program}");
    found
}

fn ran(command: &mut Command) -> Ran {
    command.stdin(Stdio::null()).output().unwrap().into()
}

/// Bash completes commands, nested commands, options and their values.
#[test]
fn bash_completes_from_the_script() {
    let desk = Desk::new(OPEN);
    let script = desk.site.path("portcullis.bash");
    fs::write(&script, desk.run(&["completions", "bash"]).ends(0).out).unwrap();
    let bash = installed("bash").expect("every system with a desk has bash");
    for (words, wanted) in [
        ("portcullis appr", "approvals"),
        ("portcullis approvals rev", "revoke"),
        ("portcullis call --aut", "--automated"),
        ("portcullis --color al", "always"),
        ("portcullis completions power", "powershell"),
    ] {
        let list: Vec<&str> = words.split(' ').collect();
        let line = format!(
            "set -eu; source '{}'; COMP_WORDS=({words}); COMP_CWORD={}; \
             _portcullis portcullis '{}' '{}'; printf '%s\\n' \"${{COMPREPLY[@]}}\"",
            script.display(),
            list.len() - 1,
            list[list.len() - 1],
            list[list.len() - 2],
        );
        let out = ran(Command::new(&bash).args(["--norc", "-c", &line])).ends(0).out;
        assert!(out.lines().any(|line| line.trim() == wanted), "{words}: {out}");
    }
}

/// zsh and fish parse their scripts. CI installs both.
#[test]
fn zsh_and_fish_parse_their_scripts() {
    let desk = Desk::new(OPEN);
    for (shell, check) in [("zsh", "-n"), ("fish", "--no-execute")] {
        let script = desk.run(&["completions", shell]).ends(0).out;
        assert!(script.contains("approvals"), "{shell}");
        let path = desk.site.path(format!("script.{shell}"));
        fs::write(&path, script).unwrap();
        let Some(program) = required_in_ci(shell) else { continue };
        let told = ran(Command::new(program).arg(check).arg(&path).env("HOME", desk.site.path("home"))).ends(0);
        assert!(told.err.is_empty(), "{shell}: {}", told.err);
    }
}

#[test]
fn powershell_has_a_script_too() {
    let script = Desk::new(OPEN).run(&["completions", "powershell"]).ends(0).out;
    assert!(script.contains("Register-ArgumentCompleter") && script.contains("'approvals'"), "{script}");
}

/// The formatter of manual pages finds nothing wrong with any page, and shows the examples.
#[test]
fn every_manual_page_is_formatted_without_a_warning() {
    let desk = Desk::new(OPEN);
    let folder = desk.site.directory("man1");
    let told = desk.run(&["man", "man1"]).ends(0).out;
    assert!(told.contains(" pages are in man1"), "{told}");
    let mut files: Vec<PathBuf> = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    for wanted in ["portcullis.1", "portcullis-call.1", "portcullis-approvals-list.1", "portcullis-version.1"] {
        assert!(files.iter().any(|file| file.ends_with(wanted)), "{wanted}: {files:?}");
    }
    let Some(groff) = required_in_ci("groff") else { return };
    for file in &files {
        let shown =
            ran(Command::new(&groff).args(["-man", "-Tutf8", "-ww", "-P-c", "-P-b", "-P-u", "-P-o"]).arg(file)).ends(0);
        assert!(shown.err.is_empty(), "{}: {}", file.display(), shown.err);
        assert!(shown.out.contains("NAME") && shown.out.contains("SYNOPSIS"), "{}", file.display());
    }
    let page = fs::read_to_string(folder.join("portcullis-call.1")).unwrap();
    assert!(page.contains("Examples:") && page.contains("files.read"), "{page}");
    // Without a directory, the page of the program goes to standard output.
    let page = desk.run(&["man"]).ends(0).out;
    assert!(page.contains(".TH portcullis 1"), "{page}");
}

#[test]
fn help_and_version_are_commands() {
    let desk = Desk::new(OPEN);
    let help = desk.run(&["help"]).ends(0).out;
    for title in ["Use:", "Approve:", "Look back:", "Policy:", "Write tools:", "Exit codes:"] {
        assert!(help.contains(title), "{title}: {help}");
    }
    assert_eq!(help, desk.run(&["--help"]).ends(0).out);
    let nested = desk.run(&["help", "approvals", "approve"]).ends(0).out;
    assert_eq!(nested, desk.run(&["approvals", "approve", "--help"]).ends(0).out);
    assert!(nested.contains("Examples:"), "{nested}");
    let version = desk.run(&["version"]).ends(0).out;
    for line in ["portcullis", "contracts", "engine"] {
        assert!(version.lines().any(|found| found.starts_with(line)), "{line}: {version}");
    }
    let document = desk.run(&["version", "--json"]).ends(0).document();
    assert_eq!(document["contracts"], serde_json::json!(["0.1", "0.2"]));
}

/// Colour follows the option, then the variables, then the terminal. There is no terminal here.
#[test]
fn colour_follows_the_option_and_the_variables() {
    let desk = Desk::new(OPEN);
    let coloured = |line: &[&str], variables: &[(&str, &str)]| {
        let mut command = desk.command();
        command.args(line).envs(variables.iter().copied());
        ran(&mut command).ends(0).out.contains("\u{1b}[")
    };
    assert!(!coloured(&["list"], &[]));
    assert!(coloured(&["list", "--color", "always"], &[]));
    assert!(coloured(&["list", "--color", "always"], &[("NO_COLOR", "1"), ("TERM", "dumb")]));
    assert!(coloured(&["list"], &[("CLICOLOR_FORCE", "1")]));
    assert!(!coloured(&["list"], &[("CLICOLOR_FORCE", "0")]));
    assert!(!coloured(&["list"], &[("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")]));
    assert!(!coloured(&["list", "--color", "never"], &[("CLICOLOR_FORCE", "1")]));
    assert!(!coloured(&["list", "--json", "--color", "always"], &[]));
}
