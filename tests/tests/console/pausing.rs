//! The pause of all calls: in the file and in running hosts at once, resumed after a look, and refused with a reason.

use crate::console::desk::{ConsoleDesk, SignedIn};
use crate::console::program::ConsoleProgram;
use crate::guard::ask::PATIENCE;
use portcullis::{Compiler, Host, Request};
use portcullis_tests::{Site, allow_all};
use serde_json::Value;
use std::fs;
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::time::timeout;

/// The first line of a policy that the console paused.
const PAUSED: &str = "paused = \"paused by the user\"\n";

fn text(site: &Site) -> String {
    fs::read_to_string(site.path("policy.toml")).unwrap()
}

/// Returns a site with a policy that allows every call, and its console.
fn start(policy: &str) -> (Site, ConsoleProgram) {
    let site = Site::new();
    fs::write(site.path("policy.toml"), policy).unwrap();
    let console = ConsoleProgram::start_with(&site, "0", &["--policy", "policy.toml"]);
    (site, console)
}

async fn press_pause(signed_in: &SignedIn) {
    let csrf = signed_in.get("/log").await.field("csrf");
    let response = signed_in.post("/pause", &[("csrf", &csrf), ("back", "/log")]).await.is(303);
    assert_eq!(response.header("Location"), Some("/log"));
}

/// Resumes what the page shows now.
async fn press_resume(signed_in: &SignedIn) -> String {
    let page = signed_in.get("/resume").await.is(200);
    let (csrf, policy) = (page.field("csrf"), page.field("policy"));
    signed_in.post("/resume", &[("csrf", &csrf), ("policy", &policy)]).await.is(303);
    page.body
}

/// Makes calls in a running host until one has this code.
async fn until(host: &Host, code: &str) {
    let reached = timeout(PATIENCE, async {
        while host.call(Request::new("good.run", "{}")).await.code.as_str() != code {
            tokio::task::yield_now().await;
        }
    });
    reached.await.unwrap_or_else(|_| panic!("no call was {code}"));
}

#[tokio::test]
async fn a_running_host_refuses_calls_from_the_pause_until_it_is_resumed() {
    let policy = allow_all("time = \"60 s\"");
    let (site, mut console) = start(&policy);
    let host = Host::builder(site.plugins(), site.state()).compiler(Compiler::InProcess);
    let host = host.policy_file(site.path("policy.toml")).open().await.unwrap();
    let _watch = host.watch();
    until(&host, "completed").await;
    let signed_in = console.sign_in().await;
    let page = signed_in.get("/live").await.is(200).body;
    assert!(page.contains("Pause all calls") && !page.contains("href=\"/resume\""), "{page}");
    press_pause(&signed_in).await;
    assert_eq!(text(&site), format!("{PAUSED}{policy}"));
    until(&host, "paused").await;
    let page = signed_in.get("/live").await.is(200).body;
    assert!(page.contains("Running servers refuse every new call"), "the notice: {page}");
    assert!(page.contains("The user policy says: paused by the user"), "the state: {page}");
    assert!(page.contains("href=\"/resume\"") && !page.contains("Pause all calls"), "{page}");
    // Only the page changes nothing.
    let page = signed_in.get("/resume").await.is(200).body;
    assert!(page.contains("<span class=\"away\">removed: </span>paused = &quot;paused by the user&quot;"), "{page}");
    assert_eq!(text(&site), format!("{PAUSED}{policy}"));
    press_resume(&signed_in).await;
    assert_eq!(text(&site), policy);
    until(&host, "completed").await;
    assert!(signed_in.told().await.contains("Resumed."));
    assert!(signed_in.get("/resume").await.is(200).body.contains("nothing to resume"));
}

#[tokio::test]
async fn a_pause_of_another_program_reaches_an_open_page() {
    let policy = allow_all("");
    let (site, mut console) = start(&policy);
    let signed_in = console.sign_in().await;
    let (_, stream) = signed_in.request("GET", "/events").open(signed_in.address).await;
    let mut lines = BufReader::new(stream).lines();
    let mut until = async |paused: bool| loop {
        let line = timeout(PATIENCE, lines.next_line()).await.unwrap().unwrap().expect("the stream stays open");
        if let Some(data) = line.strip_prefix("data: ")
            && serde_json::from_str::<Value>(data).unwrap()["paused"] == paused
        {
            return;
        }
    };
    until(false).await;
    fs::write(site.path("policy.toml"), format!("paused = \"elsewhere\"\n{policy}")).unwrap();
    until(true).await;
    assert!(signed_in.get("/inbox").await.body.contains("Paused"));
    fs::write(site.path("policy.toml"), &policy).unwrap();
    until(false).await;
}

#[tokio::test]
async fn a_policy_that_cannot_be_edited_is_unchanged_and_the_page_says_why() {
    let broken = "[[rule]\n";
    let (site, mut console) = start(broken);
    let signed_in = console.sign_in().await;
    let csrf = signed_in.get("/log").await.field("csrf");
    press_pause(&signed_in).await;
    let told = signed_in.told().await;
    assert!(told.contains("Not paused: the policy has an error") && told.contains("correct it first"), "{told}");
    assert_eq!(text(&site), broken);

    // A running server keeps the paused policy as long as the file is no policy that it can use.
    let unusable = format!("{PAUSED}[[rule]]\ntool = \"good.rnu\"\ndecision = \"allow\"\n");
    fs::write(site.path("policy.toml"), &unusable).unwrap();
    let page = signed_in.get("/resume").await.is(200);
    assert!(page.body.contains("servers cannot use this policy"), "{}", page.body);
    assert!(!page.body.contains("Resume all calls"), "{}", page.body);
    signed_in.post("/resume", &[("csrf", &csrf), ("policy", "")]).await.is(303);
    assert!(signed_in.told().await.contains("Not resumed: servers cannot use this policy"));
    assert_eq!(text(&site), unusable);
}

#[tokio::test]
async fn without_a_place_for_a_policy_the_page_says_how_to_name_one() {
    let site = Site::new();
    let mut console = ConsoleProgram::start_with(&site, "0", &[]);
    let signed_in = console.sign_in().await;
    press_pause(&signed_in).await;
    let told = signed_in.told().await;
    assert!(told.contains("Not paused: there is no HOME for your policy: name a file with --policy FILE"), "{told}");
}

/// A pause with another reason is another pause.
#[tokio::test]
async fn a_policy_that_changed_after_the_page_is_not_resumed() {
    let policy = allow_all("");
    let (site, mut console) = start(&format!("{PAUSED}{policy}"));
    let signed_in = console.sign_in().await;
    let page = signed_in.get("/resume").await.is(200);
    let (csrf, seen) = (page.field("csrf"), page.field("policy"));
    let changed = format!("paused = \"something is wrong\"\n{policy}");
    fs::write(site.path("policy.toml"), &changed).unwrap();
    for policy in [seen.as_str(), ""] {
        let response = signed_in.post("/resume", &[("csrf", &csrf), ("policy", policy)]).await.is(303);
        assert_eq!(response.header("Location"), Some("/resume"));
        assert!(signed_in.told().await.contains("the policy changed since you looked"));
        assert_eq!(text(&site), changed);
    }
    assert!(press_resume(&signed_in).await.contains("something is wrong"));
    assert_eq!(text(&site), policy);
}

/// The pause of a project is not the user's to end.
#[tokio::test]
async fn a_pause_of_the_project_says_which_file_to_edit() {
    let site = Site::new();
    fs::write(site.path("portcullis.toml"), "paused = \"review me\"\n").unwrap();
    let mut console = ConsoleProgram::start_with(&site, "0", &["--project", "."]);
    let signed_in = console.sign_in().await;
    let page = signed_in.get("/resume").await.is(200).body;
    assert!(page.contains("review me") && !page.contains("Resume all calls"), "{page}");
    assert!(page.contains("It cannot be resumed here: "), "{page}");
}

#[tokio::test]
async fn a_console_that_may_not_resume_pauses_and_names_the_command() {
    let desk = ConsoleDesk::new().await;
    let signed_in = desk.sign_in().await;
    let csrf = signed_in.get("/log").await.field("csrf");
    press_pause(&signed_in).await;
    let page = signed_in.get("/resume").await.is(200);
    assert!(page.body.contains("The operator resumes with <code>portcullis resume</code>"), "{}", page.body);
    assert!(!page.body.contains("action=\"/resume\""), "{}", page.body);
    let response = signed_in.post("/resume", &[("csrf", &csrf), ("policy", "")]).await.is(403);
    assert!(response.body.contains("portcullis resume"), "{}", response.body);
    assert!(signed_in.get("/live").await.body.contains("paused by a test"), "it stays paused");
}

#[tokio::test]
async fn the_pause_returns_to_a_section_and_nowhere_else() {
    let desk = ConsoleDesk::new().await;
    let signed_in = desk.sign_in().await;
    let csrf = signed_in.get("/log").await.field("csrf");
    for back in ["http://evil.example/", "//evil.example", "/sign-out", ""] {
        let response = signed_in.post("/pause", &[("csrf", &csrf), ("back", back)]).await.is(303);
        assert_eq!(response.header("Location"), Some("/live"), "{back}");
    }
}
