//! Matching of `when` tables: restricting rules recognize every spelling, and widening rules accept only plain ones.

#![expect(clippy::unwrap_used, reason = "a helper of a test may panic as the test itself may")]

use portcullis_policy::{Caller, Decision, Permissions, Policy, Question};
use serde_json::{Value, json};

/// Returns the decision of a policy with one rule, or of the given text, on one call.
fn decide(policy: &str, arguments: &Value) -> Decision {
    let policy = Policy::parse(policy).unwrap_or_else(|error| panic!("{error}\n{policy}"));
    let tool = "files.read".parse().unwrap();
    let arguments = arguments.as_object().unwrap();
    let principal = "alice".parse().unwrap();
    let caller = Caller { session: "s", principal: &principal, automated: false };
    policy.decide(&Question { tool: &tool, permissions: Permissions::NONE, hints: &[], arguments, caller }).decision
}

/// Returns whether an allow rule with this `when` allows the call.
fn allows(when: &str, arguments: &Value) -> bool {
    let rule = format!("[[rule]]\ntool = \"files.read\"\nwhen = {when}\ndecision = \"allow\"\n");
    decide(&rule, arguments) == Decision::Allow
}

/// Returns whether a deny rule with this `when` stops a call that is otherwise allowed. An ask rule must behave the
/// same.
fn stops(when: &str, arguments: &Value) -> bool {
    let stopped = |decision: &str| {
        let others = "[[rule]]\ntool = \"*.*\"\ndecision = \"allow\"\n";
        let rule = format!("{others}[[rule]]\ntool = \"files.read\"\nwhen = {when}\ndecision = \"{decision}\"\n");
        decide(&rule, arguments)
    };
    let (deny, ask) = (stopped("deny"), stopped("ask"));
    assert_eq!(deny == Decision::Deny, ask == Decision::Ask, "{when} on {arguments}");
    deny == Decision::Deny
}

#[test]
fn a_deny_matches_every_spelling_of_a_path() {
    let spellings = [
        "secret/key",
        "/secret/key",
        "//secret//key",
        "./secret/key",
        "secret/./key",
        "secret/key/",
        "secret/key/.",
        "a/../secret/key",
        "secret/a/../key",
        "secret/../secret/key",
        "secret\\key",
        ".\\secret\\key",
        "a\\..\\secret/key",
        "SECRET/key",
        "Secret/KEY",
        "\u{17f}ecret/\u{212a}ey",
        "../secret/key",
        "secret/key\0.png",
        "\0",
        "../../etc/passwd",
        "a/../../b",
        "..",
        "/..",
        "..\\x",
    ];
    for path in spellings {
        for pattern in ["secret/key", "secret/**", "/secret/*", "secret/key/", "./secret/key", "{x,secret}/[k]ey"] {
            let when = format!("{{ path = \"{pattern}\" }}");
            assert!(stops(&when, &json!({ "path": path })), "{pattern} does not stop {path:?}");
        }
    }
    let others = [
        "secret",
        "secrets/key",
        "key",
        "a/secret/key",
        "secret/keys",
        "",
        "...",
        "secret key",
        "./key",
        "/a/secret/key",
        "secret/../key",
        "a//b",
        "secret\\keys",
    ];
    for path in others {
        assert!(!stops(r#"{ path = "secret/key" }"#, &json!({ "path": path })), "{path:?}");
    }
}

#[test]
fn a_deny_matches_decomposed_accents_and_zero_width_characters() {
    let when = "{ path = ['secrets/**', 'caf\u{e9}/*', 'stra\u{df}e'] }";
    for path in [
        "se\u{200b}crets/k",
        "\u{feff}secrets/k",
        "a/\u{200d}../SECRETS/k",
        "a/.\u{2060}./secrets/k",
        "\u{17f}ecret\u{17f}/k",
        "cafe\u{301}/menu",
        "CAFE\u{301}/menu",
        "caf\u{e9}/menu",
        "ca\u{ad}f\u{c9}/me\u{301}nu",
        "STRASSE\u{200b}",
        "\u{200b}../x",
        ".\u{200b}./x",
    ] {
        assert!(stops(when, &json!({ "path": path })), "{path:?}");
        assert!(!allows(when, &json!({ "path": path })) || path == "caf\u{e9}/menu", "{path:?}");
    }
    // A policy may use any of the spellings.
    for pattern in ["'cafe\u{301}/**'", "'ca\u{200b}f\u{e9}/**'", "{ prefix = 'Cafe\u{301}/' }"] {
        let when = format!("{{ path = {pattern} }}");
        assert!(stops(&when, &json!({ "path": "caf\u{e9}/menu" })), "{when}");
    }
    for path in ["cafe/menu", "secret\u{e9}/k", "stra\u{df}e/x"] {
        assert!(!stops(when, &json!({ "path": path })), "{path:?}");
    }
}

#[test]
fn a_backslash_is_matched_as_a_character_and_as_a_separator() {
    for path in ["a\\b/./c", "a\\b/c", "a\\b//c"] {
        assert!(stops(r#"{ path = "a?b/c" }"#, &json!({ "path": path })), "{path:?}");
        assert!(stops(r#"{ path = "a/b/c" }"#, &json!({ "path": path })), "{path:?}");
        assert!(stops(r"{ path = 'a\\b/c' }", &json!({ "path": path })), "{path:?}");
    }
}

#[test]
fn an_allow_matches_only_plain_spellings() {
    for path in ["src/a", "src/a/b.rs", "src/", "src", "src/.a", "src/..a", "src/é"] {
        assert!(allows(r#"{ path = "src/**" }"#, &json!({ "path": path })), "{path:?}");
    }
    let twisted = [
        "src/../etc",
        "src/..",
        "src/./a",
        "src/.",
        "./src/a",
        "../src/a",
        "src\\a",
        "src/a\\..\\b",
        "src/a\0",
        "src/a\n",
        "src/\u{1b}[2J",
        "src/\u{85}",
        "SRC/a",
        "Src/a",
        "/src/a",
        " src/a",
        "srcs/a",
        "",
    ];
    for path in twisted {
        assert!(!allows(r#"{ path = "src/**" }"#, &json!({ "path": path })), "{path:?}");
    }
}

#[test]
fn a_call_in_twelve_shapes_is_never_allowed_by_confusion() {
    let shapes = [
        json!({}),
        json!({ "path": null }),
        json!({ "path": {} }),
        json!({ "path": { "path": "src/a" } }),
        json!({ "path": [] }),
        json!({ "path": ["src/a", "etc/b"] }),
        json!({ "path": ["src/a", null] }),
        json!({ "path": [["src/a"]] }),
        json!({ "path": 1 }),
        json!({ "path": 1.0 }),
        json!({ "path": true }),
        json!({ "Path": "src/a" }),
    ];
    for shape in shapes {
        assert!(!allows(r#"{ path = "src/**" }"#, &shape), "{shape}");
        assert!(!allows(r#"{ path = "**" }"#, &shape) || shape["path"] == json!(["src/a", "etc/b"]), "{shape}");
    }
}

#[test]
fn a_restricting_rule_stops_what_it_cannot_evaluate() {
    for value in [json!(null), json!({}), json!({ "a": 1 }), json!([[]]), json!([null]), json!(1), json!(true)] {
        assert!(stops(r#"{ path = "secret/**" }"#, &json!({ "path": value })), "{value}");
    }
    for value in [json!("3"), json!(true), json!(null), json!({}), json!(["3"])] {
        assert!(stops("{ path = 3 }", &json!({ "path": value })), "{value}");
    }
    for arguments in [json!({}), json!({ "other": "secret/a" }), json!({ "path": [] })] {
        assert!(!stops(r#"{ path = "secret/**" }"#, &arguments), "{arguments}");
    }
}

#[test]
fn any_element_stops_and_only_all_elements_allow() {
    let rows = [
        (json!(["src/a"]), true, true),
        (json!(["src/a", "src/b"]), true, true),
        (json!(["src/a", "etc/b"]), true, false),
        (json!(["etc/a", "./src/b"]), true, false),
        (json!(["etc/a"]), false, false),
        (json!([]), false, false),
    ];
    for (paths, stopped, allowed) in rows {
        assert_eq!(stops(r#"{ path = "src/**" }"#, &json!({ "path": paths })), stopped, "{paths}");
        assert_eq!(allows(r#"{ path = "src/**" }"#, &json!({ "path": paths })), allowed, "{paths}");
    }
}

#[test]
fn a_list_accepts_any_of_its_values() {
    let when = r#"{ path = ["src/*", "docs/*", 3] }"#;
    for (value, expected) in [(json!("src/a"), true), (json!("docs/a"), true), (json!(3), true), (json!("a"), false)] {
        assert_eq!(allows(when, &json!({ "path": value })), expected, "{value}");
        assert_eq!(stops(when, &json!({ "path": value })), expected, "{value}");
    }
    assert!(!stops(when, &json!({ "path": 4 })));
    assert!(stops(when, &json!({ "path": false })));
}

#[test]
fn every_entry_of_a_table_must_match() {
    let when = r#"{ path = "src/*", mode = "fast" }"#;
    assert!(allows(when, &json!({ "path": "src/a", "mode": "fast" })));
    assert!(!allows(when, &json!({ "path": "src/a" })));
    assert!(!allows(when, &json!({ "path": "src/a", "mode": "slow" })));
    assert!(stops(when, &json!({ "path": "src/a", "mode": "FAST" })));
    assert!(!stops(when, &json!({ "path": "src/a", "mode": "slow" })));
}

#[test]
fn numbers_allow_only_in_their_own_representation() {
    let rows = [
        ("3", json!(3), true, true),
        ("3", json!(3.0), true, false),
        ("3", json!(4), false, false),
        ("1.5", json!(1.5), true, true),
        ("3.0", json!(3), true, false),
        ("-1", json!(-1), true, true),
        ("9223372036854775807", json!(9_223_372_036_854_775_808_u64), true, false),
        ("true", json!(true), true, true),
        ("true", json!(false), false, false),
    ];
    for (wanted, value, stopped, allowed) in rows {
        let when = format!("{{ n = {wanted} }}");
        assert_eq!(stops(&when, &json!({ "n": value })), stopped, "{wanted} on {value}");
        assert_eq!(allows(&when, &json!({ "n": value })), allowed, "{wanted} on {value}");
    }
}

#[test]
fn a_pointer_finds_nested_values_and_stops_calls_where_it_cannot() {
    let when = r#"{ "/options/path" = "src/*" }"#;
    assert!(allows(when, &json!({ "options": { "path": "src/a" } })));
    assert!(stops(when, &json!({ "options": { "path": "src/a" } })));
    assert!(!stops(when, &json!({ "options": {} })));
    for options in [json!("src/a"), json!(["src/a"]), json!(null), json!(1)] {
        assert!(stops(when, &json!({ "options": options })), "{options}");
        assert!(!allows(when, &json!({ "options": options })), "{options}");
    }
}

#[test]
fn a_text_that_is_too_long_to_match_is_stopped_and_never_allowed() {
    let at_limit = "a".repeat(16_384);
    let longer = format!("{at_limit}a");
    assert!(allows(r#"{ path = "**" }"#, &json!({ "path": at_limit })));
    assert!(!allows(r#"{ path = "**" }"#, &json!({ "path": longer })));
    assert!(!stops(r#"{ path = "b" }"#, &json!({ "path": at_limit })));
    assert!(stops(r#"{ path = "b" }"#, &json!({ "path": longer })));
}

#[test]
fn an_ask_that_matches_only_widely_lifts_no_deny() {
    let ask = "[[rule]]\ntool = \"files.read\"\nwhen = { path = \"src/**\" }\ndecision = \"ask\"\n";
    assert_eq!(decide(ask, &json!({ "path": "src/a" })), Decision::Ask);
    for path in [json!("../etc/passwd"), json!("./src/a"), json!("SRC/a"), json!(null), json!(["src/a", "etc/b"])] {
        assert_eq!(decide(ask, &json!({ "path": path })), Decision::Deny, "{path}");
        let asking = format!("[defaults]\ndecision = \"ask\"\n{ask}");
        assert_eq!(decide(&asking, &json!({ "path": path })), Decision::Ask, "{path}");
        let allowing = format!("[defaults]\ndecision = \"allow\"\n{ask}");
        assert_eq!(decide(&allowing, &json!({ "path": path })), Decision::Ask, "{path}");
    }
}

#[test]
fn an_array_that_is_too_long_to_match_is_stopped_and_never_allowed() {
    let many = json!({ "paths": vec!["src/a"; 100_000] });
    let long = json!({ "paths": ["src/a", "x".repeat(20_000)] });
    let few = json!({ "paths": ["src/a", "src/b"] });
    let texts = |count: usize, bytes: usize| json!({ "paths": vec![format!("src/{}", "a".repeat(bytes - 4)); count] });
    let rows = [
        (many, false),
        (long, false),
        (few, true),
        (texts(2, 8191), true),
        (texts(2, 8192), false),
        (texts(3, 6000), false),
        (texts(2048, 7), true),
        (texts(2049, 7), false),
    ];
    for (arguments, readable) in rows {
        assert_eq!(allows("{ paths = \"src/**\" }", &arguments), readable);
        assert_eq!(stops("{ paths = \"elsewhere/**\" }", &arguments), !readable);
    }
}

#[test]
fn a_prefix_allows_what_begins_with_it_and_stops_every_spelling_of_that() {
    let when = r#"{ path = { prefix = "src/" } }"#;
    for path in ["src/", "src/a", "src/a/b", "src/.a", "src//a", "src/*"] {
        assert!(allows(when, &json!({ "path": path })), "{path:?}");
        assert!(stops(when, &json!({ "path": path })), "{path:?}");
    }
    for path in ["src/../x", "src/./a", "./src/a", "/src/a", "SRC/a", "src\\a", "x/../src/a", "/src/", "../x", "src"] {
        assert!(!allows(when, &json!({ "path": path })), "{path:?}");
        assert!(stops(when, &json!({ "path": path })) || path == "src/../x", "{path:?}");
    }
    for path in ["srcs/a", "a/src/b", "", "sr"] {
        assert!(!allows(when, &json!({ "path": path })), "{path:?}");
        assert!(!stops(when, &json!({ "path": path })), "{path:?}");
    }
    let longer = "a".repeat(portcullis_policy::MATCHED_TEXT_BYTES + 1);
    assert!(!allows(r#"{ path = { prefix = "a" } }"#, &json!({ "path": longer })));
    assert!(stops(when, &json!({ "path": longer })));
}

#[test]
fn a_prefix_may_end_within_a_name_and_has_no_patterns() {
    let when = r#"{ path = { prefix = "src/a*[" } }"#;
    assert!(allows(when, &json!({ "path": "src/a*[b]/c" })));
    assert!(!allows(when, &json!({ "path": "src/axb" })));
    assert!(stops(when, &json!({ "path": "./src/A*[x" })));
    assert!(!stops(when, &json!({ "path": "src/ab[" })));
    let windows = "{ path = { prefix = 'C:\\' } }";
    for path in ["C:\\a", "c:/a", "C:\\x\\..\\a", "C:"] {
        assert!(stops(windows, &json!({ "path": path })), "{path:?}");
    }
}

#[test]
fn equals_treats_every_character_literally() {
    let when = r#"{ path = { equals = "a*b/{c}" } }"#;
    assert!(allows(when, &json!({ "path": "a*b/{c}" })));
    for path in ["axb/{c}", "a*b/c", "A*B/{c}", "./a*b/{c}", "a*b/{c}/", ""] {
        assert!(!allows(when, &json!({ "path": path })), "{path:?}");
    }
    for path in ["a*b/{c}", "A*B/{C}", "./a*b//{c}", "a*b/{c}/", "../x"] {
        assert!(stops(when, &json!({ "path": path })), "{path:?}");
    }
    for path in ["axb/{c}", "a*b/{c}d", "a*b"] {
        assert!(!stops(when, &json!({ "path": path })), "{path:?}");
    }
    assert!(stops(r"{ path = { equals = 'a\b' } }", &json!({ "path": "a/b" })));
    for (wanted, value) in [("3", json!(3)), ("1.5", json!(1.5)), ("true", json!(true))] {
        assert!(allows(&format!("{{ n = {{ equals = {wanted} }} }}"), &json!({ "n": value })), "{wanted}");
        assert!(!allows(&format!("{{ n = {{ equals = {wanted} }} }}"), &json!({ "n": 4 })), "{wanted}");
    }
}

#[test]
fn bounds_are_inclusive_and_compare_without_rounding() {
    let rows = [
        ("at-least = 1, at-most = 10", json!(1), true),
        ("at-least = 1, at-most = 10", json!(10), true),
        ("at-least = 1, at-most = 10", json!(0), false),
        ("at-least = 1, at-most = 10", json!(11), false),
        ("at-least = 1, at-most = 10", json!(1.0), true),
        ("at-least = 1, at-most = 10", json!(0.999), false),
        ("at-least = 1, at-most = 10", json!(10.001), false),
        ("at-least = -1.5", json!(-1.5), true),
        ("at-least = -1.5", json!(-1), true),
        ("at-least = -1.5", json!(-1.6), false),
        ("at-least = -1.5", json!(-2), false),
        ("at-most = -1e-20", json!(-1e-20), true),
        ("at-most = -1e-20", json!(-1e-21), false),
        ("at-most = 0", json!(-0.0), true),
        ("at-least = 0.0", json!(-0.0), true),
        ("at-most = 5", json!(u64::MAX), false),
        ("at-least = 5", json!(u64::MAX), true),
        ("at-least = 5", json!(i64::MIN), false),
        ("at-most = 9223372036854775807", json!(9_223_372_036_854_775_808_u64), false),
        ("at-most = 9007199254740992", json!(9_007_199_254_740_993_u64), false),
        ("at-least = 9007199254740993", json!(9_007_199_254_740_993_u64), true),
        ("at-least = 9007199254740993", json!(9_007_199_254_740_992_u64), false),
        ("at-least = 9007199254740991.0", json!(9_007_199_254_740_991_u64), true),
        ("at-least = 3, at-most = 3", json!(3), true),
    ];
    for (bounds, value, expected) in rows {
        let when = format!("{{ n = {{ {bounds} }} }}");
        assert_eq!(allows(&when, &json!({ "n": value })), expected, "{bounds} on {value}");
        assert_eq!(stops(&when, &json!({ "n": value })), expected, "{bounds} on {value}");
    }
}

#[test]
fn a_number_too_large_to_compare_is_stopped_and_never_allowed() {
    for value in [json!(1e300), json!(-1e300), json!(9_007_199_254_740_992.0), json!(1e19)] {
        for bounds in ["at-least = 1, at-most = 10", "at-least = 1", "at-most = 1"] {
            let when = format!("{{ n = {{ {bounds} }} }}");
            assert!(!allows(&when, &json!({ "n": value })), "{bounds} on {value}");
            assert!(stops(&when, &json!({ "n": value })), "{bounds} on {value}");
        }
    }
    assert!(allows("{ n = { at-least = 1 } }", &json!({ "n": 9_007_199_254_740_991.0_f64 })));
}

#[test]
fn bounds_stop_and_never_allow_values_that_they_cannot_compare() {
    for value in [json!("5"), json!(null), json!(true), json!({}), json!([]), json!([5, "5"]), json!([[5]])] {
        let empty = value == json!([]);
        assert!(!allows("{ n = { at-least = 1 } }", &json!({ "n": value })), "{value}");
        assert_eq!(stops("{ n = { at-least = 1 } }", &json!({ "n": value })), !empty, "{value}");
    }
    assert!(allows("{ n = { at-least = 1 } }", &json!({ "n": [5, 6] })));
    assert!(!allows("{ n = { at-least = 1 } }", &json!({ "n": [5, 0] })));
    assert!(!stops("{ n = { at-least = 1 } }", &json!({ "n": [0] })));
}

#[test]
fn a_list_may_mix_patterns_tables_and_scalars() {
    let when = r#"{ v = ["docs/*", { prefix = "src/" }, { equals = "x*" }, { at-most = 0 }, 7, true] }"#;
    for value in [json!("docs/a"), json!("src/a/b"), json!("x*"), json!(-1), json!(7), json!(true)] {
        assert!(allows(when, &json!({ "v": value })), "{value}");
        assert!(stops(when, &json!({ "v": value })), "{value}");
    }
    for value in [json!("docs/a/b"), json!("xy"), json!(1), json!(false)] {
        assert!(!allows(when, &json!({ "v": value })), "{value}");
        assert!(!stops(when, &json!({ "v": value })), "{value}");
    }
    assert!(stops(when, &json!({ "v": null })));
}
