//! How the program finds its directories: by option, by variable, or by default; and adding a plugin file.

use crate::binary::desk::{Desk, OPEN, finish};
use portcullis_tests::built_guest;
use std::fs;
use std::process::Stdio;

/// `PORTCULLIS_STATE` overrides `XDG_DATA_HOME`, which overrides `HOME`.
#[test]
fn variables_select_the_state_directory() {
    let desk = Desk::new(OPEN);
    let places =
        [("HOME", "home/.local/share/portcullis"), ("XDG_DATA_HOME", "data/portcullis"), ("PORTCULLIS_STATE", "kept")];
    let values = ["home", "data", "kept"];
    for last in 0..places.len() {
        let mut command = desk.command();
        command.env_remove("PORTCULLIS_STATE").args(["call", "hello.nothing"]);
        for (place, value) in places.iter().zip(values).take(last + 1) {
            command.env(place.0, desk.site.path(value));
        }
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        finish(command.spawn().unwrap()).ends(6);
        assert!(desk.site.path(places[last].1).join("audit.jsonl").is_file(), "{}", places[last].0);
    }
}

#[test]
fn without_a_home_the_state_directory_must_be_named() {
    let desk = Desk::new(OPEN);
    let mut command = desk.command();
    command.env_remove("PORTCULLIS_STATE").env_remove("HOME").arg("list");
    let ran = finish(command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()).ends(2);
    assert!(ran.err.contains("--state"), "{}", ran.err);
}

/// The defaults for plugins and policy are in the working directory.
#[test]
fn plugins_and_policy_are_found_by_option_variable_or_default() {
    let desk = Desk::new(OPEN);
    let other = desk.site.directory("other");
    fs::copy(desk.site.plugins().join("hello.wasm"), other.join("hello.wasm")).unwrap();
    fs::write(other.join("policy.toml"), "").unwrap();
    let mut command = desk.command();
    command.env("PORTCULLIS_PLUGINS", &other).args(["--policy", "other/policy.toml", "list"]);
    let ran = finish(command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()).ends(0);
    assert!(ran.out.contains("hello.greet") && !ran.out.contains("files.read"), "{}", ran.out);
    let ran = desk.run(&["--plugins", "other", "--policy", "other/policy.toml", "list"]).ends(0);
    assert!(ran.out.contains("hello.greet") && !ran.out.contains("files.read"), "{}", ran.out);
    assert!(desk.run(&["list"]).ends(0).out.contains("files.read"));
}

/// Copying a plugin into the directory is all that it takes to install it.
#[test]
fn a_plugin_that_is_copied_into_the_directory_is_listed() {
    let desk = Desk::new("[[rule]]\ntool = \"*.*\"\ndecision = \"allow\"\n");
    fs::remove_file(desk.site.plugins().join("hello.wasm")).unwrap();
    assert!(!desk.run(&["list"]).ends(0).out.contains("hello.greet"));
    desk.run(&["call", "hello.greet", r#"{"name":"Ann"}"#]).ends(6);
    desk.site.plugin("hello", &built_guest("hello"));
    assert!(desk.run(&["list"]).ends(0).out.contains("hello.greet"));
    assert_eq!(desk.run(&["call", "hello.greet", r#"{"name":"Ann"}"#]).ends(0).out, "Hello, Ann!\n");
}

/// A removed plugin file does not stop the program. It warns that the policy names the plugin, and starts.
#[test]
fn a_policy_that_names_a_plugin_which_is_not_installed_warns_and_starts() {
    let desk = Desk::new(&format!("{OPEN}[[rule]]\ntool = \"hallo.*\"\ndecision = \"deny\"\n"));
    fs::remove_file(desk.site.plugins().join("files.wasm")).unwrap();
    let greet = ["call", "hello.greet", r#"{"name":"Ann"}"#];
    for (arguments, out) in [(&greet[..], "Hello, Ann!"), (&["list"], "hello.greet"), (&["serve", "--stdio"], "")] {
        let ran = desk.run(arguments).ends(0);
        assert!(ran.out.contains(out), "{}", ran.out);
        for said in ["warning: the policy names the plugin `files`", "`hallo`", "Did you mean `hello`?"] {
            assert!(ran.err.contains(said), "{arguments:?}: {}", ran.err);
        }
    }
}

/// `~` and `$HOME` are the home directory at the beginning of every path of a policy, also of a trusted project.
#[test]
fn a_policy_can_name_the_home_directory() {
    let desk = Desk::new(OPEN);
    fs::write(desk.site.directory("home/work").join("home.txt"), "at home\n").unwrap();
    let read = ["call", "files.read", r#"{"path":"home.txt"}"#];
    for path in ["~/work", "$HOME/work"] {
        desk.policy(&OPEN.replace("\"work\"", &format!("\"{path}\"")));
        assert!(desk.run(&read).ends(0).out.contains("at home"), "{path}");
        desk.run_in_project(&read).ends(3);
        let shown = desk.run_in_project(&["trust", "portcullis.toml", "--yes"]).ends(0).out;
        let place = desk.site.path("home/work").canonicalize().unwrap();
        assert!(shown.contains(&format!("{path} leads to {}", place.display())), "{shown}");
        desk.run_in_project(&read).ends(0);
        // Without a home directory, it is not known what the path means.
        let mut command = desk.command();
        command.env_remove("HOME").args(read).stdout(Stdio::piped()).stderr(Stdio::piped());
        let ran = finish(command.spawn().unwrap()).ends(2);
        assert!(ran.err.contains(path) && ran.err.contains("set HOME"), "{}", ran.err);
    }
    for path in ["~ann", "./~", "${HOME}/work"] {
        desk.policy(&OPEN.replace("\"work\"", &format!("\"{path}\"")));
        desk.run(&read).ends(2);
    }
}

/// The user's plugins win over those of the working directory, and a missing directory is no error.
#[test]
fn plugins_come_from_the_data_directory_and_from_the_working_directory() {
    let desk = Desk::new(OPEN);
    let own = desk.site.path("home/.local/share/portcullis/plugins");
    fs::create_dir_all(&own).unwrap();
    fs::rename(desk.site.plugins().join("hello.wasm"), own.join("hello.wasm")).unwrap();
    let listed = desk.run(&["list"]).ends(0).out;
    assert!(listed.contains("hello.greet") && listed.contains("files.read"), "{listed}");
    // Even a refused file of the user keeps its name.
    fs::write(own.join("files.wasm"), "no component").unwrap();
    let listed = desk.run(&["--json", "list"]).ends(0).document();
    let refused: Vec<&str> =
        listed["refused"].as_array().unwrap().iter().filter_map(|one| one["file"].as_str()).collect();
    assert_eq!(refused, ["./plugins/files.wasm", "files.wasm", "refused.wasm"]);
    desk.run(&["call", "files.read", r#"{"path":"poem.txt"}"#]).ends(7);
    fs::remove_dir_all(desk.site.plugins()).unwrap();
    assert!(desk.run(&["list"]).ends(0).out.contains("hello.greet"));
    fs::remove_dir_all(&own).unwrap();
    assert!(desk.run(&["list"]).ends(0).out.contains("portcullis init"));
    desk.run(&["--plugins", "plugins", "list"]).ends(2);
}
