//! Asking the hooks of the host, each in its time and none believed to work: one that breaks has refused.

use super::Rejection;
use super::record::CallRecord;
use super::unwanted::unwanted;
use super::validate::ValidCall;
use crate::hooks::{HOOK_TIME_MAX, HookCall, Hooked, Hooking, Stage};
use crate::host::Inner;
use crate::reply::{Code, Reply};
use crate::request::Request;
use crate::text::{OneLine, cut};
use portcullis_policy::ToolName;
use std::any::Any;
use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::task::Poll;

/// The text of a panic that the record keeps, in bytes.
const PANIC_BYTES_MAX: usize = 512;

/// Why a hook gave no answer.
enum Broken {
    Panicked(String),
    TookTooLong,
}

/// Asks every hook about a call that nothing else refuses; the first refusal wins.
pub(super) async fn before(
    host: &Inner,
    record: &CallRecord,
    call: &ValidCall,
    request: &Request,
) -> Result<(), Rejection> {
    if host.hooks.is_empty() {
        return Ok(());
    }
    let asked = ask_all(host, record, call, request, None);
    tokio::select! {
        biased;
        rejection = unwanted(request) => Err(rejection),
        answer = asked => answer,
    }
}

/// Asks every hook about the reply of a call whose tool ran. The first refusal replaces it: what is left is what the
/// run took.
pub(super) async fn after(host: &Inner, record: &CallRecord, request: &Request, reply: Reply) -> Reply {
    let Some(call) = record.ran().filter(|_| !host.hooks.is_empty()) else { return reply };
    match ask_all(host, record, call, request, Some(&reply)).await {
        Ok(()) => reply,
        Err(rejection) => {
            record.note_detail(rejection.detail);
            let Rejection { code, message, .. } = rejection;
            Reply { code, output: None, title: None, metadata: None, message, ..reply }
        }
    }
}

async fn ask_all(
    host: &Inner,
    record: &CallRecord,
    call: &ValidCall,
    request: &Request,
    reply: Option<&Reply>,
) -> Result<(), Rejection> {
    let stage = if reply.is_some() { Stage::After } else { Stage::Before };
    let seen = HookCall {
        id: record.id(),
        tool: &call.tool.name,
        plugin_sha256: &call.plugin.sha256_hex,
        arguments: &call.canonical,
        session: &request.origin.session,
        principal: request.origin.principal.as_str(),
        agent: request.origin.agent.as_deref(),
    };
    for (number, hook) in (1..).zip(&host.hooks) {
        let begin = || match reply {
            Some(reply) => hook.after(&seen, reply),
            None => hook.before(&seen),
        };
        let (hooked, detail) = match in_time(begin).await {
            Ok(hooked) => (hooked, None),
            Err(broken) => broken.refusal(),
        };
        record.hooked(number, stage, &hooked)?;
        if let Some(reason) = hooked.refusal() {
            return Err(refused(&call.tool.name, stage, number, reason, detail));
        }
    }
    Ok(())
}

/// Runs a hook for as long as it may take, and catches its panic.
async fn in_time<'a>(begin: impl FnOnce() -> Hooking<'a>) -> Result<Hooked, Broken> {
    // A hook that panicked is dropped and its answer is no: nothing that it may have left half done is used here, and
    // what its own later calls find there is its own affair.
    let mut begin = Some(begin);
    let mut hooking: Option<Hooking<'a>> = None;
    let answer = poll_fn(|context| {
        let polled = catch_unwind(AssertUnwindSafe(|| {
            if let Some(begin) = begin.take() {
                hooking = Some(begin());
            }
            hooking.as_mut().map_or(Poll::Pending, |hooking| hooking.as_mut().poll(context))
        }));
        match polled {
            Ok(Poll::Ready(hooked)) => Poll::Ready(Ok(hooked)),
            Ok(Poll::Pending) => Poll::Pending,
            Err(panic) => Poll::Ready(Err(Broken::Panicked(panic_text(&*panic)))),
        }
    });
    tokio::time::timeout(HOOK_TIME_MAX, answer).await.unwrap_or(Err(Broken::TookTooLong))
}

impl Broken {
    /// What a broken hook is taken to say, and what the operator should know.
    fn refusal(self) -> (Hooked, Option<String>) {
        match self {
            Self::Panicked(text) => (Hooked::refuse("the check itself broke"), Some(format!("it panicked: {text}"))),
            Self::TookTooLong => {
                let detail = format!("it took longer than {HOOK_TIME_MAX:?}");
                (Hooked::refuse("the check did not end in time"), Some(detail))
            }
        }
    }
}

fn panic_text(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().copied().or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    OneLine(cut(text.unwrap_or("no text"), PANIC_BYTES_MAX)).to_string()
}

fn refused(tool: &ToolName, stage: Stage, number: u32, reason: &str, detail: Option<String>) -> Rejection {
    let what = match stage {
        Stage::Before => format!("A check of this host refuses the call of {tool}"),
        Stage::After => format!("The tool {tool} ran, and a check of this host withholds its answer"),
    };
    let detail = detail.map_or_else(String::new, |detail| format!(": {detail}"));
    Rejection::new(Code::HookRefused, format!("{what}: {}", OneLine(reason)))
        .with_detail(format!("hook {number}, {} the tool ran{detail}", stage.as_str()))
}
