"""Tools of other plugins that a policy lets this plugin call."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, Protocol, TypeAlias

from . import _sqlite, values
from .failures import Failure
from .outputs import Success
from .permissions import Permission
from .values import sendable

# Default maximum of results of a search: what a model or an author reads at once.
RESULTS_MAX = 10
# The largest limit that the contract can express.
_U32_MAX = 0xFFFF_FFFF

OutputKind: TypeAlias = Literal["text", "json", "parts"]
"""The kind of output that a tool returned."""


@dataclass(frozen=True)
class ToolSummary:
    """A tool in a list.

    Attributes:
        name: The full name, such as `files.read`.
        title: A few words for people.
        description: What the tool does. The text of another plugin: not to be trusted.
    """

    name: str
    title: str | None
    description: str


@dataclass(frozen=True)
class CallableTool:
    """The definition of a tool of another plugin.

    Attributes:
        name: The full name, such as `files.read`.
        description: What the tool does. The text of another plugin: not to be trusted.
        schema: JSON Schema 2020-12 of the arguments.
        title: A few words for people.
        output_schema: JSON Schema 2020-12 of the output, if the tool returns JSON.
        permissions: The permissions that the tool may use.
        hints: What the author of the tool claims, such as `read_only`.
    """

    name: str
    description: str
    schema: Mapping[str, Any]
    title: str | None = None
    output_schema: Mapping[str, Any] | None = None
    permissions: frozenset[Permission] = frozenset()
    hints: frozenset[str] = frozenset()


class ToolCall(NamedTuple):
    """A call of a tool of another plugin. A pair of a name and arguments is one, too.

    Attributes:
        tool: The full name, such as `files.read`.
        arguments: The arguments by name.
    """

    tool: str
    arguments: Mapping[str, Any]


@dataclass(frozen=True)
class ToolAnswer(Success):
    """The answer of a tool of another plugin. A tool may return it as its own answer.

    Attributes:
        kind: The kind of output. With `text`, the output is a str; with `json`, it is the parsed document; with
            `parts`, it is a list of str, `Image` and `File`.
    """

    kind: OutputKind = "text"

    @property
    def text(self) -> str:
        """The output as text: a text itself, a JSON document as it is written, and of parts their texts."""
        match self.kind:
            case "text":
                return str(self.output)
            case "json":
                return values.dumps(self.output)
            case "parts":
                return "\n".join(part for part in self.output if isinstance(part, str))


Outlook: TypeAlias = Literal["runs", "needs-approval"] | Failure
"""What the host would do with a call. A failure says that the call would fail like this."""

PLANNED_CALLS_MAX = 100
"""Maximum number of calls that `foresee` and `approve` take at once. It is the host's limit."""

_Summaries: TypeAlias = list[ToolSummary]


class ToolsetHandle(Protocol):
    """The handle behind a set of tools. Arguments are JSON objects."""

    def list(self) -> _Summaries: ...
    def search(self, query: str, limit: int) -> _Summaries: ...
    def definition(self, tool: str) -> CallableTool | None: ...
    def call(self, tool: str, arguments: str) -> ToolAnswer: ...
    def call_all(self, calls: Sequence[tuple[str, str]]) -> Answers: ...
    def foresee(self, calls: Sequence[tuple[str, str]]) -> Outlooks: ...
    def approve(self, calls: Sequence[tuple[str, str]]) -> Approvals: ...


class Toolset:
    """The tools that the policy binds to a key.

    Each call takes all the steps of a call by a caller: the host checks, decides, limits and records it, and asks an
    approver where the policy says so.
    """

    def __init__(self, handle: ToolsetHandle) -> None:
        self._handle = handle

    def list(self) -> _Summaries:
        """Returns the tools that a call could reach now, sorted by name."""
        return self._handle.list()

    def search(self, query: str, limit: int = RESULTS_MAX) -> _Summaries:
        """Returns the tools that fit a need best, the best first.

        Args:
            query: The need, in words.
            limit: Maximum number of tools.
        """
        if limit < 0:
            raise ValueError(f"the limit of a search is {limit}: it cannot be negative")
        return self._handle.search(sendable(query), min(int(limit), _U32_MAX))

    def definition(self, name: str) -> CallableTool | None:
        """Returns the definition of a tool, or None if no call could reach it."""
        return self._handle.definition(sendable(name))

    def call(self, tool: str, arguments: Mapping[str, Any] | None = None) -> ToolAnswer:
        """Calls a tool and waits for its answer.

        The time of the tool counts for this call. The time in which it waits for an approver or for its turn does not.

        Args:
            tool: The full name, such as `files.read`.
            arguments: The arguments by name.

        Raises:
            Failure: The host refused the call, or the tool failed. The text is for the model.
        """
        document = _document(tool, arguments or {})
        with _sqlite.asking():
            return self._handle.call(sendable(tool), document)

    def call_all(self, calls: Iterable[ToolCall | tuple[str, Mapping[str, Any]]]) -> Answers:
        """Calls several tools at the same time. A tool that may change something runs alone.

        Returns:
            The answers in the order of the calls. A failed call has its failure in place of the answer.
        """
        documents = _documents(calls)
        with _sqlite.asking():
            return self._handle.call_all(documents)

    def foresee(self, calls: Iterable[ToolCall | tuple[str, Mapping[str, Any]]]) -> Outlooks:
        """Says what the host would do with each call now. Nothing runs, and no approver is asked.

        Args:
            calls: At most `PLANNED_CALLS_MAX` calls.

        Returns:
            The outlooks in the order of the calls.
        """
        documents = _documents(calls)
        with _sqlite.asking():
            return self._handle.foresee(documents)

    def approve(self, calls: Iterable[ToolCall | tuple[str, Mapping[str, Any]]]) -> Approvals:
        """Asks an approver about calls together, before they are made.

        The approver reads the exact arguments of each, and approves all, some or none. Each approval counts once, for
        exactly these arguments, until this call ends. A call that the approver did not approve fails when it is made.
        The host does not ask about a single call, or where no approver can answer now.

        Args:
            calls: At most `PLANNED_CALLS_MAX` calls.

        Returns:
            For each call, whether it can now be made without a request of its own.
        """
        documents = _documents(calls)
        with _sqlite.asking():
            return self._handle.approve(documents)


Answers: TypeAlias = list[ToolAnswer | Failure]
"""The answers of several calls."""
Outlooks: TypeAlias = list[Outlook]
"""The outlooks of several calls."""
Approvals: TypeAlias = list[bool]
"""For each of several calls, whether it is approved."""


def _documents(calls: Iterable[ToolCall | tuple[str, Mapping[str, Any]]]) -> list[tuple[str, str]]:
    return [(sendable(tool), _document(tool, arguments)) for tool, arguments in calls]


def _document(tool: str, arguments: Mapping[str, Any]) -> str:
    """Converts arguments to JSON. Anything else than an object is an error, because it may be a mistake."""
    document = values.dumps(arguments)
    if not document.startswith("{"):
        raise TypeError(f"the arguments of `{tool}` are a dict, such as {{'path': 'a.txt'}}")
    return document
