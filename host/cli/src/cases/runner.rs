//! Running cases: the calls of each, and what they left.

use super::case::{Case, Reaction, Step};
use super::file::Located;
use super::kept;
use super::policy::Places;
use super::verdict::{self, Left};
use super::world::{Prepared, World};
use portcullis::approvals::Answering;
use portcullis::events::{EventKind, Events, Progress};
use portcullis::plugins::Observer;
use portcullis::policy::PluginName;
use portcullis::{Answer, Approver, Cancellation, Compiler, Host};
use portcullis::{Question, Reply, Request};
use std::convert::Infallible;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// What a case came to.
pub(crate) struct Finished {
    /// Everything that was not as expected; nothing where the case passed.
    pub(crate) problems: Vec<String>,
    /// How the last call ended; nothing where none was made.
    pub(crate) end: Option<End>,
    /// What its calls printed and logged, where the case failed.
    pub(crate) log: String,
    pub(crate) time: Duration,
}

/// How a call ended, in the host's words.
pub(crate) struct End {
    pub(crate) outcome: &'static str,
    pub(crate) code: &'static str,
}

/// Runs the cases of one component.
pub(crate) struct Runner {
    world: World,
    cases: usize,
}

impl Runner {
    /// For a component, under the name of its plugin. Cases are given nothing from outside the project.
    ///
    /// # Errors
    /// There is no room for what the cases need, or the component cannot be loaded.
    pub(crate) async fn open(
        plugin: PluginName,
        component: &Path,
        project: &Path,
        compiler: Compiler,
        observer: Arc<dyn Observer>,
    ) -> anyhow::Result<Self> {
        Ok(Self { world: World::open(plugin, component, project, compiler, observer).await?, cases: 0 })
    }

    /// Runs a case.
    pub(crate) async fn run(&mut self, located: &Located) -> Finished {
        let begun = Instant::now();
        self.cases += 1;
        let mut finished = match self.world.prepare(located).await {
            Ok(Prepared { host, places, case, .. }) => self.play(&host, &places, &case).await,
            Err(error) => {
                let problem = format!("the case cannot be set up: {error:#}");
                Finished { problems: vec![problem], end: None, log: String::new(), time: Duration::ZERO }
            }
        };
        finished.time = begun.elapsed();
        finished
    }

    async fn play(&self, host: &Host, places: &Places, case: &Case) -> Finished {
        let (mut problems, mut log, mut end) = (Vec::new(), String::new(), None);
        let several = case.steps.len() > 1;
        for (index, step) in case.steps.iter().enumerate() {
            let (reply, progress) = self.call(host, step).await;
            let printed = if step.expect.log.is_empty() { None } else { Some(kept::printed(host, &reply)) };
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
                let printed = printed.unwrap_or_else(|| kept::printed(host, &reply));
                log.push_str(&printed.lines());
            }
            let label =
                |problem| if several { format!("step {}, {}: {problem}", index + 1, step.tool) } else { problem };
            problems.extend(found.into_iter().map(label));
            end = Some(End { outcome: reply.outcome().as_str(), code: reply.code.as_str() });
        }
        Finished { problems, end, log, time: Duration::ZERO }
    }

    fn session(&self) -> String {
        format!("case-{}", self.cases)
    }

    /// Makes the call of a step, and hears what it reports.
    async fn call(&self, host: &Host, step: &Step) -> (Reply, Vec<Arc<Progress>>) {
        let arguments = match (&step.arguments_text, &step.arguments) {
            (Some(text), _) => text.clone(),
            (None, Some(value)) => value.to_string(),
            (None, None) => "{}".to_owned(),
        };
        let cancellation = Cancellation::new();
        let mut request = Request::new(format!("{}.{}", self.world.plugin, step.tool), arguments)
            .session(&self.session())
            .cancellation(cancellation.clone());
        if let Some(message) = &step.message {
            request = request.message(message);
        }
        if let Some(agent) = &step.agent {
            request = request.agent(agent);
        }
        if !step.answer.is_empty() {
            request = request.approver(Arc::new(Person::new(&step.answer)));
        }
        let (request, events) = request.watched();
        let cancel = async {
            if let Some(milliseconds) = step.cancel_after_ms {
                tokio::time::sleep(Duration::from_millis(milliseconds)).await;
                cancellation.cancel();
            }
            std::future::pending::<Infallible>().await
        };
        tokio::select! {
            ended = async { tokio::join!(host.call(request), heard(events)) } => ended,
            never = cancel => match never {},
        }
    }
}

/// A person who knows beforehand what they will say: to each question in turn, and the last of it to all that follow.
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

/// Every report of a call, until it is over.
async fn heard(mut events: Events) -> Vec<Arc<Progress>> {
    let mut reports = Vec::new();
    while let Some(event) = events.next().await {
        if let EventKind::Progress(progress) = event.kind {
            reports.push(progress);
        }
    }
    reports
}
