//! Opening a host: a wrong setting is an error of `open`, and a policy file may be optional.

use portcullis::plugins::WorkerError;
use portcullis::policy_files::PolicyReadError;
use portcullis::{Code, Compiler, Host, HostBuilder, OpenError, Request};
use portcullis_tests::{Site, allow_all};

fn builder(site: &Site) -> HostBuilder {
    Host::builder(site.plugins(), site.path("fresh")).compiler(Compiler::InProcess)
}

/// A test program has no `main` that begins with `portcullis::init()`. Started again, it would run its tests.
#[tokio::test]
async fn without_init_a_host_opens_only_with_another_compiler_than_the_worker() {
    let site = Site::new();
    let open = || Host::builder(site.plugins(), site.path("fresh")).policy_text(&allow_all(""), site.path("")).open();
    let error = open().await.expect_err("the host opened");
    assert!(matches!(error, OpenError::Compiler(WorkerError::NotInitialized)), "{error:?}");
    assert!(error.to_string().contains("call it as the first line of main, or choose Compiler::InProcess"), "{error}");
    assert!(!site.path("fresh").exists());
    let host = builder(&site).open().await.unwrap();
    assert!(host.catalog().plugins().any(|plugin| plugin.name().as_str() == "good"));
}

#[tokio::test]
async fn a_wrong_policy_text_is_an_error_of_open_and_creates_no_state() {
    let site = Site::new();
    let opened = builder(&site).policy_text("[[rule]]\ntool = 1\n", site.path("")).calls(2).open().await;
    assert!(matches!(opened, Err(OpenError::Policy(PolicyReadError::Policy { .. }))));
    assert!(!site.path("fresh").exists());
}

/// Only the policy that the host would use is checked.
#[tokio::test]
async fn the_last_policy_replaces_the_others() {
    let site = Site::new();
    let wrong = builder(&site).policy_text("no policy", site.path("")).policy_file(site.path("missing.toml"));
    let host = wrong.policy_text(&allow_all(""), site.path("")).open().await.unwrap();
    let reply = host.call(Request::new("good.run", "{}")).await;
    assert_eq!(reply.code, Code::Completed, "{}", reply.message);
}

#[tokio::test]
async fn a_required_policy_file_has_to_exist() {
    let site = Site::new();
    let path = site.path("missing.toml");
    match builder(&site).policy_file(&path).open().await {
        Err(OpenError::Policy(PolicyReadError::NoPolicy(missing))) => assert_eq!(missing, path),
        Err(error) => panic!("{error}"),
        Ok(_) => panic!("the host opened without its policy"),
    }
}

#[tokio::test]
async fn without_an_optional_policy_file_everything_is_denied() {
    let site = Site::new();
    let host = builder(&site).policy_file_if_exists(site.path("missing.toml")).open().await.unwrap();
    let reply = host.call(Request::new("good.run", "{}")).await;
    assert_eq!(reply.code, Code::PolicyDenied, "{}", reply.message);
}
