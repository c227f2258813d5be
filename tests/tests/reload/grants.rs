//! The rights of a plugin that is added later: the same as if it had been there when the host opened.

use crate::reload::desk::{ALLOW, call, file, put, put_bytes, says, word};
use portcullis::approvals::Answering;
use portcullis::policy_files::ProjectPolicy;
use portcullis::{Answer, Approver, Code, Covers, Question, ReloadError, open_approvals};
use portcullis_tests::{Manifest, Site, component, module};
use std::fs;
use std::os::unix::fs::symlink;
use std::sync::{Arc, Mutex};

/// Creates the file `mark` in its directory.
const MARKS: &str = r#"
(import "portcullis:tool/dependencies@0.1.0" "open-directory" (func $open-directory (param i32 i32 i32)))
(import "wasi:filesystem/types@0.2.12" "[method]descriptor.open-at"
  (func $open-at (param i32 i32 i32 i32 i32 i32 i32)))
(data (i32.const 2048) "work")
(data (i32.const 2052) "mark")
(func $execute (param i32 i32 i32 i32) (result i32)
  (call $open-directory (i32.const 2048) (i32.const 4) (i32.const 3072))
  (if (i32.load8_u (i32.const 3072)) (then unreachable))
  (call $open-at (i32.load (i32.const 3076)) (i32.const 0) (i32.const 2052) (i32.const 4) (i32.const 1) (i32.const 2)
    (i32.const 3072))
  (if (i32.load8_u (i32.const 3072)) (then unreachable))
  (call $answer (i32.const 0) (i32.const 2052) (i32.const 4)))
"#;

pub(crate) fn marks_component() -> Vec<u8> {
    component(&module(MARKS, &Manifest::of("marks").directory("work", false).tool(|tool| tool.required = 2)))
}

fn policy() -> String {
    format!("{ALLOW}[plugin.marks]\ndirectory.work = {{ path = \"work\", access = \"read-write\" }}\n")
}

/// The policy names a plugin that is refused when the host opens, and is installed later.
#[tokio::test]
async fn a_new_plugin_gets_what_the_policy_grants_it() {
    let site = Site::new();
    site.directory("work");
    put_bytes(&site, "marks", b"not yet");
    let host = site.open(&policy()).await;
    put_bytes(&site, "marks", &marks_component());
    put_bytes(&site, "twin", &component(&module(MARKS, &Manifest::of("twin").directory("work", false))));
    assert_eq!(host.reload().await.unwrap().added.len(), 2);
    assert_eq!(word(call(&host, "marks").await), "mark");
    assert!(site.path("work/mark").is_file());
    // The same bytes under another name. The policy grants this plugin nothing.
    assert_ne!(call(&host, "twin").await.code, Code::Completed);
}

/// The policy names a plugin that is not installed when the host opens, and a misspelled one.
#[tokio::test]
async fn a_policy_may_name_a_plugin_that_is_not_installed_and_the_host_warns() {
    let site = Site::new();
    site.directory("work");
    put(&site, "good", "one");
    let rules = "[[rule]]\ntool = \"marks.run\"\nwhen = { path = \"x\" }\ndecision = \"deny\"\n\
                 [[rule]]\ntool = \"gold.*\"\ndecision = \"deny\"\n";
    let host = site.open(&policy().replacen("[plugin.marks]", &format!("{rules}[plugin.marks]"), 1)).await;
    let warnings = || host.policy_warnings().iter().map(ToString::to_string).collect::<Vec<_>>();
    let [gold, marks] = &warnings()[..] else { panic!("{:?}", warnings()) };
    assert!(gold.contains("names the plugin `gold`") && gold.ends_with("Did you mean `good`?"), "{gold}");
    assert!(marks.contains("the plugin directory has no marks.wasm") && !marks.contains("Did you mean"), "{marks}");
    put_bytes(&site, "marks", &marks_component());
    assert_eq!(host.reload().await.unwrap().added.len(), 1);
    assert_eq!(warnings().len(), 1);
    assert_eq!(word(call(&host, "marks").await), "mark");
}

/// The user trusts a project's policy, and its link changes before the plugin is installed.
#[tokio::test]
async fn a_grant_of_a_project_opens_only_its_trusted_directory() {
    let site = Site::new();
    for folder in ["one", "two"] {
        site.directory(folder);
    }
    let link = site.path("work");
    let turn = |to: &str| {
        let _ = fs::remove_file(&link);
        symlink(to, &link).unwrap();
    };
    turn("one");
    let path = site.path("portcullis.toml");
    fs::write(&path, policy()).unwrap();
    let approvals = open_approvals(&site.state()).await.unwrap();
    approvals.trust_policy(&ProjectPolicy::read(&path).await.unwrap().unwrap()).await.unwrap();
    drop(approvals);
    let host = site.builder("").project_policy(&path).open().await.unwrap();
    assert_eq!(host.untrusted_policy(), None);
    turn("two");
    put_bytes(&site, "marks", &marks_component());
    host.reload().await.unwrap();
    assert_ne!(call(&host, "marks").await.code, Code::Completed);
    turn("one");
    host.reload().await.unwrap();
    assert_eq!(word(call(&host, "marks").await), "mark");
    assert!(site.path("one/mark").is_file() && !site.path("two/mark").exists());
}

#[tokio::test]
async fn a_plugin_whose_grants_cannot_be_opened_is_refused_until_they_can() {
    let site = Site::new();
    put_bytes(&site, "marks", b"not yet");
    let host = site.open(&policy()).await;
    put_bytes(&site, "marks", &marks_component());
    for _ in 0..2 {
        host.reload().await.unwrap();
        let reason = host.catalog().refusal("marks").unwrap().error.to_string();
        assert!(reason.contains("marks.work"), "{reason}");
        assert_eq!(call(&host, "marks").await.code, Code::PluginRefused);
    }
    // The plugin file does not change; only the directory that the policy names is created.
    site.directory("work");
    assert_eq!(host.reload().await.unwrap().added.len(), 1);
    assert_eq!(word(call(&host, "marks").await), "mark");
    // A version that does not declare what the policy binds.
    put(&site, "marks", "another");
    assert_eq!(host.reload().await.unwrap().refused, ["marks.wasm"]);
    assert_eq!(word(call(&host, "marks").await), "mark");
}

/// A plugin that the policy binds and its rules name can be removed.
#[tokio::test]
async fn a_plugin_that_the_policy_names_can_be_removed() {
    let site = Site::new();
    site.directory("work");
    put_bytes(&site, "marks", &marks_component());
    let rule = "[[rule]]\ntool = \"marks.run\"\nwhen = { path = \"x\" }\ndecision = \"deny\"\n";
    let host = site.open(&policy().replacen("[plugin.marks]", &format!("{rule}[plugin.marks]"), 1)).await;
    fs::remove_file(file(&site, "marks")).unwrap();
    assert_eq!(host.reload().await.unwrap().removed.len(), 1);
    put(&site, "other", "one");
    assert_eq!(host.reload().await.unwrap().added.len(), 1);
    assert_eq!(word(call(&host, "good").await), r#"{"go":"yes"}"#);
}

/// An approver with a constant answer, which records the requests.
struct Always(Mutex<Vec<Question>>);

impl Approver for Always {
    fn answer<'a>(&'a self, question: &'a Question) -> Answering<'a> {
        self.0.lock().unwrap().push(question.clone());
        Box::pin(std::future::ready(Answer::Always(Covers::Exact)))
    }
}

#[tokio::test]
async fn a_replaced_plugin_loses_its_remembered_approvals() {
    let site = Site::new();
    put(&site, "tool", "old");
    let person = Arc::new(Always(Mutex::default()));
    let asked = || std::mem::take(&mut *person.0.lock().unwrap());
    let policy = "[approvals]\nrepeats = 1000000\n[[rule]]\ntool = \"*.*\"\ndecision = \"ask\"\n";
    let host = site.builder(policy).approver(Arc::clone(&person) as _).open().await.unwrap();
    assert_eq!(word(call(&host, "tool").await), "old");
    assert_eq!(asked().len(), 1);
    assert_eq!(word(call(&host, "tool").await), "old");
    assert_eq!(asked().len(), 0);
    put(&site, "tool", "new");
    host.reload().await.unwrap();
    assert_eq!(word(call(&host, "tool").await), "new");
    let questions = asked();
    assert_eq!(questions.len(), 1);
    assert!(questions[0].changed.as_deref().is_some_and(|changed| changed.contains("the plugin changed")));
    // The approval was for the previous plugin. When that one is restored, the approval counts again.
    put(&site, "tool", "old");
    host.reload().await.unwrap();
    assert_eq!(word(call(&host, "tool").await), "old");
    assert_eq!(asked().len(), 0);
}

/// A directory that a plugin can write to does not become the plugin directory.
#[tokio::test]
async fn a_directory_within_a_grant_is_not_followed() {
    let site = Site::new();
    site.directory("work/plugins");
    put_bytes(&site, "marks", &marks_component());
    fs::write(site.path("work/plugins/evil.wasm"), says("evil", &Manifest::of("evil"))).unwrap();
    let host = site.open(&policy()).await;
    fs::rename(site.plugins(), site.path("aside")).unwrap();
    std::os::unix::fs::symlink(site.path("work/plugins"), site.plugins()).unwrap();
    for _ in 0..2 {
        let refused = host.reload().await.unwrap_err();
        assert!(matches!(refused, ReloadError::Covered { .. }), "{refused}");
        assert!(host.catalog().plugin("evil").is_none());
        assert_eq!(word(call(&host, "marks").await), "mark");
    }
}
