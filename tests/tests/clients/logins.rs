//! Servers that need a login, with a real authorization server: logging in, renewals, logging out, and attacks on each.

#[path = "logins/attacks.rs"]
mod attacks;

#[path = "logins/command.rs"]
mod command;

#[path = "logins/office.rs"]
mod office;

#[path = "logins/user.rs"]
mod user;

use office::{LoginOffice, refusal, whoami};
use portcullis::logins::LoginStatus;
use portcullis::{Code, Host};
use portcullis_tests::{assert_verifies, outcome_of};
use std::fs;
use std::path::Path;
use std::time::Duration;

#[tokio::test]
async fn a_user_logs_in_and_a_watching_host_uses_the_login_at_once() {
    let office = LoginOffice::new("honest");
    let host = office.open().await;
    let _watch = host.watch();
    assert!(
        refusal(&host).contains("the host is not logged in to desk: run `portcullis login desk`"),
        "{}",
        refusal(&host)
    );
    let status = office.log_in(&host).await.unwrap();
    let LoginStatus::LoggedIn { issuer, scopes, ends_at } = &status else { panic!("{status:?}") };
    assert_eq!((issuer, &scopes[..], ends_at), (&office.issuer, &["tools".to_owned()][..], &None));
    wait_for_tools(&host).await;
    let reply = whoami(&host).await;
    assert_eq!((reply.code, reply.message.contains("ann")), (Code::Completed, true), "{}", reply.message);
    let outcome = outcome_of(&host, &reply.id);
    assert!(outcome.to_string().contains(&office.mcp), "the request is recorded: {outcome}");
    let resources = office.seen().await["resources"].clone();
    assert_eq!(resources, serde_json::json!([office.mcp]), "the token is for this server only");
    assert_verifies(&host);
}

#[tokio::test]
async fn a_token_is_encrypted_in_the_state_directory_and_reaches_no_caller() {
    let office = LoginOffice::new("honest");
    let host = office.logged_in().await;
    assert_eq!(whoami(&host).await.code, Code::Completed);
    drop(host);
    let mut kept = Vec::new();
    collect(&office.site.state(), &mut kept);
    let login = kept.iter().find(|(path, _)| path.contains("/logins/")).expect("the login is kept");
    assert!(login.1.len() > 500);
    for (path, bytes) in &kept {
        let text = String::from_utf8_lossy(bytes);
        assert!(!text.contains("access_token") && !text.contains("refresh_token"), "{path}");
    }
}

#[tokio::test]
async fn a_token_that_has_ended_is_renewed_once_for_all_calls_of_all_hosts() {
    let office = LoginOffice::new("honest");
    let hosts = [office.logged_in().await, office.open().await, office.open().await];
    office.control("expire").await;
    let calls = hosts.iter().flat_map(|host| (0..4).map(move |_| whoami(host)));
    for reply in join_all(calls).await {
        assert_eq!(reply.code, Code::Completed, "{}", reply.message);
    }
    let seen = office.seen().await;
    assert_eq!((&seen["refreshes"], &seen["refused_refreshes"]), (&1.into(), &0.into()), "{seen}");
}

#[tokio::test]
async fn a_renewal_goes_on_when_its_call_is_given_up() {
    let office = LoginOffice::new("honest");
    let host = office.logged_in().await;
    office.control("expire").await;
    for wait in [1, 3, 5, 8, 12, 20] {
        // The authorization server takes a token for a renewal only once. If its answer were lost, the login would be.
        let _ = tokio::time::timeout(Duration::from_millis(wait), whoami(&host)).await;
    }
    let reply = whoami(&host).await;
    assert_eq!(reply.code, Code::Completed, "{}", reply.message);
    let seen = office.seen().await;
    assert_eq!(seen["refused_refreshes"], 0, "{seen}");
}

#[tokio::test]
async fn a_login_that_was_revoked_is_reported_and_another_one_is_used_at_once() {
    let office = LoginOffice::new("honest");
    let host = office.logged_in().await;
    office.control("revoke").await;
    let reply = whoami(&host).await;
    assert_eq!(
        (reply.code, reply.message.contains("run `portcullis login desk`")),
        (Code::ToolUnavailable, true),
        "{}",
        { reply.message }
    );
    office.log_in(&host).await.unwrap();
    let reply = whoami(&host).await;
    assert_eq!(reply.code, Code::Completed, "{}", reply.message);
}

#[tokio::test]
async fn a_logout_revokes_the_token_and_every_host_stops_using_it() {
    let office = LoginOffice::new("honest");
    let (host, other) = (office.logged_in().await, office.open().await);
    let desk = "desk".parse().unwrap();
    let done = host.log_out(&desk).await.unwrap();
    assert_eq!((done.was_logged_in, done.is_revoked, done.fault), (true, true, None));
    for host in [&host, &other] {
        let reply = whoami(host).await;
        let is_told = reply.message.contains("the host is not logged in to desk");
        assert_eq!((reply.code, is_told), (Code::ToolUnavailable, true), "{}", reply.message);
    }
    assert_eq!(host.login_status(&desk).await.unwrap(), LoginStatus::LoggedOut);
    assert!(!host.log_out(&desk).await.unwrap().was_logged_in);
}

#[tokio::test]
async fn a_client_with_a_secret_renews_with_its_secret() {
    let office = LoginOffice::new("confidential");
    let host = office.logged_in().await;
    office.control("expire").await;
    let reply = whoami(&host).await;
    assert_eq!(reply.code, Code::Completed, "{}", reply.message);
}

#[tokio::test]
async fn a_login_after_a_demand_for_more_asks_for_more() {
    let office = LoginOffice::new("honest");
    let host = office.logged_in().await;
    office.control("scope").await;
    let reply = whoami(&host).await;
    assert!(reply.message.contains("log in to it again"), "{}", reply.message);
    let offer = host.offer_login(&"desk".parse().unwrap(), office::REDIRECT.to_owned()).await.unwrap();
    assert_eq!(offer.scopes(), ["tools", "offline_access", "admin"]);
}

async fn wait_for_tools(host: &Host) {
    let listed = async {
        while host.catalog().plugin("desk").is_none() {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(20), listed).await.expect("the host lists the tools");
}

async fn join_all<T>(futures: impl Iterator<Item = impl Future<Output = T>>) -> Vec<T> {
    let mut futures: Vec<_> = futures.map(Box::pin).collect();
    let mut done: Vec<Option<T>> = futures.iter().map(|_| None).collect();
    std::future::poll_fn(|context| {
        for (future, done) in futures.iter_mut().zip(&mut done).filter(|(_, done)| done.is_none()) {
            if let std::task::Poll::Ready(value) = future.as_mut().poll(context) {
                *done = Some(value);
            }
        }
        if done.iter().all(Option::is_some) { std::task::Poll::Ready(()) } else { std::task::Poll::Pending }
    })
    .await;
    done.into_iter().flatten().collect()
}

fn collect(folder: &Path, files: &mut Vec<(String, Vec<u8>)>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => collect(&path, files),
            false => files.push((path.display().to_string(), fs::read(&path).unwrap_or_default())),
        }
    }
}
