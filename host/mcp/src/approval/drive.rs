//! Drives a call for a request of its client: turns what happens into events of [`super::session`], and runs the
//! effects, until the request is answered.

use super::called::Called;
use super::elicit::elicit;
use super::form::waits_elsewhere;
use super::running::RunningCall;
use super::session::{SessionEffect, SessionEvent, lost};
use super::spoken::Spoken;
use super::{answer, rounds};
use crate::tasks;
use portcullis::{Answer, Question};
use rmcp::ErrorData;
use std::future::{Future, pending};
use std::pin::Pin;
use std::sync::Arc;
use tokio::time::{Instant, sleep_until};
use tokio_util::sync::CancellationToken;

/// Follows a call until it is over, or until its request is answered with a task or a form. `first` is what the request
/// brings.
pub(super) async fn drive(
    spoken: &Spoken<'_>,
    mut running: RunningCall,
    first: Option<SessionEvent>,
) -> Result<Called, ErrorData> {
    let mut sources = EventSources::of(spoken);
    let mut next = first;
    loop {
        let event = match next.take() {
            Some(event) => event,
            None => sources.next(&mut running).await,
        };
        for effect in running.step(event) {
            match effect {
                SessionEffect::OpenForm(question) => sources.begin(ask(spoken, question)),
                SessionEffect::CloseForm => sources.under_way = None,
                SessionEffect::Record(question, answer) => sources.begin(record(spoken, question, answer)),
                SessionEffect::Tell(question) => sources.begin(tell(spoken, question)),
                SessionEffect::Park(question) => match rounds::park(spoken, running, &question).await {
                    Ok(required) => return Ok(Called::InputRequired(required)),
                    Err(back) => (running, next) = (back, Some(SessionEvent::NoRoom)),
                },
                SessionEffect::BecomeTask => {
                    match tasks::begin(spoken.server, (spoken.named, spoken.cx), running).await {
                        Ok(task) => return Ok(Called::Task(task)),
                        Err(back) => (running, next) = (back, Some(SessionEvent::NoRoom)),
                    }
                }
                SessionEffect::Reply => return running.into_reply().map(Called::Reply).ok_or_else(lost),
                SessionEffect::Fail(error) => return Err(error),
                SessionEffect::Cancel => running.cancel(),
                SessionEffect::Abort => running.abort(),
            }
        }
    }
}

async fn ask(spoken: &Spoken<'_>, question: Arc<Question>) -> Option<SessionEvent> {
    let answer = elicit(spoken, &question).await;
    Some(SessionEvent::FormAnswered(question, answer))
}

async fn record(spoken: &Spoken<'_>, question: Arc<Question>, answer: Answer) -> Option<SessionEvent> {
    let given = answer::give(spoken.server, &spoken.named.caller.principal, &question, answer).await;
    Some(given.map_or_else(SessionEvent::Unrecorded, |()| SessionEvent::Recorded))
}

async fn tell(spoken: &Spoken<'_>, question: Arc<Question>) -> Option<SessionEvent> {
    spoken.say(&waits_elsewhere(&spoken.server.inner().host, &question)).await;
    None
}

/// An effect that takes time, and the event that it ends with.
type EffectUnderWay<'a> = Pin<Box<dyn Future<Output = Option<SessionEvent>> + Send + 'a>>;

/// Where the events of a request come from.
struct EventSources<'a> {
    spoken: &'a Spoken<'a>,
    /// The last effect that takes time. Dropping it closes a form, but does not stop the ledger.
    under_way: Option<EffectUnderWay<'a>>,
    /// When the call becomes a task. `None` if the client supports none, or after that time.
    deadline: Option<Instant>,
    /// Cancelled when the client cancels or disconnects, or when the server stops. `None` after that.
    unwanted: Option<&'a CancellationToken>,
}

impl<'a> EventSources<'a> {
    fn of(spoken: &'a Spoken<'a>) -> Self {
        let deadline = spoken.client.tasks.then(|| Instant::now() + spoken.server.inner().options.task_after);
        Self { spoken, under_way: None, deadline, unwanted: Some(spoken.unwanted) }
    }

    /// Begins an effect in place of the one before.
    fn begin(&mut self, effect: impl Future<Output = Option<SessionEvent>> + Send + 'a) {
        self.under_way = Some(Box::pin(effect));
    }

    /// Waits for the next event. What the call does comes first, because an answer from another channel closes the form
    /// whatever the form says. The deadline comes last, because it must not cut off an effect.
    async fn next(&mut self, running: &mut RunningCall) -> SessionEvent {
        loop {
            tokio::select! {
                biased;
                phase = running.next_phase() => return SessionEvent::Call(self.spoken.news(phase)),
                event = ended(&mut self.under_way) => {
                    self.under_way = None;
                    if let Some(event) = event {
                        return event;
                    }
                }
                () = told(self.unwanted) => {
                    self.unwanted = None;
                    return SessionEvent::Unwanted;
                }
                () = reached(self.deadline), if self.under_way.is_none() => {
                    self.deadline = None;
                    return SessionEvent::Deadline;
                }
            }
        }
    }
}

async fn ended(effect: &mut Option<EffectUnderWay<'_>>) -> Option<SessionEvent> {
    match effect {
        Some(effect) => effect.await,
        None => pending().await,
    }
}

async fn told(token: Option<&CancellationToken>) {
    match token {
        Some(token) => token.cancelled().await,
        None => pending().await,
    }
}

async fn reached(instant: Option<Instant>) {
    match instant {
        // A timer of the past fires only with the next tick of the clock, so that a short call would be over first.
        Some(instant) if instant <= Instant::now() => {}
        Some(instant) => sleep_until(instant).await,
        None => pending().await,
    }
}
