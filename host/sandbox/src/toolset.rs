//! Other tools as a handle. The host of the call makes the calls: this file knows what goes in and out of a guest.

use crate::host_memory::{HostMemory, MemoryCharge};
use portcullis_definitions::manifest::{Answer, Failure, Output, Part};
use portcullis_policy::{Hint, Permissions};
use std::sync::Arc;
use std::time::Duration;

/// Maximum calls that a guest makes at once, as the default of a batch. Their answers are held together.
pub const INNER_CALLS_AT_ONCE_MAX: usize = 25;

/// Maximum calls that a guest foresees, or asks an approver about, at once. A person would not read a longer list.
pub const PLANNED_CALLS_MAX: usize = 100;

/// A tool in a list for a guest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolSummary {
    /// The full name.
    pub name: String,
    /// A short title for people.
    pub title: Option<String>,
    /// What the tool does.
    pub description: String,
}

/// The definition of a tool for a guest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallableTool {
    /// The full name.
    pub name: String,
    /// A short title for people.
    pub title: Option<String>,
    /// What the tool does.
    pub description: String,
    /// JSON Schema of the arguments, as text.
    pub schema: String,
    /// JSON Schema of a JSON output, as text.
    pub output_schema: Option<String>,
    /// The permissions that the tool may use.
    pub permissions: Permissions,
    /// The author's claims about the tool.
    pub hints: Vec<Hint>,
}

/// A guest's call of another tool. Untrusted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InnerCall {
    /// The full name of the tool.
    pub tool: String,
    /// The arguments, as JSON text.
    pub arguments: String,
}

/// A guest's calls of other tools.
#[derive(Debug)]
pub struct InnerCalls {
    /// The key of the set of tools.
    pub key: Arc<str>,
    /// The calls, at most [`INNER_CALLS_AT_ONCE_MAX`].
    pub calls: Vec<InnerCall>,
    /// The time that the guest's own call has left.
    pub time_left: Duration,
    /// The memory that the answers are charged to.
    pub room: AnswerRoom,
}

/// The answers to a guest's calls of other tools.
#[derive(Debug)]
pub struct InnerAnswers {
    /// The answers, in the order of the calls.
    pub answers: Vec<Answer>,
    /// The time in which at least one of the tools ran. It counts for the guest's own call.
    pub spent: Duration,
}

/// What the host would do with a guest's call of another tool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum InnerOutlook {
    /// The call would run.
    Runs,
    /// An approver would be asked.
    NeedsApproval,
    /// The call would fail like this.
    Fails(Failure),
}

/// Which of a guest's calls an approver has approved together.
#[derive(Debug)]
pub struct ApprovedCalls {
    /// Whether each call can be made without an approval request of its own, in the order of the calls.
    pub approved: Vec<bool>,
    /// The time that the host used. The time of the approver is not part of it.
    pub spent: Duration,
}

/// The memory for the answers to a guest's calls. It is returned when this is dropped.
#[derive(Debug)]
pub struct AnswerRoom {
    memory: HostMemory,
    charges: Vec<MemoryCharge>,
}

impl AnswerRoom {
    /// Charges an answer, and returns it. An answer without room is replaced by a failure that says so.
    pub fn take(&mut self, answer: Answer) -> Answer {
        match self.memory.charge(weight(&answer)) {
            Ok(charge) => {
                self.charges.push(charge);
                answer
            }
            Err(_) => {
                let text = "The answers of these calls are too large to be held together. Request less per call.";
                Err(Failure::Failed(text.to_owned()))
            }
        }
    }
}

/// A set of tools that a guest has opened.
#[expect(unreachable_pub, reason = "the generated bindings name it as theirs")]
#[derive(Clone, Debug)]
pub struct Toolset {
    key: Arc<str>,
}

impl Toolset {
    pub(crate) fn new(key: Arc<str>) -> Self {
        Self { key }
    }

    /// Returns the key.
    pub(crate) fn key(&self) -> &Arc<str> {
        &self.key
    }
}

impl AnswerRoom {
    /// Returns room in the host memory of a call.
    pub(crate) fn of(memory: HostMemory) -> Self {
        Self { memory, charges: Vec::new() }
    }
}

fn weight(answer: &Answer) -> usize {
    let text = |text: &Option<String>| text.as_ref().map_or(0, String::len);
    match answer {
        Ok(success) => {
            let output = match &success.output {
                Output::Text(text) | Output::Json(text) => text.len(),
                Output::Parts(parts) => parts.iter().map(part_bytes).sum(),
            };
            output + text(&success.title) + text(&success.metadata)
        }
        Err(failure) => failure_bytes(failure),
    }
}

/// Returns the length of a failure's text, in bytes.
pub(crate) fn failure_bytes(failure: &Failure) -> usize {
    match failure {
        Failure::InvalidArguments(text)
        | Failure::Denied(text)
        | Failure::Failed(text)
        | Failure::Unavailable { message: text, .. } => text.len(),
        Failure::Cancelled => 0,
    }
}

fn part_bytes(part: &Part) -> usize {
    let bytes = match part {
        Part::Text(text) => text.len(),
        Part::Image(blob) | Part::File(blob) => {
            blob.data.len() + blob.media_type.len() + blob.name.as_ref().map_or(0, String::len)
        }
    };
    size_of::<Part>() + bytes
}

#[cfg(test)]
mod tests {
    use super::*;
    use portcullis_definitions::manifest::{Blob, Success};
    use portcullis_policy::Limits;

    fn text(bytes: usize) -> Answer {
        Ok(Success { title: None, output: Output::Text("a".repeat(bytes)), metadata: None })
    }

    #[test]
    fn an_answer_without_room_is_replaced_and_the_others_stay() {
        let memory = HostMemory::new(&Limits { host_memory_bytes: 100, ..Limits::default() });
        let mut room = AnswerRoom::of(memory.clone());
        assert_eq!(room.take(text(60)), text(60));
        assert!(matches!(room.take(text(60)), Err(Failure::Failed(_))));
        assert_eq!(room.take(text(40)), text(40));
        assert_eq!(memory.held_bytes(), 100);
        drop(room);
        assert_eq!(memory.held_bytes(), 0);
    }
    #[test]
    fn the_name_of_a_file_counts() {
        let file = |name: usize| {
            let (name, media_type) = (Some("a".repeat(name)), "text/plain".to_owned());
            let blob = Blob { name, media_type, data: Vec::new(), is_kept: false };
            Ok(Success { title: None, output: Output::Parts(vec![Part::File(blob)]), metadata: None })
        };
        assert_eq!(weight(&file(1000)), weight(&file(0)) + 1000);
    }
}
