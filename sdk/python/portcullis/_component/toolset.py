"""Tools of other plugins, in the types of the contract."""

import typing
from collections.abc import Sequence

from componentize_py_types import Err, Ok
from wit_world.imports import portcullis_tool_types as contract
from wit_world.imports import tools

from .. import values
from ..failures import Cancelled, Denied, Failed, Failure, InvalidArguments, Unavailable
from ..outputs import File, Image, Part
from ..permissions import Permission
from ..toolset import Answers, Approvals, CallableTool, Outlook, Outlooks, ToolAnswer, ToolSummary

_Summaries: typing.TypeAlias = list[ToolSummary]

_PERMISSIONS: tuple[Permission, ...] = typing.get_args(Permission)


class ToolsetHandle:
    """The tools that the policy binds to a key."""

    def __init__(self, toolset: tools.Toolset) -> None:
        self._toolset = toolset

    def list(self) -> _Summaries:
        return [_summary(tool) for tool in self._toolset.list()]

    def search(self, query: str, limit: int) -> _Summaries:
        return [_summary(tool) for tool in self._toolset.search(query, limit)]

    def definition(self, tool: str) -> CallableTool | None:
        found = self._toolset.definition(tool)
        if found is None:
            return None
        return CallableTool(
            name=found.name,
            description=found.description,
            schema=values.loads(found.schema),
            title=found.title,
            output_schema=None if found.output_schema is None else values.loads(found.output_schema),
            permissions=frozenset(
                name for name in _PERMISSIONS if contract.Permissions[name.upper()] in found.permissions
            ),
            hints=frozenset(hint.name.lower() for hint in contract.Hints if hint in found.hints),
        )

    def call(self, tool: str, arguments: str) -> ToolAnswer:
        try:
            return _answer(self._toolset.call(tools.ToolCall(tool, arguments)))
        except Err as error:
            raise _failure(error.value) from None

    def call_all(self, calls: Sequence[tuple[str, str]]) -> Answers:
        results = self._toolset.call_all(_calls(calls))
        return [_answer(result.value) if isinstance(result, Ok) else _failure(result.value) for result in results]

    def foresee(self, calls: Sequence[tuple[str, str]]) -> Outlooks:
        return [_outlook(outlook) for outlook in self._toolset.foresee(_calls(calls))]

    def approve(self, calls: Sequence[tuple[str, str]]) -> Approvals:
        return self._toolset.approve(_calls(calls))


def _calls(calls: Sequence[tuple[str, str]]) -> list[tools.ToolCall]:
    return [tools.ToolCall(tool, arguments) for tool, arguments in calls]


def _outlook(outlook: tools.Outlook) -> Outlook:
    match outlook:
        case tools.Outlook_Runs():
            return "runs"
        case tools.Outlook_NeedsApproval():
            return "needs-approval"
        case fails:
            return _failure(fails.value)


def _summary(tool: tools.Summary) -> ToolSummary:
    return ToolSummary(tool.name, tool.title, tool.description)


def _answer(success: contract.Success) -> ToolAnswer:
    metadata = None if success.metadata is None else values.loads(success.metadata)
    match success.output:
        case contract.Output_Text(text):
            return ToolAnswer(text, success.title, metadata, "text")
        case contract.Output_Json(text):
            return ToolAnswer(values.loads(text), success.title, metadata, "json")
        case parts:
            return ToolAnswer([_part(part) for part in parts.value], success.title, metadata, "parts")


def _part(part: contract.Part) -> Part:
    match part:
        case contract.Part_Text(text):
            return str(text)
        case contract.Part_Image(blob):
            return Image(blob.data, blob.media_type, blob.name)
        case file:
            return File(file.value.data, file.value.media_type, file.value.name)


def _failure(failure: contract.Failure) -> Failure:
    match failure:
        case contract.Failure_InvalidArguments(text):
            return InvalidArguments(text)
        case contract.Failure_Denied(text):
            return Denied(text)
        case contract.Failure_Unavailable(outage):
            # A failure of this SDK has no field for the time, and the model needs it.
            seconds = outage.retry_after_seconds
            return Unavailable(outage.message if seconds is None else f"{outage.message} Retry in {seconds} seconds.")
        case contract.Failure_Cancelled():
            return Cancelled()
        case failed:
            return Failed(failed.value)
