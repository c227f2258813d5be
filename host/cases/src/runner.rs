//! Runs cases: makes their calls and checks the results.

use super::case::{CaseCall, Reaction, TestCase};
use super::file::LocatedCase;
use super::kept;
use super::policy::Places;
use super::verdict::{self, Left};
use super::world::{Prepared, World};
use portcullis::approvals::Answering;
use portcullis::events::{EventKind, Events, Progress};
use portcullis::plugins::Observer;
use portcullis::policy::PluginName;
use portcullis::{Answer, Approver, Cancellation, Code, Compiler, Host};
use portcullis::{Outcome, Question, Reply};
use std::convert::Infallible;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// Concurrent calls of each host: a runner makes one call after the other.
const CALLS_PER_HOST: u32 = 1;

/// The result of a case. Its texts may have been written by the plugin.
#[derive(Debug)]
pub struct CaseVerdict {
    /// All differences from the expected results. Empty if the case passed.
    pub problems: Vec<String>,
    /// The end of the last call. `None` if no call was made.
    pub end: Option<CallEnd>,
    /// What its calls printed and logged, if the case failed.
    pub log: String,
    /// How long the case took.
    pub time: Duration,
}

impl CaseVerdict {
    /// Returns whether every result was as expected.
    pub fn passed(&self) -> bool {
        self.problems.is_empty()
    }
}

/// The outcome and code of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CallEnd {
    /// The outcome.
    pub outcome: Outcome,
    /// The code.
    pub code: Code,
}

/// Runs the cases of one component.
pub struct CaseRunner {
    world: World,
    cases: usize,
}

impl CaseRunner {
    /// Creates a runner for a component under its plugin's name. Cases can use files of the project only.
    ///
    /// # Errors
    /// [`RefusedComponent`](crate::RefusedComponent) if the host refuses the component. Otherwise, the temporary files
    /// cannot be created, or the host cannot open.
    pub async fn open(
        plugin: PluginName,
        component: Vec<u8>,
        project: &Path,
        compiler: Compiler,
        observer: Arc<dyn Observer>,
    ) -> anyhow::Result<Self> {
        Ok(Self { world: World::open(plugin, component, project, compiler, observer, CALLS_PER_HOST).await?, cases: 0 })
    }

    /// Runs a case.
    pub async fn run(&mut self, located: &LocatedCase) -> CaseVerdict {
        let begun = Instant::now();
        self.cases += 1;
        let mut finished = match self.world.prepare(located).await {
            Ok(Prepared { host, places, case, .. }) => self.play(&host, &places, &case).await,
            Err(error) => {
                let problem = format!("the case cannot be set up: {error:#}");
                CaseVerdict { problems: vec![problem], end: None, log: String::new(), time: Duration::ZERO }
            }
        };
        finished.time = begun.elapsed();
        finished
    }

    async fn play(&self, host: &Host, places: &Places, case: &TestCase) -> CaseVerdict {
        let (mut problems, mut log, mut end) = (Vec::new(), String::new(), None);
        let several = case.steps.len() > 1;
        for (index, step) in case.steps.iter().enumerate() {
            let (reply, progress) = self.call(host, step).await;
            // This reads the whole audit log, so do it now only for a case that expects something in it.
            let printed = if step.expect.log.is_empty() { None } else { Some(kept::printed(host, &reply).await) };
            let text = match step.expect.wants_whole_text() {
                true => kept::whole(host, &self.session(), &reply).await,
                false => Ok(None),
            };
            let left = Left {
                reply: &reply,
                text,
                log: printed.as_ref().map(|printed| printed.text.as_str()),
                progress: &progress,
                requests: &self.world.requests(places),
                directories: &places.directories,
            };
            let found = verdict::problems(&step.expect, &left);
            if !found.is_empty() {
                let printed = match printed {
                    Some(printed) => printed,
                    None => kept::printed(host, &reply).await,
                };
                log.push_str(&printed.lines());
            }
            let label =
                |problem| if several { format!("step {}, {}: {problem}", index + 1, step.tool) } else { problem };
            problems.extend(found.into_iter().map(label));
            end = Some(CallEnd { outcome: reply.outcome(), code: reply.code });
        }
        CaseVerdict { problems, end, log, time: Duration::ZERO }
    }

    fn session(&self) -> String {
        // Cases share a host and its state. A session of its own keeps the store of one case from the next.
        format!("case-{}", self.cases)
    }

    /// Makes the call of a step and collects its progress reports.
    async fn call(&self, host: &Host, step: &CaseCall) -> (Reply, Vec<Arc<Progress>>) {
        let cancellation = Cancellation::new();
        let request = step.request(&self.world.plugin).session(&self.session());
        let mut request = request.cancellation(cancellation.clone());
        if !step.answer.is_empty() {
            request = request.approver(Arc::new(Person::new(&step.answer)));
        }
        let (request, events) = request.watched();
        let cancel = async {
            if let Some(milliseconds) = step.cancel_after_ms {
                tokio::time::sleep(Duration::from_millis(milliseconds)).await;
                cancellation.cancel();
            }
            // Never finish: after a cancellation, the case is still decided by the reply of the call.
            std::future::pending::<Infallible>().await
        };
        tokio::select! {
            ended = async { tokio::join!(host.call(request), heard(events)) } => ended,
            never = cancel => match never {},
        }
    }
}

/// An approver with prepared answers, one for each request in turn. The last one also answers all further requests.
struct Person {
    reactions: Vec<Reaction>,
    answered: AtomicUsize,
}

impl Person {
    fn new(reactions: &[Reaction]) -> Self {
        Self { reactions: reactions.to_vec(), answered: AtomicUsize::new(0) }
    }
}

impl Approver for Person {
    fn answer<'a>(&'a self, _: &'a Question) -> Answering<'a> {
        let turn = self.answered.fetch_add(1, Ordering::Relaxed);
        let answer = match self.reactions.get(turn).or(self.reactions.last()) {
            Some(Reaction::Approve) => Answer::Yes,
            Some(Reaction::Reject) | None => Answer::No { note: None },
        };
        Box::pin(std::future::ready(answer))
    }
}

/// Collects the progress reports of a call until it ends.
async fn heard(mut events: Events) -> Vec<Arc<Progress>> {
    let mut reports = Vec::new();
    while let Some(event) = events.next().await {
        if let EventKind::Progress(progress) = event.kind {
            reports.push(progress);
        }
    }
    reports
}
