//! Scripts that loop, allocate and recurse. The host ends what these limits do not.

use std::thread;

use crate::{called, echoes, fails, run};

/// The stack of a debug build: native code needs more of it there than in a component.
const STACK_BYTES: usize = 256 * 1024 * 1024;

/// Runs a test with a large stack.
fn with_stack(test: impl FnOnce() + Send + 'static) {
    thread::Builder::new().stack_size(STACK_BYTES).spawn(test).unwrap().join().unwrap();
}

#[test]
fn an_endless_loop_ends_with_its_line() {
    for (code, expected) in [
        ("let n = 0;\nwhile (true) {\n  n++;\n}", "\nat line 2, column 8: while (true) {"),
        ("const f = () => {\n  for (let i = 0; ; i++);\n};\nf()", "\nat line 2, column 16: for (let i = 0; ; i++);"),
        ("for (const a of [1]) {\n  do {} while (a)\n}", "\nat line 2, column 16: do {} while (a)"),
        ("for (;;) {}", ""),
    ] {
        let report = fails(code, &echoes());
        assert_eq!(report, format!("a loop ran more than 10000000 times{expected}"), "{code}");
    }
}

#[test]
fn an_endless_recursion_ends_with_its_line() {
    with_stack(|| {
        for code in [
            "function f() {\n  return f();\n}\nf()",
            "function f() {\n  return [1].map(f);\n}\nf()",
            "const o = {\n  get a() { return this.a }\n};\no.a",
            "const f = async () => {\n  await f();\n};\nawait f()",
            "JSON.stringify({\n toJSON() { return JSON.stringify(this) }\n})",
        ] {
            let report = fails(code, &echoes());
            assert!(
                report.starts_with("functions called each other more than 400 levels deep\nat line 2"),
                "{code}: {report}"
            );
        }
    });
}

#[test]
fn a_limit_cannot_be_caught() {
    let context = echoes();
    let report = fails("try { for (;;) {} } catch {} finally { await tools.files.write({}) }", &context);
    assert!(report.starts_with("a loop ran more than"), "{report}");
    assert_eq!(called(&context), []);
}

#[test]
fn queued_calls_are_bounded() {
    let context = echoes();
    let code = "const all = await Promise.allSettled(Array.from({ length: 300 }, (_, n) => tools.files.read({ n })));
        all.filter(one => one.status === 'rejected').map(one => one.reason.message)[0]";
    assert_eq!(run(code, &context), "256 calls are waiting. Await some of them before you make more.\n");
    assert_eq!(called(&context).len(), 256);
}

#[test]
fn a_large_buffer_is_an_error() {
    let report = fails("new ArrayBuffer(1_000_000_000)", &echoes());
    assert!(report.starts_with("RangeError"), "{report}");
}

#[test]
fn deep_values_do_not_overflow_the_plugin() {
    let context = echoes();
    let code = "let a = []; for (let i = 0; i < 100_000; i++) a = [a];
        console.log(a); await tools.files.read({ a }).catch(e => e.name)";
    assert!(run(code, &context).ends_with("InvalidArguments\n"));
}
