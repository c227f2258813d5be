//! Hooks: what an embedder adds to every call, before a person is asked and after the tool has answered. A hook can
//! refuse and take notes for the record; there is no way for it to say yes to what anything else denies.

use crate::reply::Reply;
use crate::text::cut;
use portcullis_policy::ToolName;
use std::future::{Future, ready};
use std::pin::Pin;
use std::time::Duration;

/// Notes of one hook on one call: together with the sizes below, what fits in a line of the record when every byte of
/// it becomes an escape of six.
pub const HOOK_NOTES_MAX: usize = 16;

/// The key of a note, in bytes; what is over it is cut.
pub const HOOK_KEY_BYTES_MAX: usize = 64;

/// The value of a note, in bytes; what is over it is cut.
pub const HOOK_VALUE_BYTES_MAX: usize = 512;

/// The reason of a refusal, in bytes; what is over it is cut. The model reads it.
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
    /// denies it.
    fn before<'a>(&'a self, call: &'a HookCall<'a>) -> Hooking<'a> {
        let _ = call;
        Box::pin(ready(Hooked::pass()))
    }

    /// Looks at the reply of a call whose tool has run, before anybody else does. A refusal withholds the reply; what
    /// the tool did is done.
    fn after<'a>(&'a self, call: &'a HookCall<'a>, reply: &'a Reply) -> Hooking<'a> {
        let _ = (call, reply);
        Box::pin(ready(Hooked::pass()))
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
}

/// What a hook says of a call: nothing, or a refusal, and either with notes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Hooked {
    refusal: Option<String>,
    notes: Vec<(String, String)>,
    notes_dropped: usize,
}

impl Hooked {
    /// Nothing against it.
    pub fn pass() -> Self {
        Self::default()
    }

    /// The call is refused, or its reply withheld. The model is told why.
    pub fn refuse(reason: &str) -> Self {
        Self { refusal: Some(cut(reason, HOOK_REASON_BYTES_MAX).to_owned()), ..Self::default() }
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
        self.refusal.as_deref()
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
