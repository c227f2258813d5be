//! All errors of a text at once: each independent one is reported once, in the order of the text, up to a limit.

#![expect(clippy::unwrap_used, reason = "a helper of a test may panic as the test itself may")]

use portcullis_policy::{POLICY_ERRORS_MAX, Policy};

fn lines(text: &str) -> Vec<usize> {
    Policy::parse(text).unwrap_err().all().map(|error| error.line).collect()
}

#[test]
fn every_independent_error_is_reported_in_the_order_of_the_text() {
    let text = "\
[defaults]
decision = 'alow'
[limits]
memry = 1
time = 'soon'
[plugin.web]
clock = 'precise'
http.a = { hosts = ['*.com', 'a:1', 'docs.rs'], ports = [0] }
[plugin.files]
directory.a = { access = 'write' }
config = { a = 1, b = 'b' }
[[rule]]
tool = 'a'
decision = 'maybe'
permission = 'fly'
when = { path = '[', limit = nan }
[[rule]]
tool = 'a.b'
decision = 'allow'
[approvals]
unattended = 'yes'
repeats = 0
[record]
payloads = 1
";
    assert_eq!(lines(text), [2, 4, 5, 7, 8, 8, 8, 10, 10, 11, 13, 14, 15, 16, 16, 21, 22, 24]);
}

#[test]
fn an_error_is_reported_once() {
    let rule = |more: &str| format!("[[rule]]\ntool = 'a.b'\n{more}\n");
    // Each has one cause: the missing key is the misspelt one, and the keys of the last two depend on each other.
    let texts = [
        rule("decison = 'deny'"),
        rule("decision = 'deny'\nwhen = { n = { above = 1 } }"),
        "[plugin.a]\nhttp.b = { hosts = ['docs.rs'], secret = { qery = 'k', from = 'env:K' } }\n".to_owned(),
        "[plugin.a]\ndirectory.b = { pth = 'x' }\n".to_owned(),
        "[plugin.a]\nhttp.b = { host = ['docs.rs'] }\n".to_owned(),
    ];
    for text in texts {
        assert_eq!(lines(&text).len(), 1, "{text}{}", Policy::parse(&text).unwrap_err());
    }
}

#[test]
fn the_number_of_reported_errors_is_limited() {
    let text = "[[rule]]\ntool = 'a.b'\ndecision = 'x'\n".repeat(1000);
    assert_eq!(lines(&text).len(), POLICY_ERRORS_MAX);
}

#[test]
fn a_span_is_the_key_or_the_value_that_is_wrong() {
    let rows = [
        ("[limits]\nmemry = 1\n", "memry"),
        ("[limits]\nmemory = 'x'\n", "'x'"),
        ("[[rule]]\ntool = 'a.b'\ndecision = \"alow\"\n", "\"alow\""),
        ("[plugin.a]\nhttp.b = { hosts = ['docs.rs', '*.com'] }\n", "'*.com'"),
    ];
    for (text, expected) in rows {
        let error = Policy::parse(text).unwrap_err();
        assert_eq!(text.get(error.span()), Some(expected), "{text}");
    }
}

#[test]
fn a_text_with_a_syntax_error_has_no_other_errors() {
    let error = Policy::parse("[limits\nx = \n[[rule]]\ndecision = 'alow'\n").unwrap_err();
    assert!(error.all().all(|error| error.to_string().contains("invalid TOML")), "{error}");
}
