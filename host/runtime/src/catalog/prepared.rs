//! What a plugin that prepares its tools offers to a caller, and the answers for its recent callers.

use portcullis_definitions::manifest::ToolCaller;
use portcullis_definitions::tool::Tool;
use portcullis_policy::LocalName;
use portcullis_policy::recovery::RecoverMutex;
use std::collections::{BTreeMap, VecDeque};
use std::fmt;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// Maximum callers of one plugin whose prepared tools are kept. With the maximum size of an answer this is 2 MiB of
/// texts and schemas. For a caller that is forgotten, the plugin is asked again.
const CALLERS_MAX: usize = 32;

/// Time until a plugin that could not prepare its tools for a caller is asked again. It bounds how often a plugin that
/// loops can delay the lists of one caller.
const RETRY_AFTER: Duration = Duration::from_secs(30);

/// What a plugin offers to one caller.
#[derive(Debug)]
pub(crate) enum PreparedTools {
    /// The tools that the caller is not offered whole.
    Reduced(BTreeMap<LocalName, ReducedTool>),
    /// The plugin could not say, for a reason. It offers nothing.
    Failed(String),
}

/// A tool that a caller is not offered whole.
#[derive(Debug)]
pub(crate) enum ReducedTool {
    /// It does not exist for the caller, for a reason.
    Hidden(String),
    /// Its definition for the caller.
    Narrowed(Arc<Tool>),
}

impl PreparedTools {
    /// Returns why a tool does not exist for the caller. Untrusted text.
    pub(crate) fn hidden(&self, tool: &LocalName) -> Option<&str> {
        match self {
            Self::Failed(why) => Some(why),
            Self::Reduced(tools) => match tools.get(tool) {
                Some(ReducedTool::Hidden(why)) => Some(why),
                Some(ReducedTool::Narrowed(_)) | None => None,
            },
        }
    }

    /// Returns the definition of a tool for the caller, if it is narrower than its own.
    pub(crate) fn narrowed(&self, tool: &LocalName) -> Option<&Arc<Tool>> {
        match self {
            Self::Reduced(tools) => match tools.get(tool) {
                Some(ReducedTool::Narrowed(narrowed)) => Some(narrowed),
                Some(ReducedTool::Hidden(_)) | None => None,
            },
            Self::Failed(_) => None,
        }
    }

    /// Returns whether some tool does not exist for the caller.
    pub(crate) fn hides(&self) -> bool {
        match self {
            Self::Failed(_) => true,
            Self::Reduced(tools) => tools.values().any(|tool| matches!(tool, ReducedTool::Hidden(_))),
        }
    }
}

/// The answers for the callers that were served last, the latest last.
#[derive(Default)]
pub(super) struct PreparedCallers(Mutex<VecDeque<PreparedCaller>>);

struct PreparedCaller {
    caller: ToolCaller,
    tools: Arc<PreparedTools>,
    prepared: Instant,
}

impl fmt::Debug for PreparedCallers {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("PreparedCallers").finish_non_exhaustive()
    }
}

impl PreparedCallers {
    /// Returns the answer for a caller, if it is known and not a failure that is to be tried again.
    pub(super) fn get(&self, caller: &ToolCaller) -> Option<Arc<PreparedTools>> {
        let mut callers = self.0.lock_recovered();
        let at = callers.iter().position(|known| known.caller == *caller)?;
        let known = callers.remove(at)?;
        let is_over = matches!(*known.tools, PreparedTools::Failed(_)) && known.prepared.elapsed() >= RETRY_AFTER;
        if is_over {
            return None;
        }
        let tools = Arc::clone(&known.tools);
        callers.push_back(known);
        Some(tools)
    }

    /// Keeps the answer for a caller. The one that was not used for longest may make room for it.
    pub(super) fn keep(&self, caller: ToolCaller, tools: Arc<PreparedTools>) {
        let mut callers = self.0.lock_recovered();
        // Two requests of one caller can have asked the plugin at the same time.
        callers.retain(|known| known.caller != caller);
        while callers.len() >= CALLERS_MAX {
            callers.pop_front();
        }
        callers.push_back(PreparedCaller { caller, tools, prepared: Instant::now() });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn caller(session: usize) -> ToolCaller {
        let principal = "local".to_owned();
        ToolCaller { session: session.to_string(), principal, client: None, model: None, automated: false }
    }

    #[test]
    fn the_answer_that_was_not_used_for_longest_is_forgotten_first() {
        let known = PreparedCallers::default();
        let tools = || Arc::new(PreparedTools::Reduced(BTreeMap::new()));
        for session in 0..CALLERS_MAX {
            known.keep(caller(session), tools());
        }
        known.keep(caller(1), tools());
        assert!(known.get(&caller(0)).is_some());
        known.keep(caller(CALLERS_MAX), tools());
        assert!(known.get(&caller(2)).is_none());
        let kept = [0, 1, 3, CALLERS_MAX];
        assert!(kept.iter().all(|session| known.get(&caller(*session)).is_some()));
        assert_eq!(known.0.lock_recovered().len(), CALLERS_MAX);
    }
}
