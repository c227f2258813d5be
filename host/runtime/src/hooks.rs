//! Hooks: what an embedder adds to every call, before a person is asked and after the tool has answered. A hook can
//! refuse, ask an approver and take notes for the record. It cannot allow what anything else denies.

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

/// Notes of one hook on one call: together with the sizes below, what fits in a line of the record when every byte of
/// it becomes an escape of six.
pub const HOOK_NOTES_MAX: usize = 16;

/// The key of a note, in bytes; what is over it is cut.
pub const HOOK_KEY_BYTES_MAX: usize = 64;

/// The value of a note, in bytes; what is over it is cut.
pub const HOOK_VALUE_BYTES_MAX: usize = 512;

/// The reason of a refusal or of an ask, in bytes; what is over it is cut. The model or the approver reads it.
pub const HOOK_REASON_BYTES_MAX: usize = 1024;

/// How long one hook may take, wall-clock: enough for a request to another machine, and less than a person notices as
/// a hang. One that takes longer has refused.
pub const HOOK_TIME_MAX: Duration = Duration::from_secs(5);

/// The future of what a hook says.
pub type Hooking<'a> = Pin<Box<dyn Future<Output = Hooked> + Send + 'a>>;

/// Looks at calls, beside the policy. One that panics, takes longer than [`HOOK_TIME_MAX`] or cannot be recorded has
/// refused. It must not block its thread: what never returns cannot be interrupted.
pub trait Hook: Send + Sync + 'static {
    /// Looks at a call that neither the policy nor the plugin's review refuses, before a person is asked. A refusal
    /// denies it, and an ask asks an approver about it.
    fn before<'a>(&'a self, call: &'a HookCall<'a>) -> Hooking<'a> {
        let _ = call;
        Box::pin(ready(Hooked::pass()))
    }

    /// Looks at the reply of a call whose tool has run, before anybody else does. A refusal withholds the reply; what
    /// the tool did is done, so that an ask withholds the reply too.
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

/// A call, as a hook sees it. All texts but the tool's name and the hash are those of a model or its caller.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct HookCall<'a> {
    /// The id of the call.
    pub id: &'a str,
    /// The tool.
    pub tool: &'a ToolName,
    /// The SHA-256 of the plugin, in hexadecimal.
    pub plugin_sha256: &'a str,
    /// The arguments, exactly as the tool will receive them: one JSON object in its canonical form.
    pub arguments: &'a str,
    /// The session.
    pub session: &'a str,
    /// On whose behalf the call is made.
    pub principal: &'a str,
    /// The agent that asks.
    pub agent: Option<&'a str>,
    /// Whether the call is only explained: it does not run after this. Answer as for the call, and change nothing.
    pub explained: bool,
    /// The settings of the plugin, as the policy has them.
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

/// What a hook says of a call: nothing, that an approver should look, or a refusal, and each with notes.
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
    /// Nothing against it.
    pub fn pass() -> Self {
        Self::default()
    }

    /// The call is refused, or its reply withheld. The model is told why.
    pub fn refuse(reason: &str) -> Self {
        Self { verdict: HookVerdict::Refuse(cut(reason, HOOK_REASON_BYTES_MAX).to_owned()), ..Self::default() }
    }

    /// An approver is asked about the call, whatever the policy says. The approver is shown why. A remembered approval
    /// counts only if the approver was shown the same reason.
    pub fn ask(reason: &str) -> Self {
        let reason = cut(reason, HOOK_REASON_BYTES_MAX).to_owned();
        Self { verdict: HookVerdict::Ask { reason, patterns: Vec::new() }, ..Self::default() }
    }

    /// With a pattern that a remembered approval may cover: the arguments that may differ, while every other is as in
    /// the call. Only an ask takes one, and at most [`PROPOSALS_MAX`]. A pattern that does not cover the call is not
    /// offered. An approval of one answers this hook alone, as long as it proposes the same pattern.
    #[must_use]
    pub fn proposing(mut self, pattern: impl IntoIterator<Item = Variation>) -> Self {
        if let HookVerdict::Ask { patterns, .. } = &mut self.verdict
            && patterns.len() < PROPOSALS_MAX
        {
            patterns.push(pattern.into_iter().collect());
        }
        self
    }

    /// With a note for the record. Of more than [`HOOK_NOTES_MAX`] the record has the number alone.
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

    /// Why it is refused, if it is.
    pub fn refusal(&self) -> Option<&str> {
        match &self.verdict {
            HookVerdict::Refuse(reason) => Some(reason),
            HookVerdict::Pass | HookVerdict::Ask { .. } => None,
        }
    }

    /// Why an approver should look, and what a remembered approval may cover, if it asks.
    pub(crate) fn asks(&self) -> Option<(&str, &[Vec<Variation>])> {
        match &self.verdict {
            HookVerdict::Ask { reason, patterns } => Some((reason, patterns)),
            HookVerdict::Pass | HookVerdict::Refuse(_) => None,
        }
    }

    /// Why it asks or refuses, if it does.
    pub(crate) fn reason(&self) -> Option<&str> {
        self.refusal().or_else(|| self.asks().map(|(reason, _)| reason))
    }

    /// The verdict in one word, for the record.
    pub(crate) fn answer(&self) -> &'static str {
        match self.verdict {
            HookVerdict::Pass => "pass",
            HookVerdict::Ask { .. } => "ask",
            HookVerdict::Refuse(_) => "refuse",
        }
    }

    /// The notes, in order.
    pub fn notes(&self) -> &[(String, String)] {
        &self.notes
    }

    /// How many notes were too many.
    pub fn notes_dropped(&self) -> usize {
        self.notes_dropped
    }
}

/// At which end of a call a hook looks at it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stage {
    Before,
    After,
}

impl Stage {
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Before => "before",
            Self::After => "after",
        }
    }
}
