//! The pause: it is the first line, it comes off without a trace, and it allows nothing.

use crate::desk::edit;
use portcullis_policy::{Layer, Layers, Policy, Trust};
use portcullis_policy_edit::{EditError, PolicyEdit, apply};

fn pause(reason: &str) -> PolicyEdit {
    PolicyEdit::Pause { reason: reason.to_owned() }
}

#[test]
fn a_pause_is_the_first_line_and_comes_off_without_a_trace() {
    for text in ["", "# mine\n[[rule]]\ntool = \"a.b\"\ndecision = \"allow\"\n", "\u{feff}# mine\r\n[limits]\r\n", "#"]
    {
        let paused = edit(text, &pause("a \"b\"")).unwrap();
        let policy = Policy::parse(&paused.text).unwrap();
        assert_eq!(policy.paused().map(|pause| (pause.layer, &*pause.reason)), Some((Layer::User, "a \"b\"")));
        assert!(paused.text.trim_start_matches('\u{feff}').starts_with("paused = "), "{}", paused.text);
        assert_eq!(edit(&paused.text, &PolicyEdit::Resume).unwrap().text, text);
    }
}

#[test]
fn the_reason_of_a_pause_is_replaced_and_comments_stay() {
    let text = "# why\npaused = \"one\" # since noon\n[limits]\n";
    assert_eq!(edit(text, &pause("two")).unwrap().text, text.replace("one", "two"));
    assert_eq!(edit(text, &PolicyEdit::Resume).unwrap().text, "# why\n# since noon\n[limits]\n");
}

#[test]
fn a_reason_is_one_line() {
    for reason in ["", "a\nb", "\u{1b}[2J"] {
        assert!(matches!(edit("", &pause(reason)), Err(EditError::Refused(_))), "{reason:?}");
    }
}

#[test]
fn only_the_users_own_pause_can_be_ended() {
    assert!(matches!(edit("", &PolicyEdit::Resume), Err(EditError::NotPaused)));
    let project = "paused = \"review first\"\n";
    let layers = Layers { user: Some(""), project: Some((project, Trust::Untrusted)), ..Layers::default() };
    let refused = apply(&layers, &PolicyEdit::Resume, &[]).unwrap_err();
    assert!(matches!(refused, EditError::PausedElsewhere { layer: Layer::Project }), "{refused}");
}
