//! Properties of every edit of every policy.

use crate::desk::{edit, names, tools};
use portcullis_policy::{Decision, Policy};
use portcullis_policy_edit::{ArgumentSample, PolicyEdit, RuleEdit, decision_changes};
use proptest::prelude::*;
use serde_json::json;

const PATTERNS: [&str; 6] = ["files.read", "files.write", "files.*", "web.fetch", "*.*", "hello.greet"];
const PATHS: [&str; 3] = ["src/**", "src/main.rs", "*.md"];

#[derive(Debug, Clone)]
struct WrittenRule {
    decision: Decision,
    tool: &'static str,
    path: Option<&'static str>,
}

fn decision() -> impl Strategy<Value = Decision> {
    prop::sample::select(Decision::ALL.to_vec())
}

fn rule() -> impl Strategy<Value = WrittenRule> {
    let path = prop::option::of(prop::sample::select(PATHS.to_vec()));
    (decision(), prop::sample::select(PATTERNS.to_vec()), path).prop_map(|(decision, tool, path)| WrittenRule {
        decision,
        tool,
        path,
    })
}

/// A policy with a comment at every place that can have one.
fn policy() -> impl Strategy<Value = String> {
    let default = prop::option::of(decision());
    (default, prop::collection::vec(rule(), 0..5), any::<bool>()).prop_map(|(default, rules, section)| {
        let mut text = "# head\n".to_owned();
        if let Some(default) = default {
            text.push_str(&format!("[defaults] # c1\ndecision = \"{default}\" # c2\n"));
        }
        for (number, WrittenRule { decision, tool, path }) in rules.iter().enumerate() {
            let when = path.map(|path| format!("when = {{ path = \"{path}\" }} # w{number}\n")).unwrap_or_default();
            let head = format!("\n# before {number}\n[[rule]] # h{number}\ntool = \"{tool}\" # t{number}\n");
            text.push_str(&format!("{head}{when}decision   = \"{decision}\" # d{number}\n"));
        }
        if section {
            text.push_str("\n# plugin\n[plugin.files] # p\ndirectory.w = { path = \"a\" } # b\n");
        }
        text + "# tail\n"
    })
}

fn rule_edit() -> impl Strategy<Value = RuleEdit> {
    rule().prop_map(|WrittenRule { decision, tool, path }| {
        let edit = RuleEdit::new(decision, tool);
        match path {
            Some(path) => edit.when("path", [path.to_owned()]),
            None => edit,
        }
    })
}

/// Arguments for which the policies of this file can differ.
fn samples() -> Vec<ArgumentSample> {
    let of = |path: &str| ArgumentSample {
        shown: Some(path.to_owned()),
        arguments: json!({ "path": path }).as_object().unwrap().clone(),
    };
    let paths = ["src/main.rs", "src/x/y", "a.md", "src/a.md", "other"];
    std::iter::once(ArgumentSample::plain()).chain(paths.map(of)).collect()
}

fn comments(text: &str) -> Vec<&str> {
    text.lines().filter_map(|line| line.find('#').map(|at| &line[at..])).collect()
}

proptest! {
    #[test]
    fn an_edit_keeps_every_comment(text in policy(), rule in rule_edit()) {
        if let Ok(edited) = edit(&text, &PolicyEdit::Rule(rule)) {
            prop_assert_eq!(comments(&edited.text), comments(&text));
        }
    }

    #[test]
    fn an_edit_keeps_every_other_rule(text in policy(), wanted in rule_edit()) {
        let Ok(edited) = edit(&text, &PolicyEdit::Rule(wanted.clone())) else { return Ok(()) };
        let (old, new) = (Policy::parse(&text).unwrap(), Policy::parse(&edited.text).unwrap());
        let lines = |policy: &Policy| -> Vec<String> {
            let line = |rule: &portcullis_policy::Rule| {
                let when = rule.when.as_ref().map(ToString::to_string);
                format!("{} {} {when:?} {}", rule.decision, rule.tool, rule.over_ask)
            };
            policy.rules().iter().map(line).collect()
        };
        let (before, after) = (lines(&old), lines(&new));
        let differing = before.iter().zip(&after).filter(|(one, other)| one != other).count();
        prop_assert!(after.len() == before.len() || (after.len() == before.len() + 1 && differing == 0));
        // Rules that differ are those for exactly the same calls.
        for (one, other) in before.iter().zip(&after).filter(|(one, other)| one != other) {
            let is_wanted = one.contains(&format!(" {} ", wanted.tool)) && other.starts_with(wanted.decision.as_str());
            prop_assert!(is_wanted, "{one} became {other}");
        }
    }

    #[test]
    fn deny_never_turns_a_denied_call_into_an_allowed_one(text in policy(), wanted in rule_edit()) {
        let wanted = RuleEdit { decision: Decision::Deny, ..wanted };
        let edited = edit(&text, &PolicyEdit::Rule(wanted)).unwrap();
        let (old, new) = (Policy::parse(&text).unwrap(), Policy::parse(&edited.text).unwrap());
        let names = names();
        for change in decision_changes(&old, &new, &tools(&names), &samples()) {
            prop_assert!(change.after > change.before, "{change:?}");
        }
    }

    #[test]
    fn an_accepted_rule_decides_some_call_that_it_is_for(text in policy(), wanted in rule_edit()) {
        let Ok(edited) = edit(&text, &PolicyEdit::Rule(wanted.clone())) else { return Ok(()) };
        let new = Policy::parse(&edited.text).unwrap();
        let pattern = portcullis_policy::ToolPattern::new(&wanted.tool).unwrap();
        let (names, samples) = (names(), samples());
        let decides = tools(&names).into_iter().filter(|tool| pattern.matches(tool.name)).any(|tool| {
            // Compared with a policy that denies everything, a call that is not denied has changed.
            let deny = Policy::deny_all();
            let changes = decision_changes(&deny, &new, &[tool], &samples);
            match wanted.decision {
                Decision::Deny => changes.len() < samples.len(),
                decision => changes.iter().any(|change| change.after == decision),
            }
        });
        prop_assert!(decides, "{}", edited.text);
    }

    #[test]
    fn a_decision_that_is_replaced_back_is_no_edit(text in policy(), wanted in rule_edit(), other in decision()) {
        let Ok(first) = edit(&text, &PolicyEdit::Rule(wanted.clone())) else { return Ok(()) };
        let changed = RuleEdit { decision: other, ..wanted.clone() };
        let Ok(second) = edit(&first.text, &PolicyEdit::Rule(changed)) else { return Ok(()) };
        if let Ok(third) = edit(&second.text, &PolicyEdit::Rule(wanted)) {
            prop_assert_eq!(third.text, first.text);
        }
    }

    #[test]
    fn a_pause_comes_off_without_a_trace(text in policy(), reason in "[ -~]{1,20}") {
        prop_assume!(!reason.trim().is_empty());
        let paused = edit(&text, &PolicyEdit::Pause { reason }).unwrap();
        let resumed = edit(&paused.text, &PolicyEdit::Resume).unwrap();
        prop_assert_eq!(resumed.text, text);
    }
}
