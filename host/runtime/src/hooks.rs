//! Hooks: checks that an embedder adds to every call, before an approver is asked and after the tool has answered. A
//! hook can refuse, ask an approver, and add notes to the audit log. It cannot allow anything that is denied otherwise.

use crate::reply::Reply;
use crate::text::cut;
use portcullis_policy::{PROPOSALS_MAX, ToolName, Variation};
use portcullis_sandbox::{Store, StoreFault};
use std::collections::BTreeMap;
use std::fmt;
use std::future::{Future, ready};
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

/// Maximum notes of one hook on one call. With the limits below, they fit into an audit entry even if JSON escapes
/// every byte with six characters.
pub const HOOK_NOTES_MAX: usize = 16;

/// Maximum length of a note's key, in bytes. A longer key is cut.
pub const HOOK_KEY_BYTES_MAX: usize = 64;

/// Maximum length of a note's value, in bytes. A longer value is cut.
pub const HOOK_VALUE_BYTES_MAX: usize = 512;

/// Maximum length of the reason for a refusal or an ask, in bytes. A longer reason is cut. The model or the approver
/// reads it.
pub const HOOK_REASON_BYTES_MAX: usize = 1024;

/// Maximum wall-clock time of one hook. It is enough for a request to another machine. A hook that takes longer counts
/// as a refusal.
pub const HOOK_TIME_MAX: Duration = Duration::from_secs(5);

/// The future of a hook's answer.
pub type Hooking<'a> = Pin<Box<dyn Future<Output = Hooked> + Send + 'a>>;

/// A check of calls in addition to the policy. A hook that panics, takes longer than [`HOOK_TIME_MAX`] or cannot be
/// recorded counts as a refusal. It must not block its thread, because a blocked thread cannot be interrupted.
pub trait Hook: Send + Sync + 'static {
    /// Checks a call that neither the policy nor the plugin's reviewer refuses, before an approver is asked. A refusal
    /// denies the call. An ask makes it need approval.
    fn before<'a>(&'a self, call: &'a HookCall<'a>) -> Hooking<'a> {
        let _ = call;
        Box::pin(ready(Hooked::pass()))
    }

    /// Checks the reply of a call whose tool has run, before anyone else gets it. A refusal withholds the reply. An ask
    /// withholds it too, because the tool has already run. Its side effects remain.
    fn after<'a>(&'a self, call: &'a HookCall<'a>, reply: &'a Reply) -> Hooking<'a> {
        let _ = (call, reply);
        Box::pin(ready(Hooked::pass()))
    }
}

/// A closure that looks at a call, as [`hook_fn`] takes it: an async closure that captures nothing, or a closure whose
/// future does not borrow from the call.
pub trait HookClosure<'a>: Send + Sync + 'static {
    /// Looks at a call.
    fn look(&self, call: &'a HookCall<'a>) -> Hooking<'a>;
}

impl<'a, F, A> HookClosure<'a> for F
where
    F: Fn(&'a HookCall<'a>) -> A + Send + Sync + 'static,
    A: Future<Output = Hooked> + Send + 'a,
{
    fn look(&self, call: &'a HookCall<'a>) -> Hooking<'a> {
        Box::pin(self(call))
    }
}

/// Makes a hook from a closure, which looks at each call as [`Hook::before`] does.
///
/// ```
/// use portcullis::{HookCall, Hooked, hook_fn};
///
/// let no_keys = hook_fn(async |call: &HookCall<'_>| {
///     if call.arguments.contains("PRIVATE KEY") { Hooked::refuse("it holds a key") } else { Hooked::pass() }
/// });
/// # let _ = no_keys;
/// ```
///
/// A closure that captures something clones it into its future, with what it needs of the call:
///
/// ```
/// use portcullis::{HookCall, Hooked, hook_fn};
/// use tokio::sync::mpsc;
///
/// let (sender, receiver) = mpsc::channel(100);
/// let tells = hook_fn(move |call: &HookCall<'_>| {
///     let (sender, tool) = (sender.clone(), call.tool.clone());
///     async move {
///         match sender.send(tool).await {
///             Ok(()) => Hooked::pass(),
///             Err(_) => Hooked::refuse("the monitor has stopped"),
///         }
///     }
/// });
/// # let _ = (tells, receiver);
/// ```
pub fn hook_fn<F: for<'a> HookClosure<'a>>(before: F) -> Arc<dyn Hook> {
    Arc::new(ClosureHook(before))
}

struct ClosureHook<F>(F);

impl<F: for<'a> HookClosure<'a>> Hook for ClosureHook<F> {
    fn before<'a>(&'a self, call: &'a HookCall<'a>) -> Hooking<'a> {
        self.0.look(call)
    }
}

/// A call as a hook sees it. Except for the ids, the tool's name, the hash and the settings, treat all texts as
/// untrusted: they come from a model or its caller.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct HookCall<'a> {
    /// The id of the call.
    pub id: &'a str,
    /// The tool.
    pub tool: &'a ToolName,
    /// The SHA-256 of the plugin, in hexadecimal.
    pub plugin_sha256: &'a str,
    /// The arguments exactly as the tool will receive them: one JSON object in canonical form.
    pub arguments: &'a str,
    /// The session.
    pub session: &'a str,
    /// The principal on whose behalf the call is made.
    pub principal: &'a str,
    /// The agent that makes the call.
    pub agent: Option<&'a str>,
    /// Whether the call is only explained and does not run. Answer as for a real call, but change nothing.
    pub explained: bool,
    /// The settings of the plugin in the policy.
    pub settings: &'a BTreeMap<String, String>,
    pub(crate) stores: &'a HookStores,
}

/// The stores of one call, which a hook can read.
#[derive(Default)]
pub(crate) struct HookStores(pub(crate) BTreeMap<Box<str>, Arc<dyn Store>>);

impl fmt::Debug for HookStores {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_set().entries(self.0.keys()).finish()
    }
}

impl HookCall<'_> {
    /// Reads a value of one of the stores that the call gets, for the session and the principal of its caller. `store`
    /// is the key of the plugin's dependency. Returns none if the store does not hold `key`.
    ///
    /// ```no_run
    /// # async fn spent(call: portcullis::HookCall<'_>) -> Option<u64> {
    /// let spent = call.stored("spent", "2026-11-23").await.ok()??;
    /// std::str::from_utf8(&spent).ok()?.parse().ok()
    /// # }
    /// ```
    ///
    /// # Errors
    /// The call gets no store of this key, or the store cannot be read.
    pub async fn stored(&self, store: &str, key: &str) -> Result<Option<Vec<u8>>, StoreFault> {
        match self.stores.0.get(store) {
            Some(store) => store.get(key.to_owned()).await,
            None => Err(StoreFault::Unavailable("the call gets no store of this key".to_owned())),
        }
    }
}

/// A hook's answer about a call: pass, ask an approver, or refuse. Each can have notes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Hooked {
    verdict: HookVerdict,
    notes: Vec<(String, String)>,
    notes_dropped: usize,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
enum HookVerdict {
    #[default]
    Pass,
    Ask {
        reason: String,
        patterns: Vec<Vec<Variation>>,
    },
    Refuse(String),
}

impl Hooked {
    /// Lets the call pass.
    pub fn pass() -> Self {
        Self::default()
    }

    /// Refuses the call, or withholds its reply. The model gets the reason.
    pub fn refuse(reason: &str) -> Self {
        Self { verdict: HookVerdict::Refuse(cut(reason, HOOK_REASON_BYTES_MAX).to_owned()), ..Self::default() }
    }

    /// Makes the call need approval, whatever the policy decides. The approver sees the reason. A remembered approval
    /// applies only if its approver saw the same reason.
    pub fn ask(reason: &str) -> Self {
        let reason = cut(reason, HOOK_REASON_BYTES_MAX).to_owned();
        Self { verdict: HookVerdict::Ask { reason, patterns: Vec::new() }, ..Self::default() }
    }

    /// Proposes a pattern for a remembered approval: the arguments that may differ, while all others stay as in the
    /// call. Only an ask takes patterns, at most [`PROPOSALS_MAX`]. A pattern that does not cover the call is not
    /// offered. An approval of a pattern answers only this hook, as long as it proposes the same pattern.
    #[must_use]
    pub fn proposing(mut self, pattern: impl IntoIterator<Item = Variation>) -> Self {
        if let HookVerdict::Ask { patterns, .. } = &mut self.verdict
            && patterns.len() < PROPOSALS_MAX
        {
            patterns.push(pattern.into_iter().collect());
        }
        self
    }

    /// Adds a note for the audit log. Of notes beyond [`HOOK_NOTES_MAX`], only the number is recorded.
    #[must_use]
    pub fn note(mut self, key: &str, value: &str) -> Self {
        if self.notes.len() == HOOK_NOTES_MAX {
            self.notes_dropped = self.notes_dropped.saturating_add(1);
        } else {
            let value = cut(value, HOOK_VALUE_BYTES_MAX).to_owned();
            self.notes.push((cut(key, HOOK_KEY_BYTES_MAX).to_owned(), value));
        }
        self
    }

    /// Returns the reason for a refusal, if it is one.
    pub fn refusal(&self) -> Option<&str> {
        match &self.verdict {
            HookVerdict::Refuse(reason) => Some(reason),
            HookVerdict::Pass | HookVerdict::Ask { .. } => None,
        }
    }

    /// Returns the reason for an ask and the proposed patterns, if it is one.
    pub(crate) fn asks(&self) -> Option<(&str, &[Vec<Variation>])> {
        match &self.verdict {
            HookVerdict::Ask { reason, patterns } => Some((reason, patterns)),
            HookVerdict::Pass | HookVerdict::Refuse(_) => None,
        }
    }

    /// Returns the reason for an ask or a refusal, if it is one.
    pub(crate) fn reason(&self) -> Option<&str> {
        self.refusal().or_else(|| self.asks().map(|(reason, _)| reason))
    }

    /// Returns the answer in one word, for the audit log.
    pub(crate) fn answer(&self) -> &'static str {
        match self.verdict {
            HookVerdict::Pass => "pass",
            HookVerdict::Ask { .. } => "ask",
            HookVerdict::Refuse(_) => "refuse",
        }
    }

    /// Returns the notes, in order.
    pub fn notes(&self) -> &[(String, String)] {
        &self.notes
    }

    /// Returns the number of notes that were dropped.
    pub fn notes_dropped(&self) -> usize {
        self.notes_dropped
    }
}

/// Whether a hook checks a call before or after the tool runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum HookStage {
    Before,
    After,
}

impl HookStage {
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Before => "before",
            Self::After => "after",
        }
    }
}
