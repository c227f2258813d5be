//! This test program as a child process: it performs one task on its parent's site, reports its progress, and can be
//! stopped and killed at every step.

use crate::approvals::desk::{
    ALLOW, ASK, GRANT, alone, builder_at, mark, numbered, open, policy, policy_with, question_in,
};
use crate::approvals::people::Person;
use portcullis::approvals::Answering;
use portcullis::hooks::Hooking;
use portcullis::open_approvals;
use portcullis::policy::Unattended;
use portcullis::{Answer, Approver, Code, Covers, Hook, HookCall, Hooked, Host, Question, Reply, Request};
use portcullis_tests::{BlockOn, place};
use rustix::process::{Pid, Signal, WaitOptions, kill_process, waitpid};
use seccompiler::{BpfProgram, SeccompAction, SeccompFilter};
use std::collections::{BTreeMap, BTreeSet};
use std::env;
use std::io::{self, BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{ChildStdout, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The environment variables that give a child its task, the root of the site, and a number or an ID.
const ORDER: &str = "PORTCULLIS_TEST_ORDER";
const ROOT: &str = "PORTCULLIS_TEST_ROOT";
const ABOUT: &str = "PORTCULLIS_TEST_ABOUT";

/// The prefix of a child's output lines, which distinguishes them from the test harness's output.
const SIGN: &str = "@child ";

/// The task of a child.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Order {
    /// Prints a greeting.
    Greet,
    /// Uses an approver that reports the request and never answers.
    AskAnApprover,
    /// Makes calls that wait for an answer from another process. Reports when all wait, and when they have ended.
    AskElsewhere,
    /// Does the same with one call, whose approval expires soon.
    AskBriefly,
    /// Makes one call of a tool that asks while it runs, and waits for an answer from another process.
    AskInTheMiddle,
    /// Makes one call of a tool that never ends, and approves it immediately.
    RunForEver,
    /// Runs an approved call, with a hook that blocks before it.
    StayBefore,
    /// Runs an approved call, with a hook that blocks after it.
    StayAfter,
    /// Runs an approved call.
    Resume,
    /// Makes calls in every way, and reports after each step.
    Churn,
    /// Answers, revokes and lists concurrently with its parent.
    Settle,
    /// Revokes a remembered approval as soon as a file `go` exists.
    Revoke,
    /// Makes calls under a rate limit for some seconds, from the time a file `go` exists.
    CallQuickly,
    /// Makes a call and anchors the audit log. Then does both again, while no file can be synced to the disk.
    AnchorUnsynced,
}

impl Order {
    const ALL: [Self; 14] = [
        Self::Greet,
        Self::AskAnApprover,
        Self::AskElsewhere,
        Self::AskBriefly,
        Self::AskInTheMiddle,
        Self::RunForEver,
        Self::StayBefore,
        Self::StayAfter,
        Self::Resume,
        Self::Churn,
        Self::Settle,
        Self::Revoke,
        Self::CallQuickly,
        Self::AnchorUnsynced,
    ];

    /// Returns the task of this process, if it is a child.
    fn given() -> Option<Self> {
        let order = env::var(ORDER).ok()?;
        Self::ALL.into_iter().find(|known| format!("{known:?}") == order)
    }
}

/// A running child. Killed on drop.
pub(crate) struct Child {
    process: std::process::Child,
    lines: io::Lines<BufReader<ChildStdout>>,
}

impl Child {
    pub(crate) fn start(order: Order, root: &Path, about: &str) -> Self {
        Self::start_with(order, root, about, &[])
    }

    /// Starts a child with these variables.
    pub(crate) fn start_with(order: Order, root: &Path, about: &str, variables: &[(&str, String)]) -> Self {
        let mut command = Command::new(env::current_exe().unwrap());
        command.args(["--exact", "approvals::child::a_child_performs_its_task", "--nocapture", "--test-threads=1"]);
        command.env(ORDER, format!("{order:?}")).env(ROOT, root).env(ABOUT, about);
        command.envs(variables.iter().map(|(name, value)| (name, value)));
        command.stdin(Stdio::null()).stdout(Stdio::piped());
        let mut process = command.spawn().unwrap();
        let lines = BufReader::new(process.stdout.take().unwrap()).lines();
        Self { process, lines }
    }

    /// Returns the next report, or `None` if the child has ended.
    pub(crate) fn says(&mut self) -> Option<String> {
        self.lines.by_ref().map_while(Result::ok).find_map(|line| {
            let (_, said) = line.split_once(SIGN)?;
            Some(said.to_owned())
        })
    }

    /// Waits for this report.
    #[track_caller]
    pub(crate) fn until(&mut self, word: &str) -> String {
        while let Some(said) = self.says() {
            if let Some(rest) = said.strip_prefix(word) {
                return rest.trim().to_owned();
            }
        }
        panic!("the child ended before it reported {word}");
    }

    /// Sends SIGSTOP, and waits until the child has stopped.
    pub(crate) fn stop(&self) {
        kill_process(self.pid(), Signal::STOP).unwrap();
        let (_, status) = waitpid(Some(self.pid()), WaitOptions::UNTRACED).unwrap().unwrap();
        assert!(status.stopped(), "{status:?}");
    }

    /// Resumes the child.
    pub(crate) fn go_on(&self) {
        kill_process(self.pid(), Signal::CONT).unwrap();
    }

    /// Kills the child. Returns its unread reports.
    pub(crate) fn kill(&mut self) -> Vec<String> {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
        std::iter::from_fn(|| self.says()).collect()
    }

    /// Waits for the child to exit successfully.
    pub(crate) fn ends(mut self) -> Vec<String> {
        let said = std::iter::from_fn(|| self.says()).collect();
        assert!(self.process.wait().unwrap().success(), "{said:?}");
        said
    }

    fn pid(&self) -> Pid {
        Pid::from_child(&self.process)
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// What children have reported.
#[derive(Default)]
pub(crate) struct Reported {
    pub(crate) pending: BTreeMap<String, usize>,
    pub(crate) approved: BTreeSet<String>,
    pub(crate) completed: BTreeSet<usize>,
    pub(crate) refused: usize,
    pub(crate) done: usize,
}

impl Reported {
    pub(crate) fn hear(&mut self, said: &str) {
        let words: Vec<&str> = said.split(' ').collect();
        match words[..] {
            ["pending", id, number] => drop(self.pending.insert(id.to_owned(), number.parse().unwrap())),
            ["approved", id] => drop(self.approved.insert(id.to_owned())),
            ["called", number, "completed"] => drop(self.completed.insert(number.parse().unwrap())),
            ["resumed", id, "completed"] => drop(self.completed.insert(self.pending[id])),
            // The database was lost in the middle of a change, and nothing was changed.
            ["called", _, "record-unavailable"] | ["resumed", _, "record-unavailable"] => self.refused += 1,
            ["refused", ..] => self.refused += 1,
            ["done"] => self.done += 1,
            _ => panic!("{said}"),
        }
    }
}

/// Writes a report directly to stdout, because the test harness may capture what is printed.
fn say(text: &str) {
    let mut out = io::stdout().lock();
    writeln!(out, "{SIGN}{text}").and_then(|()| out.flush()).unwrap();
}

/// Blocks forever: the parent decides when this ends.
fn stay() -> ! {
    loop {
        std::thread::park();
    }
}

/// In a child process, performs its task. In a parent, starts a child and checks it.
#[test]
fn a_child_performs_its_task() {
    let Some(order) = Order::given() else {
        let mut child = Child::start(Order::Greet, Path::new("/"), "you");
        assert_eq!(child.until("hello"), "you");
        child.ends();
        return;
    };
    let (root, about) = (PathBuf::from(env::var_os(ROOT).unwrap()), env::var(ABOUT).unwrap());
    match order {
        Order::Greet => say(&format!("hello {about}")),
        Order::AskAnApprover => alone(ask_an_approver(&root)),
        Order::AskElsewhere => alone(ask_elsewhere(&root, &policy(ASK), about.parse().unwrap())),
        Order::AskBriefly => alone(ask_elsewhere(&root, &brief(), 1)),
        Order::AskInTheMiddle => alone(ask_in_the_middle(&root, &about)),
        Order::RunForEver => alone(run_for_ever(&root)),
        Order::StayBefore | Order::StayAfter => alone(resume_with_a_hook(&root, &about, order == Order::StayBefore)),
        Order::Resume => alone(resume(&root, &about)),
        Order::Churn => alone(churn(&root, about.parse().unwrap())),
        Order::Settle => settle(&root, about.parse().unwrap()),
        Order::Revoke => revoke(&root, &about),
        Order::CallQuickly => {
            let (seconds, rate) = about.split_once(' ').unwrap();
            alone(call_quickly(&root, seconds.parse().unwrap(), rate));
        }
        Order::AnchorUnsynced => alone(anchor_unsynced(&root)),
    }
}

/// An approver that reports the request and never answers.
struct Speechless;

impl Approver for Speechless {
    fn answer<'a>(&'a self, question: &'a Question) -> Answering<'a> {
        say(&format!("asked {}", question.id));
        Box::pin(std::future::pending())
    }
}

async fn ask_an_approver(root: &Path) {
    let host = open(builder_at(root, &policy(ASK)).approver(Arc::new(Speechless))).await;
    host.call(mark(1)).await;
}

/// Returns a policy whose approval requests expire after two seconds.
fn brief() -> String {
    let policy = policy_with("repeats = 1000000\npending-time = \"2 s\"", GRANT, ASK);
    policy.replace("[limits]", "[limits]\napproval-time = \"2 s\"")
}

async fn ask_elsewhere(root: &Path, policy: &str, count: usize) {
    let host = Arc::new(open(builder_at(root, policy).answered_elsewhere()).await);
    let call = |number| {
        let host = Arc::clone(&host);
        async move { host.call(mark(number).session(&format!("{}", number / 500))).await.code }
    };
    let mut calls = tokio::task::JoinSet::new();
    (0..count).for_each(|number| drop(calls.spawn(call(number))));
    let waiting = || (host.approvals().list().block_on().unwrap().questions.len() == count).then_some(());
    portcullis_tests::eventually_async("all questions", waiting).await;
    say("asked");
    while let Some(code) = calls.join_next().await {
        say(&format!("ended {}", code.unwrap()));
    }
}

async fn ask_in_the_middle(root: &Path, rules: &str) {
    let host = open(builder_at(root, &policy(rules)).answered_elsewhere()).await;
    let call = host.call(Request::new("asks.run", crate::approvals::crash::ARGUMENTS_IN_THE_MIDDLE));
    let asked = async {
        crate::approvals::desk::the_question(host.approvals()).await;
        say("asked");
    };
    let (reply, ()) = tokio::join!(call, asked);
    say(&format!("ended {}", reply.code));
}

async fn run_for_ever(root: &Path) {
    let person = Person::who_says(Answer::Yes);
    let host = open(builder_at(root, &policy(ASK)).approver(person)).await;
    host.call(Request::new("stays.run", numbered(1))).await;
}

/// A hook that reports its position, and blocks there.
struct Stays {
    before: bool,
}

impl Stays {
    fn hook(&self, here: bool) -> Hooking<'_> {
        if here {
            say("there");
            stay();
        }
        Box::pin(std::future::ready(Hooked::pass()))
    }
}

impl Hook for Stays {
    fn before<'a>(&'a self, _: &'a HookCall<'a>) -> Hooking<'a> {
        self.hook(self.before)
    }

    fn after<'a>(&'a self, _: &'a HookCall<'a>, _: &'a Reply) -> Hooking<'a> {
        self.hook(!self.before)
    }
}

async fn resume_with_a_hook(root: &Path, id: &str, before: bool) {
    let host =
        open(builder_at(root, &policy(ASK)).unattended(Unattended::Pending).hook(Arc::new(Stays { before }))).await;
    drop(host.resume(id).await);
}

async fn resume(root: &Path, id: &str) {
    let host = open(builder_at(root, &policy(ASK)).unattended(Unattended::Pending)).await;
    match host.resume(id).await {
        Ok(reply) => say(&format!("resumed {}", reply.code)),
        Err(error) => say(&format!("refused {error}")),
    }
}

/// Makes calls at a rate of this many in a second, as fast as they are allowed. Reports how many were made.
async fn call_quickly(root: &Path, seconds: u64, rate: &str) {
    let rules = format!("{ALLOW}[[rate-limit]]\nrate = '{rate}/s'\n");
    let host = open(builder_at(root, &policy(&rules))).await;
    say("open");
    while !root.join("go").exists() {
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
    let (begun, mut made) = (Instant::now(), 0);
    while begun.elapsed() < Duration::from_secs(seconds) {
        made += u32::from(host.call(mark(1)).await.code == Code::Completed);
        tokio::time::sleep(Duration::from_millis(3)).await;
    }
    say(&format!("made {made}"));
}

async fn anchor_unsynced(root: &Path) {
    let host = open(builder_at(root, &policy(ALLOW))).await;
    host.call(mark(1)).await;
    host.anchor_audit().await;
    say("synced");
    refuse_to_sync();
    host.call(mark(2)).await;
    host.anchor_audit().await;
    say("unsynced");
    stay();
}

/// Lets `fdatasync` fail in this process from now on, as a broken disk does.
fn refuse_to_sync() {
    let (rules, failure) = (BTreeMap::from([(libc::SYS_fdatasync, Vec::new())]), libc::EIO.cast_unsigned());
    let arch = env::consts::ARCH.try_into().unwrap();
    let filter = SeccompFilter::new(rules, SeccompAction::Allow, SeccompAction::Errno(failure), arch).unwrap();
    seccompiler::apply_filter_all_threads(&BpfProgram::try_from(filter).unwrap()).unwrap();
}

/// Makes calls that are approved while they wait, and pending calls that are approved and then run. Each has a unique
/// number.
async fn churn(root: &Path, first: usize) {
    let person = Person::who_says(Answer::Yes);
    let waiting = open(builder_at(root, &policy(ASK)).approver(person)).await;
    let headless = open(builder_at(root, &policy(ASK)).unattended(Unattended::Pending)).await;
    say("begun");
    for number in first..first + 12 {
        match number % 3 {
            0 => say(&format!("called {number} {}", waiting.call(mark(number)).await.code)),
            1 => drop(leave(&headless, number).await),
            _ => {
                let Some(id) = leave(&headless, number).await else { continue };
                if let Err(error) = headless.approvals().answer(&id, &Answer::Yes).await {
                    say(&format!("refused {error}"));
                    continue;
                }
                say(&format!("approved {id}"));
                match headless.resume(&id).await {
                    Ok(reply) => say(&format!("resumed {id} {}", reply.code)),
                    Err(error) => say(&format!("refused {error}")),
                }
            }
        }
    }
    say("done");
    stay();
}

async fn leave(host: &Host, number: usize) -> Option<String> {
    let reply = host.call(mark(number)).await;
    if reply.code != Code::ApprovalPending {
        say(&format!("called {number} {}", reply.code));
        return None;
    }
    let id = question_in(&reply);
    say(&format!("pending {id} {number}"));
    Some(id)
}

fn revoke(root: &Path, id: &str) {
    let approvals = open_approvals(place(root.join("state"))).block_on().unwrap();
    say("open");
    portcullis_tests::eventually("the file", || root.join("go").exists().then_some(()));
    approvals.revoke(id).block_on().unwrap();
    say("revoked");
}

/// In each round, answers the open requests, revokes every second approval, and lists. Counts only the answers that
/// came first.
fn settle(root: &Path, rounds: usize) {
    let approvals = open_approvals(place(root.join("state"))).block_on().unwrap();
    say("begun");
    let (mut answered, mut revoked) = (0, 0);
    for _ in 0..rounds {
        let listing = approvals.list().block_on().unwrap();
        assert!(listing.faults.is_empty(), "{:?}", listing.faults);
        for question in &listing.questions {
            answered += usize::from(approvals.answer(&question.id, &Answer::Always(Covers::Exact)).block_on().is_ok());
        }
        for held in listing.answers.iter().step_by(2) {
            revoked += usize::from(approvals.revoke(&held.id).block_on().is_ok());
        }
    }
    say(&format!("settled {answered} {revoked}"));
}
