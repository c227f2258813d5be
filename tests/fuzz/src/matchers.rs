//! Matches any pattern with any text: the matcher agrees with a naive one, an exact match is also a wide match, and an
//! approval covers what it was offered for and no other path.
#![no_main]

use libfuzzer_sys::fuzz_target;
use portcullis_policy::{Caller, Decision, Glob, HostPattern, Pattern, Permissions, Policy, Question};
use serde_json::{Map, Value, json};

// The first line is a pattern, the second a text, the third another text.
fuzz_target!(|input: &str| {
    let mut lines = input.splitn(3, '\n');
    let mut next = || lines.next().unwrap_or_default();
    let (pattern, text, other) = (next(), next(), next());
    if let Ok(glob) = Glob::new(pattern) {
        if !pattern.contains(['{', '[', '\\']) && pattern.len() + text.len() < 40 {
            assert_eq!(glob.matches(text), matches_naively(pattern, text), "{pattern:?} on {text:?}");
        }
        let escaped = Glob::escape(pattern);
        assert!(Glob::new(&escaped).is_ok_and(|itself| itself.matches(pattern)), "{pattern:?} is not itself");
    }
    for kind in ["", "prefix", "equals"] {
        readings(kind, pattern, text);
    }
    offers(text, other);
    if let Ok(host) = HostPattern::new(pattern) {
        assert_eq!(HostPattern::new(&host.to_string()), Ok(host.clone()));
        assert!(!host.matches(text) || !text.contains(['/', ':', '@', ' ']), "{host} matches {text:?}");
    }
});

/// A naive matcher for the documented grammar without braces, classes and escapes.
fn matches_naively(pattern: &str, text: &str) -> bool {
    let pattern: Vec<&str> = pattern.split('/').collect();
    let text: Vec<&str> = text.split('/').collect();
    segments_match(&pattern, &text)
}

fn segments_match(pattern: &[&str], text: &[&str]) -> bool {
    match (pattern, text) {
        ([], text) => text.is_empty(),
        (["**", rest @ ..], text) => (0..=text.len()).any(|skipped| segments_match(rest, &text[skipped..])),
        (_, []) => false,
        ([first, rest @ ..], [segment, after @ ..]) => {
            let (first, segment): (Vec<char>, Vec<char>) = (first.chars().collect(), segment.chars().collect());
            characters_match(&first, &segment) && segments_match(rest, after)
        }
    }
}

fn characters_match(pattern: &[char], text: &[char]) -> bool {
    match (pattern, text) {
        ([], text) => text.is_empty(),
        (['*', rest @ ..], text) => (0..=text.len()).any(|skipped| characters_match(rest, &text[skipped..])),
        (_, []) => false,
        ([first, rest @ ..], [character, after @ ..]) => {
            (*first == '?' || first == character) && characters_match(rest, after)
        }
    }
}

/// A deny rule with a condition stops every call that an allow rule with it permits. Neither panics nor hangs.
fn readings(kind: &str, wanted: &str, text: &str) {
    let wanted: String = wanted.chars().map(|character| format!("\\U{:08X}", u32::from(character))).collect();
    let wanted = format!("\"{wanted}\"");
    let when = if kind.is_empty() { wanted } else { format!("{{ {kind} = {wanted} }}") };
    let rule = |decision: &str| {
        let default = if decision == "allow" { "deny" } else { "allow" };
        let rule = format!("[[rule]]\ntool = 'a.b'\nwhen = {{ x = {when} }}\ndecision = '{decision}'\n");
        Policy::parse(&format!("{rule}[defaults]\ndecision = '{default}'\n"))
    };
    let (Ok(allow), Ok(deny)) = (rule("allow"), rule("deny")) else { return };
    for value in [json!(text), json!([text]), json!([text, 1])] {
        let arguments = Map::from_iter([("x".to_owned(), value)]);
        let allowed = decide(&allow, &arguments) == Decision::Allow;
        let denied = decide(&deny, &arguments) == Decision::Deny;
        assert!(denied || !allowed, "{when} lets {arguments:?} run and does not stop it");
        let twisted = text.split('/').any(|segment| segment == "..") || text.contains('\\');
        assert!(!allowed || !twisted, "{when} lets {arguments:?} run");
    }
}

fn decide(policy: &Policy, arguments: &Map<String, Value>) -> Decision {
    let (Ok(tool), Ok(principal)) = ("a.b".parse(), "alice".parse()) else { panic!("not names") };
    let caller = Caller { session: "s", principal: &principal, automated: false };
    policy.decide(&Question { tool: &tool, permissions: Permissions::NONE, hints: &[], arguments, caller }).decision
}

/// A pattern covers the path it was offered for, survives storage, and covers no path outside its top directory.
fn offers(path: &str, other: &str) {
    let call = |path: &str, mode: &str| {
        Map::from_iter([
            ("path".to_owned(), json!(path)),
            ("content".to_owned(), json!("x")),
            ("mode".to_owned(), json!(mode)),
        ])
    };
    for offer in Pattern::offers(&call(path, "m"), &json!({})) {
        assert!(offer.covers(&call(path, "m")), "{offer} does not cover {path:?}");
        assert!(!offer.covers(&call(path, "n")), "{offer} covers another argument");
        assert!(!offer.to_string().chars().any(char::is_control));
        let stored = serde_json::to_string(&offer).unwrap_or_default();
        assert!(serde_json::from_str::<Pattern>(&stored).is_ok_and(|read| read == offer), "{stored}");
        if offer.covers(&call(other, "m")) && other != path {
            let top = |path: &str| path.split('/').next().unwrap_or_default().to_owned();
            assert_eq!(top(path), top(other), "{offer} covers {other:?}");
            assert!(path.contains('/') && !other.split('/').any(|segment| segment == ".."), "{offer} covers {other:?}");
        }
    }
}
