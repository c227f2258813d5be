//! Calls of tools from a script.

use std::cell::RefCell;
use std::rc::Rc;

use portcullis_sdk::prelude::*;

use crate::{attempt, called, echoes, fails, made, plays, run, text};

#[test]
fn a_call_returns_a_promise_of_its_answer() {
    let context = echoes();
    let answer = run("const p = tools.files.read({ path: 'a' }); [p instanceof Promise, await p]", &context);
    assert_eq!(answer, "[true,\"{\\\"path\\\":\\\"a\\\"}\"]\n");
    assert_eq!(called(&context), [made("files.read", r#"{"path":"a"}"#)]);
}

#[test]
fn a_hyphen_needs_brackets_or_camel_case() {
    let context = echoes();
    run("await tools.files['read-all']({}); await tools.files.readAll()", &context);
    assert_eq!(called(&context), [made("files.read-all", "{}"), made("files.read-all", "{}")]);
    assert_eq!(run("Object.keys(tools.files)", &context), "[\"read\",\"read-all\",\"write\"]\n");
    assert_eq!(
        run("['files' in tools, 'nothing' in tools, Object.keys(tools)]", &context),
        "[true,false,[\"files\",\"web\"]]\n"
    );
}

#[test]
fn the_order_of_calls_is_the_order_of_the_script() {
    let context = echoes();
    run("for (const n of [1, 2, 3]) { await tools.files.write({ n }); await tools.files.read({ n }) }", &context);
    let order: Vec<String> = called(&context).into_iter().map(|(tool, arguments)| tool + &arguments).collect();
    assert_eq!(
        order,
        [
            r#"files.write{"n":1}"#,
            r#"files.read{"n":1}"#,
            r#"files.write{"n":2}"#,
            r#"files.read{"n":2}"#,
            r#"files.write{"n":3}"#,
            r#"files.read{"n":3}"#
        ]
    );
}

#[test]
fn a_write_hidden_at_iteration_49_is_a_call_of_its_own() {
    let code = "for (let i = 0; i < 60; i++) {
  await tools.files.read({ path: `src/${i}.rs` });
  if (i === 49) await tools.files.write({ path: '.ssh/authorized_keys', text: 'mine' });
}";
    let context = plays(|call| match call.tool.as_str() {
        "files.write" => Err(Failure::denied("no rule allows files.write on .ssh")),
        _ => text("fn main() {}"),
    });
    let report = fails(code, &context);
    assert!(
        report.starts_with("Denied (files.write): no rule allows files.write on .ssh\nat line 3, column "),
        "{report}"
    );
    assert!(report.contains("files.read (50), files.write (1, 1 failed)"), "{report}");
    let calls = called(&context);
    assert_eq!(calls.len(), 51);
    assert_eq!(calls[50], made("files.write", r#"{"path":".ssh/authorized_keys","text":"mine"}"#));
    assert!(calls[..50].iter().all(|(tool, _)| tool == "files.read"));
}

#[test]
fn a_refusal_can_be_caught_and_does_not_end_the_script() {
    let context = plays(|call| if call.tool == "files.write" { Err(Failure::denied("no")) } else { text("content") });
    let code = "
        const seen = [];
        try { await tools.files.write({ path: 'a' }) }
        catch (e) { seen.push(e.name, e.message, e.tool, e instanceof Error) }
        seen.push(await tools.files.read({ path: 'a' }));
        seen";
    assert_eq!(run(code, &context), "[\"Denied\",\"no\",\"files.write\",true,\"content\"]\n");
}

#[test]
fn the_name_of_an_error_is_the_kind_of_the_failure() {
    for (failure, name) in [
        (Failure::invalid("a"), "InvalidArguments"),
        (Failure::denied("a"), "Denied"),
        (Failure::unavailable("a"), "Unavailable"),
        (Failure::Cancelled, "Cancelled"),
        (Failure::failed("a"), "Failed"),
    ] {
        let context = plays(move |_| Err(failure.clone()));
        assert_eq!(run("await tools.web.fetch({}).catch(e => e.name)", &context), format!("{name}\n"));
    }
}

#[test]
fn promises_settle_together_as_in_any_javascript() {
    let context = plays(|call| match call.arguments.contains("bad") {
        true => Err(Failure::failed("broken")),
        false => text("good"),
    });
    let code = "const paths = ['a', 'bad', 'b'];
        const all = await Promise.allSettled(paths.map(path => tools.files.read({ path })));
        all.map(one => one.status === 'fulfilled' ? one.value : one.reason.message)";
    assert_eq!(run(code, &context), "[\"good\",\"broken\",\"good\"]\n");
    let first =
        run("await Promise.any([tools.files.read({ path: 'bad' }), tools.files.read({ path: 'a' })])", &context);
    assert_eq!(first, "good\n");
    let none = fails("await Promise.any([tools.files.read({ path: 'bad' })])", &context);
    assert!(none.contains("AggregateError") && none.contains("Failed (files.read): broken"), "{none}");
}

#[test]
fn a_call_that_is_not_awaited_is_made_and_its_error_is_reported() {
    let context = plays(|_| Err(Failure::denied("not this")));
    let answer = run("tools.files.write({ path: 'a' }); 'done'", &context);
    assert_eq!(called(&context).len(), 1);
    assert_eq!(answer, "done\n[not handled] Denied (files.write): not this at line 1, column 18\n");
}

#[test]
fn calls_queued_before_an_error_are_not_made() {
    let context = echoes();
    let report = fails("tools.files.write({ path: 'a' });\nthrow new Error('stop')", &context);
    assert_eq!(called(&context), []);
    assert!(report.contains("1 queued calls were not made"), "{report}");
}

#[test]
fn a_cancelled_call_stops_the_script() {
    let calls = Rc::new(RefCell::new(0));
    let counter = Rc::clone(&calls);
    // Before and after the first batch, and before the second.
    let context = plays(move |_| {
        *counter.borrow_mut() += 1;
        text("")
    })
    .cancelled_after(2);
    let ended = attempt("for (;;) { try { await tools.files.read({}) } catch {} }", &context);
    assert_eq!(ended, Err(Failure::Cancelled));
    assert_eq!(*calls.borrow(), 1);
}

#[test]
fn metadata_counts_the_calls_by_tool() {
    let context = plays(|call| if call.tool == "web.fetch" { Err(Failure::failed("x")) } else { text("") });
    let success = attempt("await tools.files.read({}); await tools.web.fetch({}).catch(() => 0)", &context).unwrap();
    let expected = json!({ "calls": 2, "failed": 1, "tools": {
        "files.read": { "calls": 1, "failed": 0 }, "web.fetch": { "calls": 1, "failed": 1 } } });
    assert_eq!(success.metadata, Some(expected));
    assert_eq!(success.title.as_deref(), Some("Ran a script with 2 calls"));
}

#[test]
fn each_run_has_a_fresh_realm() {
    let context = echoes();
    run("globalThis.kept = 1; Array.prototype.kept = 1; 0", &context);
    assert_eq!(run("[typeof kept, typeof [].kept]", &context), "[\"undefined\",\"undefined\"]\n");
}
