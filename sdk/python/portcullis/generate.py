"""Tools that a plugin makes from its settings and its directories, such as one tool for each operation of an API."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from .context import Context
from .permissions import Permission

Hint: TypeAlias = Literal["read_only", "destructive", "idempotent", "open_world", "sequential"]
"""What an author claims about a tool."""


@dataclass(frozen=True)
class GeneratedTool:
    """A tool that a generator makes.

    Attributes:
        name: Unique within the plugin, also among its other tools: `[a-z][a-z0-9_-]{0,63}`.
        description: What the tool does, for a model.
        schema: JSON Schema 2020-12 of the arguments. Its root must have `"type": "object"`.
        title: A few words for people.
        output_schema: JSON Schema 2020-12 of a JSON output.
        requires: The permissions that it needs.
        optional: The permissions that it can use but does not need.
        hints: What the author claims, such as `read_only`.
    """

    name: str
    description: str
    schema: Mapping[str, Any]
    title: str | None = None
    output_schema: Mapping[str, Any] | None = None
    requires: Collection[Permission] = ()
    optional: Collection[Permission] = ()
    hints: Collection[Hint] = ()


@dataclass(frozen=True)
class GeneratedCall:
    """A call of a tool that the generator made.

    Attributes:
        tool: The name of the tool, without the name of the plugin.
        arguments: The arguments, which are valid for the schema of the tool.
        context: The running call, with its handles.
    """

    tool: str
    arguments: Any
    context: Context


Generate: TypeAlias = Callable[[Context], Sequence[GeneratedTool]]
"""Makes tools."""
RunGenerated: TypeAlias = Callable[[GeneratedCall], Any]
"""Runs a call of a tool that the generator made."""
