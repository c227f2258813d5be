//! A call as its client sees it, as a pure table: what each event changes, and what is then to be done.
//!
//! A request of the client waits in `Working`, `Form`, `Recording` and `Settled`. It is answered with the call's reply.
//! Before that, it can be answered with a form (`Parking`, then `Parked`) or with a task (`BecomingTask`, then `Task`).
//! A retry of the client takes a parked call back.
//!
//! Nothing here reads a clock, a ledger or a connection. [`super::drive`] turns what happens into events, and runs the
//! effects.

use super::ask_by::{AskBy, IfUnrecorded};
use SessionState::{BecomingTask, Cancelling, Ended, Form, Parked, Parking, Recording, Settled, Task, Working};
use portcullis::{Answer, Question};
use rmcp::ErrorData;
use std::sync::Arc;

/// The note of a denial, if no one may answer.
const NO_APPROVER: &str = "no approver is connected";

/// What the client of a call waits for, and what is being done about the call's approval request.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum SessionState {
    /// A request waits for the call, which works.
    Working,
    /// A request waits, and shows the client's user a form.
    Form(Arc<Question>),
    /// A request waits while the ledger records an answer.
    Recording(Arc<Question>, IfUnrecorded),
    /// A request waits. Nothing is left to do about the approval request: its answer was given, or other channels
    /// answer it.
    Settled(Arc<Question>),
    /// A request is about to be answered with a form.
    Parking(Arc<Question>),
    /// A request is about to be answered with a task.
    BecomingTask {
        /// The approval request about which nothing is left to do.
        settled: Option<Arc<Question>>,
        /// The approval request for which the call becomes a task. `None` if the call takes long.
        asks: Option<Arc<Question>>,
    },
    /// A request waits for a cancelled call to end.
    Cancelling,
    /// The client has this approval request as a form, and is expected to retry its request with an answer.
    Parked(Arc<Question>),
    /// The client polls a task. Nothing is left to do about this approval request.
    Task(Option<Arc<Question>>),
    /// The client has its result, or comes back no more.
    Ended,
}

/// What happens to a call or to its client.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum SessionEvent {
    /// The call does something else.
    Call(CallNews),
    /// The client's user has answered the form of an approval request, or the client could not show it.
    FormAnswered(Arc<Question>, Answer),
    /// The ledger has the answer, or does not need it because another channel was first.
    Recorded,
    /// The ledger cannot record the answer.
    Unrecorded(ErrorData),
    /// The call is kept for its client.
    Kept,
    /// No more calls can be kept.
    NoRoom,
    /// The call takes so long that its client gets a task.
    Deadline,
    /// The client has cancelled its request or disconnected, or the server stops.
    Unwanted,
    /// The client of a parked call retries its request, with its user's answer or without. The call does this now.
    Retried(Option<Answer>, CallNews),
    /// The client answers an approval request of its task.
    Updated(Arc<Question>, Answer),
    /// The client cancels its task.
    TaskCancelled,
    /// No one comes back: the request was dropped, the kept call has expired, or the server has ended.
    Dropped,
}

/// What a call does now.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum CallNews {
    /// It works. A request that it waited for is answered or withdrawn.
    Works,
    /// It waits for an approver, which is asked in this way.
    Asks(Arc<Question>, AskBy),
    /// It is over.
    Over,
    /// Its task has ended without a reply.
    Lost,
}

/// What is to be done.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum SessionEffect {
    /// Ask the client's user by a form.
    OpenForm(Arc<Question>),
    /// Close the form.
    CloseForm,
    /// Record an answer in the ledger.
    Record(Arc<Question>, Answer),
    /// Tell the client which other channels can answer.
    Tell(Arc<Question>),
    /// Keep the call until the client retries its request, and answer the request with the form.
    Park(Arc<Question>),
    /// Keep the call as a task, and answer the request with it.
    BecomeTask,
    /// Answer the request with the call's reply.
    Reply,
    /// Answer the request with an error.
    Fail(ErrorData),
    /// Cancel the call. It ends by itself.
    Cancel,
    /// End the call's task.
    Abort,
}

impl SessionState {
    /// Returns whether nothing is left to do about an approval request, although its call may not know yet.
    pub(crate) fn is_settled(&self, question: &Question) -> bool {
        match self {
            Self::Settled(settled) | Self::BecomingTask { settled: Some(settled), .. } | Self::Task(Some(settled)) => {
                settled.id == question.id
            }
            Self::Working
            | Self::Form(_)
            | Self::Recording(..)
            | Self::Parking(_)
            | Self::BecomingTask { settled: None, .. }
            | Self::Cancelling
            | Self::Parked(_)
            | Self::Task(None)
            | Self::Ended => false,
        }
    }
}

/// A state, and what is to be done, in this order.
type SessionStep = (SessionState, Vec<SessionEffect>);

/// Returns the state after an event, and what is to be done, in this order.
pub(crate) fn step(state: SessionState, event: SessionEvent) -> SessionStep {
    match event {
        SessionEvent::Call(news) => called(state, news),
        SessionEvent::FormAnswered(answered, answer) => form_answered(state, &answered, answer),
        SessionEvent::Recorded => recorded(state),
        SessionEvent::Unrecorded(error) => unrecorded(state, error),
        SessionEvent::Kept => kept(state),
        SessionEvent::NoRoom => not_kept(state),
        SessionEvent::Deadline => late(state),
        SessionEvent::Unwanted => unwanted(state),
        SessionEvent::Retried(answer, news) => retried(state, answer, news),
        SessionEvent::Updated(asked, answer) => updated(state, asked, answer),
        SessionEvent::TaskCancelled => task_cancelled(state),
        SessionEvent::Dropped => dropped(state),
    }
}

/// The call asks, goes on or ends. This only matters to a request that waits.
fn called(state: SessionState, news: CallNews) -> SessionStep {
    match (state, news) {
        (Form(_), news) => {
            let (state, mut effects) = follow(news);
            effects.insert(0, SessionEffect::CloseForm);
            (state, effects)
        }
        // The call waits again for what is just being answered.
        (Recording(asked, otherwise), CallNews::Asks(again, _)) if again.id == asked.id => {
            ignore(Recording(asked, otherwise))
        }
        (Working | Recording(..) | Settled(_), news) => follow(news),
        (Cancelling, news @ (CallNews::Over | CallNews::Lost)) => follow(news),
        (Cancelling, CallNews::Works | CallNews::Asks(..)) => ignore(Cancelling),
        (state @ (Parking(_) | BecomingTask { .. } | Parked(_) | Task(_) | Ended), _) => ignore(state),
    }
}

/// The answer to a form that was closed meanwhile is ignored.
fn form_answered(state: SessionState, answered: &Question, answer: Answer) -> SessionStep {
    match state {
        Form(asked) if asked.id == answered.id => record(asked, answer, IfUnrecorded::Wait),
        Form(_) | Working | Recording(..) | Settled(_) | Cancelling => ignore(state),
        Parking(_) | BecomingTask { .. } | Parked(_) | Task(_) | Ended => ignore(state),
    }
}

fn recorded(state: SessionState) -> SessionStep {
    match state {
        Recording(asked, _) => (Settled(asked), Vec::new()),
        Working | Form(_) | Settled(_) | Cancelling => ignore(state),
        Parking(_) | BecomingTask { .. } | Parked(_) | Task(_) | Ended => ignore(state),
    }
}

/// A denial or a retry whose answer cannot be recorded fails. A form's answer then has no effect.
fn unrecorded(state: SessionState, error: ErrorData) -> SessionStep {
    match state {
        Recording(asked, IfUnrecorded::Wait) => (Settled(asked), Vec::new()),
        Recording(_, IfUnrecorded::Fail) => (Ended, vec![SessionEffect::Abort, SessionEffect::Fail(error)]),
        Working | Form(_) | Settled(_) | Cancelling => ignore(state),
        Parking(_) | BecomingTask { .. } | Parked(_) | Task(_) | Ended => ignore(state),
    }
}

fn kept(state: SessionState) -> SessionStep {
    match state {
        Parking(asked) => (Parked(asked), Vec::new()),
        BecomingTask { settled, .. } => (Task(settled), Vec::new()),
        Working | Form(_) | Recording(..) | Settled(_) | Cancelling => ignore(state),
        Parked(_) | Task(_) | Ended => ignore(state),
    }
}

/// The request goes on waiting.
fn not_kept(state: SessionState) -> SessionStep {
    match state {
        Parking(asked) | BecomingTask { asks: Some(asked), .. } => leave(asked),
        BecomingTask { settled, asks: None } => (settled.map_or(Working, Settled), Vec::new()),
        Working | Form(_) | Recording(..) | Settled(_) | Cancelling => ignore(state),
        Parked(_) | Task(_) | Ended => ignore(state),
    }
}

fn late(state: SessionState) -> SessionStep {
    let settled = match state {
        Working => None,
        Settled(asked) => Some(asked),
        Form(_) | Recording(..) | Cancelling => return ignore(state),
        Parking(_) | BecomingTask { .. } | Parked(_) | Task(_) | Ended => return ignore(state),
    };
    (BecomingTask { settled, asks: None }, vec![SessionEffect::BecomeTask])
}

/// A cancelled call ends by itself, and its request waits until then.
fn unwanted(state: SessionState) -> SessionStep {
    match state {
        Form(_) => (Cancelling, vec![SessionEffect::CloseForm, SessionEffect::Cancel]),
        Working | Recording(..) | Settled(_) => (Cancelling, vec![SessionEffect::Cancel]),
        Parking(_) | BecomingTask { .. } | Cancelling | Parked(_) | Task(_) | Ended => ignore(state),
    }
}

/// Without an answer, the client is asked again. An answer to a request that is no longer open has no effect.
fn retried(state: SessionState, answer: Option<Answer>, news: CallNews) -> SessionStep {
    match (state, answer, news) {
        (Parked(asked), Some(answer), CallNews::Asks(open, _)) if open.id == asked.id => {
            record(asked, answer, IfUnrecorded::Fail)
        }
        (Parked(_), _, news) => follow(news),
        (state @ (Working | Form(_) | Recording(..) | Settled(_) | Cancelling), _, _) => ignore(state),
        (state @ (Parking(_) | BecomingTask { .. } | Task(_) | Ended), _, _) => ignore(state),
    }
}

/// The client of a task answers each request once.
fn updated(state: SessionState, asked: Arc<Question>, answer: Answer) -> SessionStep {
    match state {
        Task(Some(settled)) if settled.id == asked.id => ignore(Task(Some(settled))),
        Task(_) => (Task(Some(Arc::clone(&asked))), vec![SessionEffect::Record(asked, answer)]),
        Working | Form(_) | Recording(..) | Settled(_) | Cancelling => ignore(state),
        Parking(_) | BecomingTask { .. } | Parked(_) | Ended => ignore(state),
    }
}

fn task_cancelled(state: SessionState) -> SessionStep {
    match state {
        Task(_) => (state, vec![SessionEffect::Cancel]),
        Working | Form(_) | Recording(..) | Settled(_) | Cancelling => ignore(state),
        Parking(_) | BecomingTask { .. } | Parked(_) | Ended => ignore(state),
    }
}

/// Dropping the request has closed its form.
fn dropped(state: SessionState) -> SessionStep {
    match state {
        Working | Form(_) | Recording(..) | Settled(_) | Cancelling => (Ended, vec![SessionEffect::Abort]),
        Parking(_) | BecomingTask { .. } | Parked(_) | Task(_) => (Ended, vec![SessionEffect::Abort]),
        Ended => ignore(state),
    }
}

/// The event came too late, or was never for this state.
fn ignore(state: SessionState) -> SessionStep {
    (state, Vec::new())
}

/// Returns what a request does that waits for the call, and about nothing else.
fn follow(news: CallNews) -> SessionStep {
    match news {
        CallNews::Works => (Working, Vec::new()),
        CallNews::Over => (Ended, vec![SessionEffect::Reply]),
        CallNews::Lost => (Ended, vec![SessionEffect::Fail(lost())]),
        CallNews::Asks(asked, by) => match by {
            AskBy::Form => (Form(Arc::clone(&asked)), vec![SessionEffect::OpenForm(asked)]),
            AskBy::Result => (Parking(Arc::clone(&asked)), vec![SessionEffect::Park(asked)]),
            AskBy::Task => (BecomingTask { settled: None, asks: Some(asked) }, vec![SessionEffect::BecomeTask]),
            AskBy::Elsewhere => leave(asked),
            AskBy::NoOne(otherwise) => record(asked, Answer::No { note: Some(NO_APPROVER.to_owned()) }, otherwise),
        },
    }
}

/// Leaves an approval request to the other channels.
fn leave(asked: Arc<Question>) -> SessionStep {
    (Settled(Arc::clone(&asked)), vec![SessionEffect::Tell(asked)])
}

fn record(asked: Arc<Question>, answer: Answer, otherwise: IfUnrecorded) -> SessionStep {
    (Recording(Arc::clone(&asked), otherwise), vec![SessionEffect::Record(asked, answer)])
}

/// The message to a client about a call that has ended without a reply.
pub(crate) const LOST: &str = "the call was lost: the process that ran it has ended, or its task failed. It may have had \
                               effects, so check them before you make it again";

/// Returns the error for a call that has ended without a reply.
pub(super) fn lost() -> ErrorData {
    ErrorData::internal_error(LOST, None)
}

#[cfg(test)]
mod table;
