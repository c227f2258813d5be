//! What each state does with each event.

use super::super::answer::tests::question;
use super::*;
use std::collections::BTreeMap;

/// Each event, and under it the states that it finds with what they become and what is to be done, or that ignore it.
/// The states are about the approval request `a`. `attended` and the like stand for the states in [`GROUPS`].
const TABLE: &str = "
# The call goes on, because another channel was first, or a new policy decided. An open form is closed.
works
    working recording(a,wait) recording(a,fail) settled(a) -> working
    form(a) -> working: close
    handing cancelling stored ended ignore

# A second call joined the request, so the call waits for it anew. An answer on its way still counts.
asks(a,form)
    working settled(a) -> form(a): open(a)
    form(a) -> form(a): close open(a)
    recording(a,wait) recording(a,fail) handing cancelling stored ended ignore

# The call asks for something else, whatever is being done about the first request.
asks(b,form)
    working recording(a,wait) recording(a,fail) settled(a) -> form(b): open(b)
    form(a) -> form(b): close open(b)
    handing cancelling stored ended ignore
asks(b,result)
    working recording(a,wait) recording(a,fail) settled(a) -> parking(b): park(b)
    form(a) -> parking(b): close park(b)
    handing cancelling stored ended ignore
asks(b,task)
    working recording(a,wait) recording(a,fail) settled(a) -> becoming(asks=b): become-task
    form(a) -> becoming(asks=b): close become-task
    handing cancelling stored ended ignore
asks(b,elsewhere)
    working recording(a,wait) recording(a,fail) settled(a) -> settled(b): tell(b)
    form(a) -> settled(b): close tell(b)
    handing cancelling stored ended ignore
asks(b,no-one,wait)
    working recording(a,wait) recording(a,fail) settled(a) -> recording(b,wait): record(b,no)
    form(a) -> recording(b,wait): close record(b,no)
    handing cancelling stored ended ignore
asks(b,no-one,fail)
    working recording(a,wait) recording(a,fail) settled(a) -> recording(b,fail): record(b,no)
    form(a) -> recording(b,fail): close record(b,no)
    handing cancelling stored ended ignore

# The call ends: it ran, was denied, timed out or was cancelled. This comes before the answer that is being recorded.
over
    working recording(a,wait) recording(a,fail) settled(a) cancelling -> ended: reply
    form(a) -> ended: close reply
    handing stored ended ignore
lost
    working recording(a,wait) recording(a,fail) settled(a) cancelling -> ended: fail(lost)
    form(a) -> ended: close fail(lost)
    handing stored ended ignore

# The client's user answers. The answer to a form that was closed meanwhile is ignored.
form-answered(a)
    form(a) -> recording(a,wait): record(a,yes)
    working recording(a,wait) recording(a,fail) settled(a) handing cancelling stored ended ignore
form-answered(b)
    attended handing cancelling stored ended ignore

# The ledger has the answer. It reports nothing about an answer that was too late, and the call learns the first one.
recorded
    recording(a,wait) recording(a,fail) -> settled(a)
    working form(a) settled(a) handing cancelling stored ended ignore
unrecorded
    recording(a,wait) -> settled(a)
    recording(a,fail) -> ended: abort fail(disk full)
    working form(a) settled(a) handing cancelling stored ended ignore

# The request is answered with a form or a task. The client of a task is not asked again what it was asked before.
kept
    parking(a) -> parked(a)
    becoming() becoming(asks=a) -> task()
    becoming(settled=a) -> task(a)
    attended cancelling stored ended ignore

# Too many calls are kept, so the request goes on waiting.
no-room
    parking(a) becoming(asks=a) -> settled(a): tell(a)
    becoming() -> working
    becoming(settled=a) -> settled(a)
    attended cancelling stored ended ignore

# The call takes long. A request that asks or records is not interrupted: its driver holds the deadline back.
deadline
    working -> becoming(): become-task
    settled(a) -> becoming(settled=a): become-task
    form(a) recording(a,wait) recording(a,fail) handing cancelling stored ended ignore

# The client cancels or disconnects, or the server stops, also while an answer is recorded. The call ends by itself, and
# what it asks until then is asked no more.
unwanted
    working recording(a,wait) recording(a,fail) settled(a) -> cancelling: cancel
    form(a) -> cancelling: close cancel
    handing cancelling stored ended ignore

# The same call again, with the state of a parked call. Without an answer, its client is asked again.
retried(none,works)
    parked(a) -> working
    attended handing cancelling task() task(a) ended ignore
retried(none,asks(a,result))
    parked(a) -> parking(a): park(a)
    attended handing cancelling task() task(a) ended ignore
retried(none,asks(a,task))
    parked(a) -> becoming(asks=a): become-task
    attended handing cancelling task() task(a) ended ignore
retried(none,asks(a,elsewhere))
    parked(a) -> settled(a): tell(a)
    attended handing cancelling task() task(a) ended ignore
retried(none,over)
    parked(a) -> ended: reply
    attended handing cancelling task() task(a) ended ignore
# With an answer. It has no effect if another channel was first, or if the request has expired.
retried(yes,asks(a,result))
    parked(a) -> recording(a,fail): record(a,yes)
    attended handing cancelling task() task(a) ended ignore
retried(yes,asks(b,result))
    parked(a) -> parking(b): park(b)
    attended handing cancelling task() task(a) ended ignore
retried(yes,works)
    parked(a) -> working
    attended handing cancelling task() task(a) ended ignore
retried(yes,over)
    parked(a) -> ended: reply
    attended handing cancelling task() task(a) ended ignore

# The client of a task answers, once for each request.
updated(a)
    task() -> task(a): record(a,yes)
    attended handing cancelling parked(a) task(a) ended ignore
updated(b)
    task() task(a) -> task(b): record(b,yes)
    attended handing cancelling parked(a) ended ignore
task-cancelled
    task() -> task(): cancel
    task(a) -> task(a): cancel
    attended handing cancelling parked(a) ended ignore

# No one comes back: the client is gone, what is kept has expired, or the server has ended.
dropped
    attended handing cancelling stored -> ended: abort
    ended ignore
";

/// States that often share a row.
const GROUPS: [(&str, &[&str]); 3] = [
    ("attended", &["working", "form(a)", "recording(a,wait)", "recording(a,fail)", "settled(a)"]),
    ("handing", &["parking(a)", "becoming()", "becoming(settled=a)", "becoming(asks=a)"]),
    ("stored", &["parked(a)", "task()", "task(a)"]),
];

fn asked(id: &str) -> Arc<Question> {
    Arc::new(Question { id: id.to_owned(), ..question() })
}

/// Returns the states of the table. A new one belongs here, where [`state_name`] does not compile without its name.
fn states() -> Vec<SessionState> {
    use SessionState::{BecomingTask, Cancelling, Ended, Form, Parked, Parking, Recording, Settled, Task, Working};
    vec![
        Working,
        Form(asked("a")),
        Recording(asked("a"), IfUnrecorded::Wait),
        Recording(asked("a"), IfUnrecorded::Fail),
        Settled(asked("a")),
        Parking(asked("a")),
        BecomingTask { settled: None, asks: None },
        BecomingTask { settled: Some(asked("a")), asks: None },
        BecomingTask { settled: None, asks: Some(asked("a")) },
        Cancelling,
        Parked(asked("a")),
        Task(None),
        Task(Some(asked("a"))),
        Ended,
    ]
}

/// Returns the events of the table. A new one belongs here, where [`event_name`] does not compile without its name.
fn events() -> Vec<SessionEvent> {
    let asks = |id: &str, by| CallNews::Asks(asked(id), by);
    let no_one = [IfUnrecorded::Wait, IfUnrecorded::Fail].map(AskBy::NoOne);
    let ways = [AskBy::Form, AskBy::Result, AskBy::Task, AskBy::Elsewhere].into_iter().chain(no_one);
    let mut events = vec![
        SessionEvent::Call(CallNews::Works),
        SessionEvent::Call(asks("a", AskBy::Form)),
        SessionEvent::Call(CallNews::Over),
        SessionEvent::Call(CallNews::Lost),
        SessionEvent::FormAnswered(asked("a"), Answer::Yes),
        SessionEvent::FormAnswered(asked("b"), Answer::Yes),
        SessionEvent::Recorded,
        SessionEvent::Unrecorded(ErrorData::internal_error("disk full", None)),
        SessionEvent::Kept,
        SessionEvent::NoRoom,
        SessionEvent::Deadline,
        SessionEvent::Unwanted,
        SessionEvent::Updated(asked("a"), Answer::Yes),
        SessionEvent::Updated(asked("b"), Answer::Yes),
        SessionEvent::TaskCancelled,
        SessionEvent::Dropped,
    ];
    events.extend(ways.map(|by| SessionEvent::Call(asks("b", by))));
    for news in
        [CallNews::Works, asks("a", AskBy::Result), asks("a", AskBy::Task), asks("a", AskBy::Elsewhere), CallNews::Over]
    {
        events.push(SessionEvent::Retried(None, news));
    }
    for news in [asks("a", AskBy::Result), asks("b", AskBy::Result), CallNews::Works, CallNews::Over] {
        events.push(SessionEvent::Retried(Some(Answer::Yes), news));
    }
    events
}

fn state_name(state: &SessionState) -> String {
    let otherwise = |otherwise: &IfUnrecorded| match otherwise {
        IfUnrecorded::Wait => "wait",
        IfUnrecorded::Fail => "fail",
    };
    match state {
        SessionState::Working => "working".to_owned(),
        SessionState::Form(asked) => format!("form({})", asked.id),
        SessionState::Recording(asked, if_unrecorded) => {
            format!("recording({},{})", asked.id, otherwise(if_unrecorded))
        }
        SessionState::Settled(asked) => format!("settled({})", asked.id),
        SessionState::Parking(asked) => format!("parking({})", asked.id),
        SessionState::BecomingTask { settled: None, asks: None } => "becoming()".to_owned(),
        SessionState::BecomingTask { settled: Some(settled), asks: None } => {
            format!("becoming(settled={})", settled.id)
        }
        SessionState::BecomingTask { settled: None, asks: Some(asks) } => format!("becoming(asks={})", asks.id),
        SessionState::BecomingTask { settled: Some(_), asks: Some(_) } => "becoming(both)".to_owned(),
        SessionState::Cancelling => "cancelling".to_owned(),
        SessionState::Parked(asked) => format!("parked({})", asked.id),
        SessionState::Task(settled) => format!("task({})", settled.as_ref().map_or("", |settled| &settled.id)),
        SessionState::Ended => "ended".to_owned(),
    }
}

fn event_name(event: &SessionEvent) -> String {
    match event {
        SessionEvent::Call(news) => news_name(news),
        SessionEvent::FormAnswered(asked, _) => format!("form-answered({})", asked.id),
        SessionEvent::Recorded => "recorded".to_owned(),
        SessionEvent::Unrecorded(_) => "unrecorded".to_owned(),
        SessionEvent::Kept => "kept".to_owned(),
        SessionEvent::NoRoom => "no-room".to_owned(),
        SessionEvent::Deadline => "deadline".to_owned(),
        SessionEvent::Unwanted => "unwanted".to_owned(),
        SessionEvent::Retried(None, news) => format!("retried(none,{})", news_name(news)),
        SessionEvent::Retried(Some(_), news) => format!("retried(yes,{})", news_name(news)),
        SessionEvent::Updated(asked, _) => format!("updated({})", asked.id),
        SessionEvent::TaskCancelled => "task-cancelled".to_owned(),
        SessionEvent::Dropped => "dropped".to_owned(),
    }
}

fn news_name(news: &CallNews) -> String {
    match news {
        CallNews::Works => "works".to_owned(),
        CallNews::Asks(asked, by) => format!("asks({},{})", asked.id, way_name(*by)),
        CallNews::Over => "over".to_owned(),
        CallNews::Lost => "lost".to_owned(),
    }
}

fn way_name(by: AskBy) -> &'static str {
    match by {
        AskBy::Form => "form",
        AskBy::Result => "result",
        AskBy::Task => "task",
        AskBy::Elsewhere => "elsewhere",
        AskBy::NoOne(IfUnrecorded::Wait) => "no-one,wait",
        AskBy::NoOne(IfUnrecorded::Fail) => "no-one,fail",
    }
}

fn effect_name(effect: &SessionEffect) -> String {
    match effect {
        SessionEffect::OpenForm(asked) => format!("open({})", asked.id),
        SessionEffect::CloseForm => "close".to_owned(),
        SessionEffect::Record(asked, Answer::Yes) => format!("record({},yes)", asked.id),
        SessionEffect::Record(asked, answer) => {
            assert_eq!(*answer, Answer::No { note: Some(NO_APPROVER.to_owned()) });
            format!("record({},no)", asked.id)
        }
        SessionEffect::Tell(asked) => format!("tell({})", asked.id),
        SessionEffect::Park(asked) => format!("park({})", asked.id),
        SessionEffect::BecomeTask => "become-task".to_owned(),
        SessionEffect::Reply => "reply".to_owned(),
        SessionEffect::Fail(error) if error.message == LOST => "fail(lost)".to_owned(),
        SessionEffect::Fail(error) => format!("fail({})", error.message),
        SessionEffect::Cancel => "cancel".to_owned(),
        SessionEffect::Abort => "abort".to_owned(),
    }
}

/// Returns the names of the states in a row, with groups replaced by their states.
fn expanded(names: &str) -> impl Iterator<Item = &str> {
    names.split_whitespace().flat_map(|name| {
        let group = GROUPS.iter().find(|(group, _)| *group == name);
        group.map_or_else(|| vec![name], |(_, states)| states.to_vec())
    })
}

/// Returns the table: what becomes of each event in each state. `None` if the state ignores the event.
fn parsed() -> BTreeMap<(String, String), Option<String>> {
    let mut rows = BTreeMap::new();
    let mut event = "";
    for line in TABLE.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        let Some(row) = line.strip_prefix("    ") else {
            event = line;
            continue;
        };
        let (names, result) = match row.split_once(" -> ") {
            Some((names, result)) => (names, Some(result.to_owned())),
            None => (row.strip_suffix(" ignore").unwrap_or_else(|| panic!("not a row: {row}")), None),
        };
        for state in expanded(names) {
            let twice = rows.insert((event.to_owned(), state.to_owned()), result.clone());
            assert_eq!(twice, None, "{event} in {state} is listed twice");
        }
    }
    rows
}

#[test]
fn every_state_does_with_every_event_what_the_table_says() {
    let mut table = parsed();
    for event in events() {
        for state in states() {
            let pair = (event_name(&event), state_name(&state));
            let expected = table.remove(&pair).unwrap_or_else(|| panic!("{pair:?} is not listed"));
            let (after, effects) = step(state.clone(), event.clone());
            match expected {
                None => assert_eq!((after, effects), (state, Vec::new()), "{pair:?}"),
                Some(expected) => {
                    let effects: Vec<String> = effects.iter().map(effect_name).collect();
                    let colon = if effects.is_empty() { "" } else { ": " };
                    assert_eq!(format!("{}{colon}{}", state_name(&after), effects.join(" ")), expected, "{pair:?}");
                }
            }
        }
    }
    assert_eq!(table, BTreeMap::new(), "these pairs do not exist");
}

#[test]
fn a_settled_request_is_settled_only_while_it_is_remembered() {
    for state in states() {
        let name = state_name(&state);
        let is_settled = ["settled(a)", "becoming(settled=a)", "task(a)"].contains(&name.as_str());
        assert_eq!((state.is_settled(&asked("a")), state.is_settled(&asked("b"))), (is_settled, false), "{name}");
    }
}
