//! Rules: what is written, what replaces what, and when a rule would have no effect.

use crate::desk::{changes, edit};
use portcullis_policy::{Decision, Layers, Permission, Trust};
use portcullis_policy_edit::{EditError, PolicyEdit, RuleEdit, apply};

const ASK: &str =
    "# mine\n[[rule]] # first\ntool = \"files.write\"\ndecision = \"ask\"   # for now\n\n[limits]\ntime = \"5 s\"\n";

fn rule(decision: Decision, tool: &str) -> PolicyEdit {
    PolicyEdit::Rule(RuleEdit::new(decision, tool))
}

fn when(decision: Decision, tool: &str, pattern: &str) -> PolicyEdit {
    PolicyEdit::Rule(RuleEdit::new(decision, tool).when("path", [pattern.to_owned()]))
}

#[test]
fn a_rule_is_added_after_the_last_one() {
    let edited = edit(ASK, &rule(Decision::Allow, "files.read")).unwrap();
    let added = "\n[[rule]]\ntool = \"files.read\"\ndecision = \"allow\"\n";
    assert_eq!(edited.text, ASK.replace("# for now\n", &format!("# for now\n{added}")));
    assert_eq!(changes(&edited), ["files.read deny->allow"]);
}

#[test]
fn a_rule_in_an_empty_policy_is_its_only_text() {
    let text =
        "[[rule]]\ntool = \"files.*\"\npermission = \"read\"\nwhen = { path = \"src/**\" }\ndecision = \"allow\"\n";
    let mut wanted = RuleEdit::new(Decision::Allow, "files.*").when("path", ["src/**".to_owned()]);
    wanted.permission = Some(Permission::Read);
    let edited = edit("", &PolicyEdit::Rule(wanted)).unwrap();
    assert_eq!(edited.text, text);
    assert_eq!(changes(&edited), ["files.read deny->allow when path = \"src/**\""]);
    assert_eq!(edited.notes.len(), 1, "write also needs the permission write: {:?}", edited.notes);
}

#[test]
fn the_decision_of_the_rule_for_the_same_calls_is_replaced() {
    let edited = edit(ASK, &rule(Decision::Allow, "files.write")).unwrap();
    assert_eq!(edited.text, ASK.replace("\"ask\"", "\"allow\""));
    let back = edit(&edited.text, &rule(Decision::Ask, "files.write")).unwrap();
    assert_eq!(back.text, ASK);
    assert_eq!(edit(ASK, &rule(Decision::Ask, "files.write")).unwrap().text, ASK, "it already says so");
}

#[test]
fn rules_in_an_array_and_with_dotted_keys_are_edited_in_their_form() {
    let array = "rule = [\n  { tool = \"files.read\", decision = \"ask\" }, # one\n]\n";
    let edited = edit(array, &rule(Decision::Allow, "files.write")).unwrap();
    let added = "{ tool = \"files.read\", decision = \"ask\" }, { tool = \"files.write\", decision = \"allow\" },";
    assert!(edited.text.contains(added) && edited.text.contains("# one"), "{}", edited.text);
    let edited = edit(array, &rule(Decision::Allow, "files.read")).unwrap();
    assert_eq!(edited.text, array.replace("ask", "allow"));
    let dotted = "[[rule]]\ntool = \"files.write\"\nwhen.path = \"src/**\"\ndecision = \"ask\"\n";
    let edited = edit(dotted, &when(Decision::Deny, "files.write", "src/**"));
    assert_eq!(edited.unwrap().text.matches("deny").count(), 1);
}

#[test]
fn a_stricter_rule_that_decides_everything_is_named() {
    let text = "[[rule]]\ntool = \"files.*\"\ndecision = \"ask\"\n";
    let refused = edit(text, &rule(Decision::Allow, "files.write")).unwrap_err();
    let message = refused.to_string();
    assert!(matches!(refused, EditError::Overruled { .. }), "{message}");
    assert!(
        message.contains("rule 1 (line 1) says ask for files.*") && message.contains("change or remove"),
        "{message}"
    );
    // A narrower exception from a rule of the same pattern is not possible either, because the default is deny.
    let text = text.replace("files.*", "files.write");
    let refused = edit(&text, &when(Decision::Allow, "files.write", "src/**")).unwrap_err();
    assert!(matches!(refused, EditError::Overruled { .. }), "{refused}");
}

#[test]
fn a_rule_that_only_repeats_the_default_is_narrowed() {
    let defaults = "[defaults]\ndecision = \"ask\"\n";
    let text = format!("{defaults}\n[[rule]]\ntool = \"files.write\"  # careful\ndecision = \"ask\"\n");
    let edited = edit(&text, &when(Decision::Allow, "files.write", "src/**")).unwrap();
    let expected = "tool = \"files.write\"  # careful\nwhen = { path = \"src/**\" }\ndecision = \"allow\"\n";
    assert_eq!(edited.text, format!("{defaults}\n[[rule]]\n{expected}"));
    assert_eq!(changes(&edited), ["files.write ask->allow when path = \"src/**\""]);
    // Another rule would then allow what the first one asked about.
    let more = format!("{text}\n[[rule]]\ntool = \"files.*\"\ndecision = \"allow\"\n");
    let refused = edit(&more, &when(Decision::Allow, "files.write", "src/**")).unwrap_err();
    assert!(matches!(refused, EditError::Overruled { .. }), "{refused}");
}

#[test]
fn a_stricter_rule_for_some_of_the_tools_is_a_note() {
    let edited = edit(ASK, &rule(Decision::Allow, "files.*")).unwrap();
    assert_eq!(changes(&edited), ["files.read deny->allow"]);
    assert_eq!(edited.notes, ["rule 1 (line 2) still says ask for files.write"]);
}

#[test]
fn a_project_rule_that_wins_is_named_with_its_layer() {
    let project = "[[rule]]\ntool = \"web.*\"\ndecision = \"deny\"\n";
    let layers = Layers { user: Some(""), project: Some((project, Trust::Untrusted)), ..Layers::default() };
    let names = crate::desk::names();
    let refused = apply(&layers, &rule(Decision::Allow, "web.fetch"), &crate::desk::tools(&names)).unwrap_err();
    assert!(refused.to_string().contains("of the project's policy"), "{refused}");
}

#[test]
fn calls_that_a_condition_allowed_are_among_the_changes() {
    let text = "[[rule]]\ntool = \"files.*\"\nwhen = { path = \"src/**\" }\ndecision = \"allow\"\n";
    let edited = edit(text, &rule(Decision::Deny, "files.read")).unwrap();
    assert_eq!(changes(&edited), ["files.read allow->deny when path = \"src/**\""]);
}

#[test]
fn a_malformed_or_dead_rule_is_refused() {
    for tool in ["files", "Files.read", "files.\"\n[[rule]]", ""] {
        assert!(matches!(edit("", &rule(Decision::Allow, tool)), Err(EditError::Refused(_))), "{tool}");
    }
    let dead = edit("", &rule(Decision::Allow, "files.raed")).unwrap_err();
    assert!(matches!(dead, EditError::Dead(_)), "{dead}");
    assert!(edit("", &rule(Decision::Allow, "other.tool")).is_ok(), "the plugin may be installed later");
}

#[test]
fn a_policy_with_an_error_is_not_edited() {
    let refused = edit("rules = 3\n", &rule(Decision::Allow, "files.read")).unwrap_err();
    assert!(matches!(refused, EditError::Invalid(_)) && refused.to_string().contains("line 1"), "{refused}");
}

#[test]
fn windows_line_breaks_and_a_byte_order_mark_stay() {
    let text = format!("\u{feff}{}", ASK.replace('\n', "\r\n"));
    let edited = edit(&text, &rule(Decision::Allow, "files.read")).unwrap();
    assert!(edited.text.starts_with('\u{feff}'));
    assert_eq!(edited.text.matches('\n').count(), edited.text.matches("\r\n").count());
    assert_eq!(edit(&text, &rule(Decision::Deny, "files.write")).unwrap().text, text.replace("\"ask\"", "\"deny\""));
}
