//! Programs that a policy binds: every key, its errors, and the keys of other bindings that they name.

#![expect(clippy::unwrap_used, reason = "a helper of a test may panic as the test itself may")]

use std::collections::BTreeMap;
use std::time::Duration;

use portcullis_policy::{
    Binding, BindingError, ConfinementTier, DependencyKind, Escalation, GrantPlaceKind, Layer, LayerError, Layers,
    Policy, PolicyError, PolicyFault, ProcessBinding, ProcessLimits, ProcessNetwork, Trust,
};

/// A program with every key, and the bindings that it names.
const FULL: &str = r#"
[plugin.shell]
directory.workspace = { path = ".", access = "read-write" }
directory.cache = { path = "cache" }
http.fetch = { hosts = ["docs.rs"] }
process.sh = { program = "/bin/bash", directories = ["workspace", "cache"], network = "none", time = "3 min", cpu-time = "4 min", processes = 65, memory = "2 GiB", open-files = 1025, file-bytes = "3 GiB", temporary-bytes = "257 MiB", output-bytes = "17 MiB", runs = 21, environment = { LANG = "C.UTF-8", PS1 = "$ " }, require = "namespaces", escalate = "ask" }
process.git = { program = "~/bin/git", directories = ["workspace"], http = "fetch" }
"#;

const WORKSPACE: &str = "[plugin.shell]\ndirectory.workspace = { path = '.' }\n";
const SHELL: &str = "[plugin.shell]\nprocess.sh = { program = '/bin/sh', directories = ['workspace'] }\n";

fn program(policy: &Policy, key: &str) -> ProcessBinding {
    match &policy.bindings(&"shell".parse().unwrap())[&key.parse().unwrap()] {
        Binding::Process(process) => (**process).clone(),
        other => panic!("not a program: {other:?}"),
    }
}

fn refused(text: &str) -> PolicyError {
    match Policy::parse(text) {
        Ok(_) => panic!("accepted:\n{text}"),
        Err(error) => error,
    }
}

fn layered(built_in: &str, user: &str, project: &str, trust: Trust) -> Result<Policy, LayerError> {
    Policy::layered(&Layers { built_in: Some(built_in), user: Some(user), project: Some((project, trust)) })
}

/// Returns a section with a directory, a client, a store, and a program with these keys.
fn section(body: &str) -> String {
    format!(
        "[plugin.shell]\ndirectory.workspace = {{ path = '.' }}\nhttp.fetch = {{ hosts = ['docs.rs'] }}\n\
         store.notes = {{}}\nprocess.sh = {{ {body} }}\n"
    )
}

#[test]
fn every_key_of_a_program_is_parsed() {
    let policy = Policy::parse(FULL).unwrap();
    let sh = program(&policy, "sh");
    let directories: Vec<&str> = sh.directories.iter().map(AsRef::as_ref).collect();
    assert_eq!((sh.program.as_str(), directories), ("/bin/bash", vec!["workspace", "cache"]));
    assert_eq!((sh.network, sh.require), (ProcessNetwork::None, Some(ConfinementTier::Namespaces)));
    assert_eq!(sh.escalate, Escalation::Ask);
    let environment = [("LANG", "C.UTF-8"), ("PS1", "$ ")].map(|(name, value)| (name.to_owned(), value.to_owned()));
    assert_eq!(sh.environment, BTreeMap::from(environment));
    let expected = ProcessLimits {
        time: Duration::from_secs(180),
        cpu_time: Duration::from_secs(240),
        processes: 65,
        memory_bytes: 2 << 30,
        open_files: 1025,
        file_bytes: 3 << 30,
        temporary_bytes: 257 << 20,
        output_bytes: 17 << 20,
        runs: 21,
    };
    assert_eq!(sh.limits, expected);
    let git = program(&policy, "git");
    assert_eq!(git.network, ProcessNetwork::Http("fetch".parse().unwrap()));
    let shell = &policy.bindings(&"shell".parse().unwrap())[&"git".parse().unwrap()];
    assert_eq!(shell.places(), [(GrantPlaceKind::ConfinedProgram, "~/bin/git")]);
    assert!(Policy::layered(&Layers { user: Some(FULL), ..Layers::default() }).is_ok());
}

#[test]
fn the_defaults_of_a_program_grant_little() {
    let sh = program(&Policy::parse(&section("program = '/bin/sh'")).unwrap(), "sh");
    assert!(sh.directories.is_empty() && sh.environment.is_empty());
    assert_eq!((sh.network, sh.require, sh.escalate), (ProcessNetwork::None, None, Escalation::Never));
    assert_eq!(sh.limits, ProcessLimits::default());
}

#[test]
fn every_malformed_key_of_a_program_is_refused_with_a_remedy_of_its_own() {
    let with = |body: &str| section(&format!("program = '/bin/sh', {body}"));
    let many = |count: usize, item: &dyn Fn(usize) -> String| (0..count).map(item).collect::<Vec<_>>().join(", ");
    let rows = [
        (section(""), "add `program`"),
        (section("program = 'sh'"), "write an absolute path such as \"/usr/bin/git\""),
        (section("program = './sh'"), "write an absolute path such as \"/usr/bin/git\""),
        (section("program = '~'"), "write an absolute path such as \"/usr/bin/git\""),
        (section("program = '/bin/'"), "write an absolute path such as \"/usr/bin/git\""),
        (section("program = \"/bin/s\\u0000h\""), "write the path of a directory or file"),
        (section("program = ['/bin/sh', '-c']"), "write a string in quotes"),
        (with("directories = []"), "write at least one entry"),
        (with("directories = 'workspace'"), "write an array"),
        (with("directories = [1]"), "write a string in quotes"),
        (with("directories = ['Work Space']"), "a name starts with a lower-case letter"),
        (with("directories = ['workspace', 'workspace']"), "write each key once"),
        (with(&format!("directories = [{}]", many(17, &|n| format!("'d{n}'")))), "bind one directory that contains"),
        (with("network = 'host'"), "write one of `none`"),
        (with("network = false"), "write a string in quotes"),
        (with("http = 'Fetch!'"), "a name starts with a lower-case letter"),
        (with("network = 'none', http = 'fetch'"), "remove `http` for no network"),
        (with("require = 'landlock'"), "write one of `namespaces`"),
        (with("escalate = 'always'"), "write one of `never`, `ask`"),
        (with("escalate = true"), "write a string in quotes"),
        (with("environment = ['A=b']"), "write a table"),
        (with("environment = { A-B = 'c' }"), "write 1 to 64 letters, digits and `_`"),
        (with("environment = { A = 1 }"), "write a string in quotes"),
        (with("environment = { A = \"\\u0000\" }"), "write at most 4096 bytes"),
        (with(&format!("environment = {{ {} }}", many(65, &|n| format!("A{n} = ''")))), "write at most 64"),
        (with("time = '61 min'"), "write \"1 h\" or less"),
        (with("time = 60"), "write a duration"),
        (with("cpu-time = '5 h'"), "write \"4 h\" or less"),
        (with("processes = 4097"), "write 4096 or less"),
        (with("processes = 0"), "write the smallest amount that is enough"),
        (with("memory = '65 GiB'"), "write \"64 GiB\" or less"),
        (with("open-files = 65537"), "write 65536 or less"),
        (with("file-bytes = '1025 GiB'"), "write \"1024 GiB\" or less"),
        (with("temporary-bytes = '17 GiB'"), "write \"16 GiB\" or less"),
        (with("output-bytes = '2 GiB'"), "write \"1 GiB\" or less"),
        (with("runs = 10001"), "write 10000 or less"),
        (with("arguments = []"), "the known keys are `program`, `directories`, `network`, `http`"),
    ];
    for (text, remedy) in rows {
        let error = refused(&text);
        assert!(error.remedy().starts_with(remedy), "{text}{error}\n{remedy}");
        assert_eq!(error.line, 5, "{error}");
        assert!(error.key.starts_with("plugin.shell.process.sh"), "{error}");
        assert_eq!(error.all().count(), 1, "{error}");
    }
}

#[test]
fn as_many_directories_and_variables_as_documented_are_accepted() {
    let keys: Vec<String> = (0..16).map(|n| format!("d{n}")).collect();
    let directories: String = keys.iter().map(|key| format!("directory.{key} = {{ path = '{key}' }}\n")).collect();
    let environment: Vec<String> = (0..64).map(|n| format!("A{n} = ''")).collect();
    let text = format!(
        "[plugin.shell]\n{directories}process.sh = {{ program = '/bin/sh', directories = {keys:?}, environment = {{ {} }} }}\n",
        environment.join(", ")
    );
    let policy = Policy::layered(&Layers { user: Some(&text), ..Layers::default() }).unwrap();
    let sh = program(&policy, "sh");
    assert_eq!((sh.directories.len(), sh.environment.len()), (16, 64));
}

#[test]
fn a_description_names_everything_that_a_program_gets() {
    let rows = [
        ("program = '/bin/bash'", "may run /bin/bash, no network, time 2 min"),
        (
            "program = '/bin/bash', directories = ['workspace']",
            "may run /bin/bash with workspace, no network, time 2 min",
        ),
        ("program = '/my tools/a', http = 'fetch'", "may run \"/my tools/a\", network through fetch, time 2 min"),
        (
            "program = '/bin/bash', environment = { B = 'c d', A = \"\\u202e\", C = '' }",
            "may run /bin/bash, no network, time 2 min, environment A=\"\\u{202e}\" B=\"c d\" C=\"\"",
        ),
        (
            "program = '/bin/bash', require = 'namespaces'",
            "may run /bin/bash, no network, time 2 min, needs namespaces",
        ),
        ("program = '/bin/bash', escalate = 'ask'", "may run /bin/bash, no network, time 2 min, may ask for more"),
        ("program = '/bin/bash', escalate = 'never', time = '2 min'", "may run /bin/bash, no network, time 2 min"),
    ];
    for (body, expected) in rows {
        let policy = Policy::parse(&section(body)).unwrap();
        let description = policy.bindings(&"shell".parse().unwrap())[&"sh".parse().unwrap()].describe();
        assert_eq!(description, expected, "{body}");
    }
    let full = Policy::parse(FULL).unwrap();
    let expected = "may run /bin/bash with workspace cache, no network, time 3 min, cpu-time 4 min, processes 65, \
                    memory 2 GiB, open-files 1025, file-bytes 3 GiB, temporary-bytes 257 MiB, output-bytes 17 MiB, \
                    runs 21, environment LANG=C.UTF-8 PS1=\"$ \", needs namespaces, may ask for more";
    assert_eq!(full.bindings(&"shell".parse().unwrap())[&"sh".parse().unwrap()].describe(), expected);
}

#[test]
fn a_key_with_a_binding_of_another_kind_is_an_error_in_any_text() {
    let rows = [
        ("directories = ['workspace', 'notes']", "'notes'", DependencyKind::Directory),
        ("directories = ['fetch']", "'fetch'", DependencyKind::Directory),
        ("directories = ['sh']", "'sh'", DependencyKind::Directory),
        ("http = 'workspace'", "'workspace'", DependencyKind::Http),
    ];
    for (body, span, wanted) in rows {
        let text = section(&format!("program = '/bin/sh', {body}"));
        let error = refused(&text);
        assert!(matches!(error.fault, PolicyFault::NotBound { kind, .. } if kind == wanted), "{error}");
        assert_eq!((error.line, text.get(error.span())), (5, Some(span)), "{error}");
        for trust in [Trust::Trusted, Trust::Untrusted] {
            assert_eq!(layered("", "", &text, trust).unwrap_err().layer, Layer::Project, "{body}");
        }
    }
}

#[test]
fn a_key_that_no_layer_binds_is_an_error_with_its_place_and_the_nearest_key() {
    let body = "program = '/bin/sh', directories = ['workspac'], http = 'elephants'";
    let error = layered("", &section(body), "", Trust::Trusted).unwrap_err();
    assert_eq!(error.layer, Layer::User);
    let first = error.error.all().next().unwrap();
    assert_eq!((first.line, first.suggestion()), (5, Some("workspace")));
    assert_eq!(
        error.to_string(),
        "the user's policy: line 5, column 52: `plugin.shell.process.sh.directories`: this plugin has no directory \
         binding of this name (did you mean `workspace`?); add `directory.KEY` to the same plugin, in this policy or \
         in an earlier layer; also line 5, column 65: `plugin.shell.process.sh.http`: this plugin has no http binding \
         of this name; add `http.KEY` to the same plugin, in this policy or in an earlier layer"
    );
    // The text alone is a policy, because another layer may bind the keys.
    assert!(Policy::parse(&section(body)).is_ok());
}

#[test]
fn a_program_gets_what_its_own_or_an_earlier_layer_binds_for_the_same_plugin() {
    let other = "[plugin.other]\ndirectory.workspace = { path = '.' }\n";
    let store = "[plugin.shell]\nstore.workspace = {}\n";
    let rows = [
        (["", SHELL, ""], Trust::Trusted, Some(Layer::User)),
        (["", &format!("{other}{SHELL}"), ""], Trust::Trusted, Some(Layer::User)),
        (
            ["", &format!("{WORKSPACE}process.sh = {{ program = '/a', directories = ['workspace'] }}\n"), ""],
            Trust::Trusted,
            None,
        ),
        ([WORKSPACE, SHELL, ""], Trust::Trusted, None),
        ([WORKSPACE, "", SHELL], Trust::Trusted, None),
        (["", WORKSPACE, SHELL], Trust::Trusted, None),
        (["", store, SHELL], Trust::Trusted, Some(Layer::Project)),
        (["", "", SHELL], Trust::Trusted, Some(Layer::Project)),
        // Whether the project is trusted makes no difference to the user's policy.
        (["", SHELL, WORKSPACE], Trust::Trusted, Some(Layer::User)),
        (["", SHELL, WORKSPACE], Trust::Untrusted, Some(Layer::User)),
        ([SHELL, WORKSPACE, ""], Trust::Trusted, Some(Layer::BuiltIn)),
        // The bindings of an untrusted project have no effect.
        (["", "", SHELL], Trust::Untrusted, None),
        (["", store, SHELL], Trust::Untrusted, None),
    ];
    for (texts, trust, expected) in rows {
        let [built_in, user, project] = texts;
        let refused = layered(built_in, user, project, trust).err();
        assert_eq!(refused.as_ref().map(|error| error.layer), expected, "{texts:?} {trust:?}");
        if let Some(error) = refused {
            assert!(matches!(error.error.fault, PolicyFault::NotBound { .. }), "{error}");
        }
    }
}

#[test]
fn the_number_of_reported_keys_is_limited() {
    let programs: String = (0..100).map(|n| format!("process.p{n} = {{ program = '/a', http = 'x' }}\n")).collect();
    let text = format!("[plugin.shell]\n{programs}");
    let error = layered("", &text, "", Trust::Trusted).unwrap_err();
    assert_eq!(error.error.all().count(), portcullis_policy::POLICY_ERRORS_MAX);
}

#[test]
fn a_program_with_several_faults_reports_all_of_them() {
    let text =
        section("program = 'sh', directories = ['a', 'a', 'B'], network = 'x', environment = { 1 = 2 }, runs = 0");
    let faults: Vec<_> = refused(&text).all().map(|error| error.fault.clone()).collect();
    assert_eq!(faults.len(), 7, "{faults:?}");
    assert_eq!(faults[0], PolicyFault::Binding(BindingError::Program));
}
