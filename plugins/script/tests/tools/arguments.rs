//! Arguments of calls: what is passed is what the host gets.

use crate::{called, echoes, run};

/// Runs a call with an argument, and returns the error.
fn refused(argument: &str) -> String {
    let context = echoes();
    let answer = run(
        &format!("await tools.files.write({argument}).then(() => 'made', e => `${{e.name}}: ${{e.message}}`)"),
        &context,
    );
    assert_eq!(called(&context), [], "{argument}");
    answer.trim_end().to_owned()
}

/// Runs a call with an argument, and returns what the host got.
fn passed(argument: &str) -> String {
    let context = echoes();
    run(&format!("await tools.files.write({argument})"), &context);
    called(&context).remove(0).1
}

#[test]
fn plain_data_is_passed_as_json() {
    assert_eq!(passed(""), "{}");
    assert_eq!(passed("undefined"), "{}");
    assert_eq!(passed("{ b: 1, a: [true, null, 'é\\n'], skipped: undefined }"), "{\"b\":1,\"a\":[true,null,\"é\\n\"]}");
    assert_eq!(
        passed("{ at: new Date(0), n: -1.5e-7, deep: { x: { y: [] } } }"),
        r#"{"at":"1970-01-01T00:00:00.000Z","n":-1.5e-7,"deep":{"x":{"y":[]}}}"#
    );
    assert_eq!(passed("{ ['__proto__']: 1, [Symbol('s')]: 2 }"), r#"{"__proto__":1}"#);
    assert_eq!(
        passed("Object.create({ inherited: 1 }, { own: { value: 2, enumerable: true }, hidden: { value: 3 } })"),
        r#"{"own":2}"#
    );
    assert_eq!(passed("{ list: [, 1] }"), r#"{"list":[null,1]}"#);
    assert_eq!(passed("new (class Point { x = 1 })()"), r#"{"x":1}"#);
}

#[test]
fn anything_else_is_refused_with_its_place() {
    for (argument, expected) in [
        ("'a'", "InvalidArguments: the argument must be one object, not a string"),
        ("['a']", "InvalidArguments: the argument must be one object, not an array"),
        ("null", "InvalidArguments: the argument must be one object, not null"),
        ("{}, {}", "InvalidArguments: `files.write` takes one object: write `{ name: value }`."),
        ("{ a: [{ f() {} }] }", "InvalidArguments: `a[0].f` is a function; pass plain data"),
        ("{ n: NaN }", "InvalidArguments: `n` is NaN, which JSON cannot express"),
        ("{ n: -Infinity }", "InvalidArguments: `n` is -inf, which JSON cannot express"),
        ("{ n: 1n }", "InvalidArguments: `n` is a BigInt; use a number or a string"),
        ("{ s: Symbol() }", "InvalidArguments: `s` is a symbol"),
        ("{ m: new Map() }", "InvalidArguments: `m` is a Map; use Object.fromEntries(map)"),
        ("{ m: new Set() }", "InvalidArguments: `m` is a Set; use [...set]"),
        ("{ d: new Date(NaN) }", "InvalidArguments: `d` is a Date; it is an invalid date"),
        ("{ b: new Uint8Array(1) }", "InvalidArguments: `b` is a Uint8Array; pass plain data"),
        ("{ s: '\\ud800' }", "InvalidArguments: `s` has half of a surrogate pair, which is no text"),
        (
            "(() => { const o = {}; o.self = { o }; return o })()",
            "InvalidArguments: `self.o` is an object; it contains itself",
        ),
        ("tools", "InvalidArguments: the argument is a Proxy; pass plain data"),
    ] {
        assert_eq!(refused(argument), expected, "{argument}");
    }
}

#[test]
fn a_promise_without_await_is_named() {
    let context = echoes();
    let code = "await tools.files.write({ text: tools.files.read({}) }).catch(e => e.message)";
    assert_eq!(run(code, &context), "`text` is a Promise; write `await` before it\n");
}

#[test]
fn depth_and_size_are_bounded() {
    let deep = refused("(() => { let a = {}; for (let i = 0; i < 5000; i++) a = { a }; return a })()");
    assert!(deep.contains("nested more than 64 levels deep"), "{deep}");
    let large = refused("{ text: 'x'.repeat(5_000_000) }");
    assert_eq!(large, "InvalidArguments: the arguments have more than 4194304 bytes");
    let sparse = refused("{ list: new Array(4294967295) }");
    assert_eq!(sparse, "InvalidArguments: the arguments have more than 4194304 bytes");
}

#[test]
fn getters_and_to_json_never_run() {
    let getter = refused("{ get path() { globalThis.ran = 1; return 'other' } }");
    assert_eq!(getter, "InvalidArguments: `path` is a getter; pass its value");
    let context = echoes();
    run(
        "class A { constructor() { this.path = 'a' } toJSON() { return { path: 'other' } } }\nawait tools.files.write(new A())",
        &context,
    );
    assert_eq!(called(&context), [("files.write".to_owned(), r#"{"path":"a"}"#.to_owned())]);
}

#[test]
fn a_change_after_the_call_changes_nothing() {
    let context = echoes();
    run("const o = { path: 'a' }; const p = tools.files.write(o); o.path = 'b'; await p", &context);
    assert_eq!(called(&context), [("files.write".to_owned(), r#"{"path":"a"}"#.to_owned())]);
}

#[test]
fn a_refused_argument_is_a_rejection_and_not_a_throw() {
    let context = echoes();
    assert_eq!(run("const p = tools.files.write(1); p.catch(() => 0); p instanceof Promise", &context), "true\n");
    let refused = crate::fails("await tools.files.write('x')", &context);
    assert!(refused.starts_with("InvalidArguments (files.write): the argument must be one object"), "{refused}");
}
