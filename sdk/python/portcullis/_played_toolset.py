"""Tools of other plugins that a test plays. They test the logic of a plugin, without a host."""

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from . import values
from .failures import Failure
from .outputs import File, Image, Success
from .toolset import Answers, Approvals, CallableTool, Outlook, Outlooks, ToolAnswer, ToolCall, ToolSummary

_Summaries: TypeAlias = list[ToolSummary]


class ToolsetHandle:
    """A played set of tools."""

    def __init__(
        self,
        tools: Callable[[ToolCall], Any],
        definitions: Sequence[CallableTool],
        called: list[ToolCall],
        outlook: Callable[[ToolCall], Outlook],
        planned: list[list[ToolCall]],
    ) -> None:
        self._tools = tools
        self._definitions = definitions
        self._called = called
        self._outlook = outlook
        self._planned = planned

    def list(self) -> _Summaries:
        return [_summary(tool) for tool in sorted(self._definitions, key=lambda tool: tool.name)]

    def search(self, query: str, limit: int) -> _Summaries:
        """Finds the definitions whose name or description contains a word of the query."""
        words = query.split()
        found = [tool for tool in self._definitions if any(word in tool.name + tool.description for word in words)]
        return [_summary(tool) for tool in found[:limit]]

    def definition(self, tool: str) -> CallableTool | None:
        return next((definition for definition in self._definitions if definition.name == tool), None)

    def call(self, tool: str, arguments: str) -> ToolAnswer:
        call = ToolCall(tool, values.loads(arguments))
        self._called.append(call)
        return _answer(self._tools(call))

    def call_all(self, calls: Sequence[tuple[str, str]]) -> Answers:
        answers: Answers = []
        for tool, arguments in calls:
            try:
                answers.append(self.call(tool, arguments))
            except Failure as failure:
                answers.append(failure)
        return answers

    def foresee(self, calls: Sequence[tuple[str, str]]) -> Outlooks:
        return [self._outlook(call) for call in _calls(calls)]

    def approve(self, calls: Sequence[tuple[str, str]]) -> Approvals:
        """Approves the calls that need it. A call that would fail is not approved."""
        plan = _calls(calls)
        self._planned.append(plan)
        return [not isinstance(self._outlook(call), Failure) for call in plan]


def _calls(calls: Sequence[tuple[str, str]]) -> list[ToolCall]:
    return [ToolCall(tool, values.loads(arguments)) for tool, arguments in calls]


def _summary(tool: CallableTool) -> ToolSummary:
    return ToolSummary(tool.name, tool.title, tool.description)


def _answer(value: Any) -> ToolAnswer:
    """Converts what a played tool returned as a host converts the answer of a tool."""
    if isinstance(value, ToolAnswer):
        return value
    success = value if isinstance(value, Success) else Success(value)
    output, title = success.output, success.title
    metadata = None if success.metadata is None else values.loads(values.dumps(success.metadata))
    if output is None or isinstance(output, str):
        return ToolAnswer(output or "", title, metadata, "text")
    if isinstance(output, (Image, File)):
        return ToolAnswer([output], title, metadata, "parts")
    if isinstance(output, list) and any(isinstance(part, (Image, File)) for part in output):
        return ToolAnswer(output, title, metadata, "parts")
    return ToolAnswer(values.loads(values.dumps(output)), title, metadata, "json")
