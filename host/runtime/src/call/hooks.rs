//! Asks the host's hooks about a call. Each has a time limit. A hook that panics or takes too long counts as a refusal.

use super::grant;
use super::record::CallRecord;
use super::rejection::Rejection;
use super::unwanted::unwanted;
use crate::approvals::{Asker, Concern};
use crate::caught::caught;
use crate::hooks::{HOOK_TIME_MAX, HookCall, HookStage, HookStores, Hooked, Hooking};
use crate::inner::HostState;
use crate::reply::{Code, Reply};
use crate::request::Request;
use crate::text::OneLine;
use crate::valid_call::ValidCall;
use portcullis_policy::{Pattern, ToolName, Variation};

/// Why a hook returned no answer.
enum Broken {
    Panicked(String),
    TookTooLong,
}

/// Asks every hook about a call that nothing else refuses. The first refusal wins. Returns the concerns that the hooks
/// have for an approver.
pub(super) async fn before(
    host: &HostState,
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

/// Asks every hook about the reply of a call whose tool ran. The first refusal replaces the reply, which then keeps
/// only its usage.
pub(super) async fn after(host: &HostState, record: &CallRecord, request: &Request, reply: Reply) -> Reply {
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
    host: &HostState,
    record: &CallRecord,
    call: &ValidCall,
    request: &Request,
    reply: Option<&Reply>,
) -> Result<Vec<Concern>, Rejection> {
    let stage = if reply.is_some() { HookStage::After } else { HookStage::Before };
    let stores = grant::stores_to_read(host, call, &request.origin);
    let stores = HookStores(stores.map(|(key, store)| (key.as_str().into(), store)).collect());
    let seen = HookCall {
        id: record.id(),
        tool: call.tool.name(),
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
        // The tool has already run, so an ask cannot prevent it and counts as a refusal.
        let refusal = if stage == HookStage::After { hooked.reason() } else { hooked.refusal() };
        if let Some(reason) = refusal {
            return Err(refused(call.tool.name(), stage, number, reason, detail));
        }
        concerns.extend(hooked.asks().map(|(reason, patterns)| concern(call, number, reason, patterns)));
    }
    Ok(concerns)
}

/// Returns a hook's concern for an approver.
fn concern(call: &ValidCall, number: u32, reason: &str, patterns: &[Vec<Variation>]) -> Concern {
    let patterns = patterns.iter().filter_map(|pattern| Pattern::varying(&call.arguments, pattern)).collect();
    Concern { asker: Asker::Hook(number), reason: format!("A hook of this host asks: {}", OneLine(reason)), patterns }
}

/// Runs a hook within its time limit, and catches its panic.
async fn in_time<'a>(begin: impl FnOnce() -> Hooking<'a>) -> Result<Hooked, Broken> {
    let answer = tokio::time::timeout(HOOK_TIME_MAX, caught(begin)).await;
    answer.map_err(|_| Broken::TookTooLong)?.map_err(Broken::Panicked)
}

impl Broken {
    /// Returns the refusal that a broken hook counts as, and the detail for the operator.
    fn refusal(self) -> (Hooked, Option<String>) {
        match self {
            Self::Panicked(text) => (Hooked::refuse("the hook failed"), Some(text)),
            Self::TookTooLong => {
                let detail = format!("it took longer than {HOOK_TIME_MAX:?}");
                (Hooked::refuse("the hook took too long"), Some(detail))
            }
        }
    }
}

fn refused(tool: &ToolName, stage: HookStage, number: u32, reason: &str, detail: Option<String>) -> Rejection {
    let what = match stage {
        HookStage::Before => format!("Not run: a hook of this host refuses the call of {tool}"),
        HookStage::After => format!("The tool {tool} ran, but a hook of this host withholds its answer"),
    };
    let detail = detail.map_or_else(String::new, |detail| format!(": {detail}"));
    Rejection::new(Code::HookRefused, format!("{what}: {}", OneLine(reason)))
        .with_detail(format!("hook {number}, {} the tool ran{detail}", stage.as_str()))
}
