//! Tools of other plugins that a test plays.

use std::cell::RefCell;
use std::fmt;
use std::rc::Rc;

use crate::callable::{CallableTool, Outlook, ToolCall, ToolSummary};
use crate::{Failure, Success};

type Calls = dyn Fn(&ToolCall) -> Result<Success, Failure>;

/// The logic of played tools, and their definitions.
#[derive(Clone)]
pub(super) struct ToolsLogic {
    calls: Rc<Calls>,
    definitions: Rc<Vec<CallableTool>>,
}

impl ToolsLogic {
    pub(super) fn new(
        definitions: Vec<CallableTool>,
        calls: impl Fn(&ToolCall) -> Result<Success, Failure> + 'static,
    ) -> Self {
        Self { calls: Rc::new(calls), definitions: Rc::new(definitions) }
    }
}

impl fmt::Debug for ToolsLogic {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("played tools")
    }
}

/// A played set of tools.
#[derive(Debug)]
pub(crate) struct Toolset {
    logic: ToolsLogic,
    made: Rc<RefCell<Vec<ToolCall>>>,
}

impl Toolset {
    pub(super) fn new(logic: ToolsLogic, made: Rc<RefCell<Vec<ToolCall>>>) -> Self {
        Self { logic, made }
    }

    pub(crate) fn list(&self) -> Vec<ToolSummary> {
        self.logic.definitions.iter().map(summary).collect()
    }

    /// Finds the definitions whose name or description contains a word of the query.
    pub(crate) fn search(&self, query: &str, limit: u32) -> Vec<ToolSummary> {
        let fits = |tool: &&CallableTool| {
            query.split_whitespace().any(|word| tool.name.contains(word) || tool.description.contains(word))
        };
        self.logic.definitions.iter().filter(fits).take(limit as usize).map(summary).collect()
    }

    pub(crate) fn definition(&self, tool: &str) -> Option<CallableTool> {
        self.logic.definitions.iter().find(|definition| definition.name == tool).cloned()
    }

    pub(crate) fn call(&self, call: &ToolCall) -> Result<Success, Failure> {
        self.made.borrow_mut().push(call.clone());
        (self.logic.calls)(call)
    }

    pub(crate) fn call_for_text(&self, call: &ToolCall) -> Result<String, Failure> {
        self.call(call).map(|success| success.text())
    }

    pub(crate) fn call_all(&self, calls: &[ToolCall]) -> Vec<Result<Success, Failure>> {
        calls.iter().map(|call| self.call(call)).collect()
    }

    /// A played tool needs no approver.
    #[expect(clippy::unused_self, reason = "the same form as the handle of a host")]
    pub(crate) fn foresee(&self, calls: &[ToolCall]) -> Vec<Outlook> {
        calls.iter().map(|_| Outlook::Runs).collect()
    }

    #[expect(clippy::unused_self, reason = "the same form as the handle of a host")]
    pub(crate) fn approve(&self, calls: &[ToolCall]) -> Vec<bool> {
        vec![true; calls.len()]
    }
}

fn summary(tool: &CallableTool) -> ToolSummary {
    let CallableTool { name, title, description, .. } = tool.clone();
    ToolSummary { name, title, description }
}
