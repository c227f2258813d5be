//! The first steps of an author, in every language, following the template's own README.

use crate::row::repository;
use portcullis_tests::{Ran, program};
use std::env;
use std::fs;
use std::path::Path;
use std::process::Command;

/// The largest component of the template of Rust, in bytes. It has 160 kB, but 240 if cargo optimizes each crate alone.
const RUST_BYTES_MAX: u64 = 200_000;

/// Returns the commands in a README's shell blocks, without their output.
fn commands(readme: &str) -> Vec<&str> {
    let (mut inside, mut found) = (false, Vec::new());
    for line in readme.lines() {
        match line.trim() {
            "```sh" => inside = true,
            "```" => inside = false,
            command if inside && !command.is_empty() && !command.starts_with('#') => found.push(command),
            _ => {}
        }
    }
    found
}

/// Runs a shell line in a folder as a user would, with the program on the path.
pub(crate) fn shell(folder: &Path, state: &Path, line: &str) -> Ran {
    let beside = program().parent().unwrap().to_owned();
    let path = env::join_paths([beside].into_iter().chain(env::split_paths(&env::var_os("PATH").unwrap()))).unwrap();
    let mut command = Command::new("sh");
    command.args(["-e", "-c", line]).current_dir(folder).env("PATH", path).env("PORTCULLIS_STATE", state);
    command.env("XDG_CONFIG_HOME", state.with_extension("none")).output().unwrap().into()
}

/// Creates a project in an empty folder, and runs the commands in its README.
fn works_as_printed(language: &str) {
    let place = tempfile::tempdir().unwrap();
    let state = place.path().join("state");
    shell(place.path(), &state, &format!("portcullis new hello --lang {language}")).ends(0);
    let project = place.path().join("hello");
    let readme = fs::read_to_string(project.join("README.md")).unwrap();
    let commands = commands(&readme);
    for wanted in ["portcullis build", "portcullis test", "portcullis call"] {
        assert!(
            commands.iter().any(|command| command.starts_with(wanted)),
            "{language}: its README shows no `{wanted}`"
        );
    }
    for command in commands.iter().filter(|command| !command.starts_with("portcullis dev")) {
        let ran = shell(&project, &state, command).ends(0);
        if command.starts_with("portcullis call") {
            assert_eq!(ran.out.trim_end(), "Hello, Ada!", "{language}: {command}");
        }
    }
    shell(&project, &state, "portcullis check --deny-lints plugins/hello.wasm").ends(0);
    if language == "rust" {
        let bytes = fs::metadata(project.join("plugins/hello.wasm")).unwrap().len();
        assert!(bytes <= RUST_BYTES_MAX, "the component has {bytes} bytes: cargo did not optimize across its crates");
    }
    let strays = strays(language, &project);
    assert!(strays.is_empty(), "{language}: the build left {strays:?} in the project");
}

/// Returns the files of a project that are neither from its template nor in its `.gitignore`.
fn strays(language: &str, project: &Path) -> Vec<String> {
    let names = |folder: &Path| -> Vec<String> {
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
    };
    let ignored = fs::read_to_string(project.join(".gitignore")).unwrap_or_default();
    let is_ignored = |name: &str| ignored.lines().any(|line| line.trim_matches('/') == name);
    let mut known = names(&repository().join("sdk/templates").join(language));
    known.extend([".gitignore", "Cargo.toml", "sdk"].map(str::to_owned));
    names(project).into_iter().filter(|name| !known.contains(name) && !is_ignored(name)).collect()
}

macro_rules! languages {
    ($($language:ident)*) => { $(
        #[test]
        fn $language() {
            works_as_printed(stringify!($language));
        }
    )* };
}

languages! { rust typescript javascript python go c cpp zig }

#[test]
fn an_invalid_name_writes_nothing() {
    let place = tempfile::tempdir().unwrap();
    let state = place.path().join("state");
    for name in ["Hello", "../hello", "-x", ""] {
        let ran = shell(place.path(), &state, &format!("portcullis new --lang c -- '{name}'"));
        assert_ne!(ran.code, Some(0), "{name}");
    }
    assert!(!place.path().join("hello").exists() && fs::read_dir(place.path()).unwrap().count() <= 1);
}

/// Some names are reserved for the host's own tools. A plugin with such a name would be refused.
#[test]
fn a_reserved_name_writes_nothing() {
    let place = tempfile::tempdir().unwrap();
    for name in ["done", "output", "tools"] {
        let ran = shell(place.path(), &place.path().join("state"), &format!("portcullis new {name} --lang c"));
        assert_ne!(ran.code, Some(0), "{name}");
        assert!(ran.err.contains("this name is reserved"), "{}", ran.err);
        assert!(!place.path().join(name).exists());
    }
}

#[test]
fn a_project_is_never_overwritten() {
    let place = tempfile::tempdir().unwrap();
    let state = place.path().join("state");
    fs::create_dir(place.path().join("hello")).unwrap();
    fs::write(place.path().join("hello/mine"), "mine").unwrap();
    let ran = shell(place.path(), &state, "portcullis new hello --lang c");
    assert_ne!(ran.code, Some(0));
    assert!(ran.err.contains("already exists"), "{}", ran.err);
    assert_eq!(fs::read_dir(place.path().join("hello")).unwrap().count(), 1);
    std::os::unix::fs::symlink("nowhere", place.path().join("away")).unwrap();
    assert_ne!(shell(place.path(), &state, "portcullis new away --lang c").code, Some(0));
    assert!(fs::symlink_metadata(place.path().join("away")).unwrap().is_symlink());
}

#[test]
fn compiler_errors_are_shown() {
    let place = tempfile::tempdir().unwrap();
    let state = place.path().join("state");
    // Commands and files that the user did not write, and that must not be shown.
    for (language, file, wrong, word, command) in [
        ("c", "src/plugin.c", "int x = \"unfinished\n", "plugin.c", "build-exe"),
        ("zig", "src/plugin.zig", "const x = \"unfinished\n", "plugin.zig", "build-exe"),
        ("go", "plugin.go", "var x = \"unfinished\n", "plugin.go", "-buildmode"),
        ("rust", "src/lib.rs", "const X: &str = 1;\n", "lib.rs", "--profile"),
        ("javascript", "src/plugin.js", "const n = \"unfinished\n", "plugin.js", "bundle.mjs"),
        ("typescript", "src/plugin.ts", "const n: number = \"text\";\n", "plugin.ts", "tsconfig.json"),
        ("python", "app.py", "def broken(:\n", "app.py", "componentize_py"),
    ] {
        shell(place.path(), &state, &format!("portcullis new broken-{language} --lang {language}")).ends(0);
        let project = place.path().join(format!("broken-{language}"));
        let source = fs::read_to_string(project.join(file)).unwrap();
        fs::write(project.join(file), format!("{source}\n{wrong}")).unwrap();
        let ran = shell(&project, &state, "portcullis build");
        assert_ne!(ran.code, Some(0), "{language}");
        assert!(ran.err.contains(word), "{language}: the compiler's words are missing:\n{}", ran.err);
        assert!(!ran.err.contains(command), "{language}: the compiler's command is shown:\n{}", ran.err);
        assert!(!project.join("plugins").join(format!("broken-{language}.wasm")).exists(), "{language}");
        let ran = shell(&project, &state, "portcullis build --verbose");
        // For Python no command was run: the error was found before.
        assert!(ran.err.contains(command) || language == "python", "{language}:\n{}", ran.err);
    }
}

/// A plugin may have the name of a standard library module, or of a crate that its project depends on.
#[test]
fn a_plugin_may_have_the_name_of_a_library() {
    let place = tempfile::tempdir().unwrap();
    let state = place.path().join("state");
    for (language, name) in [("go", "time"), ("rust", "schemars")] {
        shell(place.path(), &state, &format!("portcullis new {name} --lang {language}")).ends(0);
        shell(&place.path().join(name), &state, "portcullis build").ends(0);
    }
}

#[test]
fn every_template_is_in_the_repository() {
    for language in ["rust", "typescript", "javascript", "python", "go", "c", "cpp", "zig"] {
        let folder = repository().join("sdk/templates").join(language);
        assert!(folder.join("plugin.toml").is_file(), "{}", folder.display());
    }
}
