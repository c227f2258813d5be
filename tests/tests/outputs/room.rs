//! The space for kept outputs, shared by several processes, and what a killed process leaves.

use crate::outputs::desk::{LOCAL, all_lines, bytes_of, call, files, lines, open, policy, reference, site};
use portcullis::outputs::{OutputError, Reader};
use portcullis::policy::Principal;
use portcullis::{Compiler, Host, Request};
use portcullis_tests::{BlockOn, place};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::{env, fs};

/// The variable that names the site to a child process.
const ROOT: &str = "PORTCULLIS_TEST_OUTPUTS_ROOT";

fn is_kept(host: &Host, session: &str, id: &str) -> bool {
    match host.outputs().get(Reader { session, principal: &LOCAL }, id).block_on() {
        Ok(_) => true,
        Err(OutputError::Unknown(_)) => false,
        Err(error) => panic!("{error}"),
    }
}

async fn lines_in(host: &Host, session: &str, count: u64) -> String {
    let arguments = json!({ "count": count, "bytes": 64 }).to_string();
    reference(&host.call(Request::new("scribe.lines", arguments).session(session)).await)
}

#[tokio::test]
async fn the_oldest_outputs_are_removed_first_those_of_the_same_session() {
    let site = site().await;
    // Space for ten outputs of 100 KiB, and for five of one session.
    let host = site.builder(&policy()).outputs_bytes(1_000 << 10).open().await.unwrap();
    let count = 1600;
    let first = lines_in(&host, "quiet", count).await;
    let mut own = Vec::new();
    for _ in 0..12 {
        own.push(lines_in(&host, "loud", count).await);
    }
    assert!(is_kept(&host, "quiet", &first), "an output of another session was removed");
    let kept: Vec<bool> = own.iter().map(|id| is_kept(&host, "loud", id)).collect();
    assert_eq!(kept.iter().filter(|kept| **kept).count(), kept.iter().rev().take_while(|kept| **kept).count());
    assert!((3..=5).contains(&kept.iter().filter(|kept| **kept).count()), "{kept:?}");
    for session in 0..12 {
        lines_in(&host, &format!("other-{session}"), count).await;
    }
    assert!(!is_kept(&host, "quiet", &first), "the oldest was not removed");
    let bytes: u64 =
        fs::read_dir(site.state().join("outputs")).unwrap().map(|file| file.unwrap().metadata().unwrap().len()).sum();
    assert!(bytes <= 1_000 << 10, "{bytes}");
    // An output that is larger than the whole space is not kept, and nothing is removed for it.
    let before = files(&site);
    let reply = lines(&host, 20_000).await;
    assert!(reply.message.contains("no room"), "{}", reply.message);
    assert!(before.iter().all(|file| files(&site).contains(file)) || reply.reference.is_some());
}

#[tokio::test]
async fn a_principal_with_many_outputs_removes_only_its_own() {
    let site = site().await;
    // Space for ten outputs of 100 KiB.
    let host = site.builder(&policy()).outputs_bytes(1_000 << 10).open().await.unwrap();
    let (quiet, loud): (Principal, Principal) = ("quiet".parse().unwrap(), "loud".parse().unwrap());
    let keep = async |principal: &Principal, session: &str| {
        let arguments = json!({ "count": 1600, "bytes": 64 }).to_string();
        reference(
            &host.call(Request::new("scribe.lines", arguments).session(session).principal(principal.clone())).await,
        )
    };
    // Both principals use one session, as with `serve --session`.
    let first = keep(&quiet, "s").await;
    for session in ["s", "s", "s", "s", "s", "s"].into_iter().map(str::to_owned).chain((0..20).map(|n| n.to_string())) {
        keep(&loud, &session).await;
    }
    assert!(host.outputs().get(Reader { session: "s", principal: &quiet }, &first).await.is_ok());
}

#[tokio::test]
async fn a_returned_text_that_cannot_be_kept_is_cut_with_a_notice() {
    let site = site().await;
    let host = site.builder(&policy()).outputs_bytes(8 << 10).open().await.unwrap();
    let reply = call(&host, "scribe.returned", json!({ "bytes": 64_000 })).await;
    assert_eq!(reply.code, portcullis::Code::Completed, "{}", reply.message);
    assert_eq!(reply.reference, None);
    assert!(reply.message.contains("are lost: there is no room for it"), "{}", reply.message);
    assert_eq!(files(&site), [""; 0]);
}

#[tokio::test]
async fn if_the_directory_cannot_be_written_only_the_rest_of_an_output_is_lost() {
    let site = site().await;
    let host = open(&site).await;
    let outputs = site.state().join("outputs");
    // Whatever its rights, a process cannot create a file in a deleted directory.
    fs::remove_dir(&outputs).unwrap();
    let reply = call(&host, "scribe.returned", json!({ "bytes": 64_000 })).await;
    assert_eq!(reply.code, portcullis::Code::Completed, "{}", reply.message);
    assert!(reply.message.contains("are lost: the host could not write it"), "{}", reply.message);
    assert_eq!(host.outputs().list(Reader { session: "default", principal: &LOCAL }).await.unwrap(), []);
    let reply = lines(&host, 1000).await;
    assert!(reply.message.contains("lost"), "{}", reply.message);
}

#[tokio::test]
async fn an_output_outlives_its_process_and_can_be_read_by_another() {
    let site = site().await;
    let one = open(&site).await;
    let id = reference(&lines(&one, 1000).await);
    let two = open(&site).await;
    assert_eq!(bytes_of(&two, &id), all_lines(1000).as_bytes());
    drop(one);
    assert_eq!(bytes_of(&open(&site).await, &id), all_lines(1000).as_bytes());
}

/// This process is either the child, which writes endlessly, or the parent, which kills it.
#[tokio::test]
async fn nothing_is_left_of_an_output_whose_writer_was_killed() {
    if let Some(root) = env::var_os(ROOT) {
        let root = PathBuf::from(root);
        let builder = Host::builder(root.join("plugins"), place(root.join("state"))).compiler(Compiler::InProcess);
        let host = builder.policy_text(&policy(), &root).open().await.unwrap();
        // Write more than is passed on, so that it goes to the disk, and then wait.
        let arguments = json!({ "pieces": [vec![b'x'; 10_000]], "then": "wait" }).to_string();
        host.call(Request::new("scribe.pieces", arguments)).await;
        return;
    }
    let site = site().await;
    let kept = reference(&lines(&open(&site).await, 100).await);
    let mut child = Command::new(env::current_exe().unwrap())
        .args(["--exact", "outputs::room::nothing_is_left_of_an_output_whose_writer_was_killed", "--test-threads=1"])
        .env(ROOT, site.path(""))
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    while files(&site).len() < 2 {
        assert!(child.try_wait().unwrap().is_none(), "the child has ended");
        tokio::task::yield_now().await;
    }
    // Another host that opens at the same time does not remove it.
    let beside = open(&site).await;
    drop(open(&site).await);
    assert_eq!(files(&site).len(), 2);
    kill_process(Pid::from_child(&child), Signal::KILL).unwrap();
    child.wait().unwrap();
    assert_eq!(files(&site).len(), 2, "the child's files must exist");
    let host = open(&site).await;
    assert_eq!(files(&site), std::slice::from_ref(&kept));
    assert!(is_kept(&host, "default", &kept));
    drop(beside);
}

#[tokio::test]
async fn files_without_a_row_and_rows_without_a_file_are_removed() {
    let site = site().await;
    let host = open(&site).await;
    let (gone, stays) = (reference(&lines(&host, 100).await), reference(&lines(&host, 200).await));
    drop(host);
    let outputs = site.state().join("outputs");
    fs::remove_file(outputs.join(&gone)).unwrap();
    fs::write(outputs.join("0".repeat(32)), "unowned").unwrap();
    fs::write(outputs.join("notes.txt"), "a person's").unwrap();
    let host = open(&site).await;
    assert!(!is_kept(&host, "default", &gone));
    assert!(is_kept(&host, "default", &stays));
    let mut left = vec![stays, "notes.txt".to_owned()];
    left.sort();
    assert_eq!(files(&site), left);
}
