//! Masks are added to bindings in every form, and the other masks stay.

use crate::desk::edit;
use portcullis_policy::PluginName;
use portcullis_policy_edit::{EditError, MaskEdit, PolicyEdit};

fn hide(pattern: &str) -> PolicyEdit {
    let plugin = PluginName::new("files").unwrap();
    PolicyEdit::Masks(MaskEdit { plugin, key: None, hidden: vec![pattern.to_owned()], read_only: Vec::new() })
}

#[test]
fn a_mask_is_added_in_the_form_of_the_binding() {
    let forms = [
        (
            "[plugin.files]\ndirectory.w = { path = \"a\", access = \"read-only\" } # mine\n",
            "[plugin.files]\ndirectory.w = { path = \"a\", hidden = [\".env*\"], access = \"read-only\" } # mine\n",
        ),
        (
            "[plugin.files.directory.w]\npath = \"a\" # here\naccess = \"read-only\"\n",
            "[plugin.files.directory.w]\npath = \"a\" # here\nhidden = [\".env*\"]\naccess = \"read-only\"\n",
        ),
        (
            "[plugin.files]\n  directory.w.path = \"a\"\n",
            "[plugin.files]\n  directory.w.path = \"a\"\n  directory.w.hidden = [\".env*\"]\n",
        ),
        (
            "plugin.files.directory.w = { path = \"a\", hidden = [\"b\", # b\n] }\n",
            "plugin.files.directory.w = { path = \"a\", hidden = [\"b\", \".env*\", # b\n] }\n",
        ),
        (
            "plugin.files.directory.w = { path = \"a\", hidden = [] }\n",
            "plugin.files.directory.w = { path = \"a\", hidden = [\".env*\"] }\n",
        ),
        (
            "\u{feff}plugin.files.directory.w.path = \"a\"\n",
            "\u{feff}plugin.files.directory.w.path = \"a\"\nplugin.files.directory.w.hidden = [\".env*\"]\n",
        ),
    ];
    for (text, expected) in forms {
        let edited = edit(text, &hide(".env*")).unwrap_or_else(|error| panic!("{text}: {error}"));
        assert_eq!(edited.text, expected);
        assert_eq!(edit(expected, &hide(".env*")).unwrap().text, expected, "a mask is added once");
    }
}

#[test]
fn every_directory_of_the_plugin_gets_the_mask() {
    let text = "[plugin.files]\ndirectory.a = { path = \"a\" }\ndirectory.b = { path = \"b\" }\n";
    assert_eq!(edit(text, &hide("*.pem")).unwrap().text.matches("hidden").count(), 2);
}

#[test]
fn without_a_directory_and_with_a_malformed_pattern_it_is_refused() {
    assert!(matches!(edit("", &hide(".env*")), Err(EditError::NoDirectory { .. })));
    let text = "[plugin.files]\ndirectory.a = { path = \"a\" }\n";
    assert!(matches!(edit(text, &hide("../x")), Err(EditError::Refused(_))));
}
