//! The interface `tools`, which only this version has.

use super::generated::portcullis::tool::{dependencies, tools, types};
use crate::state::StoreState;
use crate::toolset::{
    AnswerRoom, ApprovedCalls, CallableTool, INNER_CALLS_AT_ONCE_MAX, InnerAnswers, InnerCall, InnerCalls,
    InnerOutlook, PLANNED_CALLS_MAX, ToolSummary, Toolset, failure_bytes,
};
use portcullis_definitions::manifest::{self, Answer, Failure};
use portcullis_policy::{Hint, Permission, Permissions};
use std::sync::Arc;
use wasmtime::component::{HasSelf, Linker, Resource};

/// Maximum tools that a search returns: as many as a model reads.
const FOUND_MAX: u32 = 50;

/// Adds the interface to a linker.
pub(in super::super) fn add_tools_to_linker(linker: &mut Linker<StoreState>) -> wasmtime::Result<()> {
    tools::add_to_linker::<StoreState, HasSelf<StoreState>>(linker, |state| state)
}

impl StoreState {
    /// Checks that there is room for what the guest gets.
    fn held_tools<T>(&self, items: Vec<T>, bytes: impl Fn(&T) -> usize) -> wasmtime::Result<Vec<T>> {
        self.weights.has_room(items.iter().map(bytes).sum())?;
        Ok(items)
    }

    /// Makes calls. The time of the guest's own call stops meanwhile, and the time in which one of the tools ran is
    /// taken from it afterwards. So it spends nothing while an approver thinks or the calls wait for their turn.
    async fn call_tools(&mut self, toolset: &Toolset, calls: Vec<InnerCall>) -> Vec<Answer> {
        if calls.len() > INNER_CALLS_AT_ONCE_MAX {
            let text = format!("Make at most {INNER_CALLS_AT_ONCE_MAX} calls at once.");
            // None of them is made. A guest pairs answers with its calls by position, so each call gets one.
            return calls.iter().map(|_| Err(Failure::InvalidArguments(text.clone()))).collect();
        }
        let room = AnswerRoom::of(self.http.memory());
        let suspended = self.clock.suspend();
        let time_left = suspended.time_left();
        let calls = InnerCalls { key: Arc::clone(toolset.key()), calls, time_left, room };
        let InnerAnswers { answers, spent } = self.call.host.call_tools(calls).await;
        suspended.end(spent);
        answers
    }
}

fn summary_bytes(ToolSummary { name, title, description }: &ToolSummary) -> usize {
    size_of::<ToolSummary>() + name.len() + title.as_ref().map_or(0, String::len) + description.len()
}

fn definition_bytes(tool: &CallableTool) -> usize {
    let CallableTool { name, title, description, schema, output_schema, permissions: _, hints } = tool;
    let optional = [title, output_schema].into_iter().flatten().map(String::len).sum::<usize>();
    let texts = name.len() + description.len() + schema.len() + optional;
    size_of::<CallableTool>() + texts + hints.len() * size_of::<Hint>()
}

impl tools::Host for StoreState {
    fn open_tools(&mut self, key: String) -> wasmtime::Result<Result<Resource<Toolset>, dependencies::Unavailable>> {
        match self.handles.toolset(&key) {
            Ok(toolset) => Ok(Ok(self.table.push(toolset)?)),
            Err(unavailable) => Ok(Err(unavailable.into())),
        }
    }
}

impl tools::HostToolset for StoreState {
    async fn list(&mut self, toolset: Resource<Toolset>) -> wasmtime::Result<Vec<tools::Summary>> {
        let toolset = self.table.get(&toolset)?.clone();
        let listed = self.call.host.list_tools(toolset.key()).await;
        Ok(self.held_tools(listed, summary_bytes)?.into_iter().map(Into::into).collect())
    }

    async fn search(
        &mut self,
        toolset: Resource<Toolset>,
        query: String,
        limit: u32,
    ) -> wasmtime::Result<Vec<tools::Summary>> {
        let toolset = self.table.get(&toolset)?.clone();
        let limit = limit.min(FOUND_MAX) as usize;
        let found = self.call.host.search_tools(toolset.key(), query, limit).await;
        Ok(self.held_tools(found, summary_bytes)?.into_iter().map(Into::into).collect())
    }

    async fn definition(
        &mut self,
        toolset: Resource<Toolset>,
        tool: String,
    ) -> wasmtime::Result<Option<tools::Callable>> {
        let toolset = self.table.get(&toolset)?.clone();
        let found = self.call.host.find_tool(toolset.key(), &tool).await;
        Ok(self.held_tools(found.into_iter().collect(), definition_bytes)?.pop().map(Into::into))
    }

    async fn call(
        &mut self,
        toolset: Resource<Toolset>,
        call: tools::ToolCall,
    ) -> wasmtime::Result<Result<types::Success, types::Failure>> {
        let toolset = self.table.get(&toolset)?.clone();
        let mut answers = self.call_tools(&toolset, vec![call.into()]).await;
        Ok(answers.pop().map_or_else(|| Err(types::Failure::Failed("the host did not answer".to_owned())), answered))
    }

    async fn call_all(
        &mut self,
        toolset: Resource<Toolset>,
        calls: Vec<tools::ToolCall>,
    ) -> wasmtime::Result<Vec<Result<types::Success, types::Failure>>> {
        let toolset = self.table.get(&toolset)?.clone();
        let answers = self.call_tools(&toolset, calls.into_iter().map(Into::into).collect()).await;
        Ok(answers.into_iter().map(answered).collect())
    }

    async fn foresee(
        &mut self,
        toolset: Resource<Toolset>,
        calls: Vec<tools::ToolCall>,
    ) -> wasmtime::Result<Vec<tools::Outlook>> {
        let toolset = self.table.get(&toolset)?.clone();
        if calls.len() > PLANNED_CALLS_MAX {
            let text = format!("Foresee at most {PLANNED_CALLS_MAX} calls at once.");
            let fails = |_| tools::Outlook::Fails(types::Failure::InvalidArguments(text.clone()));
            return Ok(calls.iter().map(fails).collect());
        }
        let calls = calls.into_iter().map(Into::into).collect();
        let foreseen = self.call.host.foresee_calls(toolset.key(), calls).await;
        Ok(self.held_tools(foreseen, outlook_bytes)?.into_iter().map(Into::into).collect())
    }

    /// Asks about calls. The time of the guest's own call stops while the approver thinks.
    async fn approve(
        &mut self,
        toolset: Resource<Toolset>,
        calls: Vec<tools::ToolCall>,
    ) -> wasmtime::Result<Vec<bool>> {
        let toolset = self.table.get(&toolset)?.clone();
        if calls.len() > PLANNED_CALLS_MAX {
            // Each call then asks by itself.
            return Ok(vec![false; calls.len()]);
        }
        let suspended = self.clock.suspend();
        let calls = calls.into_iter().map(Into::into).collect();
        let ApprovedCalls { approved, spent } = self.call.host.approve_calls(toolset.key(), calls).await;
        suspended.end(spent);
        Ok(approved)
    }

    fn drop(&mut self, toolset: Resource<Toolset>) -> wasmtime::Result<()> {
        self.table.delete(toolset)?;
        Ok(())
    }
}

fn outlook_bytes(outlook: &InnerOutlook) -> usize {
    let text = match outlook {
        InnerOutlook::Runs | InnerOutlook::NeedsApproval => 0,
        InnerOutlook::Fails(failure) => failure_bytes(failure),
    };
    size_of::<InnerOutlook>() + text
}

impl From<InnerOutlook> for tools::Outlook {
    fn from(outlook: InnerOutlook) -> Self {
        match outlook {
            InnerOutlook::Runs => Self::Runs,
            InnerOutlook::NeedsApproval => Self::NeedsApproval,
            InnerOutlook::Fails(failed) => Self::Fails(failed.into()),
        }
    }
}

impl From<tools::ToolCall> for InnerCall {
    fn from(call: tools::ToolCall) -> Self {
        let tools::ToolCall { tool, arguments } = call;
        Self { tool, arguments }
    }
}

impl From<ToolSummary> for tools::Summary {
    fn from(summary: ToolSummary) -> Self {
        let ToolSummary { name, title, description } = summary;
        Self { name, title, description }
    }
}

impl From<CallableTool> for tools::Callable {
    fn from(tool: CallableTool) -> Self {
        let CallableTool { name, title, description, schema, output_schema, permissions, hints } = tool;
        let (permissions, hints) = (permission_flags(permissions), hint_flags(&hints));
        Self { name, title, description, schema, output_schema, permissions, hints }
    }
}

fn permission_flags(permissions: Permissions) -> types::Permissions {
    permissions.iter().fold(types::Permissions::empty(), |flags, permission| {
        flags
            | match permission {
                Permission::Read => types::Permissions::READ,
                Permission::Write => types::Permissions::WRITE,
                Permission::Execute => types::Permissions::EXECUTE,
                Permission::Network => types::Permissions::NETWORK,
            }
    })
}

fn hint_flags(hints: &[Hint]) -> types::Hints {
    hints.iter().fold(types::Hints::empty(), |flags, hint| {
        flags
            | match hint {
                Hint::ReadOnly => types::Hints::READ_ONLY,
                Hint::Destructive => types::Hints::DESTRUCTIVE,
                Hint::Idempotent => types::Hints::IDEMPOTENT,
                Hint::OpenWorld => types::Hints::OPEN_WORLD,
                Hint::Sequential => types::Hints::SEQUENTIAL,
            }
    })
}

fn answered(answer: Answer) -> Result<types::Success, types::Failure> {
    answer.map(Into::into).map_err(Into::into)
}

super::super::bind::answers!(manifest => types);

impl From<manifest::Blob> for types::Blob {
    fn from(blob: manifest::Blob) -> Self {
        Self { name: blob.name, media_type: blob.media_type, data: blob.data }
    }
}

impl From<Failure> for types::Failure {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::InvalidArguments(text) => Self::InvalidArguments(text),
            Failure::Denied(text) => Self::Denied(text),
            Failure::Unavailable { message, retry_after } => {
                let seconds = retry_after.map(|after| u32::try_from(after.as_secs()).unwrap_or(u32::MAX));
                Self::Unavailable(types::Outage { message, retry_after_seconds: seconds })
            }
            Failure::Cancelled => Self::Cancelled,
            Failure::Failed(text) => Self::Failed(text),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_text_of_a_definition_counts() {
        let tool = |lengths: [usize; 5]| {
            let [name, title, description, schema, output_schema] = lengths.map(|length| "a".repeat(length));
            let (title, output_schema) = (Some(title), Some(output_schema));
            let (permissions, hints) = (Permissions::default(), Vec::new());
            CallableTool { name, title, description, schema, output_schema, permissions, hints }
        };
        let empty = definition_bytes(&tool([0; 5]));
        for place in 0..5 {
            let mut lengths = [0; 5];
            lengths[place] = 1000;
            assert_eq!(definition_bytes(&tool(lengths)), empty + 1000, "text {place}");
        }
    }
}
