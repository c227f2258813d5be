//! Patterns of remembered approvals: what is offered, what they cover, and how they are stored.

#![expect(clippy::unwrap_used, reason = "a helper of a test may panic as the test itself may")]

use portcullis_policy::{EXACT_BYTES, OFFERS_MAX, PATTERN_ARGUMENTS, Pattern, RESOURCE_PATH_BYTES, Variation};
use serde_json::{Map, Value, json};

fn offers(arguments: &Value) -> Vec<Pattern> {
    Pattern::offers(arguments.as_object().unwrap(), &json!({}))
}

fn shown(arguments: &Value) -> Vec<String> {
    offers(arguments).iter().map(ToString::to_string).collect()
}

#[test]
fn offers_go_from_the_same_path_to_its_top_directory_and_no_further() {
    let rows: [(Value, &[&str]); 12] = [
        (
            json!({ "path": "src/a/b.rs", "content": "x" }),
            &[
                r#"any content, path = "src/a/b.rs""#,
                r#"any content, path = "src/a/**""#,
                r#"any content, path = "src/**""#,
            ],
        ),
        (
            json!({ "path": "src/b.rs", "content": "x" }),
            &[r#"any content, path = "src/b.rs""#, r#"any content, path = "src/**""#],
        ),
        (json!({ "path": "src/b.rs" }), &[r#"path = "src/**""#]),
        (json!({ "path": "b.rs", "text": "x" }), &[r#"path = "b.rs", any text"#]),
        (json!({ "path": "b.rs" }), &[]),
        (json!({ "text": "x" }), &[]),
        (json!({}), &[]),
        (
            json!({ "path": "s*c/[a]", "mode": 3, "dry": true, "x y": null }),
            &[r#"dry = true, mode = 3, path = "s\\*c/**", "x y" = null"#],
        ),
        (json!({ "path": "a/b", "directory": "c/d" }), &[r#"directory = "c/**", path = "a/b""#]),
        (json!({ "path": "a/b", "directory": "/c" }), &[r#"directory = "/c", path = "a/**""#]),
        (json!({ "resource": "a/b", "data": 5 }), &[r#"data = 5, resource = "a/**""#]),
        (
            json!({ "path": "a/b", "new_string": "x\u{1b}", "note": "q\"\n" }),
            &[r#"any new_string, note = "q\"\n", path = "a/b""#, r#"any new_string, note = "q\"\n", path = "a/**""#],
        ),
    ];
    for (arguments, expected) in rows {
        assert_eq!(shown(&arguments), expected, "{arguments}");
        assert!(expected.len() <= OFFERS_MAX);
        for offer in offers(&arguments) {
            assert!(offer.covers(arguments.as_object().unwrap()), "{offer}");
        }
    }
}

#[test]
fn every_name_for_a_resource_and_for_a_payload_is_known() {
    for name in ["path", "file", "filename", "file_path", "filepath", "dir", "directory", "folder", "resource"] {
        assert_eq!(shown(&json!({ name: "a/b" })), [format!("{name} = \"a/**\"")]);
    }
    let payloads = [
        "content",
        "contents",
        "text",
        "body",
        "data",
        "old",
        "new",
        "old_text",
        "new_text",
        "old_string",
        "new_string",
        "patch",
        "diff",
        "replacement",
    ];
    for name in payloads {
        let any = offers(&json!({ "path": "z", name: "x" }));
        assert!(any[0].covers(json!({ "path": "z", name: "y" }).as_object().unwrap()), "{name}");
    }
    assert!(offers(&json!({ "path": "z", "comment": "x" })).is_empty());
}

#[test]
fn a_schema_says_which_other_arguments_are_payload_but_never_that_a_path_is() {
    let schema = json!({ "properties": {
        "blob": { "contentEncoding": "base64" },
        "page": { "contentMediaType": "text/html" },
        "path": { "contentMediaType": "text/plain" },
        "plain": { "type": "string" },
    } });
    let arguments = json!({ "path": "a/b", "blob": "x", "page": "y", "plain": "z" });
    let offers = Pattern::offers(arguments.as_object().unwrap(), &schema);
    assert_eq!(offers[0].to_string(), r#"any blob, any page, path = "a/b", plain = "z""#);
    let number = json!({ "path": "a/b", "blob": 1 });
    let offers = Pattern::offers(number.as_object().unwrap(), &schema);
    assert_eq!(offers[0].to_string(), r#"blob = 1, path = "a/**""#);
}

#[test]
fn nothing_is_offered_if_an_approver_could_not_tell_what_it_covers() {
    let long_path = format!("a/{}", "b".repeat(RESOURCE_PATH_BYTES - 1));
    let fits = format!("a/{}", "b".repeat(RESOURCE_PATH_BYTES - 2));
    let paths = [
        "",
        "/",
        "/a/b",
        "a//b",
        "a/b/",
        "../a/b",
        "a/../b",
        "./a/b",
        "a/./b",
        "a\\b/c",
        "a/\u{1b}b",
        "C:/a/b",
        "https://a/b",
        "..",
        ".",
        &long_path,
    ];
    for path in paths {
        assert!(offers(&json!({ "path": path })).is_empty(), "{path:?}");
        assert!(offers(&json!({ "path": path, "content": "x" })).is_empty(), "{path:?}");
    }
    assert_eq!(offers(&json!({ "path": fits, "content": "x" })).len(), 1, "its directory, but not itself");
    let named = format!("a/{}", "b".repeat(EXACT_BYTES - 2));
    assert_eq!(offers(&json!({ "path": named, "content": "x" })).len(), 2);
    for value in [json!([]), json!({}), json!(["a"]), json!("x".repeat(EXACT_BYTES + 1))] {
        assert!(offers(&json!({ "path": "a/b", "other": value })).is_empty(), "{value}");
    }
    assert_eq!(offers(&json!({ "path": "a/b", "other": "x".repeat(EXACT_BYTES) })).len(), 1);
    for value in [json!(1), json!(["a/b"]), json!(null)] {
        assert!(offers(&json!({ "path": value })).is_empty(), "{value}");
    }
    let many = |count: usize| -> Map<String, Value> {
        (1..count).map(|index| (format!("x{index}"), json!(index))).chain([("path".to_owned(), json!("a/b"))]).collect()
    };
    assert_eq!(Pattern::offers(&many(PATTERN_ARGUMENTS), &json!({})).len(), 1);
    assert!(Pattern::offers(&many(PATTERN_ARGUMENTS + 1), &json!({})).is_empty());
    let name = "n".repeat(257);
    assert!(offers(&json!({ "path": "a/b", name: 1 })).is_empty());
}

#[test]
fn a_pattern_covers_plain_paths_in_its_directory_and_nothing_else() {
    let offers = offers(&json!({ "path": "src/a/b", "content": "x", "mode": 1 }));
    let covers = |index: usize, arguments: Value| {
        let offer: &Pattern = &offers[index];
        offer.covers(arguments.as_object().unwrap())
    };
    assert!(covers(0, json!({ "path": "src/a/b", "content": "y", "mode": 1 })));
    assert!(covers(1, json!({ "path": "src/a/c/d", "content": "y", "mode": 1 })));
    assert!(covers(2, json!({ "path": "src/z", "content": ["y"], "mode": 1 })));
    for path in [
        "src/a/../x",
        "srcs/a",
        "SRC/a",
        "/src/a",
        "src\\a",
        "src/./a",
        "x",
        "",
        "src/a\n",
        "src",
        "src/",
        "src//a",
        "/src",
    ] {
        assert!(!covers(2, json!({ "path": path, "content": "x", "mode": 1 })), "{path:?}");
    }
    assert!(!covers(0, json!({ "path": "src/a/c", "content": "x", "mode": 1 })));
    assert!(!covers(1, json!({ "path": "src/b", "content": "x", "mode": 1 })));
    for other in [
        json!({ "path": "src/a/b", "content": "x" }),
        json!({ "path": "src/a/b", "content": "x", "mode": 1, "more": 1 }),
        json!({ "path": "src/a/b", "content": "x", "mode": 2 }),
        json!({ "path": "src/a/b", "content": "x", "mode": 1.0 }),
        json!({ "path": "src/a/b", "content": "x", "mode": "1" }),
        json!({ "path": "src/a/b", "content": "x", "more": 1 }),
        json!({ "path": ["src/a/b"], "content": "x", "mode": 1 }),
        json!({ "content": "x", "mode": 1 }),
        json!({}),
    ] {
        assert!(!covers(2, other.clone()), "{other}");
    }
    let path = |bytes: usize| format!("src/{}", "a".repeat(bytes - 4));
    assert!(covers(2, json!({ "path": path(RESOURCE_PATH_BYTES), "content": "x", "mode": 1 })));
    assert!(!covers(2, json!({ "path": path(RESOURCE_PATH_BYTES + 1), "content": "x", "mode": 1 })));
}

#[test]
fn a_stored_pattern_is_read_back_as_it_was() {
    for offer in offers(&json!({ "path": "s*c/a b/é", "content": "x", "mode": 1.5, "dry": null })) {
        let stored = serde_json::to_string(&offer).unwrap();
        assert_eq!(serde_json::from_str::<Pattern>(&stored).unwrap(), offer, "{stored}");
    }
    let offer = &offers(&json!({ "path": "src/a", "content": "x", "mode": "fast" }))[1];
    assert_eq!(
        serde_json::to_value(offer).unwrap(),
        json!({ "arguments": { "content": "any", "mode": { "exact": "fast" }, "path": { "glob": "src/**" } } })
    );
}

#[test]
fn an_invalid_stored_pattern_is_refused() {
    let constraint = |text: &str| format!(r#"{{"arguments":{{"path":{text}}}}}"#);
    let texts = [
        "{}".to_owned(),
        "[]".to_owned(),
        r#"{"arguments":{},"more":1}"#.to_owned(),
        r#"{"arguments":{"a":"any","a":"any"}}"#.to_owned(),
        r#"{"arguments":[]}"#.to_owned(),
        constraint("1"),
        constraint("\"any\""),
        constraint("\"all\""),
        constraint(r#"{"glob":"**"}"#),
        constraint(r#"{"glob":"/**"}"#),
        constraint(r#"{"glob":"*/**"}"#),
        constraint(r#"{"glob":"a/*/**"}"#),
        constraint(r#"{"glob":"{a,b}/**"}"#),
        constraint(r#"{"glob":"a/**/b"}"#),
        constraint(r#"{"glob":"a"}"#),
        constraint(r#"{"glob":"["}"#),
        constraint(r#"{"glob":1}"#),
        constraint(r#"{"exact":[]}"#),
        constraint(r#"{"exact":{}}"#),
        constraint(&format!(r#"{{"exact":"{}"}}"#, "x".repeat(EXACT_BYTES + 1))),
        constraint(r#"{"exact":1,"glob":"a/**"}"#),
        constraint(r#"{"regex":"a"}"#),
        constraint(r#"{}"#),
    ];
    for text in texts {
        assert!(serde_json::from_str::<Pattern>(&text).is_err(), "{text}");
    }
    let many =
        |count: usize| -> Map<String, Value> { (0..count).map(|index| (index.to_string(), json!("any"))).collect() };
    let stored = |arguments: Value| serde_json::from_value::<Pattern>(json!({ "arguments": arguments }));
    assert!(stored(json!(many(PATTERN_ARGUMENTS))).is_ok());
    assert!(stored(json!(many(PATTERN_ARGUMENTS + 1))).is_err());
    assert!(stored(json!({ "n".repeat(256): "any" })).is_ok());
    assert!(stored(json!({ "n".repeat(257): "any" })).is_err());
    assert!(stored(json!([])).is_err_and(|error| error.to_string().contains("an object of constraints")));
    assert!(serde_json::from_str::<Pattern>(r#"{"arguments":{"a":"any","b":{"exact":1}}}"#).is_ok());
}

/// Arguments that may differ, each with the directory that it must be in.
type Differing<'a> = [(&'a str, Option<&'a str>)];

fn varying(arguments: &Value, variations: &Differing<'_>) -> Option<Pattern> {
    let variation = |(argument, within): &(&str, Option<&str>)| Variation {
        argument: (*argument).to_owned(),
        within: within.map(str::to_owned),
    };
    let variations: Vec<_> = variations.iter().map(variation).collect();
    Pattern::varying(arguments.as_object().unwrap(), &variations)
}

#[test]
fn a_proposed_pattern_permits_only_the_named_arguments_to_differ() {
    let call = json!({ "payee": "ACME", "amount": 20, "path": "src/a/b.rs" });
    let pattern = varying(&call, &[("amount", None), ("path", Some("src/**"))]).unwrap();
    assert_eq!(pattern.to_string(), r#"any amount, path = "src/**", payee = "ACME""#);
    let covers = |arguments: Value| pattern.covers(arguments.as_object().unwrap());
    assert!(covers(call.clone()) && covers(json!({ "payee": "ACME", "amount": 9000, "path": "src/x" })));
    assert!(!covers(json!({ "payee": "Bolt", "amount": 20, "path": "src/a/b.rs" })));
    assert!(!covers(json!({ "payee": "ACME", "amount": 20, "path": "lib/b.rs" })));
    assert!(!covers(json!({ "payee": "ACME", "amount": 20, "path": "src/a", "urgent": true })));
    let stored: Pattern = serde_json::from_str(&serde_json::to_string(&pattern).unwrap()).unwrap();
    assert_eq!(stored, pattern, "what is proposed can be stored");
}

#[test]
fn a_proposal_that_is_wider_than_a_directory_or_names_something_else_is_refused() {
    let call = json!({ "amount": 20, "path": "src/b.rs", "list": [1], "note": "a/b" });
    let listless = json!({ "amount": 20, "path": "src/b.rs", "note": "a/b" });
    assert!(varying(&listless, &[("amount", None)]).is_some());
    let page = json!({ "page": "https://a.test/x", "amount": 20 });
    assert!(varying(&page, &[("amount", None)]).is_some());
    assert_eq!(varying(&page, &[("page", None)]), None, "a URL under any name");
    let long = format!("{}/**", "d".repeat(RESOURCE_PATH_BYTES));
    let bad: [(&Value, &Differing<'_>); 12] = [
        (&call, &[("amount", None)]),
        (&listless, &[]),
        (&listless, &[("path", None)]),
        (&listless, &[("path", Some("**"))]),
        (&listless, &[("path", Some("*/**"))]),
        (&listless, &[("path", Some("src/*"))]),
        (&listless, &[("path", Some("{src,lib}/**"))]),
        (&listless, &[("path", Some("lib/**"))]),
        (&listless, &[("amount", Some("src/**"))]),
        (&listless, &[("payee", None)]),
        (&listless, &[("amount", None), ("amount", None)]),
        (&listless, &[("note", Some(&long))]),
    ];
    for (arguments, variations) in bad {
        assert_eq!(varying(arguments, variations), None, "{variations:?}");
    }
}
