//! Grants: the form of the section decides the form of the binding.

use crate::desk::edit;
use portcullis_policy::{Access, DependencyKey, PluginName, Policy, StoreScope};
use portcullis_policy_edit::{EditError, GrantBinding, GrantEdit, PolicyEdit};

const LINE: &str = "directory.workspace = { path = \"src\", access = \"read-write\", hidden = [\".env*\"] }\n";

fn grant(key: &str, binding: GrantBinding) -> PolicyEdit {
    let (plugin, key) = (PluginName::new("files").unwrap(), DependencyKey::new(key).unwrap());
    PolicyEdit::Grant(GrantEdit { plugin, key, binding })
}

fn directory() -> GrantBinding {
    GrantBinding::Directory {
        path: "src".to_owned(),
        access: Access::ReadWrite,
        hidden: vec![".env*".to_owned()],
        read_only: Vec::new(),
    }
}

fn program(directories: &[&str]) -> GrantBinding {
    let directories = directories.iter().map(|key| (*key).to_owned()).collect();
    GrantBinding::Process { program: "/bin/sh".to_owned(), directories }
}

#[test]
fn a_section_is_added_at_the_end() {
    let edited = edit("# mine\n", &grant("workspace", directory())).unwrap();
    assert_eq!(edited.text, format!("# mine\n\n[plugin.files]\n{LINE}"));
}

#[test]
fn a_binding_is_added_to_the_section_of_its_plugin() {
    let text = "[plugin.files] # mine\nlimits.time = \"5 s\" # long\n\n# next\n[plugin.web]\nclock = \"fine\"\n";
    let edited = edit(text, &grant("workspace", directory())).unwrap();
    assert_eq!(edited.text, text.replace("# long\n", &format!("# long\n{LINE}")));
    let empty = "[plugin.files] # mine\n\n# next\n";
    let edited = edit(empty, &grant("workspace", directory())).unwrap();
    assert_eq!(edited.text, format!("[plugin.files] # mine\n{LINE}\n# next\n"));
}

#[test]
fn other_forms_of_the_section_get_a_form_that_is_valid_beside_them() {
    let forms = [
        "[plugin.files.directory.other]\npath = \"a\"\n",
        "[plugin.files]\nclock = \"fine\"\n[plugin.files.directory.other]\npath = \"a\"\n",
        "[plugin.files.limits]\ntime = \"5 s\"\n",
        "[plugin]\n[plugin.files]\n",
        "plugin.files.clock = \"fine\"\n",
    ];
    for text in forms {
        let edited = edit(text, &grant("workspace", directory())).unwrap_or_else(|error| panic!("{text}: {error}"));
        let policy = Policy::parse(&edited.text).unwrap();
        let key = DependencyKey::new("workspace").unwrap();
        assert!(policy.bindings(&PluginName::new("files").unwrap()).contains_key(&key), "{}", edited.text);
    }
    let refused = edit("plugin = { files = { clock = \"fine\" } }\n", &grant("workspace", directory())).unwrap_err();
    assert!(matches!(refused, EditError::Refused(_) | EditError::ChangesMore { .. }), "{refused}");
}

#[test]
fn every_kind_can_be_granted() {
    let kinds = [
        ("items", GrantBinding::Store { scope: StoreScope::Session }, "store.items = { scope = \"session\" }"),
        ("fetch", GrantBinding::Http { hosts: vec!["docs.rs".to_owned()] }, "http.fetch = { hosts = [\"docs.rs\"] }"),
        ("bank", GrantBinding::Service { name: "bank".to_owned() }, "service.bank = { name = \"bank\" }"),
        ("sh", program(&[]), "process.sh = { program = \"/bin/sh\" }"),
    ];
    for (key, binding, line) in kinds {
        let edited = edit("", &grant(key, binding)).unwrap();
        assert_eq!(edited.text, format!("[plugin.files]\n{line}\n"));
    }
}

#[test]
fn a_bound_key_and_a_malformed_value_are_refused() {
    let text = format!("\n[plugin.files]\n{LINE}");
    let refused = edit(&text, &grant("workspace", directory())).unwrap_err();
    assert!(refused.to_string().contains("line 3 already binds `workspace`"), "{refused}");
    let hosts = GrantBinding::Http { hosts: vec!["*.com".to_owned()] };
    assert!(matches!(edit("", &grant("fetch", hosts)), Err(EditError::Refused(_))));
}

#[test]
fn a_program_gets_directories_that_the_policy_binds() {
    let text = format!("[plugin.files]\n{LINE}");
    let edited = edit(&text, &grant("sh", program(&["workspace"]))).unwrap();
    let line = "process.sh = { program = \"/bin/sh\", directories = [\"workspace\"] }\n";
    assert_eq!(edited.text, format!("{text}{line}"));
    let refused = edit(&text, &grant("sh", program(&["wrkspace"]))).unwrap_err();
    assert!(refused.to_string().contains("did you mean `workspace`?"), "{refused}");
    let relative = GrantBinding::Process { program: "sh".to_owned(), directories: Vec::new() };
    assert!(matches!(edit("", &grant("sh", relative)), Err(EditError::Refused(_))));
}
