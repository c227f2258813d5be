//! Asking the hooks of the host, each in its time and none believed to work: one that breaks has refused.

use super::grant;
use super::record::CallRecord;
use super::rejection::Rejection;
use super::unwanted::unwanted;
use super::valid_call::ValidCall;
use crate::approvals::{Asker, Concern};
use crate::caught::caught;
use crate::hooks::{HOOK_TIME_MAX, HookCall, HookStores, Hooked, Hooking, Stage};
use crate::inner::Inner;
use crate::reply::{Code, Reply};
use crate::request::Request;
use crate::text::OneLine;
use portcullis_policy::{Pattern, ToolName, Variation};

/// Why a hook gave no answer.
enum Broken {
    Panicked(String),
    TookTooLong,
}

/// Asks every hook about a call that nothing else refuses; the first refusal wins. Returns what they want an approver
/// to look at.
pub(super) async fn before(
    host: &Inner,
    record: &CallRecord,
    call: &ValidCall,
    request: &Request,
) -> Result<Vec<Concern>, Rejection> {
    if host.hooks.is_empty() {
        return Ok(Vec::new());
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
        Ok(_) => reply,
        Err(rejection) => {
            record.note_detail(rejection.detail);
            let Rejection { code, message, .. } = rejection;
            reply.withheld(code, message)
        }
    }
}

async fn ask_all(
    host: &Inner,
    record: &CallRecord,
    call: &ValidCall,
    request: &Request,
    reply: Option<&Reply>,
) -> Result<Vec<Concern>, Rejection> {
    let stage = if reply.is_some() { Stage::After } else { Stage::Before };
    let stores = grant::stores_to_read(host, call, &request.origin);
    let stores = HookStores(stores.map(|(key, store)| (key.as_str().into(), store)).collect());
    let seen = HookCall {
        id: record.id(),
        tool: &call.tool.name,
        plugin_sha256: &call.plugin.sha256_hex,
        arguments: &call.canonical,
        session: &request.origin.session,
        principal: request.origin.principal.as_str(),
        agent: request.origin.agent.as_deref(),
        explained: record.is_rehearsal(),
        settings: &call.plugin.grants.config,
        stores: &stores,
    };
    let mut concerns = Vec::new();
    for (number, hook) in (1..).zip(&host.hooks) {
        let begin = || match reply {
            Some(reply) => hook.after(&seen, reply),
            None => hook.before(&seen),
        };
        let (hooked, detail) = match in_time(begin).await {
            Ok(hooked) => (hooked, None),
            Err(broken) => broken.refusal(),
        };
        record.hooked(number, stage, &hooked).await?;
        // Nobody can be asked whether a tool may run that has run.
        let refusal = if stage == Stage::After { hooked.reason() } else { hooked.refusal() };
        if let Some(reason) = refusal {
            return Err(refused(&call.tool.name, stage, number, reason, detail));
        }
        concerns.extend(hooked.asks().map(|(reason, patterns)| concern(call, number, reason, patterns)));
    }
    Ok(concerns)
}

/// What a hook asks an approver.
fn concern(call: &ValidCall, number: u32, reason: &str, patterns: &[Vec<Variation>]) -> Concern {
    let patterns = patterns.iter().filter_map(|pattern| Pattern::varying(&call.arguments, pattern)).collect();
    Concern { asker: Asker::Hook(number), reason: format!("A check of this host asks: {}", OneLine(reason)), patterns }
}

/// Runs a hook for as long as it may take, and catches its panic. A hook that panicked is dropped and its answer is no.
async fn in_time<'a>(begin: impl FnOnce() -> Hooking<'a>) -> Result<Hooked, Broken> {
    let answer = tokio::time::timeout(HOOK_TIME_MAX, caught(begin)).await;
    answer.map_err(|_| Broken::TookTooLong)?.map_err(Broken::Panicked)
}

impl Broken {
    /// What a broken hook is taken to say, and what the operator should know.
    fn refusal(self) -> (Hooked, Option<String>) {
        match self {
            Self::Panicked(text) => (Hooked::refuse("the check itself broke"), Some(text)),
            Self::TookTooLong => {
                let detail = format!("it took longer than {HOOK_TIME_MAX:?}");
                (Hooked::refuse("the check did not end in time"), Some(detail))
            }
        }
    }
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
