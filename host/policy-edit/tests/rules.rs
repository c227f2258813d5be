//! Rules: what is written, what replaces what, and when a rule would have no effect.

use crate::desk::{changes, edit};
use portcullis_policy::{Decision, Layers, Permission, Trust};
use portcullis_policy_edit::{EditError, PolicyEdit, RuleEdit, apply};

const ASK: &str = "# mine\n[[rule]] # first\ntool = \"files.write\"\ndecision = \"ask\"   # for now\n\n[limits]\ntime = \"5 s\"\n\n\
     [[rate-limit]]\ntool = \"files.*\"\nrate = \"5/s\"\n";

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
fn a_deny_that_decides_everything_is_named() {
    let text = "[[rule]]\ntool = \"files.*\"\ndecision = \"deny\"\n";
    for decision in [Decision::Allow, Decision::Ask] {
        let refused = edit(text, &rule(decision, "files.write")).unwrap_err();
        let message = refused.to_string();
        assert!(matches!(refused, EditError::Overruled { .. }), "{message}");
        assert!(
            message.contains("rule 1 (line 1) says deny for files.*") && message.contains("change or remove"),
            "{message}"
        );
    }
}

/// What the policy of `portcullis init` needs: an ask for every write, and an exception from it.
#[test]
fn an_allow_that_an_ask_would_overrule_wins_over_it() {
    let text = "[[rule]]\ntool = \"files.*\"  # careful\npermission = \"write\"\ndecision = \"ask\"\n\n\
                [[rule]]\ntool = \"files.*\"\npermission = \"read\"\ndecision = \"allow\"\n";
    let edited = edit(text, &when(Decision::Allow, "files.write", "src/**")).unwrap();
    let added =
        "[[rule]]\ntool = \"files.write\"\nwhen = { path = \"src/**\" }\ndecision = \"allow\"\nover = \"ask\"\n";
    assert_eq!(edited.text, format!("{text}\n{added}"));
    assert_eq!(changes(&edited), ["files.write ask->allow when path = \"src/**\""]);
    assert_eq!(edited.notes, ["it wins over rule 1 (line 1), which still asks about every other call"]);
    // Turned into another rule for the same calls, it loses the exception, and gets it again.
    let asking = edit(&edited.text, &when(Decision::Ask, "files.write", "src/**")).unwrap();
    assert_eq!(asking.text, edited.text.replace("\"allow\"\nover = \"ask\"", "\"ask\""));
    assert_eq!(edit(&asking.text, &when(Decision::Allow, "files.write", "src/**")).unwrap().text, edited.text);
    // A rule for a plugin that is not installed yet gets the exception too.
    let text = "[[rule]]\ntool = \"other.tool\"\ndecision = \"ask\"\n";
    assert!(edit(text, &when(Decision::Allow, "other.tool", "src/**")).unwrap().text.contains("over = \"ask\""));
}

#[test]
fn an_exception_is_found_for_a_class_of_other_characters() {
    let edited = edit(ASK, &when(Decision::Allow, "files.write", "[!a-z]*")).unwrap();
    assert!(edited.text.contains("when = { path = \"[!a-z]*\" }\ndecision = \"allow\"\nover = \"ask\"\n"));
    assert_eq!(changes(&edited), ["files.write ask->allow when path = \"[!a-z]*\""]);
}

#[test]
fn an_allow_adds_no_exception_that_it_does_not_need() {
    let edited = edit("", &when(Decision::Allow, "files.write", "src/**")).unwrap();
    assert!(!edited.text.contains("over"), "{}", edited.text);
}

#[test]
fn a_comment_beside_a_removed_exception_stays() {
    let rule_text = "[[rule]]\ntool = \"files.write\"\ndecision = \"allow\"\nover = \"ask\"  # for now\n";
    let edited = edit(rule_text, &rule(Decision::Deny, "files.write")).unwrap();
    assert_eq!(edited.text, rule_text.replace("\"allow\"\nover = \"ask\"", "\"deny\"\n"));
    let inline = "rule = [{ tool = \"files.write\", decision = \"allow\", over = \"ask\" }]\n";
    let edited = edit(inline, &rule(Decision::Deny, "files.write")).unwrap();
    assert_eq!(edited.text, "rule = [{ tool = \"files.write\", decision = \"deny\" }]\n");
}

#[test]
fn a_stricter_rule_for_some_of_the_tools_is_a_note() {
    let edited = edit(ASK, &rule(Decision::Allow, "files.*")).unwrap();
    assert_eq!(changes(&edited), ["files.read deny->allow"]);
    assert_eq!(edited.notes, ["rule 1 (line 2) still says ask for files.write"]);
}

/// An exception of the user's policy is from the user's own rules.
#[test]
fn an_ask_of_a_project_stays() {
    let project = "[[rule]]\ntool = \"files.*\"\ndecision = \"ask\"\n";
    for trust in [Trust::Trusted, Trust::Untrusted] {
        let layers = Layers { user: Some(""), project: Some((project, trust)), ..Layers::default() };
        let names = crate::desk::names();
        let refused = apply(&layers, &rule(Decision::Allow, "files.write"), &crate::desk::tools(&names)).unwrap_err();
        assert!(matches!(refused, EditError::Overruled { .. }), "{refused}");
    }
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
fn a_rule_that_was_dead_before_does_not_stop_an_edit() {
    let text = "# mine\n[[rule]]\ntool = \"files.raed\"\ndecision = \"deny\"\n";
    // The pause moves the dead rule to another line.
    let paused = edit(text, &PolicyEdit::Pause { reason: "now".to_owned() }).unwrap();
    assert_eq!(edit(&paused.text, &PolicyEdit::Resume).unwrap().text, text);
    // Another dead rule is one too many.
    let dead = edit(text, &rule(Decision::Allow, "files.wirte")).unwrap_err();
    assert!(matches!(&dead, EditError::Dead(dead) if dead.id.number == 2), "{dead}");
}

#[test]
fn the_effect_of_a_new_rule_is_shown_however_many_rules_there_are() {
    let rule = |number: usize| {
        let when = format!("when = {{ path = \"old/{number}\" }}\n");
        format!("[[rule]]\ntool = \"files.read\"\n{when}decision = \"allow\"\n")
    };
    // More than are compared.
    let text: String = (0..250).map(rule).collect();
    let added = edit(&text, &when(Decision::Allow, "files.read", "new/**")).unwrap();
    assert_eq!(changes(&added), ["files.read deny->allow when path = \"new/**\""]);
    let replaced = edit(&text, &when(Decision::Deny, "files.read", "old/240")).unwrap();
    assert_eq!(changes(&replaced), ["files.read allow->deny when path = \"old/240\""]);
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
