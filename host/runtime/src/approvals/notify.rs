//! Runs the policy's command for a new approval request, for chats, phones and other channels. It only tells: an answer
//! comes from a channel that answers.
//!
//! The call never waits for the command. The command gets one JSON document on its standard input, and none of the
//! host's environment except the variables that programs need to be found and to find their user.

use super::case::ApprovalCase;
use portcullis_sandbox::ProcessGroup;
use serde_json::{Value, json};
use std::ffi::OsString;
use std::io;
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::AsyncWriteExt;
use tokio::process::{Child, Command};
use tokio::sync::Semaphore;
use tokio::time::timeout;

/// Maximum time of one command. It sends a message, and does not wait for a person.
const NOTIFY_TIME_MAX: Duration = Duration::from_secs(10);

/// Maximum commands of a host that run at the same time.
const NOTIFIERS_MAX: usize = 4;

/// Maximum requests that wait for a command or have one. A person learns of the others there.
const NOTIFIED_MAX: usize = 64;

/// The version of the JSON document.
const DOCUMENT_VERSION: u32 = 1;

/// The variables of the host that the command gets.
const VARIABLES: [&str; 3] = ["HOME", "LANG", "PATH"];

/// Runs the commands of one host.
pub(super) struct RequestNotifier {
    running: Arc<Semaphore>,
    waiting: Arc<Semaphore>,
}

impl Default for RequestNotifier {
    fn default() -> Self {
        Self { running: Arc::new(Semaphore::new(NOTIFIERS_MAX)), waiting: Arc::new(Semaphore::new(NOTIFIED_MAX)) }
    }
}

impl RequestNotifier {
    /// Waits until every command that was begun is over.
    pub(super) async fn settled(&self) {
        let all = u32::try_from(NOTIFIED_MAX).unwrap_or(u32::MAX);
        // The semaphore is never closed.
        let _ = self.waiting.acquire_many(all).await;
    }

    /// Begins to run the command of the policy for a new request, if there is one.
    ///
    /// # Panics
    /// Outside of a tokio runtime.
    pub(super) fn notify(&self, case: &ApprovalCase) {
        if case.notify.is_empty() {
            return;
        }
        let Ok(place) = Arc::clone(&self.waiting).try_acquire_owned() else { return };
        let (words, document, running) =
            (Arc::clone(&case.notify), document(case).to_string(), Arc::clone(&self.running));
        tokio::spawn(async move {
            let _place = place;
            // The semaphore is never closed. Each command ahead of this one takes at most ten seconds.
            let _running = running.acquire().await;
            // Nothing depends on the command, and its failure is its own to tell.
            let _ = timeout(NOTIFY_TIME_MAX, run(&words, document.as_bytes())).await;
        });
    }
}

/// Returns the document that the command reads. The arguments are those that a remembered approval would show.
fn document(case: &ApprovalCase) -> Value {
    let question = &case.question;
    json!({
        "version": DOCUMENT_VERSION,
        "event": "approval-request",
        "request": question.id,
        "call": question.call,
        "session": question.session,
        "principal": question.principal,
        "origin": question.origin,
        "agent": question.agent,
        "tool": question.tool,
        "permissions": question.permissions,
        "targets": question.targets,
        "arguments": case.covered_text,
        "subject": question.subject,
        "reason": question.reason,
    })
}

async fn run(words: &[String], input: &[u8]) -> io::Result<()> {
    let mut child = start(words)?;
    // Declared after the child, so that the group is killed before the child is dropped.
    let group = ProcessGroup::of(&child)?;
    if let Some(mut stdin) = child.stdin.take() {
        // A command need not read it.
        let _ = stdin.write_all(input).await;
    }
    group.leader_ended().await?;
    drop(group);
    child.wait().await.map(drop)
}

#[expect(clippy::disallowed_methods, reason = "the user's policy names the program that tells a person of a request")]
fn start(words: &[String]) -> io::Result<Child> {
    let (program, arguments) = words.split_first().ok_or(io::ErrorKind::InvalidInput)?;
    let mut command = Command::new(program);
    let kept: Vec<(&str, OsString)> =
        VARIABLES.into_iter().filter_map(|name| Some((name, std::env::var_os(name)?))).collect();
    // `run` kills this process group, and with it everything that the command has started.
    command.args(arguments).env_clear().envs(kept).current_dir("/").process_group(0).kill_on_drop(true);
    // The host's standard output may be the pipe of an MCP client, so the command must not inherit it.
    command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
    command.spawn()
}
