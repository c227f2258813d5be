//! The shipped plugin `script`: code that a model wrote calls tools, and can do nothing else.

use crate::composition::desk::inner_outcomes;
use portcullis::approvals::Scripted;
use portcullis::{Answer, Code, Host, Reply, Request};
use portcullis_tests::{Site, assert_verifies, shipped_plugin};
use serde_json::json;
use std::fs;
use std::sync::Arc;

/// Lets a script call the tools for files. Reads are allowed, and writes need approval.
pub(super) const POLICY: &str = r#"
[approvals]
repeats = 1000000
[limits]
time = "20 s"
[plugin.files]
directory.workspace = { path = "work", access = "read-write" }
[plugin.script]
tools.tools = { tools = ["files.*"], calls = 200 }
[[rule]]
tool = "script.*"
decision = "allow"
[[rule]]
tool = "files.*"
permission = "read"
decision = "allow"
[[rule]]
tool = "files.*"
permission = "write"
decision = "ask"
"#;

/// A site with the plugins and some files.
pub(super) fn site() -> Site {
    let site = Site::new();
    for plugin in ["files", "script"] {
        site.plugin(plugin, &shipped_plugin(plugin));
    }
    let work = site.directory("work");
    for (name, text) in [("a.txt", "alpha\n"), ("b.txt", "beta\nTODO later\n"), ("c.txt", "gamma\nTODO now\n")] {
        fs::write(work.join(name), text).unwrap();
    }
    site
}

pub(super) async fn run(host: &Host, code: &str) -> Reply {
    host.call(Request::new("script.run", json!({ "code": code }).to_string())).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_script_reads_filters_and_edits_and_every_inner_call_is_in_the_log() {
    let site = site();
    let approver = Arc::new(Scripted::new([Answer::Yes]));
    let host = site.builder(POLICY).approver(Arc::clone(&approver) as _).open().await.unwrap();
    let code = r#"
        const names = ["a.txt", "b.txt", "c.txt"];
        const texts = await Promise.all(names.map((path) => tools.files.read({ path })));
        const found = names.filter((_, index) => texts[index].includes("TODO now"));
        for (const path of found) {
            await tools.files.write({ path, content: "gamma\ndone\n" });
        }
        return found;
    "#;
    let reply = run(&host, code).await;
    assert_eq!(reply.code, Code::Completed, "{}", reply.message);
    assert!(reply.message.contains("c.txt"), "{}", reply.message);
    assert_eq!(fs::read_to_string(site.path("work/c.txt")).unwrap(), "gamma\ndone\n");
    let outcomes = inner_outcomes(&host);
    let tools: Vec<_> = outcomes.iter().map(|outcome| outcome["tool"].as_str().unwrap()).collect();
    assert_eq!(tools, ["files.read", "files.read", "files.read", "files.write"]);
    assert!(outcomes.iter().all(|outcome| outcome["principal"] == "local/script"), "{outcomes:?}");
    let asked = approver.asked();
    assert_eq!((asked.len(), asked[0].called_by.as_slice()), (1, ["script.run".to_owned()].as_slice()));
    assert_verifies(&host);
}

/// The write does not run because the reads before it did.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_write_that_hides_at_the_49th_iteration_still_needs_approval() {
    let site = site();
    let approver = Arc::new(Scripted::new([]));
    let host = site.builder(POLICY).approver(Arc::clone(&approver) as _).open().await.unwrap();
    let code = r#"
        for (let turn = 1; turn <= 60; turn++) {
            if (turn === 49) {
                await tools.files.write({ path: "a.txt", content: "owned" });
            }
            await tools.files.read({ path: "a.txt" });
        }
    "#;
    let reply = run(&host, code).await;
    assert_ne!(reply.code, Code::Completed, "{}", reply.message);
    let asked = approver.asked();
    assert_eq!(asked.len(), 1);
    assert!(asked[0].arguments.contains("owned"), "{}", asked[0].arguments);
    assert_eq!(fs::read_to_string(site.path("work/a.txt")).unwrap(), "alpha\n");
    // The plan goes on behind the write: 48 reads before it, 12 behind it, and the write that is denied.
    assert_eq!(inner_outcomes(&host).len(), 61);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_script_reaches_no_tool_that_is_not_bound_to_it() {
    let site = site();
    let host = site.builder(POLICY).open().await.unwrap();
    let reply = run(&host, "return await tools.good.run({});").await;
    assert_ne!(reply.code, Code::Completed, "{}", reply.message);
    let reply = run(&host, "return await tools.script.run({ code: '1' });").await;
    assert_ne!(reply.code, Code::Completed, "{}", reply.message);
    assert!(inner_outcomes(&host).is_empty());
}

/// However a script misbehaves, its call ends, and the host serves the next one.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn scripts_that_loop_allocate_recurse_and_tamper_end_and_leave_the_host_serving() {
    let site = site();
    let policy = POLICY.replace("time = \"20 s\"", "time = \"3 s\"");
    let host = site.builder(&policy).open().await.unwrap();
    for code in [
        "for (;;) { }",
        "while (true) { await tools.files.read({ path: 'a.txt' }); }",
        "const all = []; for (;;) { all.push(new Array(100000).fill('x')); }",
        "const again = () => again(); again();",
        "let text = 'a'; for (;;) { text += text; }",
        "await tools.files.read({ get path() { throw new Error('thrown across'); } });",
        "throw { toString() { throw 1; } };",
        "syntax error here",
    ] {
        let reply = run(&host, code).await;
        assert_ne!(reply.code, Code::Completed, "{code}: {}", reply.message);
        assert_ne!(reply.code, Code::HostPanic, "{code}: {}", reply.message);
        assert_eq!(host.calls_under_way(), 0, "{code}");
    }
    // The bridge does not use what a script can replace.
    let tampered = "Promise.prototype.then = () => { throw 1; }; JSON.stringify = () => '{\"path\":\"b.txt\"}'; \
                    return await tools.files.read({ path: 'a.txt' });";
    let reply = run(&host, tampered).await;
    assert!(reply.message.contains("alpha"), "{}", reply.message);
    let reply = run(&host, "return (await tools.files.read({ path: 'a.txt' })).length > 0;").await;
    assert_eq!(reply.code, Code::Completed, "{}", reply.message);
    assert_eq!(fs::read_to_string(site.path("work/a.txt")).unwrap(), "alpha\n");
    assert_verifies(&host);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_search_returns_declarations_of_the_bound_tools() {
    let site = site();
    let host = site.builder(POLICY).open().await.unwrap();
    let reply = host.call(Request::new("script.search", r#"{"query":"read a file"}"#)).await;
    assert_eq!(reply.code, Code::Completed, "{}", reply.message);
    assert!(reply.message.contains("read(") && reply.message.contains("path: string"), "{}", reply.message);
}
