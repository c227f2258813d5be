//! The final value of a script.

use crate::{echoes, run};

fn value(code: &str) -> String {
    let answer = run(code, &echoes());
    answer.strip_suffix('\n').unwrap().to_owned()
}

#[test]
fn the_last_expression_or_a_return_is_the_value() {
    for (code, expected) in [
        ("1 + 1", "2"),
        ("const a = 1;\na + 1;", "2"),
        ("return 3", "3"),
        ("if (true) { return 4 }\n5", "4"),
        ("(1 + 1)", "2"),
        ("(a => a)(7)", "7"),
        ("[1, 2].map(x => x * 2).join()", "2,4"),
        ("let x = 1\n++x", "2"),
        ("let x; x = 5", "5"),
        ("'a', 'b'", "b"),
        ("`a${1}b`", "a1b"),
        ("f(); function f() { return 1 }", "1"),
        ("async () => 1", "\"[Function]\""),
        ("({ a: 1 })", r#"{"a":1}"#),
        ("await Promise.resolve(6) // six", "6"),
        ("Promise.resolve(8)", "8"),
        ("1;;", "1"),
        ("/* é😀 */ 'ü'", "ü"),
        ("new Date(0)", r#""1970-01-01T00:00:00.000Z""#),
        ("!0", "true"),
        ("typeof await 1", "number"),
        ("'use strict'; this === undefined", "false"),
    ] {
        assert_eq!(value(code), expected, "{code}");
    }
}

#[test]
fn a_script_without_a_value_says_how_to_give_one() {
    for code in ["", "// nothing", "const a = 1", "undefined", "if (1) 2", "1; const a = 2"] {
        assert!(value(code).contains("no value"), "{code}");
    }
}

#[test]
fn the_value_is_json_in_the_order_of_the_script() {
    assert_eq!(
        value("({ b: [1, null, undefined], a: 'x', 2: true, skipped: undefined, 1: 1e21 })"),
        r#"{"1":1e+21,"2":true,"b":[1,null,null],"a":"x"}"#
    );
    assert_eq!(value("[0.1 + 0.2, -0, 1e-7, 123456789012]"), "[0.30000000000000004,0,1e-7,123456789012]");
    assert_eq!(value(r#"({ s: 'a"\n\u2028' })"#), "{\"s\":\"a\\\"\\n\u{2028}\"}");
}

#[test]
fn what_json_cannot_express_is_described() {
    for (code, expected) in [
        ("[() => 1, function f() {}, class A {}]", r#"["[Function]","[Function f]","[Function A]"]"#),
        ("[NaN, Infinity, 10n, Symbol('s')]", r#"["NaN","inf","10n","Symbol(s)"]"#),
        ("new Map([['a', { b: 1 }]])", r#"[["a",{"b":1}]]"#),
        ("new Set([1, 'a'])", r#"[1,"a"]"#),
        ("[new TypeError('t'), new (class Custom extends Error {})('c')]", r#"["TypeError: t","Custom: c"]"#),
        ("const a = {}; a.a = a; a", r#"{"a":"[Circular]"}"#),
        ("const a = []; const b = [a, a]; b", "[[],[]]"),
        ("[new Proxy({}, {}), /a/g, new Uint8Array(2)]", r#"["[Proxy]","[RegExp]","[Uint8Array]"]"#),
        ("({ get a() { throw 1 }, toJSON() { throw 2 } })", r#"{"a":"[Getter]","toJSON":"[Function toJSON]"}"#),
        ("[Promise.resolve(1), new Date(NaN)]", r#"["[Promise]","[Invalid Date]"]"#),
        ("[tools, tools.files.read]", r#"["[Proxy]","[Function read]"]"#),
    ] {
        assert_eq!(value(code), expected, "{code}");
    }
}

#[test]
fn a_value_that_is_too_large_is_cut() {
    let answer = value("'x'.repeat(200_000)");
    assert!(answer.ends_with("… [100000 more characters]"), "{}", answer.len());
    let answer = value("new Array(100_000).fill('äöü')");
    assert!(answer.len() < 100_100 && answer.ends_with("bytes]"), "{}", answer.len());
    let deep = value("let a = []; for (let i = 0; i < 1000; i++) a = [a]; a");
    assert_eq!(deep, format!("{}\"[…]\"{}", "[".repeat(64), "]".repeat(64)));
}
