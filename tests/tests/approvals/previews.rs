//! The preview of a call's changes that an approver sees: the plugin computes it, and the host compares it with the
//! files. Invariants 1, 3, 5 and 7.

use crate::approvals::bench::{Bench, GRANTS, applied, attempt, changes, of_planner};
use crate::approvals::desk::{ALLOW, ASK, alone, left_behind, marks, marks_manifest, question_in};
use crate::approvals::people::{Person, Thinker, no};
use portcullis::approvals::Scripted;
use portcullis::text::is_deceptive;
use portcullis::{Answer, Cancellation, Code, Covers, Request, open_approvals};
use portcullis_tests::{BlockOn, eventually_async, place};
use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Calls of the shipped tools: the initial file, and the arguments.
fn calls() -> Vec<(&'static str, Option<String>, Value)> {
    let lines: String = (1..=600).map(|line| format!("line {line}\n")).collect();
    let edit = |edits: Value| json!({ "path": "f", "edits": edits });
    let write = |content: &str| json!({ "path": "f", "content": content });
    vec![
        ("files.write", None, write("one\ntwo\n")),
        ("files.write", None, write("no line end")),
        ("files.write", None, write("one\r\ntwo\r\n")),
        ("files.write", Some("one\ntwo\nthree\n".into()), write("one\n2\nthree")),
        ("files.write", Some("one\ntwo".into()), write("one\ntwo\n")),
        ("files.write", Some("one\r\ntwo\r\n".into()), write("one\ntwo\n")),
        ("files.write", Some("one\ntwo\n".into()), write("one\r\ntwo\r\n")),
        ("files.write", Some("one\rtwo\n".into()), write("one\r2\n")),
        ("files.write", Some("all of it\n".into()), write("")),
        ("files.edit", Some(lines.clone()), edit(json!([{ "old": "line 500\n", "new": "five\nhundred\n" }]))),
        ("files.edit", Some(lines.clone()), edit(json!([{ "old": "line 5", "new": "row 5", "replace_all": true }]))),
        (
            "files.edit",
            Some(lines),
            edit(json!([{ "old": "line 7\n", "new": "seven\n" }, { "old": "seven\nline 8\n", "new": "eight\n" }])),
        ),
        ("files.edit", Some("one\r\ntwo\r\nthree\r\n".into()), edit(json!([{ "old": "one\ntwo\n", "new": "1\n2\n" }]))),
        ("files.edit", Some("one\r\ntwo\nthree\r\n".into()), edit(json!([{ "old": "two\n", "new": "2\n" }]))),
        ("files.edit", Some("one\ntwo".into()), edit(json!([{ "old": "two\n", "new": "2\n" }]))),
        ("files.edit", Some("one\ntwo\n".into()), edit(json!([{ "old": "two\n", "new": "" }]))),
    ]
}

/// Applying the preview to the file gives the file that the call writes.
#[tokio::test]
async fn the_previewed_change_is_the_change_that_happens() {
    let bench = Bench::new();
    for (tool, before, arguments) in calls() {
        match &before {
            Some(before) => bench.put("work/f", before),
            None => drop(fs::remove_file(bench.site.path("work/f"))),
        }
        let (host, person) = bench.asking([Answer::Yes]).await;
        let reply = host.call(Request::new(tool, arguments.to_string())).await;
        assert_eq!(reply.code, Code::Completed, "{}", reply.message);
        let difference = person.asked()[0].difference.clone().unwrap();
        assert!(
            difference.starts_with("@@ files computes that this call would change 1 file @@\n--- "),
            "{difference}"
        );
        assert_eq!(difference.contains("@@ a new file @@"), before.is_none(), "{difference}");
        let shown = applied(before.as_deref().unwrap_or_default(), &difference);
        assert_eq!(Some(shown), bench.get("work/f"), "{tool} {arguments}\n{difference}");
    }
}

/// If the tool cannot do it, the preview shows its error, and the call still needs approval.
#[tokio::test]
async fn a_preview_fails_with_the_tools_error() {
    let bench = Bench::new();
    bench.put("work/f", "1\n1\n");
    let edit = |path: &str, old: &str| json!({ "path": path, "edits": [{ "old": old, "new": "2" }] });
    for (tool, arguments, why) in [
        ("files.edit", edit("none", "1"), "`none` does not exist"),
        ("files.edit", edit("f", "3"), "old does not occur"),
        ("files.edit", edit("f", "1"), "old occurs 2 times"),
        ("files.write", json!({ "path": "", "content": "x" }), "names the workspace itself"),
        ("files.write", json!({ "path": "../f", "content": "x" }), "leads out of the workspace"),
    ] {
        let shown = bench.shown(tool, &arguments).await.unwrap();
        assert!(shown.starts_with("@@ files could not compute what this call would change: "), "{shown}");
        assert!(shown.contains(why) && shown.lines().count() == 1, "{why}: {shown}");
    }
}

/// The plugin computes the new text. The host reads the old text itself.
#[tokio::test]
async fn the_host_reads_the_old_text() {
    let bench = Bench::new();
    bench.put("work/f", "real\nlines\n");
    bench.put("work/gone", "gone\n");
    let shown = bench.shown("planner.change", &changes(&[("workspace", "./f", Some("claimed\nlines\n"))])).await;
    let expected = "@@ planner computes that this call would change 1 file @@\n\
                    @@ file 1 of 1, in the directory workspace @@\n--- a/f\n+++ b/f\n\
                    @@ -1,2 +1,2 @@\n-real\n+claimed\n lines\n";
    assert_eq!(shown.as_deref(), Some(expected));
    let files = [("workspace", "gone", None), ("other", "new", Some("x")), ("workspace", "f", Some("real\nlines\n"))];
    let shown = bench.shown("planner.change", &changes(&files)).await;
    let expected = "@@ planner computes that this call would change 3 files @@\n\
                    @@ file 1 of 3, in the directory workspace @@\n--- a/gone\n+++ /dev/null\n\
                    @@ the file is removed @@\n@@ -1 +0,0 @@\n-gone\n\
                    @@ file 2 of 3, in the directory other @@\n--- /dev/null\n+++ b/new\n@@ a new file @@\n\
                    @@ -0,0 +1 @@\n+x\n@@ no newline at end of file @@\n\
                    @@ file 3 of 3, in the directory workspace @@\n--- a/f\n+++ b/f\n@@ nothing changes @@\n";
    assert_eq!(shown.as_deref(), Some(expected));
    let shown = bench.shown("planner.change", &changes(&[])).await;
    assert_eq!(shown.as_deref(), Some("@@ planner computes that this call would change no file @@\n"));
}

/// A preview only reads: every other attempt fails, and the call runs after an approval.
#[tokio::test]
async fn a_preview_can_neither_change_nor_contact_anything() {
    let bench = Bench::new();
    for what in [
        "write",
        "append",
        "truncate",
        "remove",
        "rename",
        "link",
        "directory",
        "fetch",
        "store",
        "service",
        "ask",
        "output",
        "read",
    ] {
        bench.put("work/f", "before\n");
        let (files, (host, person)) = (bench.files(), bench.asking([no(), Answer::Yes]).await);
        let denied = host.call(of_planner(&attempt(what, "f"))).await;
        assert_eq!(denied.code, Code::ApprovalDenied, "{what}: {}", denied.message);
        let [question] = <[_; 1]>::try_from(person.asked()).unwrap();
        let shown = question.difference.unwrap();
        let failed = format!("@@ planner could not compute what this call would change: {what}: ");
        assert!(shown.starts_with(&failed), "{what}: {shown}");
        assert_eq!(shown.contains("it worked"), what == "read", "{what}: {shown}");
        assert_eq!(bench.files(), files, "{what}");
        let reply = host.call(of_planner(&attempt(what, "f"))).await;
        assert_eq!(reply.code, Code::Completed, "{what}: {}", reply.message);
        assert_eq!(bench.get("work/f").as_deref(), Some("after\n"));
    }
}

/// A preview that does not end, traps, or uses too many resources is stopped, and the request says so.
#[tokio::test]
async fn a_preview_that_fails_is_reported() {
    let bench = Bench::new();
    for (what, why) in [("loop", "reached the limit on time"), ("trap", "trapped"), ("hoard", "its preview ")] {
        let shown = bench.shown("planner.change", &attempt(what, "f")).await.unwrap();
        assert!(shown.starts_with("@@ planner could not compute what this call would change: its preview "), "{shown}");
        assert!(shown.contains(why), "{what}: {shown}");
    }
}

/// The plugin's text is one line in the host's text, without terminal escapes.
#[tokio::test]
async fn the_text_of_a_preview_cannot_pass_for_the_hosts() {
    let bench = Bench::new();
    let shown = bench.shown("planner.change", &attempt("escape", "f")).await.unwrap();
    assert_eq!(shown.lines().count(), 1, "{shown}");
    let path = "a\u{202e}b";
    let content = "+++ b/another\n@@ -1 +1 @@\n";
    let named = bench.shown("planner.change", &changes(&[("workspace", path, Some(content))])).await.unwrap();
    assert!(named.contains("+++ b/a\\u{202e}b\n"), "{named}");
    assert!(named.contains("\n++++ b/another\n+@@ -1 +1 @@\n"), "{named}");
    for shown in [shown, named] {
        assert!(!shown.chars().any(|character| is_deceptive(character) && character != '\n'), "{shown:?}");
    }
}

/// A preview cannot make the host read and show a file that the call cannot access.
#[tokio::test]
async fn a_preview_shows_no_file_that_the_call_cannot_access() {
    let bench = Bench::new();
    bench.put("secret", "a secret\n");
    bench.put("work/hidden.txt", "a secret\n");
    bench.put("work/bytes", b"\xff\xfe");
    bench.put("work/large", vec![b'x'; 1024 * 1024 + 1]);
    fs::create_dir(bench.site.path("work/folder")).unwrap();
    std::os::unix::fs::symlink("../secret", bench.site.path("work/link")).unwrap();
    let cannot_reach = "which this call cannot reach";
    let (file, twice) = (("workspace", "f", Some("x")), [("workspace", "f", None), ("workspace", "a/../f", Some("x"))]);
    let long = "x".repeat(1024 * 1024 - 300);
    let many = |count: usize, content| {
        let names: Vec<String> = (0..count).map(|number| format!("f{number}")).collect();
        changes(&names.iter().map(|name| ("workspace", name.as_str(), Some(content))).collect::<Vec<_>>())
    };
    for (arguments, why) in [
        (changes(&[("workspace", "../secret", Some("x"))]), cannot_reach),
        (changes(&[("workspace", "/etc/passwd", Some("x"))]), cannot_reach),
        (changes(&[("workspace", "hidden.txt", Some("x"))]), cannot_reach),
        (changes(&[("workspace", "folder/../hidden.txt/x", Some("x"))]), cannot_reach),
        (changes(&[("workspace", ".", Some("x"))]), cannot_reach),
        (changes(&[("pages", "f", Some("x"))]), "the directory pages, to which this call cannot write"),
        (changes(&[("nothing", "f", Some("x")), file]), "the directory nothing, to which this call cannot write"),
        (changes(&twice), "names the file f twice"),
        (many(33, "x"), "names 33 files, but at most 32 can be shown"),
        (changes(&[("workspace", "link", Some("x"))]), "the file cannot be read"),
        (changes(&[("workspace", "folder", Some("x"))]), "the file cannot be read"),
        (changes(&[("workspace", "bytes", Some("x"))]), "the file is not text"),
        (changes(&[("workspace", "large", Some("x"))]), "the file is too long"),
        (changes(&[("workspace", "new", Some(&long))]), "+xxx"),
    ] {
        let shown = bench.shown("planner.change", &arguments).await.unwrap();
        assert!(shown.contains(why) && !shown.contains("a secret"), "{why}: {}", &shown[..shown.len().min(1000)]);
    }
}

/// A preview that is too long to read is not shown, and one that is too large to transfer is stopped.
#[tokio::test]
async fn a_preview_has_limits() {
    let bench = Bench::new();
    let line = format!("{}\n", "x".repeat(1023));
    for (kib, why) in [
        (1000, "@@ -0,0 +1,1000 @@\n+xxx"),
        (1025, "@@ the change in this file is too long to show @@"),
        (2049, "the files have 2098176 bytes, but at most 2097152 can be shown"),
        (4097, "its preview reached the limit on transfer"),
    ] {
        let mut arguments = changes(&[("workspace", "f", Some(&line))]);
        arguments["files"][0]["again"] = json!(kib - 1);
        let shown = bench.shown("planner.change", &arguments).await.unwrap();
        assert!(shown.contains(why), "{kib}: {}", &shown[..shown.len().min(1000)]);
        assert!(shown.len() <= 1024 * 1024 + 1024);
    }
}

/// A grant that is narrowed to the arguments is also narrowed for the preview.
#[tokio::test]
async fn a_preview_is_narrowed_to_the_arguments() {
    let bench = Bench::new();
    bench.put("work/beside", "a secret\n");
    bench.put("work/named", "named\n");
    let policy = GRANTS.replace(r#"hidden = ["hidden*"]"#, r#"narrow = "/only""#);
    for (path, attempt, expected) in [
        ("named", "read", "read: it worked"),
        ("named", "", "-named\n+x\n"),
        ("beside", "read", "could not compute what this call would change: read: "),
        ("beside", "", "it names the file beside, which this call cannot reach"),
    ] {
        let mut arguments = changes(&[("workspace", path, Some("x\n"))]);
        (arguments["attempt"], arguments["only"]) = (json!(attempt), json!("named"));
        let person = Scripted::new([no()]);
        let builder = bench.site.builder(&format!("{policy}{ASK}")).approver(Arc::new(person.clone()));
        let reply = builder.open().await.unwrap().call(of_planner(&arguments)).await;
        assert_eq!(reply.code, Code::ApprovalDenied, "{}", reply.message);
        let shown = person.asked().remove(0).difference.unwrap();
        assert!(shown.contains(expected) && !shown.contains("secret"), "{path}, {attempt}: {shown}");
        assert_eq!(shown.contains("it worked"), expected.contains("it worked"), "{path}: {shown}");
    }
}

/// A preview of a file that has changed since is not shown, also not by another process.
#[test]
fn a_preview_of_a_changed_file_is_not_shown() {
    let bench = Bench::new();
    bench.put("work/f", "before\n");
    let host = alone(bench.headless());
    let id = alone(left_behind(&host, of_planner(&changes(&[("workspace", "f", Some("after\n"))]))));
    let shown = || {
        let approvals = open_approvals(place(bench.site.state())).block_on().unwrap();
        approvals.question(&id).block_on().unwrap().question.unwrap().difference.unwrap()
    };
    let first = shown();
    assert!(first.contains("-before\n+after\n"), "{first}");
    drop(host);
    assert_eq!(shown(), first);
    let mut seen = vec![first];
    for text in [Some("theirs\n"), Some("others\n"), None] {
        match text {
            Some(text) => bench.put("work/f", text),
            None => fs::remove_file(bench.site.path("work/f")).unwrap(),
        }
        let now = shown();
        assert!(now.contains("@@ the file has changed since the call was made, and "), "{now}");
        assert!(!now.contains("after") && !now.contains("theirs"), "{now}");
        assert!(!seen.contains(&now), "an approval of one state counts for another: {now}");
        seen.push(now);
    }
    bench.put("work/f", "before\n");
    assert_eq!(shown(), seen[0]);
}

/// A preview is for an approver. It does not run if no approver will be asked.
#[tokio::test]
async fn a_preview_is_run_only_where_a_person_is_asked() {
    let bench = Bench::new();
    let arguments = attempt("loop", "f");
    let person = Person::who_says(Answer::Always(Covers::Exact));
    let builder = bench.site.builder(&format!("{GRANTS}{ASK}")).approver(Arc::clone(&person) as _);
    let host = builder.open().await.unwrap();
    assert_eq!(host.call(of_planner(&arguments)).await.code, Code::Completed);
    assert_eq!(person.asked().len(), 1);
    let began = Instant::now();
    assert_eq!(host.call(of_planner(&arguments)).await.code, Code::Completed);
    drop(host);
    let host = bench.site.open(&format!("{GRANTS}{ALLOW}")).await;
    assert_eq!(host.call(of_planner(&arguments)).await.code, Code::Completed);
    assert!(began.elapsed() < Duration::from_secs(2), "the preview must not run");
    assert!(person.asked().is_empty());
}

/// A second, equal call joins the open request and runs no preview.
#[tokio::test]
async fn a_call_that_joins_a_request_runs_no_preview() {
    let bench = Bench::new();
    let host = bench.headless().await;
    let id = left_behind(&host, of_planner(&attempt("loop", "f"))).await;
    let began = Instant::now();
    let again = host.call(of_planner(&attempt("loop", "f"))).await;
    assert_eq!((again.code, question_in(&again)), (Code::ApprovalPending, id));
    assert!(began.elapsed() < Duration::from_secs(2), "the preview must not run");
}

/// A preview takes time, and uses slots that reviews of other calls need.
#[tokio::test]
async fn a_call_over_the_limit_of_its_session_has_no_preview() {
    const SESSION_QUESTIONS_MAX: usize = 1024;
    let bench = Bench::new();
    let host = bench.headless().await;
    for number in 0..SESSION_QUESTIONS_MAX {
        let request = Request::new("files.read", json!({ "path": number.to_string() }).to_string());
        assert_eq!(host.call(request.session("full")).await.code, Code::ApprovalPending);
    }
    let began = Instant::now();
    let reply = host.call(of_planner(&attempt("loop", "f")).session("full")).await;
    assert_eq!(reply.code, Code::ApprovalDenied, "{}", reply.message);
    assert!(began.elapsed() < Duration::from_secs(1), "{:?}", began.elapsed());
}

/// A call that is cancelled while its preview runs is over, and no approver is asked.
#[tokio::test]
async fn a_preview_ends_with_its_call() {
    let bench = Bench::new();
    let thinker = Thinker::new();
    let host = bench.site.builder(&format!("{GRANTS}{ASK}")).approver(Arc::clone(&thinker) as _).open().await.unwrap();
    let cancellation = Cancellation::new();
    let cancel = async {
        tokio::time::sleep(Duration::from_millis(300)).await;
        cancellation.cancel();
    };
    let call = host.call(of_planner(&attempt("loop", "f")).cancellation(cancellation.clone()));
    let (reply, ()) = tokio::join!(call, cancel);
    assert_eq!(reply.code, Code::Cancelled);
    assert!(host.approvals().list_all().await.unwrap().questions.is_empty());
}

/// The request says that a plugin computes no preview. It says nothing if the tool can write to no directory.
#[tokio::test]
async fn a_request_says_that_a_tool_has_no_preview() {
    let bench = Bench::new();
    bench.site.plugin("marks", &marks(&marks_manifest("marks")));
    let shown = bench.shown("marks.run", &json!({ "n": 1 })).await;
    assert_eq!(shown.as_deref(), Some("@@ marks does not compute what this call would change @@\n"));
    assert_eq!(bench.shown("planner.look", &changes(&[])).await, None);
    assert_eq!(bench.shown("good.run", &json!({})).await, None);
    let read_only = GRANTS.replace("read-write", "read-only");
    let person = Scripted::new([no()]);
    let builder = bench.site.builder(&format!("{read_only}{ASK}")).approver(Arc::new(person.clone()));
    let host = builder.open().await.unwrap();
    assert_eq!(host.call(Request::new("marks.run", "{}")).await.code, Code::ApprovalDenied);
    assert_eq!(person.asked()[0].difference, None);
}

/// The preview is labelled as the plugin's claim, because the plugin can do something else.
#[tokio::test]
async fn a_preview_is_a_claim_and_not_a_promise() {
    let bench = Bench::new();
    let mut arguments = changes(&[("workspace", "f", Some("claimed\n"))]);
    arguments["lie"] = json!(true);
    let (host, person) = bench.asking([Answer::Yes]).await;
    assert_eq!(host.call(of_planner(&arguments)).await.code, Code::Completed);
    let question = person.asked().remove(0);
    let difference = question.difference.unwrap();
    assert!(difference.starts_with("@@ planner computes that this call would change 1 file @@\n"), "{difference}");
    assert!(difference.contains("+claimed\n") && question.arguments.contains("\"lie\":true"));
    assert_eq!(bench.get("work/f").as_deref(), Some("a lie\n"));
    let none = || host.approvals().list().block_on().unwrap().questions.is_empty().then_some(());
    eventually_async("the end of the question", none).await;
}

/// A preview without its secret would differ from the written file, so no preview is shown.
#[tokio::test]
async fn a_preview_that_contains_a_guarded_secret_is_not_shown() {
    const SECRET: &str = "Tok-8C1f0A5e9d7B4326";
    let bench = Bench::new();
    bench.put("token", SECRET);
    fs::set_permissions(bench.site.path("token"), fs::Permissions::from_mode(0o600)).unwrap();
    let secret = r#""http"], secret = { host = "127.0.0.1", header = "x-key", value = "{}", from = "file:token" } }"#;
    let policy = GRANTS.replace(r#""http"] }"#, secret);
    assert_ne!(policy, GRANTS);
    for (path, content) in [("f", format!("{SECRET}\n")), (SECRET, "x\n".to_owned())] {
        let person = Scripted::new([no()]);
        let builder = bench.site.builder(&format!("{policy}{ASK}")).approver(Arc::new(person.clone()));
        let call = of_planner(&changes(&[("workspace", path, Some(&content))]));
        assert_eq!(builder.open().await.unwrap().call(call).await.code, Code::ApprovalDenied);
        let shown = person.asked().remove(0).difference.unwrap();
        assert!(shown.contains("it contains one of the host's secrets") && !shown.contains(SECRET), "{shown}");
    }
}
