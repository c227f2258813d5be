//! Servers: their sections are added, changed and removed, and nothing else changes.

use crate::desk::edit;
use portcullis_policy::{Access, DependencyKey, PluginName, Policy};
use portcullis_policy_edit::{EditError, PolicyEdit, ServerDirectory, ServerEdit, ServerStart};

const MINE: &str = "# mine\n[server.notes]\ncommand = ['/bin/notes']\npermissions = ['read']   # only\n\n# rules\n\
                    [[rule]]\ntool = 'notes.*'\ndecision = 'ask'\n";

/// The section of the server that the tests add.
const SECTION: &str = "[server.github]\npackage = \"npm:@a/github@1.2.3\"\nprogram = \"github\"\narguments = [\"--x\", \
                       \"a\\\"b\"]\ndirectory.work = { path = \"/srv/work\", access = \"read-write\" }\nnetwork = { \
                       hosts = [\"api.github.com\"] }\nenvironment = { LANG = \"C\", TOKEN = \"env:TOKEN\" }\n";

fn name(text: &str) -> PluginName {
    text.parse().unwrap()
}

fn github() -> PolicyEdit {
    let start = ServerStart::Package {
        spec: "npm:@a/github@1.2.3".to_owned(),
        program: Some("github".to_owned()),
        arguments: vec!["--x".to_owned(), "a\"b".to_owned()],
    };
    let key = DependencyKey::new("work").unwrap();
    PolicyEdit::AddServer(ServerEdit {
        directories: vec![ServerDirectory { key, path: "/srv/work".to_owned(), access: Access::ReadWrite }],
        hosts: vec!["api.github.com".to_owned()],
        environment: vec![("LANG".to_owned(), "C".to_owned()), ("TOKEN".to_owned(), "env:TOKEN".to_owned())],
        ..ServerEdit::new(name("github"), start)
    })
}

fn remove(server: &str) -> PolicyEdit {
    PolicyEdit::RemoveServer { name: name(server) }
}

fn set(server: &str, spec: &str) -> PolicyEdit {
    PolicyEdit::SetPackage { name: name(server), spec: spec.to_owned() }
}

#[test]
fn a_section_is_added_at_the_end_and_removed_to_the_byte() {
    for text in ["", MINE, "[limits]\ntime = '5 s'\n", "[server.a]\ncommand = ['/bin/a']\n"] {
        let added = edit(text, &github()).unwrap().text;
        let gap = if text.is_empty() { "" } else { "\n" };
        assert_eq!(added, format!("{text}{gap}{SECTION}"));
        assert_eq!(edit(&added, &remove("github")).unwrap().text, text);
    }
    let windows = MINE.replace('\n', "\r\n");
    let added = edit(&windows, &github()).unwrap().text;
    assert_eq!(added.matches('\n').count(), added.matches("\r\n").count());
    assert_eq!(edit(&added, &remove("github")).unwrap().text, windows);
}

#[test]
fn a_name_with_a_section_and_a_malformed_section_are_refused() {
    for text in ["[limits]\n[server.github]\ncommand = ['/bin/x']\n", "[limits]\n[plugin.github]\nclock = 'fine'\n"] {
        let refused = edit(text, &github()).unwrap_err();
        assert!(matches!(refused, EditError::Section { line: 2, .. }), "{refused}");
    }
    let relative = ServerEdit::new(name("a"), ServerStart::Command(vec!["node".to_owned()]));
    assert!(matches!(edit("", &PolicyEdit::AddServer(relative)), Err(EditError::Refused(_))));
    let refused = edit("server = {}\n", &github()).unwrap_err();
    assert!(matches!(refused, EditError::Refused(_)), "{refused}");
}

#[test]
fn only_the_section_is_removed_in_every_form() {
    let rest = "# end\n[[rule]]\ntool = 'a.*'\ndecision = 'deny'\n";
    let forms = [
        "[server.github] # mine\ncommand = ['/bin/x'] # more\n# inside\nenvironment = { A = 'b' }\n",
        "[server.github]\ncommand = [\n  '/bin/x',\n]\n[server.github.directory.a]\npath = '/a'\n",
        "[server.github.directory.a]\npath = '/a'\n[server.github]\ncommand = ['/bin/x']\n",
        "[server.github]\ncommand = ['/bin/x']\nlimits.time = '5 s'\ntool.x = ['read']\n",
    ];
    for form in forms {
        let text = format!("[server.a]\ncommand = ['/bin/a']\n\n{form}\n{rest}");
        let removed = edit(&text, &remove("github")).unwrap_or_else(|error| panic!("{form}: {error}")).text;
        assert_eq!(removed, format!("[server.a]\ncommand = ['/bin/a']\n\n{rest}"), "{form}");
    }
    let parts =
        "[server.github]\ncommand = ['/bin/x']\n[limits]\ntime = '5 s'\n[server.github.directory.a]\npath = '/a'\n";
    assert_eq!(edit(parts, &remove("github")).unwrap().text, "[limits]\ntime = '5 s'\n");
    let marked = "\u{feff}[server.github]\ncommand = ['/bin/x']\n[limits]\ntime = '5 s'\n";
    assert_eq!(edit(marked, &remove("github")).unwrap().text, "\u{feff}[limits]\ntime = '5 s'\n");
    let line = "[server]\ngithub = { command = ['/bin/x'] }\na = { command = ['/bin/a'] }\n";
    assert_eq!(edit(line, &remove("github")).unwrap().text, "[server]\na = { command = ['/bin/a'] }\n");
}

#[test]
fn other_forms_are_left_to_the_user() {
    for text in [
        "[server]\ngithub.command = ['/bin/x']\n",
        "server.github.command = ['/bin/x']\n",
        "server = { github = { command = ['/bin/x'] } }\n",
    ] {
        let refused = edit(text, &remove("github")).unwrap_err();
        assert!(matches!(refused, EditError::ServerForm { .. }), "{text}: {refused}");
    }
    assert!(matches!(edit(MINE, &remove("github")), Err(EditError::NoServer { .. })));
    assert!(matches!(edit("[plugin.a]\n", &remove("a")), Err(EditError::NoServer { .. })));
}

#[test]
fn another_version_replaces_only_the_package() {
    let text = format!("{MINE}\n{SECTION}");
    let edited = edit(&text, &set("github", "npm:@a/github@1.3.0")).unwrap().text;
    assert_eq!(edited, text.replace("@1.2.3", "@1.3.0"));
    assert!(Policy::parse(&edited).is_ok());
    assert!(matches!(edit(&text, &set("notes", "npm:a@1.0.0")), Err(EditError::NoPackage { .. })));
    assert!(matches!(edit(&text, &set("other", "npm:a@1.0.0")), Err(EditError::NoServer { .. })));
    assert!(matches!(edit(&text, &set("github", "npm:a@latest")), Err(EditError::Refused(_))));
}
